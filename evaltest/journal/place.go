package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
	"github.com/rogpeppe/go-internal/robustio"
)

// Home is the folder at the module's root that holds the runs, where EVALTEST_DIR names no other place.
const Home = ".evaltest"

// locate finds or makes the run directory in the home of the module, and the run's name.
//
// The processes of one run come at the same moment, and share nothing but the file system: the first makes the directory
// under a lock, the others find it by the number at its end.
func locate(id identity, now time.Time) (dir, run string, err error) {
	home := filepath.Join(id.root, Home)
	if err := os.MkdirAll(home, 0o777); err != nil {
		return "", "", elsewhere(err)
	}
	// The lock is held by the system: it ends with its process, however that ends.
	unlock, err := lockedfile.MutexAt(filepath.Join(home, ".lock")).Lock()
	if err != nil {
		return "", "", elsewhere(fmt.Errorf("lock %s: %w", home, err))
	}
	defer unlock()
	if err := ignore(home); err != nil {
		return "", "", elsewhere(err)
	}
	tail := id.build
	if tail == "" {
		tail = id.alone
	} else if run, err = find(home, tail); err != nil {
		return "", "", elsewhere(err)
	}
	if run == "" {
		run = now.UTC().Format("20060102T150405") + "-" + tail
		if err := os.Mkdir(filepath.Join(home, run), 0o777); err != nil {
			return "", "", elsewhere(err)
		}
		if err := syncDir(home); err != nil {
			return "", "", elsewhere(err)
		}
	}
	dir = filepath.Join(home, run)
	if err := succeed(home, run); err != nil {
		return "", "", elsewhere(err)
	}
	return dir, run, nil
}

const (
	latestFile   = "latest"   // in the home: the name of the run that was begun last
	previousFile = "previous" // in a run's directory: what latest said before; empty when it was the first
)

// runName is how a run in the home is called: by the time it was begun, so that names sort by age.
var runName = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}-`)

// succeed makes a run the latest, and first writes down in its directory which one was that before. The process that made
// the directory may have been killed before it came to that: the next one does it.
func succeed(home, run string) error {
	previous, latest := filepath.Join(home, run, previousFile), filepath.Join(home, latestFile)
	now, err := readName(latest)
	if err != nil {
		now = "" // whatever it holds is no run, and is replaced
	}
	switch before, err := os.ReadFile(previous); {
	case err == nil && (now == run || now != strings.TrimSpace(string(before))):
		return nil // another one may have succeeded this one since
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		if now == run { // a version that kept no previous began it
			now = older(home, run)
		}
		if err := replaceFile(previous, now+"\n"); err != nil {
			return err
		}
	}
	return replaceFile(latest, run+"\n")
}

// elsewhere adds what can be done where the home cannot be written: the module of a dependency, a read-only checkout.
func elsewhere(err error) error {
	return fmt.Errorf("%w; set EVALTEST_DIR to a directory that can be written, on a local disk", err)
}

// find is the name of the newest run in home that ends in -build, "" when there is none.
func find(home, build string) (run string, err error) {
	entries, err := os.ReadDir(home)
	if err != nil {
		return "", err
	}
	for _, e := range entries { // sorted by name, so by time
		if _, tail, ok := strings.Cut(e.Name(), "-"); ok && tail == build && e.IsDir() {
			run = e.Name()
		}
	}
	return run, nil
}

// ignore keeps the folder out of version control by a file of its own.
func ignore(home string) error {
	path := filepath.Join(home, ".gitignore")
	if _, err := os.Lstat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return replaceFile(path, "*\n")
}

// replaceFile writes a file such that a reader finds the old content or the new, never a part.
func replaceFile(path, content string) error {
	return replaceWith(path, func(f *os.File) error {
		_, err := f.WriteString(content)
		return err
	})
}

func replaceWith(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Chmod(0o644) // CreateTemp's 0600 would hide it from those who may read the rest
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = robustio.Rename(f.Name(), path) // on Windows a reader may be in the way for a moment
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
