// Package shell finds the commands in shell source, as far as the source alone tells.
//
//	for _, c := range shell.Parse(`cd src && sudo rm -rf "$out" | tee log`) {
//		fmt.Println(c.Words) // [cd src], [sudo rm -rf $out], [tee log]
//	}
//
// The second of these holds another one, [rm -rf $out], in Inner: a command that runs commands is seen through.
//
// Source is read as bash reads it. Words are what the shell makes of quotes and backslashes; what it would expand
// ($x, *, ~, {a,b}) stays as it is written, since its value is not known, and a command substitution reads $(): the
// commands in it are commands of their own.
package shell

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Command is a simple command as it is written: a loop's body and a function's hold each of theirs once.
type Command struct {
	Words []string // at least one
	// Inner holds the commands that this one runs: those of bash -c '…', of sudo …, of xargs ….
	Inner []Command
	// Text is the words with a blank between them.
	Text string
}

// Program is the last element of the first word: rm for /bin/rm, and without .exe.
func Program(word string) string {
	base := path.Base(strings.ReplaceAll(word, `\`, "/"))
	if n := len(base) - len(".exe"); n > 0 && strings.EqualFold(base[n:], ".exe") {
		base = base[:n]
	}
	return base
}

// Bounds on what is parsed: source comes from a model, and a parser that recurses must not be led too deep, nor be given
// again and again what one script hands to many.
const (
	maxSource   = 256 << 10
	maxNesting  = 500     // of brackets
	maxKeywords = 5_000   // that begin what can nest
	maxDepth    = 12      // scripts within scripts
	maxWork     = 8 << 20 // bytes of scripts and words within scripts, of one source
	maxUnclosed = 8       // here-documents without their end
)

// Parse lists the commands of source in the order in which they are written, commands inside a word before the command that
// the word belongs to. Source that does not parse as bash is split at operators and blanks outside quotes instead, for it may be that of another
// shell; but a line with an open quote or bracket is one that no shell runs, nor what follows it.
func Parse(source string) []Command {
	work := maxWork
	return given{work: &work, outer: map[string]bool{}}.parse(source)
}

// given is what is known of the place where a script runs.
type given struct {
	depth  int
	work   *int     // bytes that may still be looked at, of scripts within the source
	stdin  string   // what the source writes to its input, "" if it does not say
	params []string // $0, $1 and so on; nil if they are not known
	// outer are parameters that a script around this one has expanded: their values here are not those that this one gives.
	outer map[string]bool
}

// spend reports whether n more bytes may be looked at, and counts them.
func (g given) spend(n int) bool {
	if *g.work < n {
		return false
	}
	*g.work -= n
	return true
}

func (g given) parse(source string) []Command {
	source = strings.ReplaceAll(source, "\x00", "") // as bash does; see marks
	if strings.TrimSpace(source) == "" || g.depth > maxDepth {
		return nil
	}
	if strings.Contains(source, "shift") || strings.Contains(source, "set -") {
		g.params = nil
	}
	if g.depth > 0 && !g.spend(len(source)+64) {
		return nil
	}
	if len(source) > maxSource || tooDeep(source) {
		return split(source, g)
	}
	file, closed, err := parseFile(source)
	if err != nil {
		return split(source, g)
	}
	f := finder{given: g, source: closed, stdins: map[*syntax.CallExpr]string{}, outputs: map[*syntax.Stmt]written{}}
	f.vars = f.variablesOf(file)
	f.named = namedIn(closed)
	if g.stdin != "" {
		f.feed(file, g.stdin)
	}
	f.walk(file)
	return f.found
}

// parseFile parses source, and returns it with an end for each here-document that has none: bash takes all that follows for
// such a document, and warns.
func parseFile(source string) (*syntax.File, string, error) {
	for n := 0; ; n++ {
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(source), "")
		var failed syntax.ParseError
		if err == nil || n == maxUnclosed || !errors.As(err, &failed) {
			return file, source, err
		}
		quoted, ok := strings.CutPrefix(failed.Text, "unclosed here-document ")
		end, unquoted := strconv.Unquote(quoted)
		if !ok || unquoted != nil {
			return file, source, err
		}
		source += "\n" + end + "\n"
	}
}

// tooDeep reports whether source may nest deeper than is good for a parser. It knows nothing of quotes: brackets in them
// are nearly always balanced.
func tooDeep(source string) bool {
	depth, deepest, keywords := 0, 0, 0
	for i := 0; i < len(source); i++ {
		switch source[i] {
		case '(', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', '}':
			depth = max(depth-1, 0)
		}
	}
	for word := range strings.FieldsSeq(source) {
		switch word {
		case "if", "while", "until", "for", "case", "select", "time", "coproc", "function", "!":
			keywords++
		}
	}
	return deepest > maxNesting || keywords > maxKeywords
}

// finder collects the commands of one source.
type finder struct {
	given
	source  string
	found   []Command
	stdins  map[*syntax.CallExpr]string // what is written to a command's standard input, where the source says it
	outputs map[*syntax.Stmt]written    // what a statement writes, once it was asked for
	named   map[string]span
	vars    vars
	marks   marks
}

func (f *finder) walk(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			f.redirects(n)
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				if text, ok := f.output(n.X); ok {
					f.feed(n.Y, text)
				}
			}
		case *syntax.FuncDecl:
			f.function(n)
			return false
		case *syntax.CallExpr:
			for _, a := range n.Assigns {
				f.walk(a)
			}
			for _, w := range n.Args {
				f.walk(w)
			}
			if words := f.words(n.Args); len(words) > 0 {
				f.found = append(f.found, f.command(words, f.stdins[n], f.depth))
			}
			return false
		case *syntax.DeclClause:
			words := f.declaration(n)
			f.found = append(f.found, Command{Words: words, Text: strings.Join(words, " ")})
		}
		return true
	})
}

// function collects what is in a function, if anything but itself names it. It has parameters of its own.
func (f *finder) function(n *syntax.FuncDecl) {
	if n.Name == nil {
		return
	}
	if at, ok := f.named[n.Name.Value]; ok && at.first >= int(n.Pos().Offset()) && at.last < int(n.End().Offset()) {
		return
	}
	params := f.params
	f.params = nil
	f.walk(n.Body)
	f.params = params
}

// A span is where in a source a word stands first and last.
type span struct{ first, last int }

// namedIn finds the words of a source, in quotes and out of them.
func namedIn(source string) map[string]span {
	named, start := map[string]span{}, 0
	for i := 0; i <= len(source); i++ {
		if i < len(source) && strings.IndexByte(" \t\r\n;&|()<>`\"'$\\{}=,", source[i]) < 0 {
			continue
		}
		if word := source[start:i]; word != "" {
			at, ok := named[word]
			if !ok {
				at.first = start
			}
			at.last = start
			named[word] = at
		}
		start = i + 1
	}
	return named
}

// declaration is the words of export, declare and their like.
func (f *finder) declaration(n *syntax.DeclClause) []string {
	words := []string{n.Variant.Value}
	for _, a := range n.Args {
		words = append(words, f.slice(a))
	}
	return words
}
