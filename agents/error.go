package agents

import (
	"errors"
	"fmt"
	"time"
)

// ErrorKind says what went wrong, so that whoever drives the session knows what to do about it.
type ErrorKind string

const (
	Missing     ErrorKind = "missing"     // the agent is not installed
	Auth        ErrorKind = "auth"        // no key, or one that the provider refuses
	Quota       ErrorKind = "quota"       // the account's money or allowance is used up
	RateLimit   ErrorKind = "rate_limit"  // too many requests for now
	Overloaded  ErrorKind = "overloaded"  // the provider cannot serve for now
	Network     ErrorKind = "network"     // no connection, or a cut one
	Protocol    ErrorKind = "protocol"    // an answer that makes no sense
	Crash       ErrorKind = "crash"       // the agent's process ended before its work
	Timeout     ErrorKind = "timeout"     // nothing came in time, or time ran out
	Interrupted ErrorKind = "interrupted" // stopped from outside
	SetupError  ErrorKind = "setup"       // the workspace, a skill, a server could not be prepared
	Harness     ErrorKind = "harness"     // a fault of ours
	Judge       ErrorKind = "judge"       // a grader gave no score
	Contract    ErrorKind = "contract"    // a criterion broke its contract
)

// ErrorSource says whose error it is.
type ErrorSource string

const (
	FromAgent    ErrorSource = "agent"
	FromProvider ErrorSource = "provider"
	FromGrader   ErrorSource = "grader"
	FromHarness  ErrorSource = "harness"
	FromAuthor   ErrorSource = "author"
)

// Error is an infrastructure error: never a verdict on the model. Only adapters, the gateway and graders make one, from
// typed facts (a field of an event, an HTTP status), never from words found in a text.
type Error struct {
	Kind       ErrorKind
	Source     ErrorSource
	Retryable  bool          // the same may work later
	RetryAfter time.Duration // as the provider asks; 0: it does not say
	Err        error         // the cause, never nil
}

// Errorf is an *Error whose cause is formatted as by fmt.Errorf.
func Errorf(kind ErrorKind, source ErrorSource, format string, args ...any) *Error {
	return &Error{Kind: kind, Source: source, Retryable: retryable(kind), Err: fmt.Errorf(format, args...)}
}

// retryable is the answer of a kind for which nothing more is known.
func retryable(k ErrorKind) bool {
	switch k {
	case RateLimit, Overloaded, Network, Protocol, Crash, Timeout:
		return true
	}
	return false
}

func (e *Error) Error() string {
	if e == nil {
		return "no error"
	}
	return fmt.Sprintf("%s (%s): %s", e.Kind, e.Source, e.Message())
}

// Message is the text of the cause.
func (e *Error) Message() string {
	if e == nil || e.Err == nil { // an adapter's slip: the kind still tells
		return "no cause was given"
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// NoError reports whether err is nil, or a nil *Error in an error: what a function that returns a variable of that type says
// when nothing went wrong.
func NoError(err error) bool {
	e, ok := err.(*Error) //nolint:errorlint // what wraps a nil *Error is an error
	return err == nil || ok && e == nil
}

// AsError is err as an *Error: itself where it is or wraps one, else one of the given kind and source. Nil stays nil.
func AsError(err error, kind ErrorKind, source ErrorSource) *Error {
	if NoError(err) {
		return nil
	}
	var e *Error
	if errors.As(err, &e) && e != nil {
		return e
	}
	return &Error{Kind: kind, Source: source, Retryable: retryable(kind), Err: err}
}
