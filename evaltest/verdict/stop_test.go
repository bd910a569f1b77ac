package verdict_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// The rule of smoke checks, one row a case that can be said aloud.
func TestTheRuleOfSmokeChecks(t *testing.T) {
	const both = verdict.Pass | verdict.Fail
	yes, no, open := verdict.Exactly(verdict.PassIf(true)), verdict.Exactly(verdict.PassIf(false)), verdict.Unknown
	armed := func(when, reach verdict.Polarity, i verdict.Interval) verdict.Criterion {
		return verdict.Criterion{Interval: i, Armed: when, Reach: reach}
	}
	can := func(i verdict.Interval) verdict.Criterion { return armed(verdict.Pass, verdict.Pass, i) }     // "the skill is used"
	either := func(i verdict.Interval) verdict.Criterion { return armed(both, both, i) }                  // "the first skill is"
	mustNot := func(i verdict.Interval) verdict.Criterion { return armed(verdict.Fail, verdict.Fail, i) } // "no rm"
	expected := func(i verdict.Interval) verdict.Criterion { return verdict.Criterion{Interval: i} }
	weighs := func(n int64, c verdict.Criterion) verdict.Criterion { c.Weight = big.NewRat(n, 1); return c }
	disarmed := func(c verdict.Criterion) verdict.Criterion { c.Disarmed = true; return c }
	every, half := verdict.Gate{}, verdict.Gate{MinScore: big.NewRat(1, 2)}
	of := func(cs ...verdict.Criterion) []verdict.Criterion { return cs }

	for name, c := range map[string]struct {
		gate verdict.Gate
		of   []verdict.Criterion
		want verdict.Verdict
	}{
		"nothing has happened":                                    {every, of(can(open), mustNot(open), expected(open)), verdict.Undecided},
		"the armed one has passed; a file is open":                {every, of(can(yes), expected(open)), verdict.Passed},
		"one of two that are armed has passed":                    {every, of(can(yes), can(open)), verdict.Undecided},
		"what must not happen has not so far":                     {every, of(can(yes), mustNot(open)), verdict.Passed},
		"a must-not alone never passes":                           {every, of(mustNot(open), expected(open)), verdict.Undecided},
		"a must-not alone never passes, even if it is known to":   {every, of(mustNot(yes), expected(open)), verdict.Undecided},
		"what must not happen has":                                {every, of(can(yes), mustNot(no), expected(open)), verdict.Failed},
		"it has, and the gate can absorb it":                      {half, of(mustNot(no), expected(open), expected(open)), verdict.Undecided},
		"it has, the gate can absorb it, and something passed":    {half, of(can(yes), mustNot(no), expected(open)), verdict.Undecided},
		"it has, and the gate is lost":                            {half, of(weighs(3, mustNot(no)), expected(open), expected(open)), verdict.Failed},
		"a wrong answer of one that could pass":                   {every, of(either(no), expected(open)), verdict.Failed},
		"an armed one passed; a criterion that is not has failed": {every, of(can(yes), expected(no)), verdict.Undecided},
		"the gate is lost on what is not armed for Fail":          {every, of(armed(verdict.Pass, both, no), expected(open)), verdict.Undecided},
		"one armed for Fail alone has passed":                     {every, of(armed(verdict.Fail, both, yes), expected(open)), verdict.Undecided},
		"the must-not weighs nothing in the gate of the armed":    {half, of(can(yes), weighs(5, mustNot(open)), expected(open)), verdict.Passed},
		"and gives it nothing either":                             {half, of(can(yes), weighs(2, can(open)), weighs(5, mustNot(yes))), verdict.Undecided},
		"half of what is armed has passed":                        {half, of(can(yes), can(open), expected(open)), verdict.Passed},
		"credit without anything passed":                          {half, of(can(verdict.Interval{Lo: verdict.Ratio(2, 3), Hi: verdict.PassIf(true)}), expected(open)), verdict.Undecided},
		"a broken contract stops nothing":                         {every, of(disarmed(can(open)), can(yes)), verdict.Undecided},
		"nor does it fail":                                        {every, of(disarmed(mustNot(open)), expected(no)), verdict.Undecided},
		"nothing is armed":                                        {every, of(expected(yes), expected(no)), verdict.Undecided},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, c.gate.StopArmed(c.of)) })
	}
}

func TestASoundStopIsTheGateDecided(t *testing.T) {
	cs := []verdict.Criterion{{Interval: verdict.Exactly(verdict.PassIf(false))}, {Interval: verdict.Unknown}}
	assert.Equal(t, verdict.Failed, verdict.Gate{}.StopSound(cs))
	assert.Equal(t, verdict.Undecided, verdict.Gate{MinScore: big.NewRat(1, 2)}.StopSound(cs))
}
