package workspace

import (
	"cmp"
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
	"slices"
	"strings"
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
	link  string      // where a link leads, as it reads in any workspace
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
// noted, and compared by size and time; so are those whose turn comes when ctx has ended, and the largest, when all are too much to
// read. If ctx ends before it is known what there is, that is an error.
func (w *Workspace) Snapshot(ctx context.Context) (Snapshot, error) {
	h := &hasher{ctx: ctx, w: w, entries: map[string]entry{}}
	err := w.check()
	if err == nil {
		err = h.walk(w.work, "")
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("workspace: take snapshot: %w", err)
	}
	h.hashAll()
	h.tell()
	return Snapshot{h.entries}, nil
}

// hasher takes one snapshot: it lists what there is, and then several goroutines read.
type hasher struct {
	ctx   context.Context
	w     *Workspace
	files []job
	read  atomic.Int64 // bytes, of all files

	mu      sync.Mutex
	entries map[string]entry
	unknown []string // what is not known, a sentence each
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

func (h *hasher) lacks(format string, args ...any) {
	h.mu.Lock()
	h.unknown = append(h.unknown, fmt.Sprintf(format, args...))
	h.mu.Unlock()
}

// maxTold is how many files are named in notes: an agent can leave any number of them.
const maxTold = 20

func (h *hasher) tell() {
	slices.Sort(h.unknown)
	for _, s := range h.unknown[:min(len(h.unknown), maxTold)] {
		h.w.note("%s", s)
	}
	if more := len(h.unknown) - maxTold; more > 0 {
		h.w.note("and of %d more files or folders the content is unknown", more)
	}
}

// walk visits the folder dir, whose path in the snapshot is name ("" for the work folder).
func (h *hasher) walk(dir, name string) error {
	f, err := os.Open(dir)
	if err == nil {
		defer f.Close()
	}
	if name == "" && err != nil {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	empty := true
	for err == nil {
		if err := h.ctx.Err(); err != nil {
			return fmt.Errorf("there was no time left to list what there is: %w", err)
		}
		var entries []fs.DirEntry
		if entries, err = f.ReadDir(1024); len(entries) > 0 {
			empty = false
			if err := h.list(entries, dir, name); err != nil {
				return err
			}
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		err = nil
	case errors.Is(err, fs.ErrNotExist) && name != "":
		return nil
	default:
		h.lacks("%s: what is in this folder is unknown: %v", name, err)
	}
	if name != "" {
		h.put(name, entry{kind: fs.ModeDir, empty: empty && err == nil, unread: err != nil})
	}
	return nil
}

// list notes what is in the folder dir.
func (h *hasher) list(entries []fs.DirEntry, dir, name string) error {
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
			e.link = h.w.portable(e.link)
			h.put(child, e)
		case e.kind == 0:
			e.exec = fi.Mode()&0o111 != 0
			h.files = append(h.files, job{child, e})
		default:
			h.put(child, e)
		}
	}
	return nil
}

// hashAll reads the files, the small ones first, so that a bound on all of them leaves out as few as may be.
func (h *hasher) hashAll() {
	slices.SortFunc(h.files, func(a, b job) int { return cmp.Or(cmp.Compare(a.e.size, b.e.size), strings.Compare(a.name, b.name)) })
	within, total, left := len(h.files), int64(0), int64(0)
	for i, j := range h.files {
		if j.e.size > maxHashed { // said of each
			break
		}
		if total += j.e.size; total > h.w.budget {
			within = min(within, i)
			left += j.e.size
		}
	}
	if within < len(h.files) && left > 0 {
		h.w.note("the files in the workspace hold %d bytes, of which %d are read: the largest %d are compared by size and time alone, so that a change which "+
			"leaves both as they were is not seen", total, h.w.budget, len(h.files)-within)
	}
	next := make(chan job)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8) {
		wg.Go(func() { h.work(next) })
	}
	for i, j := range h.files {
		if i >= within && j.e.size <= maxHashed {
			j.e.unread = true
			h.put(j.name, j.e)
			continue
		}
		next <- j
	}
	close(next)
	wg.Wait()
}

func (h *hasher) work(jobs <-chan job) {
	sum, buf := sha256.New(), make([]byte, 128<<10)
	for j := range jobs {
		switch err := h.hash(&j, sum, buf); {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			h.lacks("%s: its content is unknown, and compared by size and time alone: %v", j.name, err)
			j.e.unread = true
		}
		h.put(j.name, j.e)
	}
}

func (h *hasher) hash(j *job, sum hash.Hash, buf []byte) error {
	if j.e.size > maxHashed {
		return fmt.Errorf("it has %d bytes", j.e.size)
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
		if h.read.Add(int64(k)) > 2*h.w.budget {
			return errors.New("the files are growing while they are read")
		}
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
