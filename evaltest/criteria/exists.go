package criteria

import (
	"context"
	"fmt"

	"github.com/evaltest-go/evaltest/evaltest"
)

// Existence asks whether files exist in the workspace when the agent is done. See [FileExists].
type Existence struct {
	glob glob
	err  error
}

// FileExists passes if something in the workspace has the path, or matches the pattern; patterns are described at
// [QuoteGlob]. Folders count: FileExists("build") passes for a file and for a folder of this name, FileExists("build/") for
// a folder only, FileExists("build/**") for a file anywhere in it. Links count for what they lead to; one that leads to
// nothing or out of the workspace is not there.
//
// Never(FileExists(path)) says that a file is absent.
func FileExists(pattern string) *Existence {
	g, err := parseGlob(pattern)
	return &Existence{g, err}
}

// String is like: file exists (out/*.csv).
func (c *Existence) String() string { return fmt.Sprintf("file exists (%s)", c.glob.text) }

// Misuse reports a path that is absolute or leads out of the workspace, and a pattern that is none.
func (c *Existence) Misuse() error { return c.err }

// Grade scores 1 or 0.
func (c *Existence) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if c.err != nil {
		return evaltest.Score{}, misuseError(c, c.err)
	}
	w, err := openWorkspace(trial)
	if err != nil {
		return evaltest.Score{}, err
	}
	defer w.close()
	found, odd, err := w.find(ctx, c.glob)
	switch {
	case err != nil:
		return evaltest.Score{}, err
	case len(found) == 0:
		return w.absent(ctx, c.glob, odd), nil
	case len(found) == 1:
		return scorePassed("%s", describeEntry(found[0])), nil
	}
	return scorePassed("%d: %s", len(found), firstFew(entryNames(found), 5)), nil
}

// absent is the score for a glob that names nothing.
func (w *workspace) absent(ctx context.Context, g glob, odd []string) evaltest.Score {
	switch {
	case len(odd) > 0:
		return scoreFailed("%s", firstFew(odd, 2))
	case g.literal != "":
		return scoreFailed("no %s; %s", g.text, w.instead(ctx, g))
	}
	return scoreFailed("nothing matches %s; %s", g.text, w.instead(ctx, g))
}

func describeEntry(e entry) string {
	switch {
	case e.isFolder():
		return e.path + " is a folder"
	case !e.info.Mode().IsRegular():
		return e.path + " " + e.notRegular()
	}
	return fmt.Sprintf("%s, %s", e.path, byteSize(e.info.Size()))
}

func entryNames(es []entry) []string {
	names := make([]string, len(es))
	for i, e := range es {
		names[i] = e.path
		if e.isFolder() {
			names[i] += "/"
		}
	}
	return names
}
