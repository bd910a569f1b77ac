package polarity

import (
	"go/types"

	"github.com/evaltest-go/evaltest/lint/internal/names"
)

// builtin is what the built-in criteria declare, by the full name of the function or method that makes them. Their types
// know less: a CommandCount reaches Pass or, with Max, Fail.
var builtin = func() map[string]*Expr {
	m := map[string]*Expr{}
	add := func(e *Expr, fns ...string) {
		for _, fn := range fns {
			m[names.Criteria+"."+fn] = e
		}
	}
	add(exactly(names.Pass), "CommandExecuted", "CommandMatches", "SkillTriggered", "ToolCalled", "MCPToolCalled", "FileRead", "FileEdited",
		"MessageMatches", "CallsAtLeast", "TurnsAtLeast", "TokensAtLeast", "CostAtLeast", "TimeAtLeast")
	add(exactly(names.Fail), "CallsAtMost", "TurnsAtMost", "TokensAtMost", "CostAtMost", "TimeAtMost")
	add(exactly(names.Pass|names.Fail), "FirstSkill", "WithinCalls", "Before", "Then")
	part := &Expr{Op: Param, Is: unknown}
	add(part, "Succeeded", "Attempted")
	add(&Expr{Op: Flip, Args: []*Expr{part}}, "Never")
	add(&Expr{Op: AtLeast, N: All, Args: []*Expr{part}}, "AllOf")
	add(&Expr{Op: AtLeast, N: 1, Args: []*Expr{part}}, "AnyOf")
	add(&Expr{Op: AtLeast, N: First, Args: []*Expr{part, {Op: Param, N: 1, Is: unknown}}}, "AtLeast")
	for _, count := range []string{"CommandCount", "ToolCallCount", "FileAccess"} {
		method := "(*" + names.Criteria + "." + count + ")."
		m[method+"Max"] = exactly(names.Fail)
		m[method+"Min"], m[method+"Partial"], m[method+"Input"] = part, part, part
	}
	return m
}()

// Builtin reports whether a function makes a built-in criterion.
func Builtin(fn *types.Func) bool { return builtin[names.Full(fn)] != nil }
