package agents

import "encoding/json"

// Kind is what a tool call does, in the words of the Agent Client Protocol, with Skill and Sub added.
type Kind string

const (
	Execute Kind = "execute" // runs a command
	Read    Kind = "read"
	Edit    Kind = "edit" // writes or changes a file
	Delete  Kind = "delete"
	Move    Kind = "move"
	Search  Kind = "search"
	Fetch   Kind = "fetch" // reads from the network
	Think   Kind = "think" // plans, notes, to-do lists
	Skill   Kind = "skill"
	Sub     Kind = "agent" // starts a sub-agent
	Other   Kind = "other" // anything else, MCP tools included
)

// Kinds lists every kind.
var Kinds = []Kind{Execute, Read, Edit, Delete, Move, Search, Fetch, Think, Skill, Sub, Other}

// Status is how far a call has come. A call is dispatched when its input is final; it starts as Pending.
type Status string

const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"     // it ran and ended badly: its effects are there
	Denied     Status = "denied"     // it never ran
	Unresolved Status = "unresolved" // its end was never seen: it may have run
)

// Ran reports whether the call has run: completed or failed.
func (s Status) Ran() bool { return s == Completed || s == Failed }

// Settled reports whether nothing can change any more: the call ran or was denied.
func (s Status) Settled() bool { return s.Ran() || s == Denied }

// Open reports whether the call may have run, or may yet.
func (s Status) Open() bool { return !s.Settled() }

// ToolCall is one call of a tool, as it was dispatched. A value: it never changes.
type ToolCall struct {
	ID     string          `json:"id"`               // unique in the session
	Parent string          `json:"parent,omitempty"` // id of the sub-agent's call that it happened in; "": main thread
	Kind   Kind            `json:"kind"`
	Name   string          `json:"name"`            // the tool's own: "Bash", "mcp__db__query"
	Input  json.RawMessage `json:"input,omitempty"` // as the model gave it; nil where the stream hides it

	// Where they apply:
	Commands []string `json:"commands,omitempty"` // shell source, for Execute
	Paths    []string `json:"paths,omitempty"`    // slash-separated; relative to the workspace when inside it, else absolute
	Skill    string   `json:"skill,omitempty"`    // for Skill
}
