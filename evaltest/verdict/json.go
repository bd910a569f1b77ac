package verdict

import (
	"encoding/json"
	"fmt"
	"math/big"
)

// scoreJSON is how a score is written: the exact value as a fraction or a decimal, and a float for those who only look.
type scoreJSON struct {
	Value    string  `json:"value"`
	Float    float64 `json:"float"`
	Reason   string  `json:"reason,omitempty"`
	Expected string  `json:"expected,omitempty"`
	Observed string  `json:"observed,omitempty"`
}

// MarshalJSON writes the exact value: {"value":"1/3","float":0.333}. A bad score is an error.
func (s Score) MarshalJSON() ([]byte, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	return json.Marshal(scoreJSON{s.Rat().RatString(), s.Float(), s.Reason, s.Expected, s.Observed})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Score) UnmarshalJSON(data []byte) error {
	var v scoreJSON
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	r, ok := new(big.Rat).SetString(v.Value)
	if !ok {
		return fmt.Errorf("verdict: read score: %q is no number", v.Value)
	}
	*s = FromRat(r)
	s.Reason, s.Expected, s.Observed = v.Reason, v.Expected, v.Observed
	return s.Err()
}

type intervalJSON struct {
	Lo Score `json:"lo"`
	Hi Score `json:"hi"`
}

// MarshalJSON writes {"lo":…,"hi":…}.
func (i Interval) MarshalJSON() ([]byte, error) { return json.Marshal(intervalJSON(i)) }

// UnmarshalJSON reads what MarshalJSON writes.
func (i *Interval) UnmarshalJSON(data []byte) error {
	var v intervalJSON
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*i = Interval(v)
	return i.Valid()
}

// MarshalText writes "undecided", "passed" or "failed".
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (v *Verdict) UnmarshalText(text []byte) error {
	for _, known := range []Verdict{Undecided, Passed, Failed} {
		if known.String() == string(text) {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("verdict: read verdict: %q is unknown", text)
}
