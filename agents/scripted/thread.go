package scripted

import (
	"context"
	"fmt"
	"sync"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

// thread is one conversation with the model: the main one, or a sub-agent's. Ids are numbers within the thread after the
// thread's own, so that they are the same however parallel sub-agents come to interleave: call_2.1 is the first call of
// the sub-agent of call_2.
type thread struct {
	parent   string // id of the sub-agent's call, "" for the main thread
	path     string // "2." for the sub-agent of call_2
	answers  []script.Answer
	next     int   // index of the answer that the next request gets
	messages int   // answers so far
	calls    int   // calls so far
	context  int64 // tokens that the next request carries
}

// heard adds a user message.
func (t *thread) heard(text string) { t.context += tokens(text) }

// answer is the next one.
func (t *thread) answer() script.Answer {
	if t.next < len(t.answers) {
		return t.answers[t.next]
	}
	return script.Answer{Blocks: []script.Block{{Text: "Done."}}, HandBack: true}
}

// talk asks for answers and carries them out until one hands back; then reply is the last text, and ok.
func (r *run) talk(t *thread) (reply string, ok bool) {
	for {
		a := t.answer()
		message := fmt.Sprintf("msg_%s%d", t.path, t.messages+1)
		if !r.Emit(agents.Request().In(message).Under(t.parent)) {
			return "", false // never sent: it is asked for again
		}
		t.messages++
		t.next++
		if !r.Sleep(a.Wait) {
			return "", false
		}
		if a.Fail != nil {
			r.Fail(a.Fail)
			t.next--
			return "", false
		}
		if reply, ok = r.carryOut(t, a, message); !ok || a.HandBack {
			return reply, ok
		}
	}
}

// carryOut streams the blocks of an answer, each call beginning as it is announced, and waits for all of its calls.
func (r *run) carryOut(t *thread, a script.Answer, message string) (reply string, ok bool) {
	var calls sync.WaitGroup
	defer calls.Wait()
	var written int64
	for _, b := range a.Blocks {
		if !r.Sleep(b.Pause) {
			return "", false
		}
		if b.Call == nil {
			reply = b.Text
			written += tokens(b.Text)
			if !r.Emit(agents.Say(b.Text).In(message).Under(t.parent)) {
				return "", false
			}
			continue
		}
		t.calls++
		number := fmt.Sprintf("%s%d", t.path, t.calls)
		c := r.s.describe(b.Call, "call_"+number)
		written += tokens(c.Name) + tokens(string(c.Input))
		c.Parent = t.parent
		begun, ok := r.Begin(message, c)
		if !ok {
			return "", false
		}
		if !r.s.offered(c.Name) {
			begun.Refuse(fmt.Sprintf("the tool %s is not allowed", c.Name))
			continue
		}
		calls.Go(func() {
			r.Guard(func() {
				_, _, _ = begun.Do(func(ctx context.Context) (string, error) { return r.effect(ctx, c, b.Call, number) })
			})
		})
	}
	// What tools answer is left out of the count: it may differ from run to run, by a path or a time.
	if !r.Emit(agents.Spent(agents.Usage{InputTokens: t.context, OutputTokens: written}).In(message).Under(t.parent)) {
		return "", false
	}
	t.context += written
	calls.Wait()
	return reply, r.Context().Err() == nil
}

// tokens is a plausible number of tokens of a text: English has about four bytes to one.
func tokens(text string) int64 { return (int64(len(text)) + 3) / 4 }
