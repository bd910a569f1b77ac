package transcript

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evaltest-go/evaltest/agents"
)

type eventLine struct {
	agents.Event
	Exact map[string]string `json:"exact,omitempty"`
}

// lateLine is an event that came when the trajectory was over.
type lateLine struct {
	Late eventLine `json:"late"`
}

// The names of what is no text.
const (
	inputName = "call.input"
	costName  = "usage.cost"
)

// texts yields the strings of an event, all of which can hold anything: agents are other people's programs.
func (l *eventLine) texts(yield func(string, *string) bool) {
	e := &l.Event
	_ = yield("kind", (*string)(&e.Kind)) &&
		yield("message", &e.Message) &&
		yield("parent", &e.Parent) &&
		yield("text", &e.Text) &&
		yield("call_id", &e.CallID) &&
		yield("status", (*string)(&e.Status)) &&
		yield("output", &e.Output) &&
		yield("call.id", &e.Call.ID) &&
		yield("call.parent", &e.Call.Parent) &&
		yield("call.kind", (*string)(&e.Call.Kind)) &&
		yield("call.name", &e.Call.Name) &&
		yield("call.skill", &e.Call.Skill) &&
		list("call.commands", e.Call.Commands, yield) &&
		list("call.paths", e.Call.Paths, yield)
}

// lossless is e as a line that JSON can hold, with the exact bytes of what it cannot.
func lossless(e agents.Event) eventLine {
	l := eventLine{Event: e}
	l.Time = e.Time.UTC().Round(0) // the monotonic reading means nothing in another process
	if !utf8Lists(e.Call) {
		l.Call.Commands, l.Call.Paths = slices.Clone(e.Call.Commands), slices.Clone(e.Call.Paths)
	}
	mend(&l.Exact, l.texts)
	if e.Call.Input != nil && !plain(e.Call.Input) {
		keep(&l.Exact, inputName, e.Call.Input)
		l.Call.Input = legible(e.Call.Input)
	}
	if math.IsNaN(e.Usage.Cost) || math.IsInf(e.Usage.Cost, 0) {
		keep(&l.Exact, costName, strconv.AppendFloat(nil, e.Usage.Cost, 'g', -1, 64))
		l.Usage.Cost = 0
	}
	return l
}

func utf8Lists(c agents.ToolCall) bool {
	bad := func(s string) bool { return !utf8.ValidString(s) }
	return !slices.ContainsFunc(c.Commands, bad) && !slices.ContainsFunc(c.Paths, bad)
}

// mend replaces texts that are not UTF-8 by a readable form, and keeps their bytes.
func mend(exact *map[string]string, texts func(func(string, *string) bool)) {
	for name, s := range texts {
		if !utf8.ValidString(*s) {
			keep(exact, name, []byte(*s))
			*s = strings.ToValidUTF8(*s, "\ufffd")
		}
	}
}

func keep(exact *map[string]string, name string, b []byte) {
	if *exact == nil {
		*exact = map[string]string{}
	}
	(*exact)[name] = base64.StdEncoding.EncodeToString(b)
}

// plain reports whether input comes back from JSON byte for byte.
func plain(input json.RawMessage) bool {
	var b bytes.Buffer
	return utf8.Valid(input) && json.Compact(&b, input) == nil && bytes.Equal(b.Bytes(), input)
}

// legible is input where it is JSON.
func legible(input json.RawMessage) json.RawMessage {
	if valid := bytes.ToValidUTF8(input, []byte("\ufffd")); json.Valid(valid) {
		return valid
	}
	return nil
}

// restore puts the exact bytes back.
func restore(exact map[string]string, texts func(func(string, *string) bool)) (rest map[string][]byte, err error) {
	if len(exact) == 0 {
		return nil, nil
	}
	rest = map[string][]byte{}
	for name, v := range exact {
		if rest[name], err = base64.StdEncoding.DecodeString(v); err != nil {
			return nil, fmt.Errorf("exact form of %s: %w", name, err)
		}
	}
	for name, s := range texts {
		if b, ok := rest[name]; ok {
			*s = string(b)
		}
	}
	return rest, nil
}

// event is the event of a line that was read.
func (l *eventLine) event() (agents.Event, error) {
	rest, err := restore(l.Exact, l.texts)
	if err != nil {
		return agents.Event{}, err
	}
	if b, ok := rest[inputName]; ok {
		l.Call.Input = b
	}
	if b, ok := rest[costName]; ok {
		if l.Usage.Cost, err = strconv.ParseFloat(string(b), 64); err != nil {
			return agents.Event{}, fmt.Errorf("exact form of %s: %w", costName, err)
		}
	}
	return l.Event, nil
}
