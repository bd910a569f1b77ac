package criteria

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// SkillUse asks whether a skill is used. See [SkillTriggered].
type SkillUse struct{ count }

type skillKey struct{ name string }

// SkillTriggered passes if the skill with this name is used, at any time and by anyone, sub-agents included: if a call
// that uses it has run. To name a skill, or to read its files, is not to use it. A skill that another one offers under a prefix has its
// full name, as the agent gives it: plugin:pdf.
//
// It reaches Pass only: a skill that was not used yet may still be.
func SkillTriggered(name string) *SkillUse {
	c := &SkillUse{count{live: live{needs: []agents.Kind{agents.Skill}}, did: "skill used", object: name}}
	if name == "" {
		c.err = misuse("SkillTriggered", "the name of the skill is empty")
	}
	var key any = skillKey{name}
	match := func(call agents.ToolCall) bool { return call.Kind == agents.Skill && call.Skill == name }
	c.tally = func(tr *agents.Trajectory) agents.Tally { return tr.Tally(key, match) }
	return c
}

// FirstSkillUse asks which skill is used first. See [FirstSkill].
type FirstSkillUse struct {
	live
	skill string
	key   any
}

type firstSkillKey struct{ name string }

// FirstSkill passes if the first skill that is used is the one with this name, and fails if it is another or none. The
// first is the first to be dispatched among the calls that were not denied, sub-agents' included: of two that run side by
// side it does not matter which ends first.
//
// It reaches Pass and Fail: the first use decides. While a use that was dispatched earlier is pending or unresolved, it is
// open whether that one was the first, unless both are of the right skill or both of a wrong one. The score carries the labels of
// a classification: the skill asked for, and the one used.
func FirstSkill(name string) *FirstSkillUse {
	c := &FirstSkillUse{live: live{name: "first skill used: " + name, needs: []agents.Kind{agents.Skill}}, skill: name, key: firstSkillKey{name}}
	if name == "" {
		c.err = misuse("FirstSkill", "the name of the skill is empty; for an eval in which no skill may be used, use Never(ToolCalled(agents.Skill))")
	}
	return c
}

// firstSkill is what is known of the first use: the one with index ran is the first that has run, and every use that may
// have been before it is in open.
type firstSkill struct {
	uses  []skillUse     // in order of dispatch, up to the first that has run
	index map[string]int // in uses, by the call's id
	ran   int            // index + 1; 0: none has run
	right int            // uses before it that may have run, of the right skill
	wrong int            // and of others
}

type skillUse struct {
	skill  string
	denied bool
}

func (c *FirstSkillUse) step(s firstSkill, e agents.Event) firstSkill {
	switch {
	case e.Kind == agents.EventCall && e.Call.Kind == agents.Skill && s.ran == 0:
		if s.index == nil {
			s.index = map[string]int{}
		}
		s.index[e.Call.ID] = len(s.uses)
		s.uses = append(s.uses, skillUse{skill: e.Call.Skill})
		s.add(e.Call.Skill == c.skill, 1)
	case e.Kind == agents.EventStatus && e.Status.Settled() && len(s.uses) > 0:
		i, ok := s.index[e.CallID]
		if !ok || i >= len(s.uses) {
			break
		}
		if e.Status == agents.Denied {
			s.uses[i].denied = true
			s.add(s.uses[i].skill == c.skill, -1)
			break
		}
		// What was dispatched after one that has run was not the first.
		for last := len(s.uses) - 1; last > i; last-- {
			if !s.uses[last].denied && last != s.ran-1 {
				s.add(s.uses[last].skill == c.skill, -1)
			}
		}
		s.add(s.uses[i].skill == c.skill, -1)
		s.uses, s.ran = s.uses[:i+1], i+1
	}
	return s
}

func (s *firstSkill) add(right bool, n int) {
	if right {
		s.right += n
	} else {
		s.wrong += n
	}
}

func (c *FirstSkillUse) first(tr *agents.Trajectory) firstSkill {
	return agents.Fold(tr, c.key, c.step)
}

// decided is Passed or Failed once a use has run and all that may have been before it are like it.
func (c *FirstSkillUse) decided(s firstSkill) evaltest.Verdict {
	switch {
	case s.ran == 0:
	case s.uses[s.ran-1].skill == c.skill && s.wrong == 0:
		return evaltest.Passed
	case s.uses[s.ran-1].skill != c.skill && s.right == 0:
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// StopPolarities is Pass|Fail.
func (c *FirstSkillUse) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }

// LiveVerdict judges the trajectory so far.
func (c *FirstSkillUse) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if c.err != nil {
		return evaltest.Undecided
	}
	return c.decided(c.first(tr))
}

// Grade scores the finished trial.
func (c *FirstSkillUse) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if c.err != nil {
		return evaltest.Score{}, misuseError(c, c.err)
	}
	s := c.first(trial.Trajectory)
	v := c.decided(s)
	switch {
	case v != evaltest.Undecided:
		used := s.uses[s.ran-1].skill
		return evaltest.PassIf(v == evaltest.Passed).Because("the first skill used was %s", clipLine(used, 60)).Labels(c.skill, used), nil
	case s.ran > 0 || s.right > 0:
		return evaltest.Score{}, evaltest.ErrOpen
	case s.wrong > 0:
		return zero.Because("no skill was seen to be used; others may have been").Labels(c.skill, ""), nil
	}
	return zero.Because("no skill was used").Labels(c.skill, ""), nil
}
