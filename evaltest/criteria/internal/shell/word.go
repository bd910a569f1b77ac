package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// words is the words that the shell makes of ws, with marks in them.
func (f *finder) words(ws []*syntax.Word) []string {
	words := make([]string, 0, len(ws))
	size := 0
	for _, p := range f.params {
		size += len(p) + 16
	}
	for _, w := range ws {
		word := f.text(w)
		if e, ok := f.marks.only(word); ok && (e.name == "@" || e.name == "*") && len(f.params) > 1 && !f.outer[e.name] && f.spend(size) {
			words = append(words, f.params[1:]...)
			continue
		}
		words = append(words, word)
	}
	return words
}

// text is the word as the shell sees it once quotes and backslashes have done their work.
func (f *finder) text(w *syntax.Word) string {
	var b strings.Builder
	f.parts(&b, w.Parts, false)
	return b.String()
}

func (f *finder) parts(b *strings.Builder, parts []syntax.WordPart, quoted bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			unescape(b, p.Value, quoted)
		case *syntax.SglQuoted:
			if p.Dollar {
				text, _, _ := strings.Cut(unescaped(p.Value), "\x00") // as bash does
				b.WriteString(text)
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			f.parts(b, p.Parts, true)
		case *syntax.CmdSubst:
			e := f.substitution(p)
			e.quoted = quoted
			b.WriteString(f.marks.add(e))
		case *syntax.ProcSubst:
			e := expansion{shown: p.Op.String() + ")"}
			if e.source = e.shown; p.Op == syntax.CmdIn {
				e.file, _ = f.outputOf(p.Stmts)
			}
			b.WriteString(f.marks.add(e))
		case *syntax.ParamExp:
			if value, ok := f.param(p); ok {
				b.WriteString(value)
			} else {
				e := f.parameter(p)
				e.quoted = quoted
				b.WriteString(f.marks.add(e))
			}
		default:
			b.WriteString(f.slice(p))
		}
	}
}

func (f *finder) substitution(p *syntax.CmdSubst) expansion {
	e := expansion{shown: "$()", source: "$()"}
	if text, ok := f.outputOf(p.Stmts); ok {
		e.known = true
		e.value = strings.TrimRight(strings.ReplaceAll(text, "\x00", ""), "\n")
		e.source = e.value
	}
	return e
}

// param is the value of $0, $1 and so on, where it is known.
func (f *finder) param(p *syntax.ParamExp) (string, bool) {
	if !f.plain(p) || f.outer[p.Param.Value] {
		return "", false
	}
	n, err := strconv.Atoi(p.Param.Value)
	if err != nil || n < 0 || n >= len(f.params) || !f.spend(len(f.params[n])) {
		return "", false
	}
	return f.params[n], true
}

// plain reports whether p is $x or ${x}.
func (f *finder) plain(p *syntax.ParamExp) bool {
	if p.Param == nil {
		return false
	}
	text := f.slice(p)
	return text == "$"+p.Param.Value || text == "${"+p.Param.Value+"}"
}

// parameter is a parameter with what it stands for: the value that the source gives it, or else its default.
func (f *finder) parameter(p *syntax.ParamExp) expansion {
	e := expansion{shown: f.slice(p)}
	e.source = e.shown
	if p.Param == nil {
		return e
	}
	if f.plain(p) {
		e.name = p.Param.Value
		e.value, e.known = f.value(e.name, p.Pos().Offset())
	} else if p.Exp != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			f.defaulted(&e, p)
		}
	}
	if e.known {
		e.source = e.value
	}
	return e
}

// defaulted is a parameter with a default, which holds where nothing in the source says otherwise. An empty one says nothing:
// ${SUDO:-} is $SUDO to a shell that takes exception to that.
func (f *finder) defaulted(e *expansion, p *syntax.ParamExp) {
	name, value := p.Param.Value, ""
	if p.Exp.Word != nil {
		value = f.text(p.Exp.Word)
	}
	switch {
	case value == "":
		e.name = name
		e.value, e.known = f.value(name, p.Pos().Offset())
	case !f.assigned(name) && !strings.Contains(value, "\x00"):
		e.value, e.known = value, true
	default:
		e.value, e.known = f.value(name, p.Pos().Offset())
		e.known = e.known && e.value != ""
	}
}

// slice is the node as it is written.
func (f *finder) slice(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(f.source) || from > to {
		return ""
	}
	return f.source[from:to]
}

// unescape writes s without the backslashes that quote: within double quotes they do so before few characters only.
func unescape(b *strings.Builder, s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
}

// ansiC writes what $'s' stands for.
func ansiC(b *strings.Builder, s string) {
	const names, values = `abeEfnrtv\'"?`, "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := s[i]
		number := func(start, most, base int) { // of digits from start
			end := start
			for end < len(s) && end-start < most && digit(s[end]) < base {
				end++
			}
			n, err := strconv.ParseUint(s[start:end], base, 32)
			switch {
			case err != nil:
				b.WriteString(s[i-1 : start])
			case most > 3 && utf8.ValidRune(rune(n)):
				b.WriteRune(rune(n))
			default:
				b.WriteByte(byte(n))
			}
			i = end - 1
		}
		switch at := strings.IndexByte(names, c); {
		case at >= 0:
			b.WriteByte(values[at])
		case c == 'x':
			number(i+1, 2, 16)
		case c == 'u':
			number(i+1, 4, 16)
		case c == 'U':
			number(i+1, 8, 16)
		case digit(c) < 8:
			number(i, 3, 8)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 99
}
