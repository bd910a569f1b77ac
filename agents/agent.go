package agents

import (
	"context"
	"io/fs"
	"iter"
)

// An Agent opens sessions with one coding agent. It is safe for concurrent use: evals that run in parallel share it.
type Agent interface {
	// Info says what the agent is and what can be seen of it. It is cheap and never starts the agent.
	Info() Info
	// Open prepares a session in setup.Dir. The error is an *Error, of kind "missing" when the agent is not installed.
	Open(ctx context.Context, setup Setup) (Session, error)
}

// A Session is one conversation in one workspace. It is used by one goroutine, except for Close, which may come from any.
type Session interface {
	// Send sends a user message and yields what the agent does until it hands back. Nothing is sent before ranging; a
	// second range is an error. Breaking out of the loop, or cancelling ctx, interrupts the agent; after a
	// cancellation Send yields only an *Error of kind Interrupted, and what still comes is in Final.Tail.
	//
	// An error ends the sequence and is an *Error. Events carry no order of their own: the order of yielding is the
	// order in which they became known.
	Send(ctx context.Context, prompt string) iter.Seq2[Event, error]
	// Close ends the session, returns when nothing that it started is running any more, and may be called twice: the
	// second call returns what the first did. The error is an *Error and concerns the ending alone.
	Close() (Final, error)
}

// Final is what is known once a session is over.
type Final struct {
	Usage Usage   // the total of the session, sub-agents included
	Tail  []Event // what came after the loop over Send was left, in order

	// What the session itself showed of the agent, "" where it did not: the program's version, and the model that answered.
	Version, Model string
}

// Info describes an agent.
type Info struct {
	Name    string // the name that it is registered under: "claude"
	Version string // of the program, "" when not known before a session
	Model   string // asked for by default, "" for the agent's own choice

	// Live: a session costs money and needs a key or a login. Such an agent never runs by accident.
	Live bool
	// Costs: its usage says what it cost.
	Costs bool
	// Wire names the provider's wire format that its gateway has to speak; "" for an agent without a gateway.
	Wire Wire
	// Shows lists the kinds of call that the agent's stream can show. Nil: all.
	Shows []Kind
	// HidesSubagents: the calls of its sub-agents do not appear in its stream.
	HidesSubagents bool
	// Gates lists the kinds of call that Setup.Permit is asked about, each before it has any effect. Nil: none.
	Gates []Kind
}

// Wire is a provider's wire format.
type Wire string

// The wire formats that are known.
const (
	AnthropicMessages Wire = "anthropic-messages" // the Messages API of Anthropic
	OpenAIResponses   Wire = "openai-responses"   // the Responses API of OpenAI
	OpenAIChat        Wire = "openai-chat"        // the Chat Completions API of OpenAI, and of many others
	GeminiGenerate    Wire = "gemini-generate"    // generateContent of Google's Gemini API
)

// CanShow reports whether the agent's stream can show calls of kind k.
func (i Info) CanShow(k Kind) bool { return i.Shows == nil || has(i.Shows, k) }

// CanGate reports whether calls of kind k ask Setup.Permit before they have any effect.
func (i Info) CanGate(k Kind) bool { return has(i.Gates, k) }

func has(ks []Kind, k Kind) bool {
	for _, x := range ks {
		if x == k {
			return true
		}
	}
	return false
}

// Setup is what an eval asks of any agent. The zero value of a field asks for nothing.
type Setup struct {
	// Dir is the workspace: an absolute path of a folder that exists. It belongs to the session until Close.
	Dir string
	// Home and Temp are the agent's HOME and TMPDIR: absolute paths of fresh folders outside Dir, removed by whoever
	// made them after Close.
	Home, Temp string
	// Env is added to the agent's hermetic environment, as "KEY=value".
	Env []string

	Model  string // "" for the agent's default
	System string // appended to the agent's own system prompt

	// Skills are staged where the agent looks for the skills of its user: one file system each, with SKILL.md at its root.
	// SkillName says what a skill is called.
	Skills []fs.FS
	MCP    []MCPServer
	// Allow, when not empty, names the only tools that the agent may use, in its own words; Deny names tools it may not.
	Allow, Deny []string

	// Gateway, when not nil, is the endpoint that stands between the agent and its model. The agent is given nothing else
	// to reach a model by.
	Gateway *Endpoint

	// Permit answers permission requests. It is called after the call's EventCall was yielded, before the call has any
	// effect, possibly by several goroutines at once, and may block. Nil allows everything without asking.
	Permit func(context.Context, ToolCall) Decision

	// Record, when not nil, gets what the agent's process says, as it says it: the raw stream and standard error. Both
	// writers are safe for concurrent use and never fail.
	Record *Record
}

// An MCPServer is a tool server that the agent is given. Either Command or URL is set.
type MCPServer struct {
	Name    string
	Command []string // program and arguments of a server on standard input and output
	URL     string   // of a server over HTTP
	Env     []string // "KEY=value", for Command
	Headers []string // "Name: value", for URL
}

// An Endpoint is where an agent finds its model.
type Endpoint struct {
	URL string // the agent's API is below it: http://127.0.0.1:1234
	// Token is what the agent presents as its key; of no use anywhere else. "": the agent presents its own credential, that
	// of [Provider.Login], which the gateway forwards; what lets the agent in is then a secret in the URL's path.
	Token string
}

// Decision answers a permission request. The zero value refuses.
type Decision struct {
	Allow  bool
	Reason string // shown to the agent when refused
}
