package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Snapshot is the state of a work folder: what is at each path, by the hash of its content. It is held in memory, where no
// agent can reach it. The zero value is that of an empty folder.
type Snapshot struct {
	entries map[string]entry // by path relative to the work folder, in slashes, with the bytes as they are on disk
}

// entry is what is at a path.
type entry struct {
	kind  fs.FileMode // the type bits: 0 is a regular file
	exec  bool        // someone may execute the file
	empty bool        // a folder with nothing in it
	link  string      // where a link leads
	hash  [sha256.Size]byte
	// unread: the content could not be read, or is too large; then only these two tell.
	unread bool
	size   int64
	mod    time.Time
}

// Bounds in bytes of what is read: of one file, and of all. An agent can make a sparse file of terabytes in no time, and
// reading it would take hours; beyond, size and time of modification have to do.
const (
	maxHashed = 512 << 20
	maxTotal  = 4 << 30
)

// Snapshot takes the state of everything in the work folder: hidden files, ignored ones and the inside of .git included. It
// follows no links, opens nothing but regular files, and passes over what vanishes meanwhile. Files that cannot be read are
// noted, and compared by size and time; so are those whose turn comes when ctx has ended.
func (w *Workspace) Snapshot(ctx context.Context) (Snapshot, error) {
	h := &hasher{ctx: ctx, w: w, jobs: make(chan job, 256), entries: map[string]entry{}}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8) {
		wg.Go(h.work)
	}
	err := h.walk(w.work, "")
	close(h.jobs)
	wg.Wait()
	if err != nil {
		return Snapshot{}, fmt.Errorf("workspace: take snapshot: %w", err)
	}
	return Snapshot{h.entries}, nil
}

// hasher takes one snapshot: one goroutine walks, several read.
type hasher struct {
	ctx  context.Context
	w    *Workspace
	jobs chan job
	read atomic.Int64 // bytes, of all files

	mu      sync.Mutex
	entries map[string]entry
}

type job struct {
	name string
	e    entry
}

func (h *hasher) put(name string, e entry) {
	h.mu.Lock()
	h.entries[name] = e
	h.mu.Unlock()
}

// walk visits the folder dir, whose path in the snapshot is name ("" for the work folder).
func (h *hasher) walk(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if name == "" && err != nil {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		h.w.note("%s: what is in this folder is unknown: %v", name, err)
	}
	if name != "" {
		h.put(name, entry{kind: fs.ModeDir, empty: len(entries) == 0, unread: err != nil})
	}
	for _, d := range entries {
		fi, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		child, path := d.Name(), filepath.Join(dir, d.Name())
		if name != "" {
			child = name + "/" + child
		}
		e := entry{kind: fi.Mode().Type(), size: fi.Size(), mod: fi.ModTime()}
		switch {
		case fi.IsDir():
			if err := h.walk(path, child); err != nil {
				return err
			}
		case e.kind == fs.ModeSymlink:
			if e.link, err = os.Readlink(path); err != nil {
				e.unread = true
			}
			h.put(child, e)
		case e.kind == 0:
			e.exec = fi.Mode()&0o111 != 0
			h.jobs <- job{child, e}
		default:
			h.put(child, e)
		}
	}
	return nil
}

func (h *hasher) work() {
	sum, buf := sha256.New(), make([]byte, 128<<10)
	for j := range h.jobs {
		switch err := h.hash(&j, sum, buf); {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			h.w.note("%s: its content is unknown, and compared by size and time alone: %v", j.name, err)
			j.e.unread = true
		}
		h.put(j.name, j.e)
	}
}

func (h *hasher) hash(j *job, sum hash.Hash, buf []byte) error {
	switch {
	case j.e.size > maxHashed:
		return fmt.Errorf("it has %d bytes", j.e.size)
	case h.read.Add(j.e.size) > maxTotal:
		return fmt.Errorf("it is beyond the first %d bytes of all files", int64(maxTotal))
	}
	f, _, err := openRegular(filepath.Join(h.w.work, filepath.FromSlash(j.name)))
	if err != nil {
		return err
	}
	defer f.Close()
	sum.Reset()
	for n := int64(0); ; {
		if err := h.ctx.Err(); err != nil {
			return fmt.Errorf("there was no time left to read it: %w", err)
		}
		k, err := f.Read(buf)
		sum.Write(buf[:k])
		if n += int64(k); n > maxHashed {
			return fmt.Errorf("it has grown beyond %d bytes", int64(maxHashed))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	sum.Sum(j.e.hash[:0])
	return nil
}
