package criteria

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/evaltest-go/evaltest/evaltest"
)

// Content asks what is in files of the workspace when the agent is done. See [FileContains] and [FileMatches].
type Content struct {
	glob glob
	text string
	re   *regexp.Regexp // nil: text
	expr string         // of re, as it was given
	err  error
}

// FileContains passes if the file contains the text, byte for byte; of several files that match the pattern, one is enough.
// Patterns are described at [QuoteGlob]. A file that does not exist, or cannot be read as the agent left it (a folder, a
// named pipe, no permission, a link that leads out of the workspace), scores 0.
//
// Beware of Never(FileContains(path, text)): it passes if there is no such file. A file of more than 256 MiB in which
// the text was not found by then is an error of the grader, as what was not read cannot be judged.
func FileContains(pattern, text string) *Content {
	g, err := parseGlob(pattern)
	if text == "" {
		err = errors.Join(err, errors.New("no text to look for: every file contains the empty one; use FileExists"))
	}
	return &Content{glob: g, text: text, err: err}
}

// FileMatches passes if the regular expression (of package regexp) matches somewhere in the file; of several files that
// match the pattern, one is enough. As in package regexp, ^ and $ are the ends of the whole text unless the expression begins
// with (?m). All else is as for [FileContains]; a file of more than 64 MiB is an error of the grader.
func FileMatches(pattern, expr string) *Content {
	g, err := parseGlob(pattern)
	re, reErr := compileExpr(expr)
	return &Content{glob: g, re: re, expr: expr, err: errors.Join(err, reErr)}
}

// compileExpr compiles an author's regular expression.
func compileExpr(expr string) (*regexp.Regexp, error) {
	if expr == "" {
		return nil, errors.New("the regular expression is empty: it matches everything")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", expr, err)
	}
	return re, nil
}

// String is like: file contains "total" (out.csv).
func (c *Content) String() string {
	if c.text != "" || c.expr == "" {
		return fmt.Sprintf("file contains %q (%s)", clipLine(c.text, 60), c.glob.text)
	}
	return fmt.Sprintf("file matches /%s/ (%s)", clipLine(c.expr, 60), c.glob.text)
}

// Misuse reports a bad path, pattern or regular expression, and an empty text.
func (c *Content) Misuse() error { return c.err }

// enoughHits: so many files are named; the rest is not searched.
const enoughHits = 4

// Grade scores 1 or 0.
func (c *Content) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if c.err != nil {
		return evaltest.Score{}, misuseError(c, c.err)
	}
	w, err := openWorkspace(trial)
	if err != nil {
		return evaltest.Score{}, err
	}
	defer w.close()
	found, odd, err := w.find(ctx, c.glob)
	if err != nil {
		return evaltest.Score{}, err
	}
	var files []entry
	var hits []string
	var unknown error
	for _, e := range found {
		if e.isFolder() && c.glob.literal == "" || len(hits) > 0 && e.info.Size() > maxScan {
			continue // a hit is enough, and a huge file takes long
		}
		if err := ctxEnded(ctx, "search "+e.path); err != nil {
			return evaltest.Score{}, err
		}
		at, why, err := c.search(ctx, w, e)
		switch {
		case err != nil:
			unknown = errors.Join(unknown, err)
		case why != "":
			odd = append(odd, e.path+" "+why)
		case at == 0:
			files = append(files, e)
		default:
			hits = append(hits, fmt.Sprintf("%s:%d", e.path, at))
		}
		if len(hits) == enoughHits {
			break
		}
	}
	switch {
	case len(hits) > 0:
		return scorePassed("%s", strings.Join(hits, ", ")), nil
	case unknown != nil:
		return evaltest.Score{}, unknown
	case len(files) == 0:
		return w.absent(ctx, c.glob, odd), nil
	case len(files) == 1 && len(odd) == 0:
		return c.missed(ctx, w, files[0]), nil
	}
	return scoreFailed("in none of %s: %s", counted(len(files)+len(odd), "file"), firstFew(append(entryNames(files), odd...), 5)), nil
}

// search says in which line of the file it was found; 0: in none.
func (c *Content) search(ctx context.Context, w *workspace, e entry) (line int, why string, err error) {
	if c.re == nil {
		return w.scan(ctx, e, c.text)
	}
	large := e.tooLarge()
	var data []byte
	if !large {
		var whole bool
		if data, whole, why, err = w.read(ctx, e, maxRead); err != nil || why != "" {
			return 0, why, err
		}
		large = !whole
	}
	if large {
		return 0, "", tooMuch("match %s: it is larger than %s", e.path, byteSize(maxRead))
	}
	at := c.re.FindIndex(data)
	if at == nil {
		return 0, "", nil
	}
	return lineOf(data, at[0]), "", nil
}

// missed is the score for the one file, in which it was not found: what it holds instead.
func (c *Content) missed(ctx context.Context, w *workspace, e entry) evaltest.Score {
	const shown = 1 << 20
	what := "no match in"
	if c.re == nil {
		what = "not in"
	}
	data, whole, why, err := w.read(ctx, e, shown)
	switch {
	case err != nil || why != "":
		return scoreFailed("%s %s", what, e.path)
	case len(data) == 0:
		return scoreFailed("%s is empty", e.path)
	}
	near := ""
	switch at, spaces := foldIndex(data, c.text), containsCollapsed(data, c.text); {
	case c.re != nil:
	case at >= 0:
		near = fmt.Sprintf("; line %d has it in other case", lineOf(data, at))
	case spaces:
		near = "; it is there with other white space"
	}
	size := byteSize(e.info.Size())
	if whole {
		size += ", " + counted(lineCount(data), "line")
	}
	return withReason(evaltest.PassIf(false), headOf(data), "%s %s (%s)%s", what, e.path, size, near)
}
