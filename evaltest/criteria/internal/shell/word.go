package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

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
				ansiC(b, p.Value)
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			f.parts(b, p.Parts, true)
		case *syntax.CmdSubst:
			b.WriteString("$()")
		case *syntax.ProcSubst:
			b.WriteString(p.Op.String() + ")")
		default:
			b.WriteString(f.slice(p))
		}
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

var unquote = strings.NewReplacer(`"`, "", `'`, "", `\`, "")

// split is what is done with source that is no bash: each stretch between operators is taken for a command, and its words
// are what blanks separate, without quotes.
func split(source string) []Command {
	var found []Command
	stretches := strings.FieldsFunc(source, func(r rune) bool { return strings.ContainsRune(";&|\n()`", r) })
	for _, s := range stretches {
		if words := strings.Fields(unquote.Replace(s)); len(words) > 0 {
			found = append(found, command(words, "", maxDepth))
		}
	}
	return found
}
