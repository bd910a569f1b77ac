package script

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// Action is a tool call to make. Kind says which of the other fields count.
type Action struct {
	Kind    agents.Kind
	Command string // Execute
	Path    string // Read, Edit: slash-separated, relative to the workspace or absolute
	Text    string // Edit: the whole new content
	Skill   string // Skill

	Tool  string          // Other: the tool's own name
	Input json.RawMessage // Other: an object

	Prompt string // Sub
	Steps  []Step // Sub
}

// Block is one part of an answer: text, or a call.
type Block struct {
	Pause time.Duration // before it
	Text  string        // when Call is nil
	Call  *Action
}

// Answer is one answer of the model.
type Answer struct {
	Wait   time.Duration // before it begins
	Blocks []Block
	// Fail, when not nil, is what the provider answers instead. It is the last answer.
	Fail *agents.Error
	// HandBack: the agent's turn ends with this answer, which has no calls. Blocks may be empty: it hands back in silence.
	HandBack bool
}

// Calls is the number of calls in the answer.
func (a Answer) Calls() int {
	n := 0
	for _, b := range a.Blocks {
		if b.Call != nil {
			n++
		}
	}
	return n
}

// Answers groups steps into answers. The last one hands back or fails.
func Answers(steps []Step) []Answer {
	var out []Answer
	var next Answer
	flush := func() {
		out = append(out, next)
		next = Answer{}
	}
	ended := false // the last step ended the turn or the script
	for _, s := range steps {
		ended = false
		switch s := s.(type) {
		case say:
			next.Blocks = append(next.Blocks, Block{Text: string(s)})
		case wait:
			next.Wait += time.Duration(s)
		case gap:
			next.Wait += time.Duration(s)
		case call:
			next.Blocks = append(next.Blocks, Block{Call: (*Action)(&s)})
			flush()
		case together:
			next.Blocks = append(next.Blocks, blocks(s)...)
			if next.Calls() > 0 {
				flush()
			}
		case handBack:
			next.HandBack = true
			flush()
			ended = true
		case fail:
			next.Fail = s.err
			flush()
			return out
		default:
			panic(fmt.Sprintf("script: unknown step %T", s))
		}
	}
	if !ended {
		next.HandBack = true
		flush()
	}
	return out
}

// blocks are the parts of one answer.
func blocks(steps []Step) []Block {
	var out []Block
	var pause time.Duration
	for _, s := range steps {
		switch s := s.(type) {
		case wait:
			pause += time.Duration(s)
			continue
		case gap:
			pause += time.Duration(s)
			continue
		case say:
			out = append(out, Block{Pause: pause, Text: string(s)})
		case call:
			out = append(out, Block{Pause: pause, Call: (*Action)(&s)})
		case together:
			inner := blocks(s)
			if len(inner) > 0 {
				inner[0].Pause += pause
			}
			out = append(out, inner...)
		}
		pause = 0
	}
	return out
}
