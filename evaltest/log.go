package evaltest

import (
	"fmt"
	"io"
	"strings"

	"github.com/evaltest-go/evaltest/evaltest/internal/printable"
)

// clean is what reaches the log of the test: secrets masked, nothing that forges.
func (e *T) clean(s string) string { return printable.Text(e.mask(s)) }

// Log is as testing.TB.Log, kept printable.
func (e *T) Log(args ...any) {
	e.Helper()
	e.TB.Log(e.clean(strings.TrimSuffix(fmt.Sprintln(args...), "\n")))
}

// Logf is as testing.TB.Logf, kept printable.
func (e *T) Logf(format string, args ...any) {
	e.Helper()
	e.TB.Log(e.clean(fmt.Sprintf(format, args...)))
}

// Error is as testing.TB.Error, kept printable. After Run it enters the record.
func (e *T) Error(args ...any) {
	e.Helper()
	e.assertion(strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
}

// Errorf is as testing.TB.Errorf, kept printable. After Run it enters the record.
func (e *T) Errorf(format string, args ...any) {
	e.Helper()
	e.assertion(fmt.Sprintf(format, args...))
}

// Fatal is as testing.TB.Fatal, kept printable. After Run it enters the record.
func (e *T) Fatal(args ...any) {
	e.Helper()
	e.assertion(strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
	e.FailNow()
}

// Fatalf is as testing.TB.Fatalf, kept printable. After Run it enters the record.
func (e *T) Fatalf(format string, args ...any) {
	e.Helper()
	e.assertion(fmt.Sprintf(format, args...))
	e.FailNow()
}

// Fail is as testing.TB.Fail. Inside a criterion it is its author's mistake.
func (e *T) Fail() {
	e.Helper()
	if !e.inCriterion("Fail was called") {
		e.TB.Fail()
	}
}

// FailNow is as testing.TB.FailNow. Inside a criterion it ends the criterion, as its author's mistake.
func (e *T) FailNow() {
	e.Helper()
	if e.inCriterion("FailNow was called") {
		panic(misusedT{})
	}
	e.TB.FailNow()
}

// Skip is as testing.TB.Skip, kept printable.
func (e *T) Skip(args ...any) {
	e.Helper()
	e.TB.Skip(e.clean(strings.TrimSuffix(fmt.Sprintln(args...), "\n")))
}

// Skipf is as testing.TB.Skipf, kept printable.
func (e *T) Skipf(format string, args ...any) {
	e.Helper()
	e.TB.Skip(e.clean(fmt.Sprintf(format, args...)))
}

// Attr is as testing.TB.Attr, for values of any kind: what it cannot take is replaced or cut.
func (e *T) Attr(key, value string) { e.TB.Attr(key, attribute(e.mask(value))) }

// Output is as testing.TB.Output, kept printable.
func (e *T) Output() io.Writer { return cleanWriter{e} }

type cleanWriter struct{ e *T }

func (w cleanWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.e.TB.Output(), w.e.clean(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// assertion reports what an author's assertion says.
func (e *T) assertion(text string) {
	e.Helper()
	if e.inCriterion(text) {
		return
	}
	text = e.clean(text)
	e.recordFailure(text)
	e.TB.Error(text)
}

// misusedT ends a criterion that failed T.
type misusedT struct{}

// inCriterion reports whether a criterion is being graded, and remembers what it said.
func (e *T) inCriterion(text string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.grading == nil {
		return false
	}
	if e.misused == "" {
		e.misused = text
	}
	return true
}

// misuse ends the test with a mistake in how evaltest is used, at the author's line.
func (e *T) misuse(format string, args ...any) {
	e.Helper()
	e.TB.Fatal(e.clean("evaltest: MISUSE: " + fmt.Sprintf(format, args...)))
}

// plain is the text of an error without the name of the package it comes from.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "verdict: ") }

// skip skips the test for a reason that is neither measured nor red.
func (e *T) skip(format string, args ...any) {
	e.Helper()
	e.TB.Skip(e.clean("evaltest: skipped: " + fmt.Sprintf(format, args...)))
}

// attrLimit keeps a line of attributes below the 4096 bytes that `go test` recognizes, the test's name included.
const attrLimit = 3 << 10

// attribute is s as the value of a test's attribute: one line of limited length.
func attribute(s string) string {
	s = printable.Line(s)
	if len(s) <= attrLimit {
		return s
	}
	return strings.ToValidUTF8(s[:attrLimit-len("…")], "") + "…"
}
