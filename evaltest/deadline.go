package evaltest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// errDeadline is the cause with which an attempt ends before the test's own deadline.
var errDeadline = errors.New("the test binary's -timeout is near")

// processStart is when the test binary started, near enough.
var processStart = time.Now()

// testDeadline is when the test binary is going to panic, if ever.
func testDeadline(tb testing.TB) (time.Time, bool) {
	if d, ok := tb.(interface{ Deadline() (time.Time, bool) }); ok {
		return d.Deadline()
	}
	return time.Time{}, false
}

// reserve is the part of the time left that is kept for ending the agent, grading and recording: a tenth, from two
// seconds to half a minute.
func reserve(left time.Duration) time.Duration {
	return min(max(left/10, 2*time.Second), 30*time.Second)
}

// agentDeadline is when the agent has to be ended so that the trial is recorded before the test's deadline. The error
// says that the trial does not fit, and which -timeout it needs.
func agentDeadline(tb testing.TB, want time.Duration) (at time.Time, ok bool, err error) {
	end, ok := testDeadline(tb)
	if !ok {
		return time.Time{}, false, nil
	}
	left := time.Until(end)
	keep := reserve(left)
	if left-keep < max(want, time.Millisecond) {
		used := time.Since(processStart)
		need := (used + want + want/8 + 30*time.Second).Round(time.Second)
		return time.Time{}, true, fmt.Errorf("%v are left before the test binary's -timeout, of which %v are kept to record the trial: run with -timeout %v or more",
			left.Round(time.Second), keep.Round(time.Second), need)
	}
	return end.Add(-keep), true, nil
}

// testContext is the context of the test, where it has one.
func testContext(tb testing.TB) (ctx context.Context) {
	defer func() {
		if recover() != nil || ctx == nil { // a fake may embed a nil TB
			ctx = context.Background()
		}
	}()
	return tb.Context()
}
