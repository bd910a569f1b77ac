package criteria

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// checkT is the t of a check: it collects what is reported.
type checkT struct {
	ctx context.Context

	mu       sync.Mutex
	failures []string
	stopped  bool // FailNow was called
	over     bool // the check is done: nothing is heard any more
}

// Of what a check reports so much is kept; it goes on counting as failed.
const (
	maxFailures = 20
	maxFailure  = 16 << 10
)

// Errorf reports a failure.
func (t *checkT) Errorf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over && len(t.failures) < maxFailures {
		t.failures = append(t.failures, text[:min(len(text), maxFailure)])
	}
}

// FailNow reports a failure and ends the goroutine that calls it.
func (t *checkT) FailNow() {
	t.mu.Lock()
	t.stopped = t.stopped || !t.over
	t.mu.Unlock()
	runtime.Goexit()
}

// Helper is there for testify.
func (t *checkT) Helper() {}

// Context ends with the criterion's timeout.
func (t *checkT) Context() context.Context { return t.ctx }

func (t *checkT) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
}

func (t *checkT) failed() (failures []string, stopped bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failures, t.stopped
}

// testify lays a failure out in labelled paragraphs: a label, then text, with further lines below.
var labelledLine = regexp.MustCompile(`^\t([A-Z][A-Za-z ]*): *\t(.*)$`)

// A failure is what was reported, taken apart.
type failure struct {
	text     string // what went wrong
	messages string // what the author says about it
	at       string // file:line, "" where it is not known
}

func parseFailure(report string) failure {
	parts, label := map[string][]string{}, ""
	for line := range strings.Lines(report) {
		line = strings.TrimRight(line, "\r\n")
		if m := labelledLine.FindStringSubmatch(line); m != nil {
			label = m[1]
			parts[label] = append(parts[label], m[2])
		} else if rest, ok := strings.CutPrefix(line, "\t"); ok && label != "" {
			if text := strings.TrimLeft(rest, " "); strings.HasPrefix(text, "\t") {
				parts[label] = append(parts[label], text[1:])
			}
		}
	}
	if len(parts["Error"]) == 0 {
		return failure{text: strings.Trim(report, "\r\n")}
	}
	f := failure{text: strings.Join(parts["Error"], "\n"), messages: strings.Join(parts["Messages"], "\n")}
	if trace := parts["Error Trace"]; len(trace) > 0 {
		f.at = filepath.Base(trace[0])
	}
	return f
}

// summary is the failure on one line.
func summary(report string) string {
	f := parseFailure(report)
	text, _, _ := strings.Cut(f.text, "\nDiff:")
	if f.messages != "" {
		text = f.messages + ": " + text
	}
	text = strings.Join(strings.Fields(text), " ")
	if f.at != "" {
		text = clipLine(text, maxReason-len(f.at)-20) + " (" + f.at + ")"
	}
	return text
}

// details is the failures at length.
func details(reports []string) string {
	var b strings.Builder
	for i, r := range reports {
		if b.Len() > maxDetail {
			break
		}
		if i > 0 {
			b.WriteString("\n")
		}
		f := parseFailure(r)
		b.WriteString(strings.TrimRight(f.text, " \n") + "\n")
		if f.messages != "" {
			b.WriteString("Messages: " + f.messages + "\n")
		}
		if f.at != "" {
			b.WriteString("at " + f.at + "\n")
		}
	}
	return b.String()
}
