package verdict

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// Score is a number in [0, 1], held exactly, with what a reader needs to make sense of it. The zero value is a score of 0
// without a reason. A Score that was made from something that is no number in [0, 1] says so in Err and counts as nothing.
type Score struct {
	// The value is num/den when den is not 0, else *big; both zero: 0. Small fractions need no memory of their own.
	num, den uint64
	big      *big.Rat
	bad      string

	Reason string // why, in a few words; "" when there is nothing to add

	// For classification: the label that was asked for and the one that was seen.
	Expected, Observed string
}

// Ratio is k of n. It is bad when n is not positive or k lies outside [0, n].
func Ratio(k, n int) Score {
	if n <= 0 || k < 0 || k > n {
		return Score{bad: fmt.Sprintf("Ratio(%d, %d) is not in [0, 1]", k, n)}
	}
	return Score{num: uint64(k), den: uint64(n)}
}

// Points is x, taken as the shortest decimal that reads back as x: Points(0.1) is one tenth, exactly. It is bad when x
// is NaN or lies outside [0, 1].
func Points(x float64) Score {
	if math.IsNaN(x) || x < 0 || x > 1 {
		return Score{bad: fmt.Sprintf("Points(%v) is not in [0, 1]", x)}
	}
	r := Decimal(x)
	if r.Num().IsUint64() && r.Denom().IsUint64() {
		return Score{num: r.Num().Uint64(), den: r.Denom().Uint64()}
	}
	return Score{big: r}
}

// PassIf is 1 when ok, else 0.
func PassIf(ok bool) Score {
	if ok {
		return one
	}
	return zero
}

var (
	zero = Score{num: 0, den: 1}
	one  = Score{num: 1, den: 1}
)

// Decimal is x as the shortest decimal that reads back as x. x must be finite.
func Decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("verdict: %v is not a finite number", x))
	}
	return r
}

// Because is s with a reason.
func (s Score) Because(format string, args ...any) Score {
	s.Reason = fmt.Sprintf(format, args...)
	return s
}

// Labels is s with the label that was asked for and the one that was seen.
func (s Score) Labels(expected, observed string) Score {
	s.Expected, s.Observed = expected, observed
	return s
}

// Err is nil for a score that is a number in [0, 1].
func (s Score) Err() error {
	if s.bad == "" {
		return nil
	}
	return fmt.Errorf("verdict: score: %s", s.bad)
}

// Rat is the exact value, a copy.
func (s Score) Rat() *big.Rat {
	switch {
	case s.big != nil:
		return new(big.Rat).Set(s.big)
	case s.den == 0:
		return new(big.Rat)
	}
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(s.num), new(big.Int).SetUint64(s.den))
}

// FromRat is the score of a value in [0, 1]; it is bad outside.
func FromRat(r *big.Rat) Score {
	switch {
	case r.Sign() < 0 || r.Cmp(oneRat) > 0:
		return Score{bad: r.RatString() + " is not in [0, 1]"}
	case r.Num().IsUint64() && r.Denom().IsUint64():
		return Score{num: r.Num().Uint64(), den: r.Denom().Uint64()}
	}
	return Score{big: new(big.Rat).Set(r)}
}

var oneRat = big.NewRat(1, 1)

// Float is the nearest float64.
func (s Score) Float() float64 {
	f, _ := s.Rat().Float64()
	return f
}

// Cmp compares the values: -1, 0 or +1. It does not allocate for scores of small numerators and denominators.
func (s Score) Cmp(t Score) int {
	if s.big != nil || t.big != nil {
		return s.Rat().Cmp(t.Rat())
	}
	sh, sl := bits.Mul64(s.num, max(t.den, 1))
	th, tl := bits.Mul64(t.num, max(s.den, 1))
	if sh != th {
		return cmp.Compare(sh, th)
	}
	return cmp.Compare(sl, tl)
}

// Complement is 1 − s, without s's reason.
func (s Score) Complement() Score {
	switch {
	case s.bad != "":
		return Score{bad: s.bad}
	case s.big != nil:
		return FromRat(new(big.Rat).Sub(oneRat, s.big))
	case s.den == 0:
		return one
	}
	return Score{num: s.den - s.num, den: s.den}
}

// String is the value as a short decimal: 0.67, 1.
func (s Score) String() string {
	if s.bad != "" {
		return "no score: " + s.bad
	}
	return formatRat(s.Rat())
}

// formatRat shows r with at most two decimals, and never rounds to 0 or 1 what is neither.
func formatRat(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	switch text := r.FloatString(2); text {
	case "0.00":
		return "<0.01"
	case "1.00":
		return ">0.99"
	default:
		if text[len(text)-1] == '0' {
			text = text[:len(text)-1]
		}
		return text
	}
}
