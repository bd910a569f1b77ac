package verdict_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// FuzzGate holds Decide and Score against a gate of plain numbers, which knows nothing of intervals: it is asked at both
// ends of what is known, and somewhere in between.
func FuzzGate(f *testing.F) {
	for seed := range uint64(2000) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3))
		number := func() *big.Rat { n := int64(1 + r.IntN(10)); return big.NewRat(1+r.Int64N(n), n) }
		var g verdict.Gate
		if r.IntN(3) > 0 {
			g.MinScore = number()
		}
		var cs []verdict.Criterion
		for range r.IntN(6) {
			n := 1 + r.IntN(10)
			a, b := r.IntN(n+1), r.IntN(n+1)
			c := verdict.Criterion{
				Interval: verdict.Interval{Lo: verdict.Ratio(min(a, b), n), Hi: verdict.Ratio(max(a, b), n)},
				Advisory: r.IntN(5) == 0, Required: r.IntN(5) == 0,
			}
			if r.IntN(2) == 0 {
				c.Weight = number()
			}
			if r.IntN(2) == 0 {
				c.PassAt = number()
			}
			cs = append(cs, c)
		}
		at := func(score func(verdict.Criterion) *big.Rat) (passes, decidable bool, mean *big.Rat) {
			sum, all := new(big.Rat), new(big.Rat)
			passes = true
			for _, c := range cs {
				if c.Advisory {
					continue
				}
				decidable = true
				w, pass := big.NewRat(1, 1), big.NewRat(1, 1)
				if c.Weight != nil {
					w = c.Weight
				}
				if c.PassAt != nil {
					pass = c.PassAt
				}
				s := score(c)
				all.Add(all, w)
				sum.Add(sum, new(big.Rat).Mul(w, s))
				if s.Cmp(pass) < 0 && (g.MinScore == nil || c.Required) {
					passes = false
				}
			}
			if !decidable {
				return false, false, nil
			}
			mean = sum.Quo(sum, all)
			return passes && (g.MinScore == nil || mean.Cmp(g.MinScore) >= 0), true, mean
		}
		worst, decidable, lo := at(func(c verdict.Criterion) *big.Rat { return c.Interval.Lo.Rat() })
		best, _, hi := at(func(c verdict.Criterion) *big.Rat { return c.Interval.Hi.Rat() })
		want := verdict.Undecided
		switch {
		case !decidable:
		case worst:
			want = verdict.Passed
		case !best:
			want = verdict.Failed
		}
		if got := g.Decide(cs); got != want {
			t.Fatalf("%v over %+v: %v, want %v", g, cs, got, want)
		}
		score := g.Score(cs)
		if decidable && (score.Lo.Rat().Cmp(lo) != 0 || score.Hi.Rat().Cmp(hi) != 0) {
			t.Fatalf("score of %+v: %v, want [%v, %v]", cs, score, lo, hi)
		}
		if !decidable {
			return
		}
		some, _, mean := at(func(c verdict.Criterion) *big.Rat { // a mixture of both ends
			x := big.NewRat(r.Int64N(4), 3)
			width := new(big.Rat).Sub(c.Interval.Hi.Rat(), c.Interval.Lo.Rat())
			return x.Add(c.Interval.Lo.Rat(), x.Mul(x, width))
		})
		if want != verdict.Undecided && some != (want == verdict.Passed) {
			t.Fatalf("%v over %+v is %v, and passes is %v in between", g, cs, want, some)
		}
		if mean.Cmp(lo) < 0 || mean.Cmp(hi) > 0 {
			t.Fatalf("the mean %v of %+v lies outside [%v, %v]", mean, cs, lo, hi)
		}
	})
}
