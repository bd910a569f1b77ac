package criteria

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/evaltest-go/evaltest/evaltest"
)

// Document asks what a JSON document says: a file of the workspace ([JSON]) or the agent's reply ([ReplyJSON]). Its methods
// add an assertion each, and return a changed copy. All of them have to hold, unless Partial says otherwise.
//
// Paths name a place in the document: items[0].total, or a["key with.dots"], or items[*].id for a list of what is found in
// each element. "" is the whole document.
type Document struct {
	reply   bool // it is the reply, not a file
	file    string
	glob    glob // of file
	checks  []documentCheck
	partial bool
	err     error
}

// documentCheck is one assertion.
type documentCheck struct {
	name  string
	holds func(doc any) (why string, ok bool)
}

// JSON passes if the file of the workspace is one well-formed JSON document, of which everything holds that its methods
// add. file is a path, not a pattern.
//
//	criteria.JSON("out.json").At("items[0].total", 3).AtMatches("date", `^\d{4}-`).Len("items", 2)
//
// A file that is missing, malformed or cannot be read scores 0, whatever is asserted; one of more than 64 MiB is an error of the
// grader. Numbers are compared by value and exactly.
func JSON(file string) *Document {
	g, err := parseGlob(QuoteGlob(file))
	g.text = file
	return &Document{file: file, glob: g, err: err}
}

// ReplyJSON is [JSON] for the agent's last words: they have to be one JSON document, and nothing else but white space around
// it. One Markdown fence around it is taken off, with what is said before and after: a reply that holds exactly one block
// fenced as json, or a sole fenced block, is graded by what is in that block.
func ReplyJSON() *Document { return &Document{reply: true} }

func (c *Document) clone() *Document {
	d := *c
	return &d
}

// with adds an assertion, or what is wrong with it.
func (c *Document) with(err error, name string, holds func(doc any) (string, bool)) *Document {
	c = c.clone()
	if err != nil {
		c.err = errors.Join(c.err, fmt.Errorf("%s: %w", name, err))
	}
	c.checks = append(c.checks[:len(c.checks):len(c.checks)], documentCheck{name, holds})
	return c
}

// at adds an assertion about the value at path.
func (c *Document) at(path, name string, err error, holds func(v any) (why string, ok bool)) *Document {
	p, pathErr := parseJSONPath(path)
	return c.with(errors.Join(pathErr, err), name, func(doc any) (string, bool) {
		v, err := p.find(doc)
		if err != nil {
			return err.Error(), false
		}
		return holds(v)
	})
}

// shownPath is path for people.
func shownPath(path string) string {
	if path == "" {
		return "$"
	}
	return path
}

// At asserts that the value at path is want, or what want is as JSON (package encoding/json): numbers, strings, booleans, nil,
// maps, slices, structs.
func (c *Document) At(path string, want any) *Document {
	plain, err := plainJSON(want)
	name := fmt.Sprintf("%s is %s", shownPath(path), clipLine(compactJSON(plain), 60))
	return c.at(path, name, err, func(v any) (string, bool) {
		return fmt.Sprintf("it is %s", clipLine(compactJSON(v), 100)), equalJSON(v, plain)
	})
}

// AtMatches asserts that the regular expression matches in the value at path: in a string's content, in anything else's JSON text.
func (c *Document) AtMatches(path, expr string) *Document {
	re, err := compileExpr(expr)
	return c.at(path, fmt.Sprintf("%s matches /%s/", shownPath(path), clipLine(expr, 60)), err, func(v any) (string, bool) {
		text, ok := v.(string)
		if !ok {
			text = compactJSON(v)
		}
		return fmt.Sprintf("it is %s", clipLine(compactJSON(v), 100)), re.MatchString(text)
	})
}

// Has asserts that there is a value at path; null is one.
func (c *Document) Has(path string) *Document {
	return c.at(path, "has "+shownPath(path), nil, func(any) (string, bool) { return "", true })
}

// Lacks asserts that there is no value at path, not even null.
func (c *Document) Lacks(path string) *Document {
	p, err := parseJSONPath(path)
	return c.with(err, "lacks "+shownPath(path), func(doc any) (string, bool) {
		v, err := p.find(doc)
		return fmt.Sprintf("it is there: %s", clipLine(compactJSON(v), 100)), err != nil
	})
}

// Len asserts that the list or object at path has n elements, or the string n characters.
func (c *Document) Len(path string, n int) *Document {
	var err error
	if n < 0 {
		err = errors.New("a length is not negative")
	}
	return c.at(path, fmt.Sprintf("%s has length %d", shownPath(path), n), err, func(v any) (string, bool) {
		var got int
		switch v := v.(type) {
		case []any:
			got = len(v)
		case map[string]any:
			got = len(v)
		case string:
			got = len([]rune(v))
		default:
			return fmt.Sprintf("it is %s, which has no length", jsonKind(v)), false
		}
		return fmt.Sprintf("its length is %d", got), got == n
	})
}

// Schema asserts that the document is valid by the JSON schema (draft 2020-12 or draft 7). jsonschema.For makes one of a Go
// type; SchemaFile and SchemaText read one.
func (c *Document) Schema(schema *jsonschema.Schema) *Document {
	resolved, err := resolveSchema(schema)
	name := "valid by the schema"
	if schema != nil && schema.Title != "" {
		name += " " + clipLine(schema.Title, 60)
	}
	return c.with(err, name, func(doc any) (string, bool) {
		if err := resolved.Validate(schemaValue(doc)); err != nil {
			return schemaWords(err), false
		}
		return "", true
	})
}

// SchemaText is Schema with the JSON text of a schema.
func (c *Document) SchemaText(text string) *Document {
	schema, err := parseSchema([]byte(text))
	if err != nil {
		return c.with(err, "valid by the schema", nil)
	}
	return c.Schema(schema)
}

// SchemaFile is Schema with a schema that is read from a file: a path relative to the test's folder.
func (c *Document) SchemaFile(file string) *Document {
	data, err := os.ReadFile(file)
	if err != nil {
		return c.with(err, "valid by the schema", nil)
	}
	schema, err := parseSchema(data)
	if err != nil {
		return c.with(err, "valid by the schema "+file, nil)
	}
	return c.Schema(schema)
}

// Partial scores the share of assertions that hold, instead of 1 or 0.
func (c *Document) Partial() *Document {
	c = c.clone()
	c.partial = true
	return c
}

// String is like: JSON items[0].total is 3 (out.json).
func (c *Document) String() string {
	what := "JSON"
	switch {
	case len(c.checks) == 0:
		what = "well-formed JSON"
	case len(c.checks) == 1:
		what += " " + c.checks[0].name
	default:
		what += fmt.Sprintf(" %s, and %d more", c.checks[0].name, len(c.checks)-1)
	}
	if c.reply {
		return what + " (reply)"
	}
	return fmt.Sprintf("%s (%s)", what, c.file)
}

// Misuse reports bad paths, regular expressions, schemas and lengths, and values that are no JSON.
func (c *Document) Misuse() error {
	if c.err == nil && c.partial && len(c.checks) == 0 {
		return errors.New("Partial: there are no assertions to score a share of")
	}
	return c.err
}

// Grade scores 1, 0, or the share of assertions that hold.
func (c *Document) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if err := c.Misuse(); err != nil {
		return evaltest.Score{}, misuseError(c, err)
	}
	data, why, err := c.data(ctx, trial)
	switch {
	case err != nil:
		return evaltest.Score{}, err
	case why != "":
		return scoreFailed("%s", why), nil
	}
	doc, err := decodeJSON(data)
	if err != nil {
		return malformed(data, err), nil
	}
	var broken, lines []string
	for _, check := range c.checks {
		if err := ctxEnded(ctx, "grade "+c.String()); err != nil {
			return evaltest.Score{}, err
		}
		if why, ok := check.holds(doc); !ok {
			broken = append(broken, check.name+": "+why)
			lines = append(lines, "  "+check.name+": "+why)
		}
	}
	switch n := len(c.checks); {
	case n == 0:
		return scorePassed("%s of %s", byteSize(int64(len(data))), jsonKind(doc)), nil
	case len(broken) == 0:
		return scorePassed("%s", counted(n, "assertion")+" hold"), nil
	case n == 1:
		return scoreFailed("%s", strings.TrimPrefix(broken[0], c.checks[0].name+": ")), nil
	case c.partial:
		return withReason(evaltest.Ratio(n-len(broken), n), strings.Join(lines, "\n"), "%d of %d do not hold; %s", len(broken), n, broken[0]), nil
	default:
		return withReason(evaltest.PassIf(false), strings.Join(lines, "\n"), "%d of %d do not hold; %s", len(broken), n, broken[0]), nil
	}
}

// data is the text of the document; why, when not "", is what the agent did that there is none.
func (c *Document) data(ctx context.Context, trial *evaltest.Trial) (data []byte, why string, err error) {
	if c.reply {
		text, why := replyDocument(trial.Reply)
		return []byte(text), why, nil
	}
	w, err := openWorkspace(trial)
	if err != nil {
		return nil, "", err
	}
	defer w.close()
	e, err := w.look(c.glob.literal)
	if err != nil {
		return nil, "", err
	}
	var whole bool
	if !e.tooLarge() {
		data, whole, why, err = w.read(ctx, e, maxRead)
	}
	switch {
	case err != nil:
		return nil, "", err
	case why == "does not exist":
		return nil, fmt.Sprintf("no %s; %s", c.file, w.instead(ctx, c.glob)), nil
	case why != "":
		return nil, c.file + " " + why, nil
	case !whole:
		return nil, "", tooMuch("read %s: it is larger than %s", c.file, byteSize(maxRead))
	case len(data) == 0:
		return nil, c.file + " is empty", nil
	}
	return data, "", nil
}

// malformed is the score of text that is no JSON, with the place where it stops being it.
func malformed(data []byte, err error) evaltest.Score {
	what := strings.TrimPrefix(err.Error(), "json: ")
	if cutShort(err) {
		what = "it ends too early"
	}
	line, column := jsonPosition(data, err)
	return withReason(evaltest.PassIf(false), lineAround(data, line, column), "malformed JSON at line %d, column %d: %s", line, column, what)
}

// lineAround shows the line with the place in it.
func lineAround(data []byte, line, column int) string {
	const before, after = 40, 40
	text := strings.Split(string(data[:min(len(data), maxRead)]), "\n")[line-1]
	at := min(column-1, len(text))
	begin, end := max(0, at-before), min(len(text), at+after)
	if !isText([]byte(strings.ToValidUTF8(text[begin:end], ""))) {
		return ""
	}
	shown := strings.ToValidUTF8(text[begin:at], "")
	return "  " + shown + strings.ToValidUTF8(text[at:end], "") + "\n  " + strings.Repeat(" ", len([]rune(shown))) + "^"
}

// fence is a fenced block of Markdown: its info string and its content.
var fence = regexp.MustCompile("(?ms)^[ \t]*```[ \t]*([^\n`]*)\n(.*?)^[ \t]*```[ \t]*$")

// replyDocument finds the JSON text in a reply; why says what keeps it from being found.
func replyDocument(reply string) (text, why string) {
	text = strings.TrimSpace(reply)
	switch {
	case text == "":
		return "", "the reply is empty"
	case json.Valid([]byte(text)):
		return text, ""
	}
	blocks := fence.FindAllStringSubmatch(strings.ReplaceAll(text, "\r\n", "\n"), -1)
	var asJSON []string
	for _, b := range blocks {
		if strings.EqualFold(strings.TrimSpace(b[1]), "json") {
			asJSON = append(asJSON, b[2])
		}
	}
	switch {
	case len(asJSON) == 1:
		return asJSON[0], ""
	case len(asJSON) > 1:
		return "", fmt.Sprintf("the reply has %d blocks fenced as json, not one", len(asJSON))
	case len(blocks) == 1:
		return blocks[0][2], ""
	}
	return text, ""
}
