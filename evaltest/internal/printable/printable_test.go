package printable_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/evaltest/internal/printable"
)

func TestText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, text, line string }{
		{"nothing", "", "", ""},
		{"plain text is left alone", "3 × Ärger ‹KEY› 日本", "3 × Ärger ‹KEY› 日本", "3 × Ärger ‹KEY› 日本"},
		{"an event of the test log", "\x16--- FAIL: TestX (0.00s)", "␖--- FAIL: TestX (0.00s)", "␖--- FAIL: TestX (0.00s)"},
		{"colours and a carriage return", "\x1b[31mred\x1b[0m\rgone", "␛[31mred␛[0m␍gone", "␛[31mred␛[0m␍gone"},
		{"NUL and DEL", "a\x00b\x7fc", "a␀b␡c", "a␀b␡c"},
		{"C1 controls", "a\u009b31mb\u0085c", "a\ufffd31mb\ufffdc", "a\ufffd31mb\ufffdc"},
		{"lines", " one\n\n\ttwo  three\n", " one\n\n\ttwo  three\n", "one two three"},
		{"bad bytes", "a\xffb\x1b", "a\ufffdb␛", "a\ufffdb␛"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.text, printable.Text(tc.in))
			assert.Equal(t, tc.line, printable.Line(tc.in))
		})
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "äöü", printable.Short("äöü", 3))
	assert.Equal(t, "äö…", printable.Short("äöüß", 3))
	assert.Equal(t, "a b", printable.Short("a\n b", 3))
	assert.Equal(t, "…", printable.Short("ab", 1))
}

func FuzzLine(f *testing.F) {
	f.Add("a\x16b\n\u009b", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		line := printable.Line(s)
		assert.False(t, strings.ContainsFunc(line, unicode.IsControl), "%q", line)
		if n > 0 {
			assert.LessOrEqual(t, utf8.RuneCountInString(printable.Short(s, n)), n)
		}
	})
}
