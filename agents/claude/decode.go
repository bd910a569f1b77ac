package claude

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/evaltest-go/evaltest/agents"
)

// maxOutput is how much of what a tool answered is kept, in bytes. The raw stream has all of it.
const maxOutput = 1 << 20

// decoder turns the lines of a session into events.
type decoder struct {
	dirs  []string // names of the workspace
	calls map[string]*callState
	tasks map[string]string // by a sub-agent's id: the call that started it
	seen  map[string]bool   // ids of lines that were taken
	ledger
	streams map[string]opening // by parent: the answer that is streaming

	version   string        // of the CLI, as it says
	model     string        // that of the last answer on the main thread
	synthetic string        // what kind of error the last answer on the main thread told of; "": it was the model's own
	stopped   bool          // we interrupted the agent
	working   bool          // sub-agents are at work in the background
	lost      *agents.Error // what ended a sub-agent in this turn: its provider
	begun     bool          // the CLI has told something of a turn that is not over
	answered  bool          // the model has answered in this turn
	broken    *agents.Error // why not all that the stream told can be believed
	abort     bool          // that ends the turn at once
}

// opening is how an answer began.
type opening struct {
	id    string
	usage apiUsage
}

type callState struct {
	announced bool // its EventCall is out
	asked     bool // the hook was called: it was about to run
	refused   bool // the hook was told that it must not run
	settled   bool
	block     agents.ToolCall // as an answer of the model told of it; without an ID where none did
	message   string          // that answer
	question  agents.ToolCall // as the hook told of it, where asked
}

func newDecoder(dir string) *decoder {
	d := &decoder{dirs: []string{dir}, calls: map[string]*callState{}, tasks: map[string]string{}, seen: map[string]bool{},
		streams: map[string]opening{}}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		d.dirs = append(d.dirs, real)
	}
	return d
}

func (d *decoder) call(id string) *callState {
	c := d.calls[id]
	if c == nil {
		c = new(callState)
		d.calls[id] = c
	}
	return c
}

// decoded is what a line means.
type decoded struct {
	events []agents.Event
	hook   *hook // asks before a call runs
	end    *end  // ends the turn
}

// hook is a question about a call.
type hook struct {
	request string // to answer
	call    agents.ToolCall
	refuse  string // why the call must not run, whatever the gate would say; "": the gate decides
}

// end is how a turn ended.
type end struct {
	err *agents.Error // what went wrong with the provider or the agent, if anything did
	// more: the agent is not done. Sub-agents work in the background, or a turn follows by itself: when a sub-agent is done,
	// the CLI takes another turn with what it came to.
	more bool
	// abrupt: the agent is at work, and is to be interrupted.
	abrupt bool
}

// decode reads one line. What is of no known type means nothing.
func (d *decoder) decode(data []byte) decoded {
	var l line
	err := json.Unmarshal(data, &l)
	switch {
	case err != nil && l.Type == "":
		d.unreadable(data)
		return decoded{}
	case err != nil:
		d.unread(&l, err)
	}
	if l.Type != "" && l.Type != "control_response" {
		d.begun = true
	}
	var out decoded
	switch l.Type {
	case "assistant":
		out.events = d.assistant(&l)
	case "user":
		out.events = d.user(&l)
	case "system":
		out.events = d.system(&l)
	case "stream_event":
		out.events = d.stream(&l)
	case "control_request":
		out.hook = d.hook(&l)
	case "result":
		if u := d.total(l.result); u != (agents.Usage{}) {
			out.events = []agents.Event{agents.Spent(u)}
		}
		out.end = d.finish(&l)
	}
	if d.abort && out.end == nil {
		out.end = &end{err: d.broken, abrupt: true}
	}
	d.abort = false
	now := time.Now()
	for i := range out.events {
		out.events[i].Time = now
		out.events[i].Raw = data
	}
	return out
}

// assistant is one block of an answer; each comes in a line of its own, with the answer's id.
func (d *decoder) assistant(l *line) []agents.Event {
	if l.UUID != "" {
		if d.seen[l.UUID] {
			return nil
		}
		d.seen[l.UUID] = true
	}
	if l.Message.Model == synthetic {
		name := l.Error
		if name == "" {
			name = "unknown"
		}
		if l.Parent == "" {
			d.synthetic = name
			d.answered = d.answered || !infrastructure(name) // it stands for an answer
		} else if d.lost == nil && infrastructure(name) {
			d.lost = agents.Errorf(kindOf(statuses[l.APIType], name), agents.FromProvider,
				"claude: the provider of a sub-agent's model failed: %s", l.Message.Content.text())
		}
		return nil
	}
	if l.Parent == "" {
		d.synthetic, d.model = "", l.Message.Model
	}
	var out []agents.Event
	for _, b := range l.Message.Content {
		switch b.Type {
		case "text":
			if b.Text != "" {
				d.answered = d.answered || l.Parent == ""
				out = append(out, agents.Say(b.Text).In(l.Message.ID).Under(l.Parent))
			}
		case "tool_use":
			d.answered = d.answered || l.Parent == ""
			if e, ok := d.block(toolCall(b.ID, l.Parent, b.Name, b.Input, d.dirs), l.Message.ID); ok {
				out = append(out, e.In(l.Message.ID))
			}
		}
	}
	if l.Parent != "" { // the answers of sub-agents do not stream: what they cost stands here alone
		if u := d.answer(l.Message.ID, l.Message.Usage); u != (agents.Usage{}) {
			out = append(out, agents.Spent(u).In(l.Message.ID).Under(l.Parent))
		}
	}
	return out
}

// block is the event of a call that an answer holds. The CLI tells of some blocks twice; a block that differs is another
// call, which cannot be told from the first.
func (d *decoder) block(c agents.ToolCall, message string) (agents.Event, bool) {
	if c.ID == "" {
		d.contradict("a call of %s has no id", c.Name)
		return agents.Event{}, false
	}
	switch s := d.call(c.ID); {
	case s.block.ID != "" && (s.message != message || !same(s.block, c)),
		s.asked && !alike(s.question, c):
		d.contradict("the id %q stands for two calls, one of %s and one of %s that is not the same", c.ID, cmp.Or(s.block.Name, s.question.Name), c.Name)
	case s.block.ID == "":
		s.block, s.message = c, message
		return d.announce(c)
	}
	return agents.Event{}, false
}

// announce is the event of a call's dispatch, once.
func (d *decoder) announce(c agents.ToolCall) (agents.Event, bool) {
	s := d.call(c.ID)
	if c.ID == "" || s.announced {
		return agents.Event{}, false
	}
	s.announced = true
	return agents.Begin(c), true
}

// user is the results of calls, among other things that are not told.
func (d *decoder) user(l *line) []agents.Event {
	var out []agents.Event
	for _, b := range l.Message.Content {
		if b.Type != "tool_result" {
			continue
		}
		s := d.calls[b.ToolUseID]
		switch {
		case s == nil || !s.announced && !s.asked:
			d.doubt("a result is of a call that was never told of: %q", b.ToolUseID)
			continue
		case s.settled || !s.announced && d.stopped:
			continue
		case !s.announced: // the hook alone has told of it
			if e, ok := d.announce(s.question); ok {
				out = append(out, e)
			}
		}
		status := s.status(b, l.Meta)
		if d.stopped && status == agents.Failed {
			status = agents.Unresolved // it may be our interruption that it failed by
		}
		s.settled = status.Settled()
		e := agents.End(b.ToolUseID, status, bounded(b.Content.text()))
		e.Parent = l.Parent
		out = append(out, e)
	}
	return out
}

// status is how a call ended.
func (s *callState) status(b block, meta []resultMeta) agents.Status {
	if !b.IsError {
		return agents.Completed
	}
	if s.refused {
		return agents.Denied
	}
	why := ""
	for _, m := range meta {
		if m.ID == b.ToolUseID {
			why = m.NonExecution
		}
	}
	switch why {
	case "":
		if !s.asked {
			return agents.Denied // unknown tool, bad input: it never came to the hook, which is before everything
		}
		return agents.Failed
	case "permission-rule", "automode-blocked", "automode-unavailable", "automode-parsing-error":
		return agents.Denied
	}
	return agents.Unresolved // interrupted, cancelled, rejected by an interruption: it may have run in part
}

// bounded is the beginning of s, whole characters.
func bounded(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	n := maxOutput
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// finish is how the turn ended.
func (d *decoder) finish(l *line) *end {
	if err := d.classify(l); err != nil {
		return &end{err: err}
	}
	if d.working || l.Queued > 0 {
		return &end{more: true}
	}
	answered, lost := d.answered, d.lost
	d.begun, d.answered, d.lost = false, false, nil
	switch {
	case d.broken != nil:
		return &end{err: d.broken}
	case lost != nil: // the agent went on without its sub-agent: what it came to says nothing of the model
		return &end{err: lost}
	case !answered && !limits[l.Subtype]:
		return &end{err: agents.Errorf(agents.Protocol, agents.FromAgent,
			"claude: the turn ended (%q) without an answer of the model: %w", l.Subtype, l.cause())}
	}
	return &end{}
}

// inBackground are the types of task that the agent waits for. A shell is none: it may be a server that is to run on.
var inBackground = map[string]bool{"local_agent": true, "local_workflow": true}

func (d *decoder) system(l *line) []agents.Event {
	switch l.Subtype {
	case "init": // once more with each turn
		d.version = cmp.Or(l.Version, d.version)
	case "task_started":
		d.tasks[l.TaskID] = l.ToolUseID
	case "background_tasks_changed": // all that there are now
		d.working = slices.ContainsFunc(l.Tasks, func(t task) bool { return inBackground[t.Type] })
	case "status":
		if l.Status == "requesting" {
			return []agents.Event{agents.Request()}
		}
	}
	return nil
}

// stream reads what an answer costs; its blocks come again, whole, in lines of their own.
func (d *decoder) stream(l *line) []agents.Event {
	switch e := l.Event; e.Type {
	case "message_start":
		d.streams[l.Parent] = opening{e.Message.ID, e.Message.Usage}
	case "message_delta":
		o := d.streams[l.Parent]
		if o.id == "" {
			return nil
		}
		if e.Usage != nil {
			o.usage = o.usage.with(*e.Usage)
		}
		d.answered = d.answered || l.Parent == "" // an answer came to its end; it may have been empty
		if added := d.answer(o.id, o.usage); added != (agents.Usage{}) {
			return []agents.Event{agents.Spent(added).In(o.id).Under(l.Parent)}
		}
	}
	return nil
}

// hook is the question in a control request, if it is one about a call.
func (d *decoder) hook(l *line) *hook {
	in := l.Request.Input
	if l.Request.Subtype != "hook_callback" || in.Event != "PreToolUse" {
		return nil
	}
	id := in.ToolUseID
	if id == "" {
		id = l.Request.ToolUseID
	}
	h := &hook{request: l.RequestID, call: toolCall(id, d.tasks[in.Agent], in.Tool, in.ToolInput, d.dirs)}
	if id == "" {
		d.contradict("a call of %s that is about to run has no id", in.Tool)
		h.refuse = "It has no id."
		return h
	}
	switch s := d.call(id); {
	case s.settled:
		d.contradict("a call of %s is about to run whose id, %q, is that of a call that is over", in.Tool, id)
		h.refuse = "A call with its id is over."
	case s.block.ID != "" && !alike(s.block, h.call), s.asked && !alike(s.question, h.call):
		d.contradict("the id %q stands for two calls, one of %s and one of %s that is not the same", id, cmp.Or(s.block.Name, s.question.Name), in.Tool)
		h.refuse = "Another call has its id."
	case !s.asked:
		s.asked, s.question = true, h.call
	}
	return h
}
