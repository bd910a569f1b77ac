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
	"path"
	"regexp"
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

// Bounds on what is parsed: source comes from a model, and a parser that recurses must not be led too deep.
const (
	maxSource   = 256 << 10
	maxNesting  = 500   // of brackets
	maxKeywords = 5_000 // that begin what can nest
	maxDepth    = 12    // scripts within scripts

	maxHereDocuments = 16 // that are closed where the source does not
)

// Parse lists the commands of source in the order in which they are written, commands inside a word before the command that
// the word belongs to. Source that does not parse is split at operators and blanks instead, so that it is not overlooked.
func Parse(source string) []Command { return parse(source, 0) }

func parse(source string, depth int) []Command {
	if strings.TrimSpace(source) == "" || depth > maxDepth {
		return nil
	}
	if len(source) > maxSource || tooDeep(source) {
		return split(source)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(source), "")
	if err != nil { // bash only warns of a here-document that is not closed: it takes all that follows
		file, err = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(closed(source)), "")
	}
	if err != nil {
		return split(source)
	}
	f := finder{source: source, depth: depth, stdin: map[syntax.Node]string{}}
	f.walk(file)
	return f.found
}

var hereDocument = regexp.MustCompile(`<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([\w.-]+))`)

// closed is source with the ends of all its here-documents behind it.
func closed(source string) string {
	for _, m := range hereDocument.FindAllStringSubmatch(source, maxHereDocuments) {
		source += "\n" + m[1] + m[2] + m[3]
	}
	return source + "\n"
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
	source string
	depth  int
	found  []Command
	// stdin is what is written to the standard input of a command, where the source says it: by its CallExpr.
	stdin map[syntax.Node]string
}

func (f *finder) walk(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			f.redirects(n)
		case *syntax.BinaryCmd:
			f.pipe(n)
		case *syntax.CallExpr:
			for _, a := range n.Assigns {
				f.walk(a)
			}
			for _, w := range n.Args {
				f.walk(w)
			}
			f.call(n)
			return false
		case *syntax.DeclClause:
			words := f.declaration(n)
			f.found = append(f.found, Command{Words: words, Text: strings.Join(words, " ")})
		}
		return true
	})
}

func (f *finder) call(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	words := make([]string, len(n.Args))
	for i, w := range n.Args {
		words[i] = f.text(w)
	}
	stdin := f.stdin[n]
	f.found = append(f.found, command(words, stdin, f.depth))
}

// declaration is the words of export, declare and their like.
func (f *finder) declaration(n *syntax.DeclClause) []string {
	words := []string{n.Variant.Value}
	for _, a := range n.Args {
		words = append(words, f.slice(a))
	}
	return words
}

// redirects notes what a statement's here-documents write to its command.
func (f *finder) redirects(s *syntax.Stmt) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	for _, r := range s.Redirs {
		switch {
		case r.Op == syntax.WordHdoc:
			f.stdin[call] = f.text(r.Word)
		case r.Hdoc != nil:
			f.stdin[call] = f.text(r.Hdoc)
		}
	}
}

// pipe notes what is written through a pipe, where the writer is one that repeats what the source says: echo, printf of
// one word, cat of a here-document.
func (f *finder) pipe(b *syntax.BinaryCmd) {
	if b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
		return
	}
	left := b.X
	for {
		inner, ok := left.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		left = inner.Y
	}
	from, ok := left.Cmd.(*syntax.CallExpr)
	to, ok2 := b.Y.Cmd.(*syntax.CallExpr)
	if !ok || !ok2 || len(from.Args) == 0 {
		return
	}
	f.redirects(left)
	args := make([]string, len(from.Args))
	for i, w := range from.Args {
		args[i] = f.text(w)
	}
	switch program, rest := Program(args[0]), args[1:]; program {
	case "echo":
		escapes := false
		for len(rest) > 0 && (rest[0] == "-n" || rest[0] == "-e" || rest[0] == "-E" || rest[0] == "-ne" || rest[0] == "-en") {
			escapes = escapes || strings.Contains(rest[0], "e")
			rest = rest[1:]
		}
		f.stdin[to] = strings.Join(rest, " ")
		if escapes {
			f.stdin[to] = strings.ReplaceAll(f.stdin[to], `\n`, "\n")
		}
	case "printf":
		if len(rest) > 0 {
			f.stdin[to] = strings.ReplaceAll(strings.Join(rest, "\n"), `\n`, "\n")
		}
	case "cat":
		if text, ok := f.stdin[from]; ok && (len(rest) == 0 || rest[0] == "-") {
			f.stdin[to] = text
		}
	}
}
