package evaltest_test

import (
	"slices"

	"github.com/evaltest-go/evaltest/evaltest"
)

// checkShadow: where shadow would have stopped is where the other modes stop.
func (c *simCase) checkShadow(trial *evaltest.Bare, player *simPlayer) *simFault {
	mode := trial.Mode()
	if mode != "sound" && mode != "armed" || c.seed%4 != 0 || c.limits.budget > 0 {
		return nil
	}
	shadow, _ := c.run("shadow", c.ends...)
	if s := shadow.Trial().Stop; s != nil {
		return fault("shadow never stops", "%+v", s)
	}
	for _, s := range shadow.Shadow() {
		if s.Mode != mode {
			continue
		}
		if trial.Trial().Stop == nil {
			return fault("shadow says where the modes stop", "it says %+v, and %s did not stop", s.Stop, mode)
		}
		if want := *trial.Trial().Stop; !sameStop(s.Stop, want) {
			return fault("shadow says where the modes stop", "%+v, and %s stopped at %+v", s.Stop, mode, want)
		}
		o := shadow.Trial().Outcome
		held := o == evaltest.OutcomePassed && s.Verdict == evaltest.Passed || o == evaltest.OutcomeFailed && s.Verdict == evaltest.Failed
		if s.Held != held {
			return fault("shadow says whether the verdict held", "%v with outcome %s", s.Held, o)
		}
		return nil
	}
	if trial.Trial().Stop != nil {
		return fault("shadow says where the modes stop", "it says nothing, and %s stopped at %+v", mode, trial.Trial().Stop)
	}
	return nil
}

func sameStop(a, b evaltest.Stop) bool {
	open := slices.Equal(a.Open, b.Open)
	return open && a.Reason == b.Reason && a.Criterion == b.Criterion && a.Mode == b.Mode && a.Verdict == b.Verdict &&
		a.Turn == b.Turn && a.ToolCall == b.ToolCall && a.Elapsed == b.Elapsed && a.TurnsLeft == b.TurnsLeft && a.Length == b.Length
}
