package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
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
		agents.Execute: {"Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "execute_command"},
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
	// And what a sub-agent for everything is called.
	typeArgs = map[string]string{"subagent_type": "general-purpose", "agent_type": "general-purpose", "agent_name": "generalist"}
)

// plainGeneral finds the shortest name for a sub-agent for everything, in what a tool says of itself.
var plainGeneral = regexp.MustCompile(`\bgeneral\b[^-]`)

// complaint begins what is said in the place of a call that cannot be made.
const complaint = "gateway: script: "

// made is a call in terms of a tool that the agent offers.
type made struct {
	name, space string
	input       []byte
	free        bool
	note        string // for the log
}

// call is a in the agent's own tools. The error is for the agent and the log to read.
func (s *scripted) call(q *query, offered []tool, a script.Action, thread string) (made, error) {
	if a.Kind == agents.Other {
		c := made{name: a.Tool, input: a.Input}
		if t, ok := pick(offered, a.Tool); ok {
			c.name, c.space, c.free = t.name, t.space, t.free // the input of a free tool is the text of the JSON
			return c, nil
		}
		err := fmt.Errorf(complaint+"no tool named %s among: %s", a.Tool, names(offered))
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
		if c, ok := s.program(offered, a); ok {
			return c, nil
		}
		if c, ok := s.otherwise(q, offered, a, thread); ok {
			return c, nil
		}
		return made{}, fmt.Errorf(complaint+"no tool to %s with among: %s", a.Kind, names(offered))
	}
	args := map[string]any{}
	set := func(value any, candidates []string) {
		for _, c := range candidates {
			if p, ok := t.schema.Properties[c]; ok {
				if p.kind() == "array" { // the words of a command
					value = []any{"bash", "-c", value}
				}
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
		for name, general := range typeArgs {
			if p, ok := t.schema.Properties[name]; ok {
				if !bytes.Contains(t.entry, []byte(general)) && plainGeneral.Match(t.entry) {
					general = "general"
				}
				args[name] = p.prefer(general)
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
		return made{}, fmt.Errorf(complaint+"arguments of %s: %w", t.name, err)
	}
	return made{name: t.name, space: t.space, input: input}, nil
}

// program is a as a program for the tool of an agent that calls all others from there.
func (s *scripted) program(offered []tool, a script.Action) (made, bool) {
	t, ok := pick(offered, "exec")
	if !ok || !t.free || a.Kind != agents.Execute || !bytes.Contains(t.entry, []byte("tools.exec_command")) {
		return made{}, false
	}
	args, err := json.Marshal(map[string]any{"cmd": a.Command})
	if err != nil {
		return made{}, false
	}
	return made{name: t.name, space: t.space, input: fmt.Appendf(nil, "text(await tools.exec_command(%s))", args), free: true}, true
}

// otherwise is a by other means, where the agent has no tool for it: files by a patch or by the shell, and a skill by reading the
// file that its instructions name.
func (s *scripted) otherwise(q *query, offered []tool, a script.Action, thread string) (made, bool) {
	var source string
	switch a.Kind {
	case agents.Edit:
		if t, ok := pick(offered, "apply_patch"); ok && t.free && strings.HasSuffix(a.Text, "\n") { // it writes whole lines
			patch := "*** Begin Patch\n*** Add File: " + a.Path + "\n"
			for line := range strings.Lines(a.Text) {
				patch += "+" + strings.TrimSuffix(line, "\n") + "\n"
			}
			return made{name: t.name, space: t.space, input: []byte(patch + "*** End Patch"), free: true}, true
		}
		source = fmt.Sprintf("mkdir -p %s && printf %%s %s > %s", quote(path.Dir(a.Path)), quote(a.Text), quote(a.Path))
	case agents.Read:
		source = "cat " + quote(a.Path)
	case agents.Skill:
		file := skillFile(q.body, a.Skill)
		if file == "" {
			return made{}, false
		}
		source = "cat " + quote(file)
	default:
		return made{}, false
	}
	c, err := s.call(q, offered, script.Action{Kind: agents.Execute, Command: source}, thread)
	return c, err == nil
}

// skillFile is where a request says that a skill is: by its path, which may begin with a short name for a folder that stands in a table
// before; "": it does not.
func skillFile(body []byte, skill string) string {
	found := regexp.MustCompile(`[^\s"'()<>\\` + "`" + `]+/` + regexp.QuoteMeta(skill) + `/SKILL\.md`).Find(body)
	root, rest, _ := strings.Cut(string(found), "/")
	if root == "" {
		return string(found)
	}
	if m := regexp.MustCompile("`" + regexp.QuoteMeta(root) + "` = `([^`]+)`").FindSubmatch(body); m != nil {
		return string(m[1]) + "/" + rest
	}
	return string(found)
}

// quote is a text as one word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

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
			if t.name == w || t.space+t.name == w {
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

// kind is the type, the first one where there are several.
func (s schema) kind() string {
	kind, _ := s.Type.(string)
	if list, ok := s.Type.([]any); ok && len(list) > 0 {
		kind, _ = list[0].(string)
	}
	return strings.ToLower(kind) // a dialect has them in capitals
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
	switch s.kind() {
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
