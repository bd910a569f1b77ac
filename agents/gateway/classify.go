package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// providerError is the body of an error, in the form that the providers share: {"error":{"type":…,"code":…,"message":…}}.
type providerError struct {
	Error struct {
		Type    string `json:"type"`
		Code    any    `json:"code"`
		Status  string `json:"status"`
		Message string `json:"message"`
		Details []struct {
			Reason string `json:"reason"`
			Delay  string `json:"retryDelay"` // as "3.5s"
		} `json:"details"`
	} `json:"error"`
}

// given reports whether there is an error.
func (e providerError) given() bool {
	return e.kind() != "" || e.Error.Message != "" || e.Error.Code != nil
}

// readError reads what an answer says of an error: nothing, where it is a page for people.
func readError(body []byte) (e providerError) {
	_ = json.Unmarshal(body, &e)
	return e
}

// kind is the provider's word for the error.
func (e providerError) kind() string {
	for _, d := range e.Error.Details {
		if _, known := kinds[d.Reason]; known {
			return d.Reason
		}
	}
	if code, ok := e.Error.Code.(string); ok && (e.Error.Type == "" || code == "insufficient_quota") {
		return code
	}
	if e.Error.Type == "" {
		return e.Error.Status
	}
	return e.Error.Type
}

// delay is how long the provider asks to wait; 0: it does not say.
func (e providerError) delay() time.Duration {
	for _, d := range e.Error.Details {
		if delay, err := time.ParseDuration(d.Delay); err == nil && delay > 0 {
			return delay
		}
	}
	return 0
}

// kinds are the kinds of errors by the providers' words for them, which say more than a status does.
var kinds = map[string]agents.ErrorKind{
	"authentication_error": agents.Auth, "permission_error": agents.Auth, "invalid_api_key": agents.Auth,
	"UNAUTHENTICATED": agents.Auth, "PERMISSION_DENIED": agents.Auth, "API_KEY_INVALID": agents.Auth,
	"billing_error": agents.Quota, "insufficient_quota": agents.Quota,
	"rate_limit_error": agents.RateLimit, "rate_limit_exceeded": agents.RateLimit, "RESOURCE_EXHAUSTED": agents.RateLimit,
	"overloaded_error": agents.Overloaded, "api_error": agents.Overloaded, "server_error": agents.Overloaded, "UNAVAILABLE": agents.Overloaded,
	"server_is_overloaded": agents.Overloaded, "slow_down": agents.Overloaded, "INTERNAL": agents.Overloaded,
	"timeout_error":         agents.Network,
	"invalid_request_error": agents.Protocol, "not_found_error": agents.Protocol, "request_too_large": agents.Protocol,
}

// kindOfStatus is the kind of an error of which the status alone is known.
func kindOfStatus(status int) agents.ErrorKind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return agents.Auth
	case status == http.StatusPaymentRequired:
		return agents.Quota
	case status == http.StatusTooManyRequests:
		return agents.RateLimit
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout, status == http.StatusBadGateway:
		return agents.Network
	case status >= 500:
		return agents.Overloaded
	}
	return agents.Protocol
}

// refusal is the failure of an answer that is an error: by the provider's word for it where that is known, else by its
// status. The words of a message say nothing.
func refusal(status int, h http.Header, body []byte) *agents.Error {
	pe := readError(body)
	kind, known := kinds[pe.kind()]
	if byStatus := kindOfStatus(status); !known || kind == agents.Protocol {
		kind = byStatus
	}
	e := agents.Errorf(kind, agents.FromProvider, "the provider answered %s", describeRefusal(status, pe))
	e.RetryAfter = cmp.Or(retryAfter(h), pe.delay())
	if status < 500 && kind == agents.Protocol { // the same request is going to be refused again
		e.Retryable = false
	}
	if said, err := strconv.ParseBool(h.Get("X-Should-Retry")); err == nil && !said {
		e.Retryable = false
	}
	return e
}

// said is the failure that a provider tells of where it had begun to answer well. By then its status says nothing.
func said(pe providerError) *agents.Error {
	kind, known := kinds[pe.kind()]
	if !known {
		kind = agents.Overloaded
	}
	e := agents.Errorf(kind, agents.FromProvider, "the provider broke off its answer with %s", describe(pe))
	if kind == agents.Protocol { // as for a refusal
		e.Retryable = false
	}
	return e
}

func describe(pe providerError) string {
	s := pe.kind()
	if s == "" {
		s = "an error"
	}
	if pe.Error.Message != "" {
		s += ": " + pe.Error.Message
	}
	return s
}

func describeRefusal(status int, pe providerError) string {
	s := strconv.Itoa(status)
	if kind := pe.kind(); kind != "" {
		s += " " + kind
	}
	if pe.Error.Message != "" {
		s += ": " + pe.Error.Message
	}
	return s
}

// retryAfter is how long the provider asks to wait: seconds, a date, or milliseconds in a header of some providers' own.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		if s > 0 && s < 1e9 {
			return time.Duration(s * float64(time.Second))
		}
		return 0
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(at).Round(time.Second))
	}
	return 0
}

// unreachable is the failure of a request that got no answer: of the kind that err is, in the words of told.
func unreachable(host string, err, told error) *agents.Error {
	kind := agents.Network
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		kind = agents.Timeout
	}
	return agents.Errorf(kind, agents.FromProvider, "no answer from %s: %w", host, told)
}

// broken is the failure of an answer that was cut.
func broken(err error) *agents.Error {
	if err == nil {
		err = errors.New("the stream ended before its answer did")
	}
	return agents.Errorf(agents.Network, agents.FromProvider, "the answer was cut: %w", err)
}

// senseless is the failure of an answer that makes no sense.
func senseless(format string, args ...any) *agents.Error {
	return agents.Errorf(agents.Protocol, agents.FromProvider, "the answer makes no sense: %s", fmt.Sprintf(format, args...))
}
