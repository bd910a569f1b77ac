package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Digest is equal for states that hold the same, on whatever machine and in whatever folder: paths, kinds, targets of links,
// executability, contents. Times do not count, unless they are all that is known of a file.
func (s Snapshot) Digest() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(s.entries)) {
		e := s.entries[name]
		fmt.Fprintf(h, "%q %v %v %q %x", name, e.kind, e.exec, e.link, e.hash)
		if e.unread {
			fmt.Fprintf(h, " %d %v", e.size, e.mod.UnixNano())
		}
		fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
