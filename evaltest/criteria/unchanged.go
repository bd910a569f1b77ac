package criteria

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// Change asks what the agent changed in the workspace. See [Unchanged] and [FileChanged]. What it changed is known from content
// hashes taken before and after: a file that was changed and changed back is unchanged, and so is one whose mode or time
// alone is another.
type Change struct {
	globs []glob
	keep  bool                 // nothing may have changed
	kinds []journal.ChangeKind // empty: any
	err   error
}

// Unchanged passes if the agent created, modified and deleted nothing that matches one of the patterns, or lies in a folder that
// does: Unchanged("src", "**/*_test.go"). Without patterns it speaks of the whole workspace. Patterns are described at
// [QuoteGlob].
//
// A pattern that matches nothing is no mistake: Unchanged("go.sum") also says that no go.sum was created.
func Unchanged(patterns ...string) *Change {
	if len(patterns) == 0 {
		patterns = []string{"**"}
	}
	globs, err := parseGlobs(patterns)
	return &Change{globs: globs, keep: true, err: err}
}

// FileChanged passes if the agent created, modified or deleted something that matches the pattern or lies in a folder that does.
// Created, Modified and Deleted narrow that down.
func FileChanged(pattern string) *Change {
	globs, err := parseGlobs([]string{pattern})
	return &Change{globs: globs, err: err}
}

func (c *Change) of(kind journal.ChangeKind) *Change {
	d := *c
	d.kinds = append(slices.Clone(c.kinds), kind)
	return &d
}

// Created counts files that the agent made. With Modified or Deleted, either counts.
func (c *Change) Created() *Change { return c.of(journal.Created) }

// Modified counts files that were there before, with another content.
func (c *Change) Modified() *Change { return c.of(journal.Modified) }

// Deleted counts files that were there before and are gone.
func (c *Change) Deleted() *Change { return c.of(journal.Deleted) }

// String is like: unchanged (src, **/*_test.go).
func (c *Change) String() string {
	texts := make([]string, len(c.globs))
	for i, g := range c.globs {
		texts[i] = g.text
	}
	what := "file " + c.kindWords()
	if c.keep {
		if what = "unchanged"; len(c.kinds) > 0 {
			what = "nothing " + c.kindWords()
		}
	}
	return fmt.Sprintf("%s (%s)", what, firstFew(texts, 4))
}

// kindWords is the kinds of change that count.
func (c *Change) kindWords() string {
	if len(c.kinds) == 0 {
		return "changed"
	}
	var words []string
	for _, k := range c.kinds {
		words = append(words, string(k))
	}
	return strings.Join(words, " or ")
}

// Misuse reports bad patterns.
func (c *Change) Misuse() error { return c.err }

// Grade scores 1 or 0.
func (c *Change) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if c.err != nil {
		return evaltest.Score{}, misuseError(c, c.err)
	}
	var changes []string
	for _, ch := range trial.Changes {
		if (len(c.kinds) == 0 || slices.Contains(c.kinds, ch.Kind)) && anyCovers(c.globs, ch.Path) {
			changes = append(changes, string(ch.Kind)+" "+ch.Path)
		}
	}
	switch {
	case len(changes) > 0:
		return withReason(evaltest.PassIf(!c.keep), "", "%s", firstFew(changes, 4)), nil
	case c.keep:
		return scorePassed("%s", c.vacuous(ctx, trial)), nil
	case len(trial.Changes) == 0:
		return scoreFailed("the agent changed nothing at all"), nil
	}
	var others []string
	for _, ch := range trial.Changes {
		others = append(others, string(ch.Kind)+" "+ch.Path)
	}
	return scoreFailed("not %s; but %s", c.kindWords(), firstFew(others, 3)), nil
}

// vacuous says of a criterion that holds whether there was anything to change: a slip in a pattern would go unnoticed else.
func (c *Change) vacuous(ctx context.Context, trial *evaltest.Trial) string {
	w, err := openWorkspace(trial)
	if err != nil {
		return ""
	}
	defer w.close()
	var idle []string
	for _, g := range c.globs {
		found, err := w.findAny(ctx, g)
		if err == nil && !found {
			idle = append(idle, g.text)
		}
	}
	if len(idle) == 0 {
		return ""
	}
	return "nothing in the workspace matches " + firstFew(idle, 4)
}

// findAny reports whether the glob names anything.
func (w *workspace) findAny(ctx context.Context, g glob) (found bool, err error) {
	if g.literal != "" {
		e, err := w.look(g.literal)
		return e.info != nil, err
	}
	if base, err := w.look(g.base()); err != nil || !base.isFolder() {
		return false, err
	}
	err = w.walk(ctx, g.base(), func(e entry) error {
		if g.match(e.path, e.isFolder()) {
			found = true
			return errEnough
		}
		return nil
	})
	return found, err
}
