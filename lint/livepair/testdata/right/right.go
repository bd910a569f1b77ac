// Package right has criteria that are live, and types that are none.
package right

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
)

type base struct{ name string }

func (b base) String() string { return b.name }

func (base) Grade(context.Context, *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.Score{}, evaltest.ErrOpen
}

func judge(tr *agents.Trajectory) evaltest.Verdict {
	if tr.Len() > 100 {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

// One that is graded when the trial is over.
type endState struct{ base }

// A base that others complete.
type failing struct{ base }

func (failing) StopPolarities() evaltest.Polarity { return evaltest.Fail }

type completed struct{ failing }

func (completed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return judge(tr) }

type judging struct{ base }

func (*judging) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return judge(tr) }

type completedToo struct{ *judging }

func (completedToo) StopPolarities() evaltest.Polarity { return evaltest.Fail }

// Half of a criterion, which is none.
type mixin struct{}

func (mixin) StopPolarities() evaltest.Polarity { return evaltest.Fail }

// Methods of other people's.
type stranger struct{}

func (stranger) LiveVerdict() bool      { return true }
func (stranger) StopPolarity() string   { return "" }
func (stranger) LiveBounds() (int, int) { return 0, 1 }

type strangerCriterion struct{ base }

func (strangerCriterion) LiveVerdict(jury []string) string { return "guilty" }

// Helpers beside the real ones.
type helped struct{ base }

func (helped) StopPolarities() evaltest.Polarity                    { return evaltest.Fail }
func (h helped) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return h.liveVerdict(tr) }
func (helped) liveVerdict(tr *agents.Trajectory) evaltest.Verdict   { return judge(tr) }
func (helped) Verdict(tr *agents.Trajectory) evaltest.Verdict       { return judge(tr) }

// A criterion that has a helper and is not live.
type plain struct{ base }

func (plain) liveVerdict(tr *agents.Trajectory) evaltest.Verdict { return judge(tr) }
func (plain) Judge(tr *agents.Trajectory) evaltest.Verdict       { return judge(tr) }

// Mixed receivers where only pointers are used.
type mixed struct{ base }

func (mixed) StopPolarities() evaltest.Polarity                   { return evaltest.Fail }
func (*mixed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return judge(tr) }

func newMixed() *mixed { return &mixed{} }

// Pointer receivers around a base with others: who makes a value of it is told there.
type Around struct{ base }

// StopPolarities is Fail.
func (*Around) StopPolarities() evaltest.Polarity { return evaltest.Fail }

// LiveVerdict judges the trajectory so far.
func (*Around) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return judge(tr) }

// Or where a value is no criterion at all.
type pointed struct{ name string }

func (p *pointed) String() string { return p.name }

func (*pointed) Grade(context.Context, *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.Score{}, evaltest.ErrOpen
}
func (pointed) StopPolarities() evaltest.Polarity                  { return evaltest.Fail }
func (pointed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return judge(tr) }

func newPointed() pointed { return pointed{} }

// Embedding makes it whole.
type embedding struct {
	*criteria.Negation
	name string
}

func (e embedding) String() string { return e.name }

type embeddingInterface struct{ evaltest.LiveCriterion }

type overriding struct{ evaltest.LiveCriterion }

func (overriding) StopPolarities() evaltest.Polarity { return evaltest.Fail }

// Aliases.
type (
	trajectory = agents.Trajectory
	alias      = completed
	verdict    = evaltest.Verdict
)

type aliased struct{ base }

func (aliased) StopPolarities() evaltest.Polarity  { return evaltest.Fail }
func (aliased) LiveVerdict(tr *trajectory) verdict { return judge(tr) }

// Generic ones.
type generic[T any] struct {
	base
	item T
}

func (*generic[T]) StopPolarities() evaltest.Polarity                  { return evaltest.Fail }
func (*generic[T]) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return judge(tr) }

// A wrapper that is not live on purpose.
type graded struct{ evaltest.Criterion }

// LiveCriterion is a type of this package's own.
type LiveCriterion interface{ StopPolarities() }

type own struct{ base }

func use(cs ...evaltest.Criterion) []evaltest.Criterion { return cs }

var _ = use(endState{}, completed{}, completedToo{}, strangerCriterion{}, helped{}, plain{}, newMixed(), embedding{}, embeddingInterface{}, overriding{}, alias{}, aliased{},
	&generic[int]{}, graded{completed{}}, own{}, base{})

var _, _, _ = mixin{}, stranger{}, newPointed
