// Package script is what a scripted agent does: the steps of its turns. One script serves every agent: package scripted
// carries it out in-process, and the gateway has any real CLI carry out the same steps by playing the model.
//
//	steps := []script.Step{
//		script.Skill("pdf"),
//		script.Together(script.Write("out.csv", "total,3\n"), script.Run("wc -l out.csv")),
//		script.Say("Done."),
//	}
//
// Steps are grouped into answers of the model (Answers): a call ends an answer, so that each call is an answer of its own
// unless Together puts several into one; what is said before a call is part of the call's answer. The script ends with
// the agent handing back; HandBack does so earlier, and what follows answers the next prompt.
package script

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// Step is one thing that a scripted agent does. The functions of this package make them.
type Step interface{ step() }

type (
	say      string
	wait     time.Duration
	gap      time.Duration
	fail     struct{ err *agents.Error }
	handBack struct{}
	together []Step
	call     Action
)

func (say) step()      {}
func (wait) step()     {}
func (gap) step()      {}
func (fail) step()     {}
func (handBack) step() {}
func (together) step() {}
func (call) step()     {}

// Run runs a shell command in the workspace.
func Run(command string) Step { return call{Kind: agents.Execute, Command: command} }

// Write writes a file, path relative to the workspace, with any folders that it needs.
func Write(path, text string) Step { return call{Kind: agents.Edit, Path: path, Text: text} }

// Read reads a file, path relative to the workspace.
func Read(path string) Step { return call{Kind: agents.Read, Path: path} }

// Skill uses a skill. It is denied, since it never runs, when the agent was not given a skill of
// that name.
func Skill(name string) Step { return call{Kind: agents.Skill, Skill: name} }

// Call calls any tool by its own name, MCP tools too. args is marshalled to JSON and must give an object; nil is {}.
func Call(tool string, args any) Step {
	if args == nil {
		args = struct{}{}
	}
	input, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("script: Call of %s: arguments: %v", tool, err))
	}
	switch {
	case string(input) == "null":
		input = json.RawMessage("{}")
	case input[0] != '{':
		panic(fmt.Sprintf("script: Call of %s: arguments: %s is no object; use a struct or a map", tool, input))
	}
	return call{Kind: agents.Other, Tool: tool, Input: input}
}

// Agent starts a sub-agent, waits for it, and goes on. The sub-agent carries out steps, which may start others.
func Agent(prompt string, steps ...Step) Step {
	return call{Kind: agents.Sub, Prompt: prompt, Steps: steps}
}

// Say is text of the model. At the end of a turn it is the reply.
func Say(text string) Step { return say(text) }

// Wait has the model think for d before its next answer.
func Wait(d time.Duration) Step { return wait(d) }

// Fail has the provider fail with err at this point, each time it is asked. An error that is no *agents.Error is one of
// the provider's, of kind Overloaded.
func Fail(err error) Step {
	return fail{agents.AsError(err, agents.Overloaded, agents.FromProvider)}
}

// HandBack ends the agent's turn: what follows answers the next prompt.
func HandBack() Step { return handBack{} }

// Together puts several calls into one answer of the model, which the agent may carry out in parallel. A Gap or a Wait
// among the steps is a pause between the blocks of the answer. Say is text between them.
func Together(steps ...Step) Step {
	for _, s := range steps {
		switch s.(type) {
		case handBack, fail:
			panic("script: Together holds the parts of one answer; HandBack and Fail stand beside it")
		}
	}
	return together(steps)
}

// Gap is, inside Together, a pause of the model between two blocks of one answer.
func Gap(d time.Duration) Step { return gap(d) }
