package workspace

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// node is a file or folder of a staged skill.
type node struct {
	path     string // where it is on disk
	info     fs.FileInfo
	children map[string]*node // nil: it is a file
}

// staged is the file system of a skill.
type staged struct{ top *node }

// Open opens a file, or a folder to be listed.
func (s staged) Open(name string) (fs.File, error) {
	n, err := s.find("open", name)
	if err != nil {
		return nil, err
	}
	self := named{n.info, path.Base(name)}
	if n.children != nil {
		return &folder{info: self, rest: n.list()}, nil
	}
	f, err := os.Open(n.path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return file{f, self}, nil
}

func (s staged) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	n := s.top
	if name != "." {
		for part := range strings.SplitSeq(name, "/") {
			if n = n.children[part]; n == nil {
				return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
			}
		}
	}
	return n, nil
}

// named is the information of a node under the name it has in the skill, which is not that of what a link leads to.
type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }

// list is what is in a folder, by name.
func (n *node) list() []fs.DirEntry {
	var entries []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		entries = append(entries, fs.FileInfoToDirEntry(named{n.children[name].info, name}))
	}
	return entries
}

// file is an open file.
type file struct {
	*os.File
	info named
}

// Stat is of the file as it is now, under its name in the skill.
func (f file) Stat() (fs.FileInfo, error) {
	fi, err := f.File.Stat()
	if err != nil {
		return nil, err
	}
	return named{fi, f.info.name}, nil
}

// folder is an open folder.
type folder struct {
	info named
	rest []fs.DirEntry // what has not been read
}

func (f *folder) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *folder) Close() error { return nil }

func (f *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.info.name, Err: errors.New("it is a folder")}
}

// ReadDir answers the next n entries, or all that are left.
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(f.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(f.rest) {
		n = len(f.rest)
	}
	next := f.rest[:n:n]
	f.rest = f.rest[n:]
	return next, nil
}
