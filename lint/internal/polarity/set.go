package polarity

import (
	"strings"

	"github.com/evaltest-go/evaltest/lint/internal/names"
)

// A Set is what is known of a polarity, or of a verdict, without running the code: the values that it can have.
type Set struct {
	// Mask has a bit for each value that code shows: see Has. It is empty for what never returns.
	Mask uint8
	// Open: it can have values that code does not show.
	Open bool
}

// unknown is a value of which nothing is known.
var unknown = Set{Open: true}

// decidedBit stands for evaltest.Decided, which is no polarity of a criterion.
const decidedBit = 1 << 4

// Exactly is the set of one value.
func Exactly(v int64) Set {
	switch {
	case 0 <= v && v <= 3:
		return Set{Mask: 1 << v}
	case v == names.Decided:
		return Set{Mask: decidedBit}
	}
	return unknown
}

// Decided reports whether it can be evaltest.Decided.
func (s Set) Decided() bool { return s.Mask&decidedBit != 0 }

// Has reports whether one of the values that code shows is v: of a verdict.
func (s Set) Has(v int) bool { return s.Mask&(1<<v) != 0 }

// May reports whether one of the polarities that code shows holds bit.
func (s Set) May(bit int) bool {
	for v := range 4 {
		if s.Has(v) && v&bit != 0 {
			return true
		}
	}
	return false
}

// Must reports whether all polarities that it can be hold bit.
func (s Set) Must(bit int) bool {
	if s.Open || s.Mask == 0 || s.Decided() {
		return false
	}
	for v := range 4 {
		if s.Has(v) && v&bit == 0 {
			return false
		}
	}
	return true
}

// Cannot reports whether it is certain that no polarity that it can be holds bit.
func (s Set) Cannot(bit int) bool { return !s.Open && s.Mask != 0 && !s.Decided() && !s.May(bit) }

// union is what is either.
func (s Set) union(t Set) Set { return Set{s.Mask | t.Mask, s.Open || t.Open} }

// combine is what f makes of one value of each.
func (s Set) combine(t Set, f func(a, b int) int) Set {
	out := Set{Open: s.Open || t.Open || s.Decided() || t.Decided()}
	for a := range 4 {
		for b := range 4 {
			if s.Has(a) && t.Has(b) {
				out.Mask |= 1 << f(a, b)
			}
		}
	}
	return out
}

// flip is Pass for Fail, and Fail for Pass.
func (s Set) flip() Set {
	return s.combine(Exactly(0), func(a, _ int) int { return a>>1&1 | a&1<<1 })
}

// String is for people: "Pass or Pass|Fail or unknown".
func (s Set) String() string {
	var words []string
	for v, word := range []string{"neither", "Pass", "Fail", "Pass|Fail", "Decided"} {
		if s.Mask&(1<<v) != 0 {
			words = append(words, word)
		}
	}
	if s.Open {
		words = append(words, "unknown")
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " or ")
}

// atLeast is the polarity of a criterion that scores as the k-th highest of its parts does.
func atLeast(k int, parts []Set) Set {
	// How many parts reach Pass and Fail, in every combination.
	type counts struct{ pass, fail int }
	have := map[counts]bool{{}: true}
	open := k < 1 || k > len(parts)
	for _, p := range parts {
		next := map[counts]bool{}
		// A part of which nothing is known can be anything.
		mask := p.Mask
		if p.Open || p.Decided() {
			mask = 0b1111
		}
		for c := range have {
			for v := range 4 {
				if mask&(1<<v) != 0 {
					next[counts{c.pass + v&1, c.fail + v>>1&1}] = true
				}
			}
		}
		have = next
	}
	if open {
		return unknown
	}
	out := Set{}
	for c := range have {
		v := 0
		if c.pass >= k {
			v |= names.Pass
		}
		if c.fail >= len(parts)-k+1 {
			v |= names.Fail
		}
		out.Mask |= 1 << v
	}
	return out
}
