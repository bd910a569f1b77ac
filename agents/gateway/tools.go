package gateway

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

// schema is what the gateway reads of a tool's JSON schema.
type schema struct {
	Type       any               `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	Default    any               `json:"default"`
	AnyOf      []schema          `json:"anyOf"`
}

// UnmarshalJSON leaves out what is of another form: a schema may be a mere true.
func (s *schema) UnmarshalJSON(data []byte) error {
	type plain schema
	return decode(data, (*plain)(s))
}

// The names that agents give their tools, by what they do, and the names of their arguments. The first that is offered
// counts.
var (
	toolNames = map[agents.Kind][]string{
		agents.Execute: {"Bash", "bash", "shell", "run_shell_command", "shell_command", "exec_command", "execute_command"},
		agents.Read:    {"Read", "read", "read_file", "view"},
		agents.Edit:    {"Write", "write", "write_file", "create_file", "create"},
		agents.Skill:   {"Skill", "skill", "activate_skill", "use_skill"},
		agents.Sub:     {"Agent", "Task", "agent", "task", "invoke_agent", "spawn_agent"},
	}
	searchNames = []string{"ToolSearch"}
	commandArgs = []string{"command", "cmd", "script"}
	pathArgs    = []string{"file_path", "filePath", "absolute_path", "path"}
	textArgs    = []string{"content", "contents", "text", "file_text"}
	skillArgs   = []string{"skill", "name", "skill_name", "command"}
	promptArgs  = []string{"prompt", "task", "message", "objective"}
	typeArgs    = []string{"subagent_type", "agent_type", "agent_name"}
)

// made is a call in terms of a tool that the agent offers.
type made struct {
	name  string
	input []byte
	note  string // for the log
}

// call is a in the agent's own tools. The error is for the agent and the log to read.
func (s *scripted) call(offered []tool, a script.Action, thread string) (made, error) {
	if a.Kind == agents.Other {
		c := made{name: a.Tool, input: a.Input}
		if _, ok := pick(offered, a.Tool); ok {
			return c, nil
		}
		err := fmt.Errorf("gateway: script: no tool named %s among: %s", a.Tool, names(offered))
		if _, ok := pick(offered, searchNames...); !ok {
			return made{}, err
		}
		// An agent that searches for tools does not offer every one that it has. It takes calls of the others too, and
		// says itself when it has none of that name.
		c.note = err.Error() + "; called all the same: it may be one that is to be searched for"
		return c, nil
	}
	t, ok := pick(offered, toolNames[a.Kind]...)
	if !ok {
		return made{}, fmt.Errorf("gateway: script: no tool to %s with among: %s", a.Kind, names(offered))
	}
	args := map[string]any{}
	set := func(value any, candidates []string) {
		for _, c := range candidates {
			if _, ok := t.schema.Properties[c]; ok {
				args[c] = value
				return
			}
		}
		args[candidates[0]] = value
	}
	switch a.Kind {
	case agents.Execute:
		set(a.Command, commandArgs)
	case agents.Read:
		set(s.path(a.Path), pathArgs)
	case agents.Edit:
		set(s.path(a.Path), pathArgs)
		set(a.Text, textArgs)
	case agents.Skill:
		set(a.Skill, skillArgs)
	case agents.Sub:
		set(marked(a.Prompt, thread), promptArgs)
		for _, name := range typeArgs {
			if p, ok := t.schema.Properties[name]; ok {
				args[name] = p.prefer("general-purpose")
			}
		}
		if _, ok := t.schema.Properties["run_in_background"]; ok {
			args["run_in_background"] = false // the script waits for the sub-agent
		}
	}
	for _, name := range t.schema.Required {
		if _, ok := args[name]; !ok {
			args[name] = t.schema.Properties[name].value()
		}
	}
	input, err := json.Marshal(args)
	if err != nil {
		return made{}, fmt.Errorf("gateway: script: arguments of %s: %w", t.name, err)
	}
	return made{name: t.name, input: input}, nil
}

// path is p as tools want it: absolute.
func (s *scripted) path(p string) string {
	p = filepath.FromSlash(p)
	if filepath.IsAbs(p) || s.dir == "" {
		return p
	}
	return filepath.Join(s.dir, p)
}

func pick(offered []tool, wanted ...string) (tool, bool) {
	for _, w := range wanted {
		for _, t := range offered {
			if t.name == w {
				return t, true
			}
		}
	}
	return tool{}, false
}

func names(offered []tool) string {
	out := make([]string, len(offered))
	for i, t := range offered {
		out[i] = t.name
	}
	return strings.Join(out, ", ")
}

// prefer is want, or the first allowed value where want is not allowed.
func (s schema) prefer(want string) any {
	for _, v := range s.Enum {
		if v == want {
			return want
		}
	}
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	return want
}

// value is some value that s allows.
func (s schema) value() any {
	switch {
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AnyOf) > 0:
		return s.AnyOf[0].value()
	}
	kind, _ := s.Type.(string)
	if list, ok := s.Type.([]any); ok && len(list) > 0 {
		kind, _ = list[0].(string)
	}
	switch kind {
	case "number", "integer":
		return 1
	case "boolean":
		return false
	case "array":
		return []any{}
	case "null":
		return nil
	case "object":
		out := map[string]any{}
		for _, name := range s.Required {
			out[name] = s.Properties[name].value()
		}
		return out
	}
	return "scripted step"
}
