// Package scripted is an agent without a model: it carries out a script in the workspace, for real. Commands run, files
// are written, sub-agents work in parallel; only the thinking is left out. It is what an eval runs on by default, so that
// evals can be developed and tested without a key, in milliseconds.
//
//	agent := scripted.New(
//		script.Skill("pdf"),
//		script.Together(script.Write("out.csv", "total,3\n"), script.Run("wc -l out.csv")),
//		script.Say("The table has one row."),
//	)
//	session, err := agent.Open(ctx, agents.Setup{Dir: dir})
//
// It behaves as real agents do where that matters to whoever watches it: the calls of one answer run in parallel and begin
// while later blocks of the answer are still to come; permission is asked after a call was announced and before it has any
// effect; a command that fails has had its effects; a request to the model is made when every call of the answer before
// has ended, and breaking out of the loop at a request means that it is never sent.
//
// Its tools are Bash (sh, not bash), Read, Write, Skill and Agent, and those given by Tool. Paths outside the workspace are refused.
// A command's processes that outlive it run on until Close, or until a call is interrupted. MCP servers, a system prompt and a gateway
// are of no use to it, and ignored.
package scripted

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/inprocess"
	"github.com/evaltest-go/evaltest/agents/script"
)

// Name is what the agent is registered as.
const Name = "scripted"

// version changes with what a script comes to.
const version = "1"

func init() { agents.Register(Name, func() agents.Agent { return New() }) }

// New is an agent that carries out steps, from the beginning in each session. Without steps it hands back at once, with a
// text. It panics on a script that makes no sense.
func New(steps ...script.Step) agents.Agent { return With(steps) }

// With is New with options.
func With(steps []script.Step, opts ...Option) agents.Agent {
	a := &agent{answers: script.Answers(steps), tools: map[string]ToolFunc{}}
	if len(steps) == 0 {
		a.answers = nil
	}
	for _, o := range opts {
		o.apply(a)
	}
	return inprocess.New(agents.Info{Name: Name, Version: version}, a.open)
}

// An Option changes what the agent can do.
type Option interface{ apply(*agent) }

type optionFunc func(*agent)

func (f optionFunc) apply(a *agent) { f(a) }

// A ToolFunc does the work of a tool. input is a JSON object. An error means that the call failed, and is shown to the agent
// after the output. ctx is done when the agent is interrupted. It is called by several goroutines at once.
type ToolFunc func(ctx context.Context, input json.RawMessage) (output string, err error)

// Tool gives the agent a tool, for script.Call. It panics when name is empty or that of a tool that the agent has already.
func Tool(name string, run ToolFunc) Option {
	return optionFunc(func(a *agent) {
		_, taken := a.tools[name]
		if name == "" || taken || builtin(name) {
			panic(fmt.Sprintf("scripted: Tool: the name %q is empty or taken", name))
		}
		a.tools[name] = run
	})
}

type agent struct {
	answers []script.Answer
	tools   map[string]ToolFunc
}
