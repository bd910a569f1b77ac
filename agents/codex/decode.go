package codex

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/shell"

	"github.com/evaltest-go/evaltest/agents"
)

// decoder makes events of the app server's notifications.
type decoder struct {
	dir, home string
	thread    string          // of the session; what other threads do is a sub-agent's. "": all are
	turn      string          // id of the turn that is under way
	answers   int             // answers of the model so far
	open      bool            // an answer is under way: what comes belongs to it
	calls     map[string]bool // by id: false, it was announced; true, it has ended
	usage     agents.Usage    // reported so far
}

func newDecoder(dir, home string) *decoder {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return &decoder{dir: dir, home: home, calls: map[string]bool{}}
}

// end is how a turn ended.
type end struct {
	status string
	why    *turnError
}

type turnError struct {
	Message string          `json:"message"`
	Info    json.RawMessage `json:"codexErrorInfo"`
}

// err is the error that the turn ended with, by its typed facts; nil: none.
func (e *end) err() error {
	switch e.status {
	case "failed":
		if e.why == nil {
			return agents.Errorf(agents.Protocol, agents.FromAgent, "codex: the turn failed, and it does not say why")
		}
		return e.why.typed()
	case "interrupted":
		return agents.Errorf(agents.Interrupted, agents.FromAgent, "codex: the turn was interrupted, by whomever")
	}
	return nil
}

// named are the kinds of errors by Codex' names for them.
var named = map[string]agents.ErrorKind{
	"unauthorized": agents.Auth, "usageLimitExceeded": agents.Quota, "sessionBudgetExceeded": agents.Quota,
	"rateLimitExceeded": agents.RateLimit, "serverOverloaded": agents.Overloaded, "internalServerError": agents.Overloaded,
	"flexUnavailable": agents.Overloaded, "policyCapacityUnavailable": agents.Overloaded,
}

// typed is the error of its kind: by the HTTP status where there is one, else by its name, else by how the connection failed.
func (e *turnError) typed() *agents.Error {
	var name string
	var detail map[string]struct {
		Status int `json:"httpStatusCode"`
	}
	kind := agents.Protocol
	switch {
	case json.Unmarshal(e.Info, &name) == nil:
		if k, ok := named[name]; ok {
			kind = k
		}
		if name == "other" || name == "" {
			kind = agents.Network // a stream that ended early is called so
		}
	case json.Unmarshal(e.Info, &detail) == nil:
		kind = agents.Network
		for _, d := range detail {
			switch {
			case d.Status == 401 || d.Status == 403:
				kind = agents.Auth
			case d.Status == 402:
				kind = agents.Quota
			case d.Status == 429:
				kind = agents.RateLimit
			case d.Status == 408 || d.Status == 502 || d.Status == 504:
				kind = agents.Network
			case d.Status >= 500:
				kind = agents.Overloaded
			case d.Status >= 400:
				kind = agents.Protocol
			}
		}
	}
	return agents.Errorf(kind, agents.FromProvider, "codex: %s", e.Message)
}

// item is a thing that Codex did or does.
type item struct {
	Type     string   `json:"type"`
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	Status   string   `json:"status"`
	Command  string   `json:"command"`
	Output   *string  `json:"aggregatedOutput"`
	ExitCode *int     `json:"exitCode"`
	Changes  []change `json:"changes"`
	Server   string   `json:"server"`
	Tool     string   `json:"tool"`
	Query    string   `json:"query"`
	Path     string   `json:"path"`

	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error"`
}

type change struct {
	Path string `json:"path"`
	Kind struct {
		Type string `json:"type"`
	} `json:"kind"`
	Diff string `json:"diff"`
}

// decode is the events that a notification tells of, and the end of the turn where it is one.
func (d *decoder) decode(f frame) ([]agents.Event, *end) {
	var p struct {
		Thread string `json:"threadId"`
		Turn   struct {
			ID     string     `json:"id"`
			Status string     `json:"status"`
			Error  *turnError `json:"error"`
		} `json:"turn"`
		Item  item `json:"item"`
		Usage struct {
			Total struct {
				Input  int64 `json:"inputTokens"`
				Cached int64 `json:"cachedInputTokens"`
				Writes int64 `json:"cacheWriteInputTokens"`
				Output int64 `json:"outputTokens"`
			} `json:"total"`
		} `json:"tokenUsage"`
	}
	if len(f.Params) > 0 && json.Unmarshal(f.Params, &p) != nil {
		return nil, nil // of another form than is known: kept in the raw stream
	}
	if d.thread != "" && p.Thread != "" && p.Thread != d.thread {
		return nil, nil
	}
	switch f.Method {
	case "turn/started":
		d.turn, d.open = p.Turn.ID, false
	case "item/started":
		return d.started(p.Item), nil
	case "item/completed":
		return d.completed(p.Item), nil
	case "thread/tokenUsage/updated":
		t := p.Usage.Total
		now := agents.Usage{InputTokens: max(0, t.Input-t.Cached-t.Writes), CachedTokens: t.Cached, CacheWriteTokens: t.Writes, OutputTokens: t.Output}
		more := now.Beyond(d.usage)
		d.usage = now
		id := d.message()
		d.open = false
		if more == (agents.Usage{}) {
			return nil, nil
		}
		return []agents.Event{agents.Spent(more).In(id)}, nil
	case "turn/completed":
		d.turn = ""
		return nil, &end{p.Turn.Status, p.Turn.Error}
	}
	return nil, nil
}

// message is the id of the answer that is under way. Codex tells of no answers: one ends with the report of what it cost.
func (d *decoder) message() string {
	if !d.open {
		d.answers++
		d.open = true
	}
	return fmt.Sprintf("answer-%d", d.answers)
}

func (d *decoder) started(i item) []agents.Event {
	c, ok := d.call(i)
	if _, known := d.calls[i.ID]; !ok || known {
		return nil
	}
	d.calls[i.ID] = false
	return []agents.Event{agents.Begin(c).In(d.message())}
}

func (d *decoder) completed(i item) []agents.Event {
	if i.Type == "agentMessage" {
		if i.Text == "" {
			return nil
		}
		return []agents.Event{agents.Say(i.Text).In(d.message())}
	}
	c, ok := d.call(i)
	ended, known := d.calls[i.ID]
	if !ok || ended {
		return nil
	}
	d.calls[i.ID] = true
	var events []agents.Event
	if !known {
		events = append(events, agents.Begin(c).In(d.message()))
	}
	status, output := outcome(i)
	return append(events, agents.End(i.ID, status, output))
}

// outcome is how a call ended, and what its tool said.
func outcome(i item) (agents.Status, string) {
	output := ""
	if i.Output != nil {
		output = *i.Output
	}
	if len(i.Result) > 0 && string(i.Result) != "null" {
		output = string(i.Result)
	}
	if i.Error != nil {
		output = strings.TrimPrefix(output+"\n"+i.Error.Message, "\n")
	}
	switch {
	case i.Status == "declined":
		return agents.Denied, output
	case i.Status == "interrupted":
		return agents.Unresolved, output
	case i.Status == "failed", i.ExitCode != nil && *i.ExitCode != 0:
		return agents.Failed, output
	case i.Status == "inProgress":
		return agents.Unresolved, output
	}
	return agents.Completed, output
}

// call is the tool call that an item is; false: it is none.
func (d *decoder) call(i item) (agents.ToolCall, bool) {
	if i.ID == "" {
		return agents.ToolCall{}, false
	}
	c := agents.ToolCall{ID: i.ID}
	input := map[string]any{}
	switch i.Type {
	case "commandExecution":
		source := unwrapped(i.Command)
		c.Name, c.Kind, c.Commands = "exec_command", agents.Execute, []string{source}
		input["cmd"] = source
		if skill := d.skillRead(source); skill != "" {
			c.Kind, c.Skill = agents.Skill, skill
		}
	case "fileChange":
		c.Name, c.Kind = "apply_patch", agents.Edit
		deletes := len(i.Changes) > 0
		for _, ch := range i.Changes {
			c.Paths = append(c.Paths, d.shown(ch.Path))
			deletes = deletes && ch.Kind.Type == "delete"
		}
		if deletes {
			c.Kind = agents.Delete
		}
		input["changes"] = i.Changes
	case "mcpToolCall":
		c.Name, c.Kind, c.Input = "mcp__"+i.Server+"__"+i.Tool, agents.Other, i.Arguments
		return c, true
	case "dynamicToolCall":
		c.Name, c.Kind, c.Input = i.Tool, agents.Other, i.Arguments
		return c, true
	case "collabAgentToolCall":
		c.Name, c.Kind = i.Tool, agents.Other
		if i.Tool == "spawnAgent" || i.Tool == "spawn_agent" {
			c.Kind = agents.Sub
		}
	case "webSearch":
		c.Name, c.Kind = "web_search", agents.Fetch
		input["query"] = i.Query
	case "imageView":
		c.Name, c.Kind, c.Paths = "view_image", agents.Other, []string{d.shown(i.Path)}
		input["path"] = i.Path
	default:
		return c, false
	}
	data, err := json.Marshal(input)
	if err != nil {
		panic(err) // texts
	}
	c.Input = data
	return c, true
}

// shown is a path as calls name it: relative to the workspace when inside, else absolute.
func (d *decoder) shown(path string) string {
	if !filepath.IsAbs(path) {
		return filepath.ToSlash(filepath.Clean(path))
	}
	if rel, err := filepath.Rel(d.dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(filepath.Clean(path))
}

// skillRead is the skill whose staged file a command does nothing but read; "": none.
func (d *decoder) skillRead(source string) string {
	words, err := shell.Fields(source, func(string) string { return "" })
	if err != nil || len(words) != 2 || words[0] != "cat" {
		return ""
	}
	rel, err := filepath.Rel(filepath.Join(d.home, "skills"), words[1])
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	name, file := filepath.Split(rel)
	if file != "SKILL.md" {
		return ""
	}
	return filepath.Base(filepath.Clean(name))
}

// unwrapped is the source of a command that Codex tells as the words of a shell with it: /bin/bash -c '…'.
func unwrapped(command string) string {
	words, err := shell.Fields(command, func(string) string { return "" })
	if err != nil || len(words) != 3 || words[1] != "-c" && words[1] != "-lc" {
		return command
	}
	return words[2]
}
