package workspace

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// Diff is what changed from s to later, ordered by path: files, links and the like that are new or gone, and those whose
// content, kind, target or executability is another. Times and other bits of the mode do not count. A folder is named only where
// nothing in it says that it came or went: when it is empty, or took the place of something else.
func (s Snapshot) Diff(later Snapshot) []journal.Change {
	var cs []journal.Change
	for name, a := range s.entries {
		b, ok := later.entries[name]
		switch {
		case !ok && a.shows():
			cs = append(cs, journal.Change{Path: name, Kind: journal.Deleted})
		case ok && a.differs(b):
			cs = append(cs, journal.Change{Path: name, Kind: journal.Modified})
		}
	}
	for name, b := range later.entries {
		if _, ok := s.entries[name]; !ok && b.shows() {
			cs = append(cs, journal.Change{Path: name, Kind: journal.Created})
		}
	}
	slices.SortFunc(cs, func(a, b journal.Change) int { return strings.Compare(a.Path, b.Path) })
	return cs
}

// shows reports whether the coming or going of e is a change of its own.
func (e entry) shows() bool { return e.kind != fs.ModeDir || e.empty || e.unread }

func (e entry) differs(o entry) bool {
	switch {
	case e.kind != o.kind || e.exec != o.exec || e.link != o.link:
		return true
	case e.kind != 0:
		return false
	case e.unread || o.unread:
		return e.size != o.size || !e.mod.Equal(o.mod)
	}
	return e.hash != o.hash
}
