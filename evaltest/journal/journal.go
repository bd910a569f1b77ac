package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Options say where a journal is kept. The zero value is what a test wants.
type Options struct {
	// Dir is the run directory; it is made when it is missing. A relative one is meant from the module's root. "": EVALTEST_DIR, read
	// at the call, else a directory that all processes of one `go test` share, under .evaltest at the module's root.
	Dir string
}

// Journal is one process's journal in the directory of its run. It is safe for concurrent use.
type Journal struct {
	dir     string
	process Process
	file    string
	log     *log
}

var byDefault = sync.OnceValues(func() (*Journal, error) { return Open(Options{}) })

// Default is the journal of this process: Open(Options{}), once. An error stays.
func Default() (*Journal, error) { return byDefault() }

// Open opens the directory of this process's run, and a journal of its own in it.
func Open(o Options) (*Journal, error) {
	id, err := identify()
	if err != nil {
		return nil, fmt.Errorf("journal: open: %w", err)
	}
	if o.Dir == "" {
		o.Dir = os.Getenv("EVALTEST_DIR")
	}
	return open(o.Dir, id)
}

func open(dir string, id identity) (*Journal, error) {
	j := &Journal{}
	var run string
	if dir == "" {
		var err error
		if j.dir, run, err = locate(id, time.Now()); err != nil {
			return nil, fmt.Errorf("journal: open run directory: %w", err)
		}
	} else {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(id.root, dir)
		}
		j.dir, run = filepath.Clean(dir), id.alone
		if id.build != "" {
			run = id.build
		}
		if err := os.MkdirAll(j.dir, 0o777); err != nil {
			return nil, fmt.Errorf("journal: open run directory: %w", writable(err))
		}
	}
	j.process = process(run, id.root)
	if err := j.create(); err != nil {
		return nil, fmt.Errorf("journal: open: %w", writable(err))
	}
	return j, nil
}

// writable adds what is to be done about an error of the run directory.
func writable(err error) error {
	return fmt.Errorf("%w; EVALTEST_DIR must name a directory that can be made and written, with room on its disk", err)
}

// filePrefix is how the names of the journals of this process's package begin; those of others may, too.
func (j *Journal) filePrefix() string {
	if s := slug(path.Base(j.process.Package), 40); s != "" {
		return filePrefix + s + "-"
	}
	return filePrefix
}

const (
	filePrefix = "journal-"
	fileSuffix = ".jsonl"
	trialsDir  = "trials"
)

// create makes the process's file and writes its first record.
func (j *Journal) create() error {
	for {
		name := j.filePrefix() + join(strconv.Itoa(j.process.PID), suffix()) + fileSuffix
		f, err := os.OpenFile(filepath.Join(j.dir, name), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		j.file, j.log = name, &log{file: syncedFile{f}}
		break
	}
	if err := j.log.append(typeRun, "", j.process); err != nil {
		_ = j.Close() // nothing was written that could be lost
		return err
	}
	return syncDir(j.dir)
}

// Dir is the run directory, absolute.
func (j *Journal) Dir() string { return j.dir }

// Process is what the journal says of this process.
func (j *Journal) Process() Process { return j.process }

// Note writes down a fact that belongs to no trial.
func (j *Journal) Note(text string) error {
	if err := j.log.append(typeNote, "", note{text}); err != nil {
		return fmt.Errorf("journal: write note: %w", err)
	}
	return nil
}

var errClosed = errors.New("the journal is closed")

// Close closes the journal; a process that ends need not call it. Trials that are not over stay without a verdict.
func (j *Journal) Close() error { return j.log.close(errClosed) }

// Begin makes the trial's folder and writes the intent: call it before the agent starts. When it returns without an error,
// the trial will be found by [Read], whatever happens next. It sets in.Folder and in.PID, and in.Started when it is zero.
func (j *Journal) Begin(in Intent) (*Trial, error) {
	folder, err := j.makeFolder(in.ID)
	if err != nil {
		return nil, fmt.Errorf("journal: begin %v: %w", in.ID, err)
	}
	in.Folder, in.PID = folder, j.process.PID
	if in.Started.IsZero() {
		in.Started = time.Now()
	}
	t := &Trial{log: j.log, intent: in, dir: filepath.Join(j.dir, filepath.FromSlash(folder))}
	t.raw.path = filepath.Join(t.dir, "raw.log")
	t.stderr.path = filepath.Join(t.dir, "stderr.log")
	t.transcript.path = filepath.Join(t.dir, "transcript.jsonl")
	// The folder's name and the intent go to the disk together, which costs one wait instead of two. Either may be there
	// without the other after a power failure; nothing has been paid for yet.
	var dirErr error
	var wg sync.WaitGroup
	wg.Go(func() { dirErr = syncDir(filepath.Dir(t.dir)) })
	err = j.log.append(typeIntent, folder, in)
	wg.Wait()
	if err != nil {
		os.Remove(t.dir) // it is empty, and no record names it
		return nil, fmt.Errorf("journal: begin %v: write intent: %w", in.ID, err)
	}
	if dirErr != nil {
		return nil, fmt.Errorf("journal: begin %v: sync its folder: %w", in.ID, dirErr)
	}
	return t, nil
}

// makeFolder makes a folder that no other trial has, and answers its name relative to the run directory.
func (j *Journal) makeFolder(id TrialID) (string, error) {
	trials := filepath.Join(j.dir, trialsDir)
	for {
		name := join(slug(id.Test, 60), number("n", id.N), number("t", id.Trial), number("a", id.Attempt), suffix())
		err := os.Mkdir(filepath.Join(trials, name), 0o777)
		if errors.Is(err, fs.ErrNotExist) { // the first trial of the run
			if err := os.MkdirAll(trials, 0o777); err != nil {
				return "", err
			}
			if err := syncDir(j.dir); err != nil {
				return "", err
			}
			continue
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return trialsDir + "/" + name, nil
	}
}

// number is a part of a folder's name: "t2"; the first of each goes without saying.
func number(letter string, n int) string {
	if n <= 1 {
		return ""
	}
	return letter + strconv.Itoa(n)
}
