package criteria

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// readGolden reads every file of fsys.
func readGolden(fsys fs.FS) (map[string][]byte, error) {
	files, _, err := readFiles(fsys)
	switch {
	case err != nil:
		return nil, fmt.Errorf("golden files: %w", err)
	case len(files) == 0:
		return nil, errors.New("golden files: there are none; is the folder the right one?")
	}
	return files, nil
}

// readFiles reads the files of an author's file system, and their permissions.
func readFiles(fsys fs.FS) (files map[string][]byte, modes map[string]fs.FileMode, err error) {
	if fsys == nil {
		return nil, nil, errors.New("the file system is nil")
	}
	files, modes = map[string][]byte{}, map[string]fs.FileMode{}
	total := 0
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := fs.Stat(fsys, name) // what a link leads to
		switch {
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is not a regular file", name)
		case info.Size() > int64(maxRead-total):
			return fmt.Errorf("they hold more than %s", byteSize(maxRead))
		}
		data, err := fs.ReadFile(fsys, name)
		files[name], modes[name], total = data, info.Mode().Perm(), total+len(data)
		return err
	})
	return files, modes, err
}

func readArchive(file string) (map[string][]byte, error) {
	if file == "" {
		return nil, errors.New("golden archive: the path is empty")
	}
	a, err := txtar.ParseFile(file)
	if err != nil {
		return nil, fmt.Errorf("golden archive: %w", err)
	}
	return archiveFiles(a)
}

func parseArchive(data []byte) (map[string][]byte, error) { return archiveFiles(txtar.Parse(data)) }

func archiveFiles(a *txtar.Archive) (map[string][]byte, error) {
	if len(a.Files) == 0 {
		return nil, errors.New(`golden archive: it holds no file; each begins with a line like "-- name --"`)
	}
	files := make(map[string][]byte, len(a.Files))
	for _, f := range a.Files {
		name := path.Clean(f.Name)
		if !fs.ValidPath(name) || name == "." {
			return nil, fmt.Errorf("golden archive: %q is not a path in a workspace", f.Name)
		}
		if _, twice := files[name]; twice {
			return nil, fmt.Errorf("golden archive: it holds %s twice", name)
		}
		files[name] = f.Data
	}
	return files, nil
}

// folderIgnored reports whether a glob names the folder itself or everything in it.
func folderIgnored(globs []glob, folder string) bool {
	for _, g := range globs {
		above, all := strings.CutSuffix(g.pattern, "/**")
		if g.match(folder, true) || all && doublestar.MatchUnvalidated(above, folder) {
			return true
		}
	}
	return false
}

// Bounds of a diff: of longer texts a window around the first difference is shown.
const (
	diffLines = 60  // of a window
	diffWidth = 400 // bytes of a line
)

// diffFiles says how got differs from want; whole is whether got is all of the file, which has size bytes.
func diffFiles(want, got []byte, whole bool, size int64) *difference {
	if !isText(want) || !isText(got) {
		return &difference{how: fmt.Sprintf("%s, want %s", fingerprint(got, whole, size), fingerprint(want, true, int64(len(want))))}
	}
	wantLines, gotLines := bytes.SplitAfter(want, []byte("\n")), bytes.SplitAfter(got, []byte("\n"))
	first := 0
	for first < min(len(wantLines), len(gotLines)) && bytes.Equal(wantLines[first], gotLines[first]) {
		first++
	}
	how := fmt.Sprintf("line %d", first+1)
	w, g := window(wantLines, first), window(gotLines, first)
	diff := cmp.Diff(w, g)
	if diff == "" { // beyond the width of what is shown
		diff = fmt.Sprintf("  line %d differs beyond its first %d bytes\n", first+1, diffWidth)
	}
	if first > diffContext {
		diff = fmt.Sprintf("  … from line %d:\n%s", first+1-diffContext, diff)
	}
	return &difference{how: how, detail: diff}
}

// diffContext is how many lines are shown before the first difference.
const diffContext = 3

// window is what is shown of a text whose line first differs.
func window(lines [][]byte, first int) string {
	var b strings.Builder
	begin := max(0, first-diffContext)
	for _, l := range lines[min(begin, len(lines)):min(begin+diffLines, len(lines))] {
		if len(l) > diffWidth {
			l = append(bytes.ToValidUTF8(l[:diffWidth], nil), "…\n"...)
		}
		b.Write(l)
	}
	return b.String()
}

// fingerprint tells one content from another.
func fingerprint(data []byte, whole bool, size int64) string {
	if !whole {
		return byteSize(size)
	}
	return fmt.Sprintf("%s sha256 %.6x…", byteSize(size), sha256.Sum256(data))
}
