package claude

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// classify is the infrastructure error that a result tells of, or nil: the turn ended, well or not, by what the model did.
// subtype says "success" of an answer that never came, and is not asked.
func (d *decoder) classify(l *line) *agents.Error {
	r := l.result
	well := !r.IsError && (l.Subtype == "success" || l.Subtype == "")
	if well || !infrastructure(d.synthetic) && d.synthetic != "" {
		return nil
	}
	if r.APIStatus == 0 && d.synthetic == "" && r.Terminal != "api_error" {
		switch {
		case limits[l.Subtype]:
			return nil
		case l.Subtype == "error_during_execution":
			return agents.Errorf(agents.Crash, agents.FromAgent, "claude: the turn ended by a fault of the CLI: %w", r.cause())
		}
		return agents.Errorf(agents.Protocol, agents.FromAgent,
			"claude: the turn ended in a way that is not known (%q, is_error: %v): %w", l.Subtype, r.IsError, r.cause())
	}
	kind := kindOf(r.APIStatus, d.synthetic)
	e := agents.Errorf(kind, agents.FromProvider, "claude: the model's provider failed%s: %w", r.status(), r.cause())
	if r.APIStatus >= 400 && r.APIStatus < 500 && kind == agents.Protocol {
		e.Retryable = false // the same request will be refused again
	}
	return e
}

// limits are the ends of turns that the CLI calls errors and that are none: limits of its own, which the model ran into.
var limits = map[string]bool{
	"error_max_turns": true, "error_max_budget_usd": true, "error_max_structured_output_retries": true,
}

// infrastructure reports whether what a made-up answer tells of is no doing of the model's.
func infrastructure(named string) bool { return named != "max_output_tokens" && named != "" }

// statuses are the provider's types of error, by the status that each goes with, for where the CLI tells the type alone.
var statuses = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
	"not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504,
	"overloaded_error": 529,
}

// kindOf is the kind of an error by its HTTP status (0: no answer came, or none that makes sense) and by what the CLI calls it.
func kindOf(status int, named string) agents.ErrorKind {
	switch {
	case named == "billing_error" || status == 402:
		return agents.Quota
	case status == 401 || status == 403:
		return agents.Auth
	case status == 429:
		return agents.RateLimit
	case status == 408:
		return agents.Network
	case status >= 500:
		return agents.Overloaded
	case status >= 400:
		return agents.Protocol
	}
	switch named {
	case "authentication_failed":
		return agents.Auth
	case "rate_limit":
		return agents.RateLimit
	case "overloaded":
		return agents.Overloaded
	case "server_error":
		return agents.Network // without a status: the connection was cut
	}
	return agents.Protocol
}

func (r result) status() string {
	switch {
	case r.APIStatus != 0 && r.APIType != "":
		return fmt.Sprintf(" (%d %s)", r.APIStatus, r.APIType)
	case r.APIStatus != 0:
		return fmt.Sprintf(" (%d)", r.APIStatus)
	}
	return ""
}

// cause is the result's own words.
func (r result) cause() error {
	for _, s := range []string{r.Text, strings.Join(r.Errors, "; "), r.Terminal} {
		if s != "" {
			return errors.New(s)
		}
	}
	return errors.New("it does not say why")
}
