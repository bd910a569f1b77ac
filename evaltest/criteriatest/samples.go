package criteriatest

import (
	"regexp/syntax"
	"strings"
)

// samples is texts that s may stand for: itself, what it matches as a pattern, what it finds as a regular expression.
func samples(s string) []string {
	out := []string{s}
	add := func(t string) {
		for _, o := range out {
			if o == t {
				return
			}
		}
		out = append(out, t)
	}
	if strings.ContainsAny(s, `*?[{`) {
		add(globSample(s))
	}
	if strings.ContainsAny(s, `\.+*?()|[]{}^$`) {
		if re, err := syntax.Parse(s, syntax.Perl); err == nil {
			var b strings.Builder
			regexpSample(&b, re.Simplify(), 6)
			add(b.String())
		}
	}
	return out
}

// globSample is a path that the pattern matches, in the usual case.
func globSample(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch c := p[i]; c {
		case '*':
			for i+1 < len(p) && p[i+1] == '*' {
				i++
			}
			b.WriteByte('x')
		case '?':
			b.WriteByte('x')
		case '\\':
			if i++; i < len(p) {
				b.WriteByte(p[i])
			}
		case '[', '{':
			end := strings.IndexByte(p[i:], map[byte]byte{'[': ']', '{': '}'}[c])
			if end < 0 {
				b.WriteByte(c)
				break
			}
			inner := p[i+1 : i+end]
			if c == '{' {
				inner, _, _ = strings.Cut(inner, ",")
				b.WriteString(globSample(inner))
			} else if inner != "" {
				b.WriteByte(inner[0])
			}
			i += end
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// regexpSample writes a text that the expression matches, or is part of one: assertions about what is around it are not heeded.
func regexpSample(b *strings.Builder, re *syntax.Regexp, depth int) {
	if depth == 0 {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			b.WriteRune(r)
		}
	case syntax.OpCharClass:
		b.WriteRune(inClass(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpCapture, syntax.OpPlus:
		regexpSample(b, re.Sub[0], depth-1)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			regexpSample(b, sub, depth-1)
		}
	case syntax.OpAlternate:
		regexpSample(b, re.Sub[0], depth-1)
	case syntax.OpRepeat:
		for range re.Min {
			regexpSample(b, re.Sub[0], depth-1)
		}
	}
}

// inClass is a character of a class, a readable one where there is one. ranges is pairs of bounds.
func inClass(ranges []rune) rune {
	for _, want := range "x1a_ -A" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return ranges[0]
}
