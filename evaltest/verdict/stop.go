package verdict

// Mode says when a trial may be stopped.
type Mode string

const (
	Sound  Mode = "sound"  // when the gate comes out the same for every completion
	Armed  Mode = "armed"  // when the armed criteria have answered: a smoke check
	Shadow Mode = "shadow" // never; what the other two would have done is recorded
	Off    Mode = "off"    // never
)

// StopSound is the verdict for which a trial may be stopped without changing it: that of the gate, as soon as it is
// decided. Undecided: go on.
func (g Gate) StopSound(cs []Criterion) Verdict { return g.Decide(cs) }

// StopArmed is the verdict for which a smoke check is stopped. Undecided: go on.
//
// Failed: a criterion armed for Fail has failed and the whole gate can no longer pass. So Failed is always the verdict of
// a full run, too.
//
// Passed: some criterion armed for Pass has passed, the gate over the armed criteria passes, those that can only fail
// left out of it, sum and weight; none of those has failed, none is disarmed, and the whole gate can still pass. What is
// not decided then stays open (Open), and the verdict has to say so.
func (g Gate) StopArmed(cs []Criterion) Verdict {
	whole := g.Decide(cs)
	var answered []Criterion // armed, and able to pass
	failedArmed, passedArmed, spoilt := false, false, false
	for _, c := range cs {
		if c.Armed == 0 {
			continue
		}
		v := c.Verdict()
		spoilt = spoilt || c.Disarmed
		failedArmed = failedArmed || !c.Disarmed && c.Armed.Has(Fail) && v == Failed
		if c.Reach == Fail {
			spoilt = spoilt || v == Failed
			continue
		}
		passedArmed = passedArmed || c.Armed.Has(Pass) && v == Passed
		answered = append(answered, c)
	}
	switch {
	case failedArmed && whole == Failed:
		return Failed
	case passedArmed && !spoilt && whole != Failed && g.Decide(answered) == Passed:
		return Passed
	}
	return Undecided
}

// Open lists the indexes of the gating criteria that are not decided.
func Open(cs []Criterion) []int {
	var open []int
	for i, c := range cs {
		if !c.Advisory && c.Verdict() == Undecided {
			open = append(open, i)
		}
	}
	return open
}
