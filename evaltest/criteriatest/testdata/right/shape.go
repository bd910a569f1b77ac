package right

import (
	"context"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/evaltest/criteriatest/testdata/parts"
)

// Types that are put together of others.

var shapes = []Case{
	{Name: "a generic type", Looks: "methods of no type", New: same(generic[agents.Kind]{"pdf"})},
	{Name: "a generic base", Looks: "StopPolarities without LiveVerdict", New: same(ofInt{of[int]{item: 1}})},
	{Name: "a base that others complete", Looks: "StopPolarities without LiveVerdict", New: same(completed{})},
	{Name: "an interface embedded", Looks: "a criterion without methods", New: same(renamed{noRM{}, "the build stays"})},
	{Name: "a built-in criterion embedded", Looks: "LiveVerdict without StopPolarities", New: func() evaltest.LiveCriterion { return wrapped{criteria.CommandExecuted("rm -rf").Max(0)} }},
	{Name: "a built-in combination in a constructor", Looks: "a criterion without methods", New: newCombined},
	{Name: "polarities and verdict of a part", Looks: "an undeclared verdict", New: same(around{part: tested{}})},
	{Name: "receivers of both kinds, used as pointers", Looks: "LiveVerdict on the wrong receiver", New: func() evaltest.LiveCriterion { return &mixed{} }},
	{Name: "helpers beside the methods", Looks: "LiveVerdict misspelt", New: same(beside{})},
	{Name: "aliases of the types", Looks: "a wrong signature", New: same(aliased{})},
	{Name: "a method with a memory that nobody judges by", Looks: "a counter in a field", New: func() evaltest.LiveCriterion { return &describing{} }},
}

// generic is one for every kind of setting.
type generic[T ~string] struct{ skill T }

func (c generic[T]) String() string                  { return "uses " + string(c.skill) }
func (generic[T]) StopPolarities() evaltest.Polarity { return evaltest.Pass }
func (c generic[T]) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.PassIf(tr.Tally(c, parts.Used(string(c.skill))).Ran() > 0)
}
func (c generic[T]) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.AtLeastOne(trial.Trajectory.Tally(c, parts.Used(string(c.skill))))
}

type of[T any] struct{ item T }

func (of[T]) String() string                    { return "no rm -rf" }
func (of[T]) StopPolarities() evaltest.Polarity { return evaltest.Fail }
func (of[T]) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return parts.None(rm.Tally(trial.Trajectory))
}

type ofInt struct{ of[int] }

func (c ofInt) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(rm.Tally(tr).Ran() >= c.item)
}

// failing is half of a criterion.
type failing struct{}

func (failing) StopPolarities() evaltest.Polarity { return evaltest.Fail }

type completed struct{ failing }

func (completed) String() string { return "no rm -rf" }
func (completed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return noRM{}.LiveVerdict(tr)
}
func (completed) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return noRM{}.Grade(ctx, trial)
}

// renamed is any live criterion by another name.
type renamed struct {
	evaltest.LiveCriterion
	name string
}

func (c renamed) String() string { return c.name }

type wrapped struct{ *criteria.CommandCount }

func (c wrapped) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return c.CommandCount.LiveVerdict(tr)
}

func newCombined() evaltest.LiveCriterion {
	return criteria.AllOf(tested{}, criteria.Never(criteria.CommandExecuted("shred")), noRM{})
}

// around says what its part says.
type around struct{ part evaltest.LiveCriterion }

func (c around) String() string                    { return c.part.String() }
func (c around) StopPolarities() evaltest.Polarity { return c.part.StopPolarities() }
func (c around) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if v := c.part.LiveVerdict(tr); v != evaltest.Passed {
		return v
	}
	return evaltest.Passed
}
func (c around) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return c.part.Grade(ctx, trial)
}

// mixed is only ever used as a pointer.
type mixed struct{ failing }

func (*mixed) String() string { return "no rm -rf" }
func (*mixed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return noRM{}.LiveVerdict(tr)
}
func (*mixed) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return noRM{}.Grade(ctx, trial)
}

// beside has methods whose names are nearly those of the contract, beside those that are.
type beside struct{ noRM }

func (c beside) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return c.liveVerdict(tr) }
func (c beside) liveVerdict(tr *agents.Trajectory) evaltest.Verdict { return c.Verdict(tr) }

// Verdict is no method of the contract.
func (beside) Verdict(tr *agents.Trajectory) evaltest.Verdict {
	return parts.FailIf(rm.Tally(tr).Ran() > 0)
}

type (
	trajectory = agents.Trajectory
	verdict    = evaltest.Verdict
)

type aliased struct{ noRM }

func (aliased) LiveVerdict(tr *trajectory) verdict { return parts.FailIf(rm.Tally(tr).Ran() > 0) }

// describing counts how often it is described.
type describing struct {
	noRM
	asked int
}

// Describe is for its author.
func (c *describing) Describe() string {
	c.asked++
	return c.String()
}

func (c *describing) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return c.noRM.LiveVerdict(tr)
}
