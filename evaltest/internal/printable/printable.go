// Package printable makes texts fit for a terminal and for the log of a test. What an agent says, and errors that quote it,
// may hold control characters: some forge events of the test log, others move the cursor.
//
//	fmt.Println(printable.Line(err.Error()))
package printable

import "strings"

// Text shows control characters as the pictures that Unicode has for them, but for newlines and tabs.
func Text(s string) string {
	if !strings.ContainsFunc(s, control) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case !control(r):
			return r
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		}
		return 0xfffd // C1 controls have no pictures
	}, s)
}

func control(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}

// Line is Text on one line: every run of white space is a space.
func Line(s string) string { return strings.Join(strings.Fields(Text(s)), " ") }

// Short is Line, cut to at most n runes, n being positive; what was cut shows as "…".
func Short(s string, n int) string {
	s = Line(s)
	if len(s) <= n {
		return s
	}
	rs := []rune(s)
	if len(rs) <= n {
		return s
	}
	return string(rs[:n-1]) + "…"
}
