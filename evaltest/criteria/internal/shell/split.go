package shell

import (
	"errors"
	"strings"
)

// split is what is done with source that is no bash: each stretch between operators is taken for a command. Quotes,
// comments, here-documents and substitutions are respected as far as they can be made out. What is open at the end, or
// closed without having been opened, is an error to every shell: it runs the lines before, and not that one nor any behind it.
func split(source string, g given) []Command {
	s := splitter{f: &finder{given: g}, source: source}
	s.run()
	return s.f.found
}

func (s *splitter) run() {
	s.open("")
	for s.at < len(s.source) && !s.failed {
		if top := &s.frames[len(s.frames)-1]; len(s.frames) == 1 && !top.quoted && top.nested == 0 && len(top.words) == 0 && !top.within && s.at > 0 && s.source[s.at-1] == '\n' {
			s.sound = len(s.f.found)
		}
		s.step()
	}
	if !s.failed {
		s.close()
	}
	if s.failed || len(s.frames) > 0 {
		s.f.found = s.f.found[:s.sound]
	}
}

// fields is the words of a string that holds no commands but one.
func fields(source string) ([]string, error) {
	work := maxWork
	s := splitter{f: &finder{given: given{depth: maxDepth + 1, work: &work, outer: map[string]bool{}}}, source: source, keep: true}
	s.run()
	if len(s.f.found) != 1 {
		return nil, errors.New("not one command")
	}
	return s.f.found[0].Words, nil
}

// A frame is a stretch of source that ends at a bracket: a subshell, a substitution, or all of it.
type frame struct {
	end    string // ")", "`", "))", … or ""
	words  []string
	nested int  // if, do and { that are open
	cases  int  // that are open
	label  bool // of a case, is being read
	word   []byte
	within bool // a word has begun
	quoted bool // within double quotes
	stdin  string
}

type splitter struct {
	f      *finder
	source string
	at     int
	frames []frame
	due    []document // here-documents whose text begins with the next line
	keep   bool       // assignments and keywords are words as others are
	failed bool       // something was closed that is not open
	sound  int        // commands that were found before the line that is being read
}

// A document is a here-document of which only the end is known yet.
type document struct {
	end  string
	tabs bool
}

func (s *splitter) open(end string) { s.frames = append(s.frames, frame{end: end}) }

// close ends the last frame.
func (s *splitter) close() {
	s.command()
	if f := s.frames[len(s.frames)-1]; f.nested > 0 || f.quoted {
		s.failed = true
	}
	s.frames = s.frames[:len(s.frames)-1]
}

func (s *splitter) has(text string) bool { return strings.HasPrefix(s.source[s.at:], text) }

func (s *splitter) add(text string) {
	f := &s.frames[len(s.frames)-1]
	f.word, f.within = append(f.word, text...), true
}

// blank ends a word.
func (s *splitter) blank() {
	f := &s.frames[len(s.frames)-1]
	if f.within {
		f.words = append(f.words, string(f.word))
	}
	f.word, f.within = f.word[:0], false
}

// keywords that come before a command, with how many constructs they open or close.
var keywords = map[string]int{"if": 1, "then": 0, "else": 0, "elif": 0, "fi": -1, "do": 0, "done": -1, "while": 1, "until": 1, "esac": -1,
	"time": 0, "!": 0, "{": 1, "}": -1}

// inner are keywords that stand within a construct only.
var inner = set("then", "else", "elif", "do")

// command ends a command. In brackets that hold arithmetic or a list there is none.
func (s *splitter) command() {
	s.blank()
	f := &s.frames[len(s.frames)-1]
	words, stdin := f.words, f.stdin
	f.words, f.stdin = nil, ""
	if s.keep {
		if len(words) > 0 {
			s.f.found = append(s.f.found, s.f.command(words, stdin, s.f.depth))
		}
		return
	}
	if f.end == "))" || f.end == "=(" {
		return
	}
	for len(words) > 0 {
		if words[0] == "function" {
			words = words[min(2, len(words)):]
			continue
		}
		n, ok := keywords[words[0]]
		if !ok && !isAssignment(words[0]) {
			break
		}
		if words[0] == "esac" {
			f.cases, f.label = max(f.cases-1, 0), false
		}
		if f.nested += n; f.nested < 0 || f.nested == 0 && inner[words[0]] {
			s.failed = true
			return
		}
		words = words[1:]
	}
	if len(words) == 0 || f.label {
		return
	}
	switch words[0] {
	case "for", "select":
		f.nested++
	case "case":
		f.nested++
		f.cases++
		f.label = true
	default:
		s.f.found = append(s.f.found, s.f.command(words, stdin, s.f.depth))
	}
}

func (s *splitter) step() {
	f := &s.frames[len(s.frames)-1]
	c := s.source[s.at]
	switch {
	case c == '\\':
		if s.at+1 < len(s.source) {
			if next := s.source[s.at+1]; next != '\n' {
				if f.quoted && strings.IndexByte("$`\"\\", next) < 0 {
					s.add(`\`)
				}
				s.add(string(next))
			}
			s.at++
		}
		s.at++
	case s.has("$((") || !f.quoted && !f.within && s.has("(("):
		s.arithmetic()
	case s.has("${") && s.parameter():
	case s.has("$("):
		s.at += 2
		s.open(")")
	case !f.quoted && (s.has("<(") || s.has(">(")):
		s.at += 2
		s.open(")")
	case c == '`':
		s.at++
		if f.end == "`" && !f.quoted {
			s.leave("$()")
		} else {
			s.open("`")
		}
	case c == '"':
		s.at++
		f.quoted = !f.quoted
		s.add("")
	case f.quoted:
		s.add(s.source[s.at : s.at+1])
		s.at++
	case c == '\'':
		s.at++
		text, _, closed := strings.Cut(s.source[s.at:], "'")
		s.add(text)
		s.at += len(text) + 1
		s.failed = s.failed || !closed
	case c == '#' && !f.within:
		if i := strings.IndexByte(s.source[s.at:], '\n'); i >= 0 {
			s.at += i
		} else {
			s.at = len(s.source)
		}
	case c == ' ' || c == '\t' || c == '\r':
		s.blank()
		s.at++
	case c == '\n' && len(s.due) > 0:
		s.at++
		s.documents()
		s.command()
	case f.end == "))" && s.has("))"):
		s.at += 2
		s.leave("$(())")
	case s.has("<<<"):
		s.add("<<<")
		s.at += 3
	case s.has("<<") && f.end != "))":
		s.document()
	case (s.has("&>") || s.has(">&") || s.has("<&")) && f.end != "))":
		s.add(s.source[s.at : s.at+2])
		s.at += 2
	case s.has("()") && f.end != "))": // what is before it is the name of a function
		s.at += 2
		s.blank()
		f.words = nil
	case c == '(':
		s.at++
		switch {
		case f.end == "))":
			s.open("))(")
		case f.label:
		case f.within && strings.HasSuffix(string(f.word[max(len(f.word)-1, 0):]), "="):
			s.open("=(")
		default:
			s.command()
			s.open("(")
		}
	case c == ')':
		s.at++
		s.bracket(f)
	case c == '|' && f.label:
		s.at++
	case s.has(";;") || s.has(";&"):
		s.at += 2
		s.command()
		f.label = f.cases > 0
	case c == ';' || c == '&' || c == '|' || c == '\n':
		s.at++
		s.command()
	default:
		s.add(s.source[s.at : s.at+1])
		s.at++
	}
}

// bracket is a closing one outside quotes.
func (s *splitter) bracket(f *frame) {
	if s.blank(); len(f.words) > 0 && f.words[0] == "esac" {
		s.command()
	}
	if len(f.words) > 0 && f.words[0] == "case" { // case x in a)
		f.nested++
		f.cases++
		f.label = true
	}
	if f.label {
		f.word, f.within, f.words, f.label = f.word[:0], false, nil, false
		return
	}
	switch f.end {
	case ")":
		s.leave("$()")
	case "(", "))(", "=(":
		s.leave("")
	default:
		s.failed = true
	}
}

// leave ends a frame and writes what stands for it to the word of the one around it.
func (s *splitter) leave(text string) {
	s.close()
	if text != "" {
		s.add(text)
	}
}

// arithmetic opens the brackets of $((…)) and ((…)), unless nothing closes them, or they are two subshells.
func (s *splitter) arithmetic() {
	start := s.at
	s.at += strings.IndexByte(s.source[s.at:], '(') + 2
	end := strings.Index(s.source[s.at:min(len(s.source), s.at+4096)], "))")
	if end >= 0 {
		s.open("))")
		return
	}
	s.at = start
	if s.source[s.at] == '$' {
		s.at += 2
		s.open(")")
		return
	}
	s.at++
	s.command()
	s.open("(")
}

// parameter takes ${…} as one piece, if it is short and on one line.
func (s *splitter) parameter() bool {
	depth := 0
	for i := s.at; i < min(len(s.source), s.at+256) && s.source[i] != '\n'; i++ {
		switch s.source[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				s.add(s.source[s.at : i+1])
				s.at = i + 1
				return true
			}
		}
	}
	return false
}

var unquote = strings.NewReplacer(`"`, "", `'`, "", `\`, "")

// document reads << and the word that ends the here-document.
func (s *splitter) document() {
	s.blank()
	s.at += 2
	d := document{tabs: s.has("-")}
	if d.tabs {
		s.at++
	}
	for s.has(" ") || s.has("\t") {
		s.at++
	}
	start := s.at
	for s.at < len(s.source) && strings.IndexByte(" \t\r\n;&|<>()", s.source[s.at]) < 0 {
		s.at++
	}
	if d.end = unquote.Replace(s.source[start:s.at]); s.at > start {
		s.due = append(s.due, d)
	}
}

// documents reads the text of the here-documents that are due. The last is what the command reads. One without an end takes all
// that follows.
func (s *splitter) documents() {
	for _, d := range s.due {
		start := s.at
		text := s.source[start:]
		for s.at < len(s.source) {
			line, _, more := strings.Cut(s.source[s.at:], "\n")
			next := s.at + len(line)
			if more {
				next++
			}
			trimmed := strings.TrimSuffix(line, "\r")
			if d.tabs {
				trimmed = strings.TrimLeft(trimmed, "\t")
			}
			if tail, ok := strings.CutPrefix(trimmed, d.end); ok && (tail == "" || len(s.frames) > 1 && strings.Trim(tail, "`)\"' ") == "") {
				text = s.source[start:s.at]
				s.at = next
				if tail != "" { // what closes the substitution around it
					s.at = start + strings.LastIndex(s.source[start:next], tail)
				}
				break
			}
			s.at = next
		}
		s.frames[len(s.frames)-1].stdin = text
	}
	s.due = nil
}
