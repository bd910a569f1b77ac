package criteria

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/evaltest"
)

// Equality compares files of the workspace with those that are wanted. See [FilesEqual]. Its methods return a changed copy.
type Equality struct {
	name    string // the archive's; "": the files are named instead
	want    map[string][]byte
	in      string // the folder of the workspace that is compared
	ignore  []glob
	exact   bool // what is not wanted is a difference too
	endings bool // line endings do not matter
	newline bool // the newline at the end of a file does not matter
	partial bool
	err     error
}

// FilesEqual passes if every file of want is in the workspace, at the same path and with the same content. What else the
// workspace holds does not matter, unless Exact is asked for; nor do modes, times and empty folders.
//
//	criteria.FilesEqual(os.DirFS("testdata/want")).Exact().Ignore(".git/**")
//
// The reason shows each difference as a diff (-want +got). Files that are not text are compared by their hashes. want is read at once, and
// holds 64 MiB at most; one without any file is a mistake.
func FilesEqual(want fs.FS) *Equality {
	files, err := readGolden(want)
	return &Equality{want: files, err: err}
}

// FilesEqualTxtar is FilesEqual with the files of a txtar archive (golang.org/x/tools/txtar), whose path is relative to the
// test's folder. As the format ends every file with a newline, a missing one is no difference.
func FilesEqualTxtar(file string) *Equality {
	files, err := readArchive(file)
	return &Equality{name: file, want: files, newline: true, err: err}
}

// FilesEqualTxtarText is FilesEqualTxtar with the text of the archive itself.
func FilesEqualTxtarText(archive string) *Equality {
	files, err := parseArchive([]byte(archive))
	return &Equality{want: files, newline: true, err: err}
}

func (c *Equality) clone() *Equality {
	d := *c
	return &d
}

// In compares with the folder of the workspace, instead of with all of it.
func (c *Equality) In(folder string) *Equality {
	c = c.clone()
	g, err := parseGlob(folder)
	if err == nil && g.literal == "" {
		err = fmt.Errorf("In(%q): the name of one folder is needed, not a pattern", folder)
	}
	c.in, c.err = g.literal, errors.Join(c.err, err)
	return c
}

// Exact makes every file that is not wanted a difference. Patterns given to Ignore say which are not.
func (c *Equality) Exact() *Equality {
	c = c.clone()
	c.exact = true
	return c
}

// Ignore leaves out the files that match one of the patterns, and everything in folders that do: paths as they are in want.
func (c *Equality) Ignore(patterns ...string) *Equality {
	c = c.clone()
	globs, err := parseGlobs(patterns)
	c.ignore, c.err = append(slices.Clone(c.ignore), globs...), errors.Join(c.err, err)
	return c
}

// IgnoreLineEndings takes "\r\n" for "\n" on both sides.
func (c *Equality) IgnoreLineEndings() *Equality {
	c = c.clone()
	c.endings = true
	return c
}

// Partial scores the share of files that are equal, instead of 1 or 0. With Exact, files that are not wanted count as
// unequal ones.
func (c *Equality) Partial() *Equality {
	c = c.clone()
	c.partial = true
	return c
}

// String is like: files equal (testdata/want.txtar).
func (c *Equality) String() string {
	what := c.name
	if what == "" {
		what = firstFew(slices.Sorted(maps.Keys(c.want)), 2)
	}
	if c.in != "" {
		what += " in " + c.in
	}
	return fmt.Sprintf("files equal (%s)", clipLine(what, 80))
}

// Misuse reports golden files that cannot be read or of which none is left, and bad patterns.
func (c *Equality) Misuse() error {
	if c.err == nil && len(c.wanted()) == 0 {
		return errors.New("golden files: there are none to compare with")
	}
	return c.err
}

// wanted lists the golden files that are not ignored.
func (c *Equality) wanted() []string {
	names := slices.Sorted(maps.Keys(c.want))
	return slices.DeleteFunc(names, func(name string) bool { return anyCovers(c.ignore, name) })
}

// difference is one file that is not as wanted.
type difference struct {
	path   string
	how    string // in a word or two
	detail string // "" when there is nothing to show
}

// Grade scores 1, 0, or the share of equal files.
func (c *Equality) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if err := c.Misuse(); err != nil {
		return evaltest.Score{}, misuseError(c, err)
	}
	w, err := openWorkspace(trial)
	if err != nil {
		return evaltest.Score{}, err
	}
	defer w.close()
	wanted := c.wanted()
	var differ []difference
	for _, name := range wanted {
		d, err := c.compare(ctx, w, name)
		if err != nil {
			return evaltest.Score{}, err
		}
		if d != nil {
			differ = append(differ, *d)
		}
	}
	total := len(wanted)
	if c.exact {
		extra, err := c.extra(ctx, w)
		if err != nil {
			return evaltest.Score{}, err
		}
		differ, total = append(differ, extra...), total+len(extra)
	}
	if len(differ) == 0 {
		return scorePassed("%s", counted(total, "file")+" equal"), nil
	}
	score := evaltest.PassIf(false)
	if c.partial {
		score = evaltest.Ratio(total-len(differ), total)
	}
	var names []string
	var details strings.Builder
	for _, d := range differ {
		names = append(names, fmt.Sprintf("%s (%s)", d.path, d.how))
		if d.detail != "" && details.Len() < maxDetail {
			fmt.Fprintf(&details, "%s (-want +got):\n%s\n", d.path, strings.TrimRight(d.detail, "\n"))
		}
	}
	return withReason(score, details.String(), "%d of %d files differ: %s",
		len(differ), total, firstFew(names, 4)), nil
}

// compare returns nil for a file that is as wanted.
func (c *Equality) compare(ctx context.Context, w *workspace, name string) (*difference, error) {
	if err := ctxEnded(ctx, "compare "+name); err != nil {
		return nil, err
	}
	want := c.want[name]
	e, err := w.look(path.Join(c.in, name))
	if err != nil {
		return nil, err
	}
	// Twice the length and one: what normalizing can take away. A longer file is another one.
	got, whole, why, err := w.read(ctx, e, 2*int64(len(want))+1)
	switch {
	case err != nil:
		return nil, err
	case e.info == nil && why == "does not exist":
		return &difference{path: name, how: "missing"}, nil
	case why != "":
		return &difference{path: name, how: why}, nil
	case whole && string(c.normal(got)) == string(c.normal(want)):
		return nil, nil
	}
	if !whole { // some more, to see whether it is text
		if got, whole, why, err = w.read(ctx, e, 2*int64(len(want))+1<<20); err != nil || why != "" {
			return &difference{path: name, how: why}, err
		}
	}
	d := diffFiles(c.normal(want), c.normal(got), whole, e.info.Size())
	d.path = name
	return d, nil
}

// extra lists what is in the workspace and not wanted.
func (c *Equality) extra(ctx context.Context, w *workspace) ([]difference, error) {
	folder := path.Join(".", c.in)
	if e, err := w.look(folder); err != nil || !e.isFolder() {
		return nil, err
	}
	var extra []difference
	err := w.walk(ctx, folder, func(e entry) error {
		name := strings.TrimPrefix(e.path, c.in+"/")
		_, wanted := c.want[name]
		switch {
		case wanted:
		case e.isFolder():
			if folderIgnored(c.ignore, name) {
				return fs.SkipDir
			}
		case !anyCovers(c.ignore, name):
			extra = append(extra, difference{path: name, how: "not wanted"})
		}
		return nil
	})
	return extra, err
}

// normal is data as it is compared.
func (c *Equality) normal(data []byte) []byte {
	if !isText(data) {
		return data
	}
	s := string(data)
	if c.endings {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	if c.newline && s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return []byte(s)
}
