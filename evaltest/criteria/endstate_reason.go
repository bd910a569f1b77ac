package criteria

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// The reason of a score is a line for the table of criteria and, where it helps, a detail for whoever looks closer.
const (
	maxReason = 200     // bytes of the line
	maxDetail = 4 << 10 // bytes of the detail
)

// withReason is score with the line, and the detail below it. Both may hold an agent's bytes.
func withReason(score evaltest.Score, detail, format string, args ...any) evaltest.Score {
	line := clipLine(fmt.Sprintf(format, args...), maxReason)
	if detail = clipDetail(detail); detail != "" {
		line += "\n" + detail
	}
	return score.Because("%s", line)
}

// scoreFailed is a score of 0 with its reason, scorePassed one of 1.
func scoreFailed(format string, args ...any) evaltest.Score {
	return withReason(evaltest.PassIf(false), "", format, args...)
}

func scorePassed(format string, args ...any) evaltest.Score {
	return withReason(evaltest.PassIf(true), "", format, args...)
}

// clipLine is s on one line, without characters that would disturb a terminal, and of n bytes at most.
func clipLine(s string, n int) string {
	if len(s) > 8*n {
		s = s[:8*n]
	}
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r', r == ' ':
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, s))
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:max(0, n-len("…"))], "") + "…"
}

// clipDetail keeps the lines of s, within maxDetail bytes.
func clipDetail(s string) string {
	const mark = "\n… cut"
	cut := len(s) > maxDetail
	if cut {
		s = s[:maxDetail-len(mark)]
		if i := strings.LastIndexByte(s, '\n'); i > maxDetail/2 {
			s = s[:i]
		}
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r':
			return -1
		case r == '\u00a0': // go-cmp's way to say that its output is for people
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, s)
	s = strings.Trim(s, "\n")
	if cut {
		s += mark
	}
	return s
}

// lastLines is the last lines of text, n bytes at most.
func lastLines(text string, lines, n int) string {
	text = strings.TrimRight(text, " \t\r\n")
	if len(text) > n {
		text = text[len(text)-n:]
		if i := strings.IndexByte(text, '\n'); i >= 0 && i < len(text)-1 {
			text = text[i+1:]
		}
	}
	all := strings.Split(text, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// counted is "1 file", "2 files".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// firstFew names the first few of names.
func firstFew(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// byteSize is a number of bytes for people.
func byteSize(n int64) string {
	const unit = 1024
	switch {
	case n < unit:
		return counted(int(n), "byte")
	case n < unit*unit:
		return fmt.Sprintf("%.1f KiB", float64(n)/unit)
	case n < unit*unit*unit:
		return fmt.Sprintf("%.1f MiB", float64(n)/unit/unit)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/unit/unit/unit)
}

// ctxEnded is the error of a grader whose ctx ended while it was doing something; nil while ctx goes on.
func ctxEnded(ctx context.Context, doing string) error {
	err := ctx.Err()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return agents.Errorf(agents.Timeout, agents.FromGrader,
			"criteria: %s: no time left; give the criterion more with Timeout", doing)
	}
	return agents.Errorf(agents.Interrupted, agents.FromGrader, "criteria: %s: %w", doing, err)
}

// misuseError is the error of grading with a criterion that was built from parts that do not fit.
func misuseError(c evaltest.Criterion, misuse error) error {
	return evaltest.AuthorError("criteria: grade %s: %w", c, misuse)
}
