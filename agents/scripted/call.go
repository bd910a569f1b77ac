package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/inprocess"
	"github.com/evaltest-go/evaltest/agents/script"
)

// The names of the tools, and what their inputs look like.
const (
	bash      = "Bash"  // {"command": …}
	readFile  = "Read"  // {"file_path": …}
	writeFile = "Write" // {"file_path": …, "content": …}
	useSkill  = "Skill" // {"skill": …}
	subAgent  = "Agent" // {"prompt": …}
)

func builtin(name string) bool {
	return slices.Contains([]string{bash, readFile, writeFile, useSkill, subAgent}, name)
}

// describe is the call as it is announced.
func (s *session) describe(a *script.Action, id string) agents.ToolCall {
	c := agents.ToolCall{ID: id, Kind: a.Kind}
	input := map[string]string{}
	switch a.Kind {
	case agents.Execute:
		c.Name, c.Commands = bash, []string{a.Command}
		input["command"] = a.Command
	case agents.Read:
		c.Name, c.Paths = readFile, []string{s.shown(a.Path)}
		input["file_path"] = a.Path
	case agents.Edit:
		c.Name, c.Paths = writeFile, []string{s.shown(a.Path)}
		input["file_path"], input["content"] = a.Path, a.Text
	case agents.Skill:
		c.Name, c.Skill = useSkill, a.Skill
		input["skill"] = a.Skill
	case agents.Sub:
		c.Name = subAgent
		input["prompt"] = a.Prompt
	default:
		c.Name, c.Input = a.Tool, a.Input
		return c
	}
	c.Input, _ = json.Marshal(input) // strings always marshal
	return c
}

// offered reports whether the lists of tools leave this one.
func (s *session) offered(tool string) bool {
	if slices.Contains(s.setup.Deny, tool) {
		return false
	}
	return len(s.setup.Allow) == 0 || slices.Contains(s.setup.Allow, tool)
}

// effect does what the call says.
func (r *run) effect(ctx context.Context, c agents.ToolCall, a *script.Action, number string) (string, error) {
	switch a.Kind {
	case agents.Execute:
		return r.s.shell.run(ctx, a.Command)
	case agents.Read:
		return r.s.read(a.Path)
	case agents.Edit:
		return r.s.write(a.Path, a.Text)
	case agents.Skill:
		return r.s.skill(a.Skill)
	case agents.Sub:
		return r.delegate(c, a, number)
	}
	tool, ok := r.s.tools[a.Tool]
	if !ok {
		return "", fmt.Errorf("%w: no tool named %s", inprocess.ErrNotRun, a.Tool)
	}
	out, err := tool(ctx, slices.Clone(a.Input))
	if err != nil && ctx.Err() != nil {
		err = errCut
	}
	return bounded(out, int64(len(out))), err
}

// delegate has a sub-agent carry out its steps; its answer is its last text.
func (r *run) delegate(c agents.ToolCall, a *script.Action, number string) (string, error) {
	t := &thread{parent: c.ID, path: number + ".", answers: script.Answers(a.Steps)}
	t.heard(a.Prompt)
	reply, ok := r.talk(t)
	if !ok {
		return "", errCut
	}
	return reply, nil
}

// maxOutput bounds what is kept of what a tool says, in bytes.
const maxOutput = 1 << 20

// bounded is the beginning of a tool's output, of which size bytes came in all. It does not end within a character.
func bounded(out string, size int64) string {
	if len(out) <= maxOutput && size <= maxOutput {
		return out
	}
	end := min(len(out), maxOutput)
	if end < len(out) {
		for n := 0; n < utf8.UTFMax && end > 0 && !utf8.RuneStart(out[end]); n++ {
			end--
		}
	}
	return fmt.Sprintf("%s\n[cut: the output has %d bytes]", out[:end], size)
}
