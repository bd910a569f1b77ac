package claude

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// What the stream tells must be whole and must not contradict itself: a call that was missed, or taken for another, would
// be a wrong verdict. Where it is not so the turn ends by an error, which is none.

// doubt notes that the stream may not have told all. The turn goes on: what else it tells widens what is known, and its
// end is an error. The first doubt is the one that is reported. After an interruption nothing is in doubt: lines are torn
// then, and calls refused that were never told of.
func (d *decoder) doubt(format string, args ...any) {
	if d.broken == nil && !d.stopped {
		d.broken = agents.Errorf(agents.Protocol, agents.FromAgent, "claude: "+format, args...)
	}
}

// contradict is a doubt that ends the turn at once: the events from here on could be taken for what they are not.
func (d *decoder) contradict(format string, args ...any) {
	d.doubt(format, args...)
	d.abort = !d.stopped
}

// unreadable takes a line that is no message of the protocol. Outside of a turn it is a banner or a warning, unless it
// looks like a piece of a message.
func (d *decoder) unreadable(data []byte) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || !d.begun && data[0] != '{' {
		return
	}
	d.doubt("read the CLI's output: a line is no JSON, and a call may be lost with it: %.80q", data)
}

// unread takes a message whose fields are not of the types that they should be, and were left out.
func (d *decoder) unread(l *line, err error) {
	switch l.Type {
	case "assistant", "user", "result", "control_request":
		d.doubt("read the CLI's output: a message of type %q has another form than is known, and a call may be lost with it: %w", l.Type, err)
	}
}

// same reports whether two tellings of a call, both in answers of the model, are of one block.
func same(a, b agents.ToolCall) bool {
	return a.Name == b.Name && (bytes.Equal(a.Input, b.Input) || reflect.DeepEqual(jsonValue(a.Input), jsonValue(b.Input)))
}

// jsonValue is a JSON value, its numbers as they are written.
func jsonValue(data json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	_ = d.Decode(&v) // none of a block that was read is malformed; no input at all is null
	return v
}

// alike is same where one of the tellings is a question about the call. The CLI asks with absolute paths and with defaults
// filled in, so what a call is recognized by is compared alone.
func alike(a, b agents.ToolCall) bool {
	if a.Name != b.Name || a.Skill != b.Skill || !slices.Equal(a.Commands, b.Commands) {
		return false
	}
	if len(a.Paths) != len(b.Paths) {
		return true // a default
	}
	for i := range a.Paths {
		if x, y := baseName(a.Paths[i]), baseName(b.Paths[i]); x != "" && y != "" && x != y {
			return false
		}
	}
	return true
}

// baseName is the last part of p, or "" where another form of p may end otherwise: in "..", in "~", in a character that
// Unicode can write in two ways.
func baseName(p string) string {
	name := strings.TrimSpace(filepath.Base(filepath.FromSlash(p)))
	if strings.HasPrefix(name, ".") && strings.Trim(name, ".") == "" || strings.HasPrefix(name, "~") ||
		strings.ContainsFunc(name, func(r rune) bool { return r > 126 }) {
		return ""
	}
	return name
}
