package criteria

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// ToolCallCount asks how often a tool is called. See [ToolCalled] and [MCPToolCalled].
type ToolCallCount struct {
	count
	tool   string // identifies the tools in keys
	match  func(agents.ToolCall) bool
	inputs []inputMatch
}

type inputMatch struct {
	path  jsonPath
	text  string // identifies the condition in keys
	value any
	re    *regexp.Regexp
}

type toolKey struct{ tool, inputs string }

// ToolCalled passes if a tool is called: one of a kind (agents.Fetch), or one with a name (a string), as the agent calls it ("WebFetch"), which may
// be a pattern: * is any run of characters, ? any one, [ab] one of a class. The names of MCP tools begin with their
// server's on most agents: "mcp__db__*"; [MCPToolCalled] knows how. Calls count that have run, those of sub-agents
// included.
//
// It reaches Pass; with Max, Fail instead.
func ToolCalled[T string | agents.Kind](tool T) *ToolCallCount {
	switch tool := any(tool).(type) {
	case agents.Kind:
		c := toolCallCount("kind "+string(tool), "tool called", string(tool), func(call agents.ToolCall) bool { return call.Kind == tool })
		c.needs = []agents.Kind{tool}
		if !slices.Contains(agents.Kinds, tool) {
			c.err = misuse("ToolCalled", "there is no kind of call %q; use a constant of package agents, or the tool's name as a string", tool)
		}
		return c
	case string:
		c := toolCallCount("name "+tool, "tool called", tool, func(call agents.ToolCall) bool {
			ok, _ := path.Match(tool, call.Name)
			return ok
		})
		if _, err := path.Match(tool, ""); err != nil {
			c.err = misuse("ToolCalled", "%q is not a pattern: %w; write a backslash before a bracket that is meant as itself", tool, err)
		} else if tool == "" {
			c.err = misuse("ToolCalled", "the name of the tool is empty; for any tool use \"*\"")
		}
		return c
	}
	panic("unreachable")
}

// MCPToolCalled passes if a tool of an MCP server is called. tool may be a pattern as in [ToolCalled]: "*" is any tool of the
// server. Agents write the names of such tools in several ways, all of which are known here: mcp__server__tool, also with what is
// no letter, digit, - or _ replaced by _; mcp_server_tool; and server and tool joined by __, _, -, . or /.
//
// It reaches Pass; with Max, Fail instead.
func MCPToolCalled(server, tool string) *ToolCallCount {
	var prefixes []string
	for _, s := range []string{server, plainName(server)} {
		for _, format := range []string{"mcp__%s__", "mcp_%s_", "%s__", "%s_", "%s-", "%s.", "%s/"} {
			prefixes = append(prefixes, fmt.Sprintf(format, s))
		}
	}
	c := toolCallCount("mcp "+server+"\x00"+tool, "MCP tool called", server+" "+tool, func(call agents.ToolCall) bool {
		for _, prefix := range prefixes {
			if name, ok := strings.CutPrefix(call.Name, prefix); ok {
				if ok, _ := path.Match(tool, name); ok {
					return true
				}
			}
		}
		return false
	})
	if _, err := path.Match(tool, ""); server == "" || tool == "" || err != nil {
		c.err = misuse("MCPToolCalled", "the server %q and the tool %q; give the name of a server, and the name of a tool of it or a pattern such as \"*\"", server, tool)
	}
	return c
}

// plainName is a server's name as agents write it that allow few characters.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

func toolCallCount(tool, did, object string, match func(agents.ToolCall) bool) *ToolCallCount {
	c := &ToolCallCount{count: count{did: did, object: object}, tool: tool, match: match}
	return c.remade()
}

// remade is c with its tally, made for c's tool and inputs.
func (c ToolCallCount) remade() *ToolCallCount {
	var texts []string
	for _, in := range c.inputs {
		texts = append(texts, in.text)
	}
	var key any = toolKey{c.tool, strings.Join(texts, "\x00")}
	match, inputs := c.match, c.inputs
	c.tally = func(tr *agents.Trajectory) agents.Tally {
		return tr.Tally(key, func(call agents.ToolCall) bool { return match(call) && inputsMatch(inputs, call.Input) })
	}
	return &c
}

// Input is c counting only calls whose input has the wanted value at the path: a.b[0].c, ["a key"].c; "" is the whole input. A
// *regexp.Regexp matches a string, or any other value as JSON; anything else is compared by its JSON, numbers by value. A path with
// [*] (items[*].id) finds the list of all values. Several conditions must all hold. An input that the agent's
// stream hides matches nothing.
func (c *ToolCallCount) Input(path string, want any) *ToolCallCount {
	in := inputMatch{}
	var err error
	if in.path, err = parseJSONPath(path); err != nil {
		err = misuse("Input", "%w", err)
	} else if re, ok := want.(*regexp.Regexp); ok && re != nil {
		in.re, in.text = re, path+" matches "+re.String()
	} else if in.value, err = plainJSON(want); err != nil {
		err = misuse("Input", "the value wanted at %s is nothing that JSON can hold: %w", path, err)
	} else {
		in.text = path + " = " + compactJSON(in.value)
	}
	changed := *c
	changed.inputs = append(slices.Clip(slices.Clone(c.inputs)), in)
	changed.object += " with " + in.text
	if changed.err == nil {
		changed.err = err
	}
	return changed.remade()
}

func inputsMatch(inputs []inputMatch, raw json.RawMessage) bool {
	if len(inputs) == 0 {
		return true
	}
	v, err := decodeJSON(raw)
	if err != nil {
		return false
	}
	for _, in := range inputs {
		if !in.matches(v) {
			return false
		}
	}
	return true
}

func (in inputMatch) matches(v any) bool {
	have, err := in.path.find(v)
	switch {
	case err != nil:
		return false
	case in.re == nil:
		return equalJSON(have, in.value)
	}
	text, ok := have.(string)
	if !ok {
		text = compactJSON(have)
	}
	return in.re.MatchString(text)
}

// Min is c asking for n times at least.
func (c *ToolCallCount) Min(n int) *ToolCallCount { return c.with(c.withMin(n)) }

// Max is c asking for n times at most; without Min, none will do.
func (c *ToolCallCount) Max(n int) *ToolCallCount { return c.with(c.withMax(n)) }

// Partial is c with partial credit: k times of n that were asked for score k/n.
func (c *ToolCallCount) Partial() *ToolCallCount { return c.with(c.withPartial()) }

func (c *ToolCallCount) with(n count) *ToolCallCount {
	changed := *c
	changed.count = n
	return &changed
}
