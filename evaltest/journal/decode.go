package journal

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// Scores are most of what is read of a run, and half of its cost when each is decoded by itself. So these stand in for the
// types that have some, with scores that are plain. An absent score is 0, as it is there.
type (
	criterionIn struct {
		CriterionResult
		Score intervalIn `json:"score"`
	}
	verdictIn struct {
		Verdict
		ID    struct{}   `json:"id"` // it repeats that of the intent
		Score intervalIn `json:"score"`
	}
	intervalIn struct{ Lo, Hi *scoreIn }
	scoreIn    struct{ Value, Reason, Expected, Observed string }
)

// decode reads the data of a record of type kind: a *[Process], *[Intent], *[CriterionResult], …; nil for a type that is not
// known.
func decode(kind string, data []byte) (v any, err error) {
	switch kind {
	case typeCriterion:
		var in criterionIn
		if err := json.Unmarshal(data, &in); err != nil {
			return nil, err
		}
		in.CriterionResult.Score, err = in.Score.interval()
		return &in.CriterionResult, err
	case typeVerdict:
		var in verdictIn
		if err := json.Unmarshal(data, &in); err != nil {
			return nil, err
		}
		in.Verdict.Score, err = in.Score.interval()
		return &in.Verdict, err
	case typeRun:
		v = new(Process)
	case typeIntent:
		v = new(Intent)
	case typeNote, typeFailure:
		v = new(note)
	case typeGrading:
		v = new(grading)
	case typeResumes:
		v = new(resumes)
	default:
		return nil, nil
	}
	return v, json.Unmarshal(data, v)
}

func (in *intervalIn) interval() (i verdict.Interval, err error) {
	if i.Lo, err = in.Lo.score(); err != nil {
		return i, err
	}
	if i.Hi, err = in.Hi.score(); err != nil {
		return i, err
	}
	return i, i.Valid()
}

func (in *scoreIn) score() (s verdict.Score, err error) {
	if in == nil {
		return s, nil
	}
	num, den, isRatio := strings.Cut(in.Value, "/")
	if !isRatio {
		den = "1"
	}
	k, err1 := strconv.Atoi(num)
	n, err2 := strconv.Atoi(den)
	if err1 == nil && err2 == nil {
		s = verdict.Ratio(k, n)
	} else {
		r, ok := new(big.Rat).SetString(in.Value)
		if !ok {
			return s, fmt.Errorf("a score: %q is no number", in.Value)
		}
		s = verdict.FromRat(r)
	}
	s.Reason, s.Expected, s.Observed = in.Reason, in.Expected, in.Observed
	return s, s.Err()
}
