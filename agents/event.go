package agents

import (
	"encoding/json"
	"time"
)

// EventKind says which fields of an Event count.
type EventKind string

const (
	EventPrompt  EventKind = "prompt"  // a user message was sent: Text. Appended by whoever drives the session, never by it
	EventRequest EventKind = "request" // the agent asks its model for the next answer, where that can be seen
	EventMessage EventKind = "message" // text of the model: Text
	EventCall    EventKind = "call"    // a call was dispatched: Call
	EventStatus  EventKind = "status"  // a call's status changed: CallID, Status; Output comes with the last one
	EventUsage   EventKind = "usage"   // tokens and cost on top of what was reported before: Usage
	EventDone    EventKind = "done"    // the agent handed back. Appended by whoever drives the session, never by it
)

// Event is one thing that an agent did. A value: it is never changed once yielded.
type Event struct {
	Kind EventKind `json:"kind"`
	// Time is when it happened. Zero: whoever appends it to a trajectory stamps its arrival.
	Time time.Time `json:"time,omitzero"`
	// Message is the id of the model's answer that the event belongs to: all blocks of one answer share it, and a status
	// may leave it empty. An agent that gives none has every event of its own: nothing is known of what belongs together.
	Message string `json:"message,omitempty"`
	// Parent is the id of the sub-agent's call that the event happened in; "": the main thread.
	Parent string `json:"parent,omitempty"`

	Text   string   `json:"text,omitempty"`
	Call   ToolCall `json:"call,omitzero"`
	CallID string   `json:"call_id,omitempty"`
	Status Status   `json:"status,omitempty"`
	Output string   `json:"output,omitempty"`
	Usage  Usage    `json:"usage,omitzero"`

	// Raw is the agent's own words for it, where there are any. Not part of the transcript: the raw stream keeps it.
	Raw json.RawMessage `json:"-"`
}

// Usage is what answers of the model have cost. In an event it is on top of all events before; elsewhere it is a total.
type Usage struct {
	InputTokens      int64   `json:"input_tokens,omitempty"`       // neither read from a cache nor written to one
	OutputTokens     int64   `json:"output_tokens,omitempty"`      // thinking included
	CachedTokens     int64   `json:"cached_tokens,omitempty"`      // input read from a cache
	CacheWriteTokens int64   `json:"cache_write_tokens,omitempty"` // input written to a cache
	Cost             float64 `json:"cost,omitempty"`               // US dollars, as the agent reports it
}

// Tokens is the number of tokens of every kind.
func (u Usage) Tokens() int64 {
	return u.InputTokens + u.OutputTokens + u.CachedTokens + u.CacheWriteTokens
}

// Add is the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens: u.InputTokens + v.InputTokens, OutputTokens: u.OutputTokens + v.OutputTokens,
		CachedTokens: u.CachedTokens + v.CachedTokens, CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens, Cost: u.Cost + v.Cost,
	}
}

// Beyond is what u has more than v, by kind; nothing is negative.
func (u Usage) Beyond(v Usage) Usage {
	return Usage{
		InputTokens: max(0, u.InputTokens-v.InputTokens), OutputTokens: max(0, u.OutputTokens-v.OutputTokens),
		CachedTokens: max(0, u.CachedTokens-v.CachedTokens), CacheWriteTokens: max(0, u.CacheWriteTokens-v.CacheWriteTokens),
		Cost: max(0, u.Cost-v.Cost),
	}
}

// Prompt is the event of a user message.
func Prompt(text string) Event { return Event{Kind: EventPrompt, Text: text} }

// Request is the event of a request to the model.
func Request() Event { return Event{Kind: EventRequest} }

// Say is the event of a text of the model.
func Say(text string) Event { return Event{Kind: EventMessage, Text: text} }

// Begin is the event of a call's dispatch.
func Begin(c ToolCall) Event { return Event{Kind: EventCall, Parent: c.Parent, Call: c} }

// End is the event of a change of a call's status, with what the tool answered.
func End(id string, s Status, output string) Event {
	return Event{Kind: EventStatus, CallID: id, Status: s, Output: output}
}

// Spent is the event of a usage report.
func Spent(u Usage) Event { return Event{Kind: EventUsage, Usage: u} }

// In is e with the id of the answer that it belongs to.
func (e Event) In(message string) Event { e.Message = message; return e }

// Under is e as it happened in the sub-agent of the call with the id parent.
func (e Event) Under(parent string) Event {
	e.Parent = parent
	if e.Kind == EventCall {
		e.Call.Parent = parent
	}
	return e
}

// At is e with the time it happened.
func (e Event) At(t time.Time) Event { e.Time = t; return e }
