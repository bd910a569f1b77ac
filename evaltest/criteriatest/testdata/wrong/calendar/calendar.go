// Package calendar knows the time, and nothing of evaltest.
package calendar

import "time"

// Overdue reports whether more than limit has passed since t.
func Overdue(t time.Time, limit time.Duration) bool { return elapsed(t) > limit }

func elapsed(t time.Time) time.Duration { return time.Since(t) }
