package criteriatest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/randtraj"
)

// act is one thing that an agent, or its user, may do.
type act struct {
	event  agents.Event  // a call without its id, a message, a usage report, a prompt
	output string        // what the tool answers, of a call
	wait   time.Duration // goes by before
}

func callAct(c agents.ToolCall) act {
	if c.Name == "" {
		c.Name = toolNames[c.Kind]
	}
	return act{event: agents.Begin(c), output: "ok"}
}

var toolNames = map[agents.Kind]string{
	agents.Execute: "Bash", agents.Read: "Read", agents.Edit: "Edit", agents.Delete: "Delete", agents.Move: "Move", agents.Search: "Grep",
	agents.Fetch: "WebFetch", agents.Think: "TodoWrite", agents.Skill: "Skill", agents.Sub: "Task", agents.Other: "tool",
}

// nothing is what no criterion asks for.
var nothing = callAct(agents.ToolCall{Kind: agents.Search, Name: "Glance"})

// actsFor is what may matter to a criterion with these words, likelier things first.
func actsFor(w *words, cfg *config) []act {
	var acts []act
	seen := map[string]bool{}
	add := func(a act) {
		if key := fmt.Sprintf("%+v", a); !seen[key] {
			seen[key] = true
			acts = append(acts, a)
		}
	}
	call := func(c agents.ToolCall) { add(callAct(c)) }
	for _, c := range cfg.calls {
		c.ID, c.Parent = "", ""
		call(c)
	}
	for _, k := range append(slices.Clone(w.kinds), agents.Kinds...) {
		call(agents.ToolCall{Kind: k})
	}
	texts := slices.Concat(cfg.texts, w.texts)
	for n, text := range texts {
		for _, x := range samples(text) {
			add(act{event: agents.Say(x)})
			call(agents.ToolCall{Kind: agents.Execute, Commands: []string{x}, Input: inputOf("command", x)})
			call(agents.ToolCall{Kind: agents.Skill, Skill: x, Input: inputOf("skill", x)})
			call(agents.ToolCall{Kind: agents.Read, Paths: []string{x}, Input: inputOf("file_path", x)})
			call(agents.ToolCall{Kind: agents.Edit, Paths: []string{x}, Input: inputOf("file_path", x)})
			for _, k := range append(slices.Clone(w.kinds), agents.Other) {
				call(agents.ToolCall{Kind: k, Name: x})
			}
			if n < 30 {
				call(agents.ToolCall{Kind: agents.Delete, Paths: []string{x}})
				call(agents.ToolCall{Kind: agents.Move, Paths: []string{x, "elsewhere/" + x}})
				call(agents.ToolCall{Kind: agents.Fetch, Input: inputOf("url", x)})
				call(agents.ToolCall{Kind: agents.Search, Input: inputOf("pattern", x)})
				add(act{event: agents.Prompt(x)})
				answer := callAct(agents.ToolCall{Kind: agents.Execute, Commands: []string{"make"}})
				answer.output = x
				add(answer)
			}
		}
	}
	for _, c := range append(pairedCalls(texts), inputCalls(w, texts)...) {
		call(c)
	}
	for _, a := range amounts(w) {
		add(a)
	}
	for _, a := range common() {
		add(a)
	}
	return acts
}

func inputOf(name, value string) json.RawMessage {
	in, err := json.Marshal(map[string]string{name: value})
	if err != nil {
		return nil
	}
	return in
}

var plain = regexp.MustCompile(`^[A-Za-z_][\w.-]*$`)

// pairedCalls are calls of MCP tools named after two words.
func pairedCalls(texts []string) []agents.ToolCall {
	var short []string
	for _, t := range texts {
		for _, x := range strings.FieldsFunc(t, func(r rune) bool { return r == ' ' || r == 0 || r == ':' || r == '/' }) {
			if x = globSample(x); plain.MatchString(x) && len(x) < 24 && !slices.Contains(short, x) && len(short) < 7 {
				short = append(short, x)
			}
		}
	}
	var calls []agents.ToolCall
	for _, server := range short {
		for _, tool := range short {
			if server != tool {
				calls = append(calls, agents.ToolCall{Kind: agents.Other, Name: "mcp__" + server + "__" + tool})
			}
		}
	}
	return calls
}

var jsonPath = regexp.MustCompile(`^[A-Za-z_]\w*(\.\w+|\[\d+\]|\[\*\])*`)

// inputCalls are calls with inputs that have values at what may be paths in them.
func inputCalls(w *words, texts []string) []agents.ToolCall {
	var paths, names []string
	values := []any{true, false, nil}
	for _, x := range w.numbers[:min(len(w.numbers), 8)] {
		values = append(values, x)
	}
	for _, t := range texts {
		if p := jsonPath.FindString(t); p != "" && len(p) < 40 && !slices.Contains(paths, p) && len(paths) < 16 {
			paths = append(paths, p)
		}
		if len(names) < 6 && len(t) < 40 {
			names = append(names, globSample(t))
		}
		if len(values) < 28 {
			for _, x := range samples(t) {
				values = append(values, x)
			}
		}
	}
	names = append(names, "tool", "WebFetch")
	var calls []agents.ToolCall
	if input := statedInput(texts); input != nil {
		for _, name := range names {
			calls = append(calls, agents.ToolCall{Kind: agents.Other, Name: name, Input: input})
		}
	}
	rng := rand.New(rand.NewPCG(7, 7))
	for n := range 2 * len(values) {
		var input any = map[string]any{}
		for _, p := range paths {
			v := values[n%len(values)]
			if n >= len(values) {
				v = values[rng.IntN(len(values))]
			}
			input = withValue(input, p, v)
		}
		raw, err := json.Marshal(input)
		if err != nil || len(paths) == 0 {
			continue
		}
		for _, name := range names {
			calls = append(calls, agents.ToolCall{Kind: agents.Other, Name: name, Input: raw})
		}
	}
	return calls
}

var stated = regexp.MustCompile(`^([A-Za-z_]\w*(?:\.\w+|\[\d+\])*) *(=|==|:|matches) *(\S.*)$`)

// statedInput is the input for which all texts hold that are like: q.ids[1] = 2. nil: there are none.
func statedInput(texts []string) json.RawMessage {
	var input any
	for _, t := range texts {
		m := stated.FindStringSubmatch(t)
		if m == nil {
			continue
		}
		var v any
		if json.Unmarshal([]byte(m[3]), &v) != nil {
			all := samples(m[3])
			v = all[len(all)-1]
		}
		input = withValue(input, m[1], v)
	}
	raw, err := json.Marshal(input)
	if input == nil || err != nil {
		return nil
	}
	return raw
}

// withValue is in, which is made of maps and lists, with v at the path.
func withValue(in any, path string, v any) any {
	if path == "" {
		return v
	}
	if path[0] == '[' {
		end := strings.IndexByte(path, ']')
		i := 0
		_, _ = fmt.Sscanf(path[1:end], "%d", &i)
		i = min(i, 9)
		list, _ := in.([]any)
		for len(list) <= i {
			list = append(list, nil)
		}
		list[i] = withValue(list[i], path[end+1:], v)
		return list
	}
	path = strings.TrimPrefix(path, ".")
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	object, ok := in.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	object[path[:end]] = withValue(object[path[:end]], path[end:], v)
	return object
}

// amounts are reports of usage, and waits, around the numbers of the criterion.
func amounts(w *words) []act {
	var acts []act
	spend := func(tokens int64, cost float64) {
		acts = append(acts, act{event: agents.Spent(agents.Usage{InputTokens: tokens / 2, OutputTokens: tokens - tokens/2, Cost: cost})})
	}
	wait := func(d time.Duration) { acts = append(acts, act{event: agents.Request(), wait: d}) }
	spend(100, 0.01)
	spend(1_000_000, 100)
	wait(time.Minute)
	wait(3 * time.Hour)
	for _, x := range w.numbers {
		switch {
		case x >= 1e9 && x < 1e16: // also as nanoseconds, and as the picodollars of the built-in criteria
			wait(time.Duration(x))
			wait(time.Duration(x) + time.Second)
			spend(1, x/1e12)
			spend(1, 1.01*x/1e12)
		case x < 1e5:
			wait(time.Duration(x * float64(time.Second)))
			spend(1, x)
			spend(1, 1.01*x)
		}
		if x >= 1 && x < 1e12 {
			spend(int64(x), 0.001)
			spend(int64(x)+1, 0.001)
			spend(int64(x)/2+1, 0.001)
		}
	}
	return acts
}

// common is what agents often do.
func common() []act {
	var acts []act
	for _, x := range randtraj.Commands {
		acts = append(acts, callAct(agents.ToolCall{Kind: agents.Execute, Commands: []string{x}}))
	}
	for _, x := range randtraj.Paths {
		acts = append(acts, callAct(agents.ToolCall{Kind: agents.Edit, Paths: []string{x}}), callAct(agents.ToolCall{Kind: agents.Read, Paths: []string{x}}))
	}
	for _, x := range randtraj.Skills {
		acts = append(acts, callAct(agents.ToolCall{Kind: agents.Skill, Skill: x}))
	}
	for _, x := range randtraj.Tools {
		acts = append(acts, callAct(agents.ToolCall{Kind: agents.Other, Name: x}))
	}
	for _, x := range randtraj.Texts {
		acts = append(acts, act{event: agents.Say(x)})
	}
	return append(acts, act{event: agents.Prompt("Go on.")}, nothing)
}
