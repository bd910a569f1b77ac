package gateway

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

// scripted plays a script. It has no state: where a request stands is read from the request.
//
// A thread is the main one or a sub-agent's, and has a name: "m" for the main one, and for the sub-agent that block k of
// answer i of thread t starts, "t-i-k". The id of a call is toolu_<thread>_<answer>_<block>.
type scripted struct {
	dialect dialect
	threads map[string][]script.Answer
	dir     string
}

const (
	mainThread    = "m"
	scriptedModel = "scripted-model" // as a list of models has it
)

func newScripted(d dialect, steps []script.Step, dir string) *scripted {
	s := &scripted{dialect: d, threads: map[string][]script.Answer{}, dir: dir}
	s.add(mainThread, steps)
	return s
}

func (s *scripted) add(thread string, steps []script.Step) {
	answers := script.Answers(steps)
	s.threads[thread] = answers
	for i, a := range answers {
		for k, b := range a.Blocks {
			if b.Call != nil && b.Call.Kind == agents.Sub {
				s.add(child(thread, i, k), b.Call.Steps)
			}
		}
	}
}

func child(thread string, answer, block int) string {
	return fmt.Sprintf("%s-%d-%d", thread, answer, block)
}

func callID(thread string, answer, block int) string {
	return fmt.Sprintf("toolu_%s_%d_%d", thread, answer, block)
}

var (
	callIDs   = regexp.MustCompile(`^toolu_(m(?:-\d+-\d+)*)_(\d+)_(\d+)$`)
	answerIDs = regexp.MustCompile(`^msg_(m(?:-\d+-\d+)*)_(\d+)$`)
	markers   = regexp.MustCompile(`(?m)^\[part (m(?:-\d+-\d+)+) of the script\]`)
)

// marked is the prompt of a sub-agent with the line that its requests are known by.
func marked(prompt, thread string) string {
	return fmt.Sprintf("%s\n\n[part %s of the script]", prompt, thread)
}

func (s *scripted) answer(q *query) reply {
	if q.Side {
		// On the side: a title, a summary, a probe of the quota.
		return reply{id: fmt.Sprintf("msg_side_%d", q.N), blocks: []block{{text: "Scripted."}}, usage: s.dialect.spent(spent(q, len("Scripted.")))}
	}
	thread, n := s.position(q)
	answers := s.threads[thread]
	r := reply{id: fmt.Sprintf("msg_%s_%d", thread, n)}
	size := 0
	if n < len(answers) {
		offered := q.tools(s.dialect)
		a := answers[n]
		r.wait, r.fail = a.Wait, a.Fail
		if r.fail != nil {
			return r
		}
		for k, b := range a.Blocks {
			out := block{pause: b.Pause, text: b.Text}
			if b.Call != nil {
				c, err := s.call(q, offered, *b.Call, child(thread, n, k))
				if err == nil {
					out.name, out.space, out.input, out.free = c.name, c.space, c.input, c.free
					out.id = callID(thread, n, k)
				} else {
					out.text, c.note, r.short = err.Error(), err.Error(), true
				}
				if c.note != "" {
					r.note = strings.TrimPrefix(r.note+"\n"+c.note, "\n")
				}
				size += weight(*b.Call)
			}
			size += len(out.text)
			if out.name == "" && out.text == "" {
				continue // the provider knows no empty text
			}
			r.blocks = append(r.blocks, out)
		}
	}
	if len(r.blocks) == 0 {
		r.blocks = []block{{text: handedBack}} // after the script's end, or a silent hand-back
		size = len(handedBack)
	}
	r.usage = s.dialect.spent(spent(q, size))
	return r
}

// position is the thread that q belongs to, and the index of the answer that it asks for: the one after the last that
// made calls, and after as many more as came without any.
func (s *scripted) position(q *query) (thread string, answer int) {
	thread = mainThread
	known := false
	if m := answerIDs.FindStringSubmatch(q.after); m != nil && s.threads[m[1]] != nil {
		if i, err := strconv.Atoi(m[2]); err == nil {
			thread, known, answer = m[1], true, i+1
		}
	}
	if m := markers.FindStringSubmatch(q.first()); m != nil && s.threads[m[1]] != nil {
		thread, known = m[1], true
	}
	for _, t := range q.turns {
		last := -1
		for _, id := range t.calls {
			m := callIDs.FindStringSubmatch(id)
			if m == nil || s.threads[m[1]] == nil || known && m[1] != thread {
				continue // not a call of ours: a prefill, another conversation's
			}
			thread, known = m[1], true
			if i, err := strconv.Atoi(m[2]); err == nil {
				last = i
			}
		}
		switch {
		case last >= 0:
			answer = last + 1
		case len(t.calls) > 0 || s.said(thread, answer, t): // an agent may have ids of its own for calls
			answer++
		}
	}
	return thread, answer
}

// said reports whether an answer without calls is, for all that is known, the one that the script has here. Some agents begin a
// conversation with answers that nobody gave: "Thanks for the context!"
func (s *scripted) said(thread string, answer int, t turn) bool {
	answers, got := s.threads[thread], t.letters()
	if answer >= len(answers) || got == "" || strings.HasPrefix(got, letters(complaint)) {
		return true
	}
	want := ""
	for _, b := range answers[answer].Blocks {
		want += letters(b.Text)
	}
	return strings.Contains(got, cmp.Or(want, handedBack))
}

// handedBack is what the model says where the script has nothing to say: an answer without content is none.
const handedBack = "Done."

// weight is the size of a call: of what the script gives, so that the numbers are the same wherever the workspace lies.
func weight(a script.Action) int {
	return 80 + len(a.Command) + len(a.Path) + len(a.Text) + len(a.Skill) + len(a.Prompt) + len(a.Input)
}

// spent is plausible numbers: what was sent before is read from the cache, what is new is written to it.
func spent(q *query, size int) usage {
	const base, each = 2000, 60 // tokens of what comes before the conversation, and of one message
	u := usage{input: 4, output: int64(size+3)/4 + 1}
	if old := q.sent - q.fresh; old > 0 {
		u.read = base + each*int64(old)
		u.written = each * int64(q.fresh)
	} else {
		u.written = base + each*int64(q.fresh)
	}
	return u
}
