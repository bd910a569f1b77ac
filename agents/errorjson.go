package agents

import (
	"encoding/json"
	"errors"
	"time"
)

type errorJSON struct {
	Kind       ErrorKind     `json:"kind"`
	Source     ErrorSource   `json:"source"`
	Retryable  bool          `json:"retryable,omitempty"`
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	Message    string        `json:"message"`
}

// MarshalJSON writes the error with the text of its cause.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(errorJSON{e.Kind, e.Source, e.Retryable, e.RetryAfter, e.Message()})
}

// UnmarshalJSON reads what MarshalJSON writes; the cause is a plain error with the same text.
func (e *Error) UnmarshalJSON(data []byte) error {
	var v errorJSON
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*e = Error{v.Kind, v.Source, v.Retryable, v.RetryAfter, errors.New(v.Message)}
	return nil
}
