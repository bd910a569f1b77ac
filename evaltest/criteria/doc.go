// Package criteria has the criteria that evals are made of.
//
//	func TestPDFSkill(t *testing.T) {
//		e := evaltest.New(t, evaltest.Skills("../skills"))
//		e.StopWhen(evaltest.Decided, criteria.FirstSkill("pdf"))
//		e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm")))
//		e.Expect(criteria.FileContains("out.csv", "total"), evaltest.Weight(2))
//		e.Run("Extract the tables from report.pdf into out.csv.")
//	}
//
// # Live criteria
//
// These judge what the agent does, and can be decided while it works, so that StopWhen takes them. Each says which verdicts it can
// reach then:
//
//	SkillTriggered                              Pass         a skill is used
//	FirstSkill                                  Pass, Fail   it is the first
//	CommandExecuted CommandMatches              Pass         a shell command is run; with Max: Fail
//	ToolCalled MCPToolCalled                    Pass         a tool is called; with Max: Fail
//	FileRead FileEdited                         Pass         a tool reads or edits a file; with Max: Fail
//	MessageMatches                              Pass         the model says something
//	CallsAtMost  TurnsAtMost  TokensAtMost      Fail         ceilings
//	CostAtMost   TimeAtMost
//	CallsAtLeast TurnsAtLeast TokensAtLeast     Pass         floors
//	CostAtLeast  TimeAtLeast
//
// Those about calls count calls that have run: that completed or failed. A call that was denied never ran; one whose end was not
// seen may have run, and leaves open whatever it would decide.
//
// # End-state criteria
//
// These look at what the agent leaves behind when it is done: [FileExists], [FileContains], [JSON], [CommandSucceeds], [Unchanged],
// [Check] and others. StopWhen does not take them; Expect does.
//
// # Combinations
//
// [Never], [AllOf], [AnyOf] and [AtLeast] take criteria of both sorts. [Succeeded], [Attempted], [WithinCalls], [Before] and [Then]
// take live ones: they judge a part of what the agent did, or its order.
//
//	criteria.WithinCalls(5, criteria.SkillTriggered("pdf"))
//	criteria.Then(criteria.FileEdited("**/*.go"), criteria.Succeeded(criteria.CommandExecuted("go test")))
//	criteria.AtLeast(2, criteria.FileExists("a.md"), criteria.FileExists("b.md"), criteria.ToolCalled(agents.Fetch))
//
// All criteria are immutable values that evals may share. One that was built from what does not fit (a pattern that does not compile, a nil
// part) is reported by Expect and StopWhen at their line.
package criteria
