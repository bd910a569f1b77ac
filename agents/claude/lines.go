package claude

import (
	"encoding/json"
	"strings"
)

// line is a line of the CLI's output, of whatever type: the fields that are read. The order of keys varies.
type line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	UUID    string `json:"uuid"`
	Parent  string `json:"parent_tool_use_id"`

	// assistant, user
	Message message      `json:"message"`
	Error   string       `json:"error"` // of a synthetic answer: what kind of error it tells of
	Meta    []resultMeta `json:"tool_result_meta"`

	// system
	Version   string `json:"claude_code_version"` // of the CLI, as its init line tells
	Status    string `json:"status"`
	TaskID    string `json:"task_id"`
	ToolUseID string `json:"tool_use_id"`
	Tasks     []task `json:"tasks"`

	// stream_event
	Event     streamEvent `json:"event"`
	MessageID string      `json:"api_message_id"`

	// control_request
	RequestID string      `json:"request_id"`
	Request   hookRequest `json:"request"`

	result
}

type message struct {
	ID      string   `json:"id"`
	Model   string   `json:"model"`
	Content blocks   `json:"content"`
	Usage   apiUsage `json:"usage"`
}

// synthetic is the model of an answer that the CLI made up to tell of an error.
const synthetic = "<synthetic>"

// blocks is a message's content: a string stands for one text.
type blocks []block

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   blocks          `json:"content"`
}

func (b *blocks) UnmarshalJSON(data []byte) error {
	switch {
	case len(data) > 0 && data[0] == '"':
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*b = blocks{{Type: "text", Text: text}}
		return nil
	case len(data) > 0 && data[0] == '[':
		return json.Unmarshal(data, (*[]block)(b))
	}
	*b = nil // null, or a form of a content that is not read
	return nil
}

// text is all text in b.
func (b blocks) text() string {
	var out []string
	for _, x := range b {
		if x.Type == "text" {
			out = append(out, x.Text)
		}
	}
	return strings.Join(out, "\n")
}

// task is something that goes on in the background.
type task struct {
	Type string `json:"task_type"`
}

// resultMeta is what the CLI knows about how a call ended.
type resultMeta struct {
	ID           string `json:"id"`
	NonExecution string `json:"non_execution_kind"` // why there is no result of the tool's own
}

// streamEvent is an event of the model's answer while it streams.
type streamEvent struct {
	Type    string    `json:"type"`
	Message message   `json:"message"`
	Usage   *apiUsage `json:"usage"`
}

// apiUsage is tokens in the provider's words. A count that is not told is nil.
type apiUsage struct {
	Input   *int64 `json:"input_tokens"`
	Output  *int64 `json:"output_tokens"`
	Written *int64 `json:"cache_creation_input_tokens"`
	Read    *int64 `json:"cache_read_input_tokens"`
}

// hookRequest asks about a call before it runs.
type hookRequest struct {
	Subtype   string `json:"subtype"`
	ToolUseID string `json:"tool_use_id"`
	Input     struct {
		Event     string          `json:"hook_event_name"`
		Agent     string          `json:"agent_id"`
		Tool      string          `json:"tool_name"`
		ToolInput json.RawMessage `json:"tool_input"`
		ToolUseID string          `json:"tool_use_id"`
	} `json:"input"`
}

// result ends a turn.
type result struct {
	IsError    bool                  `json:"is_error"`
	Terminal   string                `json:"terminal_reason"`
	APIStatus  int                   `json:"api_error_status"` // 0: null, or not there
	APIType    string                `json:"api_error_type"`
	Text       string                `json:"result"`
	Queued     int                   `json:"queued_turn_count"` // turns that follow without another message
	Errors     []string              `json:"errors"`
	Cost       float64               `json:"total_cost_usd"` // of the session
	ModelUsage map[string]modelUsage `json:"modelUsage"`     // of the session
}

type modelUsage struct {
	Input   int64 `json:"inputTokens"`
	Output  int64 `json:"outputTokens"`
	Read    int64 `json:"cacheReadInputTokens"`
	Written int64 `json:"cacheCreationInputTokens"`
}
