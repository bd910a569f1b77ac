package verdict

import "fmt"

// Interval is what is known of a score: it lies in [Lo, Hi]. A fact narrows it; what is unknown leaves it wide.
type Interval struct{ Lo, Hi Score }

var (
	// Unknown is [0, 1]: nothing is known.
	Unknown = Interval{zero, one}
	passed  = Interval{one, one}
	failed  = Interval{zero, zero}
)

// Exactly is [s, s].
func Exactly(s Score) Interval { return Interval{s, s} }

// Of is the interval that a live verdict gives: [1, 1], [0, 0] or [0, 1].
func Of(v Verdict) Interval {
	switch v {
	case Passed:
		return passed
	case Failed:
		return failed
	}
	return Unknown
}

// Point reports whether the score is known.
func (i Interval) Point() bool { return i.Lo.Cmp(i.Hi) == 0 }

// Within reports whether i lies in j: i is j, narrowed.
func (i Interval) Within(j Interval) bool { return j.Lo.Cmp(i.Lo) <= 0 && i.Hi.Cmp(j.Hi) <= 0 }

// Equal reports whether both have the same ends.
func (i Interval) Equal(j Interval) bool { return i.Lo.Cmp(j.Lo) == 0 && i.Hi.Cmp(j.Hi) == 0 }

// Valid is nil when both ends are scores and Lo is not above Hi.
func (i Interval) Valid() error {
	if err := i.Lo.Err(); err != nil {
		return err
	}
	if err := i.Hi.Err(); err != nil {
		return err
	}
	if i.Lo.Cmp(i.Hi) > 0 {
		return fmt.Errorf("verdict: interval: the lower bound %v lies above the upper %v", i.Lo, i.Hi)
	}
	return nil
}

// Complement is the interval of 1 − s.
func (i Interval) Complement() Interval { return Interval{i.Hi.Complement(), i.Lo.Complement()} }

// String is "0.5" for a point and "[0, 0.5]" else.
func (i Interval) String() string {
	if i.Point() {
		return i.Lo.String()
	}
	return fmt.Sprintf("[%v, %v]", i.Lo, i.Hi)
}
