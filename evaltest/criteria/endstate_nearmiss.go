package criteria

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// nearMissBudget bounds how many files are looked at for an explanation.
const nearMissBudget = 5000

// instead says what is in the workspace where nothing is that the glob names: the same name in other case, in another folder, with
// another ending or a slip of the pen; else what the workspace holds. It never fails: an explanation is not worth an
// error.
func (w *workspace) instead(ctx context.Context, g glob) string {
	want := g.pattern
	if g.literal != "" {
		want = g.literal
	}
	var otherCase, otherFolder, alike, top []string
	budget := nearMissBudget
	err := w.walk(ctx, ".", func(e entry) error {
		if budget--; budget < 0 {
			return errEnough
		}
		shown := e.path
		if e.isFolder() {
			shown += "/"
		}
		if !strings.Contains(e.path, "/") {
			top = append(top, shown)
		}
		if e.path == ".git" {
			return fs.SkipDir
		}
		base, last := path.Base(e.path), path.Base(want)
		switch {
		case matchFold(want, e.path, g):
			otherCase = append(otherCase, shown)
		case last != "**" && last != "*" && matchFold(last, base, g):
			otherFolder = append(otherFolder, shown)
		case g.literal != "" && similar(base, last):
			alike = append(alike, shown)
		}
		return nil
	})
	_ = err // an unreadable part: what was seen until then still helps
	for _, miss := range []struct {
		names []string
		how   string
	}{{otherCase, "in other case"}, {otherFolder, "in another folder"}, {alike, "of a similar name"}} {
		if len(miss.names) > 0 {
			return fmt.Sprintf("there is %s, %s", firstFew(miss.names, 3), miss.how)
		}
	}
	if len(top) == 0 {
		return "the workspace is empty"
	}
	return "the workspace holds " + firstFew(top, 6)
}

func matchFold(pattern, name string, g glob) bool {
	pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	if g.literal != "" {
		return pattern == name
	}
	return doublestar.ValidatePattern(pattern) && doublestar.MatchUnvalidated(pattern, name)
}

// similar reports whether two names differ in their endings only, or in two characters at most.
func similar(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	stemA, stemB := strings.TrimSuffix(a, path.Ext(a)), strings.TrimSuffix(b, path.Ext(b))
	if stemA == stemB && stemA != "" {
		return true
	}
	return min(len(a), len(b)) > 4 && max(len(a), len(b)) < 100 && distance([]rune(a), []rune(b)) <= 2
}

// distance is how many characters have to be put in, taken out or replaced to make b of a.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
