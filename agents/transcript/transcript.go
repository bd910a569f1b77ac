// Package transcript is the encoding of a trajectory: JSON lines, a header first and then an event a line, written as
// they come, so that whatever kills the writer leaves all but the line it was writing.
//
//	enc, err := transcript.NewEncoder(file, transcript.Header{Agent: "claude", Prompts: []string{prompt}, Started: now})
//	…
//	err = enc.Encode(event) // after each Append
//
//	tr, header, err := transcript.Read(file)
//	if err != nil && !errors.Is(err, transcript.ErrTorn) {
//		return err
//	}
//
// # Format
//
// The first line is {"schema":"evaltest.transcript","version":"2.0",…} with the fields of Header. Each further one is an
// agents.Event in its JSON form. Nothing is lost: times are kept to the nanosecond (as UTC), and where JSON cannot hold a
// value as it is, the line's field "exact" has its bytes in base64, by the name of the field, while the field itself has a
// readable form. That is so for text that is not UTF-8 ("text", "output", "call.commands.0"), for an input that is not JSON or
// has white space between its parts ("call.input"), and for a cost that is no number ("usage.cost"). Event.Raw is not part of it; an
// empty list is read as none.
//
// What came when the trajectory was over (after a cut, a timeout, an error) stands at the end, each such event as
// {"late":{…}}: it is kept, and [Read] leaves it out of the trajectory. Version 1 had none, and is read as ever.
//
// A reader understands every minor version of its major version: it passes over fields that it does not know, and keeps
// events of kinds that it does not know. It refuses a newer major version.
package transcript

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Schema is what the first line of every transcript says it is.
const Schema = "evaltest.transcript"

// Version is the version that is written: major.minor.
const Version = "2.0"

// major is the newest major version that can be read.
const major = 2

// ErrTorn is wrapped by the error of Read when the last line is incomplete: the writer was killed. Everything before it was
// read.
var ErrTorn = errors.New("the last line is incomplete")

// Header says what a trajectory is of. The zero value of a field means that it is not known.
type Header struct {
	// Version is that of the file, as Read found it. Writing ignores it.
	Version string

	Agent        string // name of the agent
	AgentVersion string
	Model        string
	Prompts      []string // the user's messages as planned; those sent are events
	Started      time.Time
}

type headerLine struct {
	Schema       string            `json:"schema"`
	Version      string            `json:"version"`
	Agent        string            `json:"agent,omitempty"`
	AgentVersion string            `json:"agent_version,omitempty"`
	Model        string            `json:"model,omitempty"`
	Prompts      []string          `json:"prompts,omitempty"`
	Started      time.Time         `json:"started,omitzero"`
	Exact        map[string]string `json:"exact,omitempty"`
}

// texts yields the strings of a header that can hold anything.
func (h *headerLine) texts(yield func(string, *string) bool) {
	if yield("agent", &h.Agent) && yield("agent_version", &h.AgentVersion) && yield("model", &h.Model) {
		list("prompts", h.Prompts, yield)
	}
}

// list yields the elements of a field; false when it was told to stop.
func list(name string, texts []string, yield func(string, *string) bool) bool {
	for i := range texts {
		if !yield(name+"."+strconv.Itoa(i), &texts[i]) {
			return false
		}
	}
	return true
}

// readable reports why a version cannot be read.
func readable(version string) error {
	m, _, _ := strings.Cut(version, ".")
	switch n, err := strconv.Atoi(m); {
	case err != nil || n < 1:
		return fmt.Errorf("transcript: read header: %q is no version", version)
	case n > major:
		return fmt.Errorf("transcript: read header: the file has version %s, and this program reads up to %d.x: update evaltest", version, major)
	}
	return nil
}
