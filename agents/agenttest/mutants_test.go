package agenttest

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/agents/scripted"
)

// verdict is a testing.TB that keeps what a rule says instead of failing the test.
type verdict struct {
	testing.TB
	mu      sync.Mutex
	failed  bool
	skipped bool
	said    []string
}

func (v *verdict) say(failed bool, s string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failed = v.failed || failed
	v.said = append(v.said, s)
}

func (v *verdict) Error(args ...any)            { v.say(true, fmt.Sprint(args...)) }
func (v *verdict) Errorf(f string, args ...any) { v.say(true, fmt.Sprintf(f, args...)) }
func (v *verdict) Fatal(args ...any)            { v.Error(args...); runtime.Goexit() }
func (v *verdict) Fatalf(f string, args ...any) { v.Errorf(f, args...); runtime.Goexit() }
func (v *verdict) FailNow()                     { v.say(true, ""); runtime.Goexit() }
func (v *verdict) Fail()                        { v.say(true, "") }
func (v *verdict) Logf(f string, args ...any)   { v.say(false, fmt.Sprintf(f, args...)) }
func (v *verdict) Skip(args ...any)             { v.skip(fmt.Sprint(args...)) }
func (v *verdict) Skipf(f string, args ...any)  { v.skip(fmt.Sprintf(f, args...)) }
func (v *verdict) Failed() bool                 { v.mu.Lock(); defer v.mu.Unlock(); return v.failed }

func (v *verdict) skip(s string) {
	v.say(false, s)
	v.mu.Lock()
	v.skipped = true
	v.mu.Unlock()
	runtime.Goexit()
}

// run runs f where FailNow and Skip of v may end it.
func (v *verdict) run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// judge is what a rule says of an adapter.
func judge(t testing.TB, name string, h Harness) *verdict {
	v := &verdict{TB: t}
	i := slices.IndexFunc(rules, func(r rule) bool { return r.name == name })
	if i < 0 {
		t.Fatalf("no rule %s", name)
	}
	if h.Timeout == 0 {
		h.Timeout = defaultTimeout
	}
	v.run(func() { rules[i].test(newExam(v, h)) })
	return v
}

// faulty is the scripted agent with a fault.
type faulty struct {
	agents.Session
	event func(agents.Event, func(agents.Event) bool) bool // what becomes of an event; nil: as it is
	send  func(agents.Session, context.Context, string) iter.Seq2[agents.Event, error]
	close func(agents.Session) (agents.Final, error)
}

func (f faulty) Send(ctx context.Context, prompt string) iter.Seq2[agents.Event, error] {
	seq := f.Session.Send(ctx, prompt)
	if f.send != nil {
		seq = f.send(f.Session, ctx, prompt)
	}
	if f.event == nil {
		return seq
	}
	return func(yield func(agents.Event, error) bool) {
		for e, err := range seq {
			if err != nil {
				yield(e, err)
				return
			}
			if !f.event(e, func(e agents.Event) bool { return yield(e, nil) }) {
				return
			}
		}
	}
}

func (f faulty) Close() (agents.Final, error) {
	if f.close != nil {
		return f.close(f.Session)
	}
	return f.Session.Close()
}

// change is a fault in single events.
func change(f func(*agents.Event)) faulty {
	return faulty{event: func(e agents.Event, yield func(agents.Event) bool) bool { f(&e); return yield(e) }}
}

// drop is a fault of events that do not come.
func drop(f func(agents.Event) bool) faulty {
	return faulty{event: func(e agents.Event, yield func(agents.Event) bool) bool { return f(e) || yield(e) }}
}

// over is the error of a fault, and nothing else.
func over(err error) iter.Seq2[agents.Event, error] {
	return func(yield func(agents.Event, error) bool) { yield(agents.Event{}, err) }
}

func TestEachFaultIsFoundByItsRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rule string
		fault      faulty
		setup      func(*agents.Setup)
	}{
		{"a result before its call", "calls", faulty{event: func() func(agents.Event, func(agents.Event) bool) bool {
			var held []agents.Event
			return func(e agents.Event, yield func(agents.Event) bool) bool {
				if e.Kind == agents.EventCall {
					held = append(held, e)
					return true
				}
				ok := yield(e)
				if e.Kind == agents.EventStatus {
					for _, h := range held {
						ok = ok && yield(h)
					}
					held = nil
				}
				return ok
			}
		}()}, nil},
		{"one id for all", "calls", change(func(e *agents.Event) { e.Call.ID = strings.TrimRight(e.Call.ID, "0123456789") }), nil},
		{"no commands", "calls", change(func(e *agents.Event) { e.Call.Commands = nil }), nil},
		{"absolute paths", "calls", change(func(e *agents.Event) {
			for i, p := range e.Call.Paths {
				e.Call.Paths[i] = "/elsewhere/" + p
			}
		}), nil},
		{"another kind", "calls", change(func(e *agents.Event) {
			if e.Call.Kind == agents.Edit {
				e.Call.Kind = agents.Other
			}
		}), nil},
		{"no output", "calls", change(func(e *agents.Event) { e.Output = "" }), nil},
		{"no results", "calls", drop(func(e agents.Event) bool { return e.Kind == agents.EventStatus }), nil},
		{"no reply", "calls", drop(func(e agents.Event) bool { return e.Kind == agents.EventMessage }), nil},
		{"failures that pass", "failed-command", change(func(e *agents.Event) {
			if e.Status == agents.Failed {
				e.Status = agents.Completed
			}
		}), nil},
		{"no names of skills", "skills", change(func(e *agents.Event) { e.Call.Skill = "" }), nil},
		{"no skills given", "skills", faulty{}, func(s *agents.Setup) { s.Skills = nil }},
		{"an id for each call", "one-answer", change(func(e *agents.Event) {
			if e.Kind == agents.EventCall {
				e.Message += e.Call.ID
			}
		}), nil},
		{"one call at a time", "calls-overlap", faulty{}, func(s *agents.Setup) {
			var gate sync.Mutex
			ids := map[string]bool{}
			s.Permit = func(context.Context, agents.ToolCall) agents.Decision {
				gate.Lock()
				defer gate.Unlock()
				ids["one"] = len(ids) == 0
				return agents.Decision{Allow: ids["one"]}
			}
		}},
		{"a late call that is lost", "gap", drop(func(e agents.Event) bool { return e.Call.Name == "Write" || e.CallID == "call_2" }), nil},
		{"texts that are cut", "texts", change(func(e *agents.Event) { e.Text, _, _ = strings.Cut(e.Text, "\n") }), nil},
		{"a text after its call", "texts", drop(func(e agents.Event) bool { return e.Text == "First this." }), nil},
		{"ids for texts alone", "message-ids", change(func(e *agents.Event) {
			if e.Kind == agents.EventCall {
				e.Message = ""
			}
		}), nil},
		{"one id for everything", "message-ids", change(func(e *agents.Event) { e.Message = "m" }), nil},
		{"an eager Send", "lazy", faulty{send: func(s agents.Session, ctx context.Context, p string) iter.Seq2[agents.Event, error] {
			for range s.Send(ctx, p) {
			}
			return over(fmt.Errorf("sent already"))
		}}, nil},
		{"a Send that can be ranged over again", "second-range", faulty{send: func(s agents.Session, ctx context.Context, p string) iter.Seq2[agents.Event, error] {
			return func(yield func(agents.Event, error) bool) { s.Send(ctx, p)(yield) }
		}}, nil},
		{"requests before the results", "requests", faulty{event: func(e agents.Event, yield func(agents.Event) bool) bool {
			if e.Kind == agents.EventStatus {
				return yield(agents.Request()) && yield(e)
			}
			return yield(e)
		}}, nil},
		{"a break that is ignored", "break", faulty{send: func(s agents.Session, ctx context.Context, p string) iter.Seq2[agents.Event, error] {
			return func(yield func(agents.Event, error) bool) {
				on := true
				for e, err := range s.Send(ctx, p) {
					on = on && yield(e, err)
				}
			}
		}}, nil},
		{"a cancellation that is no error", "cancel", faulty{send: func(s agents.Session, ctx context.Context, p string) iter.Seq2[agents.Event, error] {
			return func(yield func(agents.Event, error) bool) {
				for e, err := range s.Send(ctx, p) {
					if err != nil || !yield(e, err) {
						return
					}
				}
			}
		}}, nil},
		{"an error without a type", "cancel", faulty{send: func(s agents.Session, ctx context.Context, p string) iter.Seq2[agents.Event, error] {
			return func(yield func(agents.Event, error) bool) {
				for e, err := range s.Send(ctx, p) {
					if err != nil {
						err = context.Canceled
					}
					if !yield(e, err) {
						return
					}
				}
			}
		}}, nil},
		{"a deaf Send", "cancelled-before", faulty{send: func(s agents.Session, _ context.Context, p string) iter.Seq2[agents.Event, error] {
			return s.Send(context.Background(), p)
		}}, nil},
		{"a Close that counts", "close-twice", faulty{close: func() func(agents.Session) (agents.Final, error) {
			var mu sync.Mutex
			n := int64(0)
			return func(s agents.Session) (agents.Final, error) {
				mu.Lock()
				defer mu.Unlock()
				f, err := s.Close()
				n++
				f.Usage.InputTokens += n
				return f, err
			}
		}()}, nil},
		{"a Close that does nothing", "no-survivors", faulty{close: func(agents.Session) (agents.Final, error) { return agents.Final{}, nil }}, nil},
		{"a Close that does nothing", "break", faulty{close: func(agents.Session) (agents.Final, error) { return agents.Final{}, nil },
			send: func(s agents.Session, ctx context.Context, p string) iter.Seq2[agents.Event, error] {
				return func(yield func(agents.Event, error) bool) {
					on := true
					for e, err := range s.Send(ctx, p) {
						on = on && yield(e, err)
					}
				}
			}}, nil},
		{"a Close that does nothing", "send-after-close", faulty{close: func(agents.Session) (agents.Final, error) { return agents.Final{}, nil }}, nil},
		{"nobody is asked", "permit", faulty{}, func(s *agents.Setup) { s.Permit = nil }},
		{"asked twice", "permit", faulty{}, func(s *agents.Setup) {
			permit := s.Permit
			s.Permit = func(ctx context.Context, c agents.ToolCall) agents.Decision { permit(ctx, c); return permit(ctx, c) }
		}},
		{"refused, and run", "permit", faulty{}, func(s *agents.Setup) {
			permit := s.Permit
			s.Permit = func(ctx context.Context, c agents.ToolCall) agents.Decision {
				if d := permit(ctx, c); !d.Allow {
					_ = os.WriteFile(filepath.Join(s.Dir, "forbidden.txt"), []byte("x"), 0o600)
				}
				return agents.Decision{}
			}
		}},
		{"sub-agents in the main thread", "sub-agent", change(func(e *agents.Event) { e.Parent, e.Call.Parent = "", "" }), nil},
		{"one parent for both", "sub-agents", change(func(e *agents.Event) {
			if e.Parent != "" {
				*e = e.Under("call_1")
			}
		}), nil},
		{"an error of another kind", "provider-failure", faulty{send: func(s agents.Session, ctx context.Context, p string) iter.Seq2[agents.Event, error] {
			return func(yield func(agents.Event, error) bool) {
				for e, err := range s.Send(ctx, p) {
					if err != nil {
						err = agents.Errorf(agents.Crash, agents.FromAgent, "exit status 1")
					}
					if !yield(e, err) {
						return
					}
				}
			}
		}}, nil},
		{"a failure that is a normal end", "provider-failure", faulty{send: func(s agents.Session, ctx context.Context, p string) iter.Seq2[agents.Event, error] {
			return func(yield func(agents.Event, error) bool) {
				for e, err := range s.Send(ctx, p) {
					if err != nil || !yield(e, err) {
						return
					}
				}
			}
		}}, nil},
		{"usage counted twice", "usage", faulty{event: func(e agents.Event, yield func(agents.Event) bool) bool {
			return (e.Kind != agents.EventUsage || yield(e)) && yield(e)
		}}, nil},
		{"no usage", "usage", faulty{event: func(e agents.Event, yield func(agents.Event) bool) bool {
			return e.Kind == agents.EventUsage || yield(e)
		}, close: func(s agents.Session) (agents.Final, error) { _, err := s.Close(); return agents.Final{}, err }}, nil},
		{"the developer's secrets", "hermetic", faulty{}, func(s *agents.Setup) { s.Env = append(s.Env, secretName+"="+secretValue) }},
		{"another home", "hermetic", faulty{}, func(s *agents.Setup) { s.Home = s.Temp }},
		{"no variables", "hermetic", faulty{}, func(s *agents.Setup) { s.Env = nil }},
		{"no raw stream", "raw", faulty{}, func(s *agents.Setup) { s.Record = nil }},
	} {
		t.Run(c.rule+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			harness := Harness{Info: scripted.New().Info(), Open: func(t testing.TB, setup agents.Setup, steps ...script.Step) agents.Session {
				if c.setup != nil {
					c.setup(&setup)
				}
				s, err := scripted.New(steps...).Open(context.Background(), setup)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				f := c.fault
				f.Session = s
				return f
			}}
			if v := judge(t, c.rule, harness); !v.Failed() {
				t.Errorf("the rule %s lets it pass (skipped: %v, %q)", c.rule, v.skipped, v.said)
			}
		})
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	run := func(id, command string) agents.Event {
		return agents.Begin(agents.ToolCall{ID: id, Kind: agents.Execute, Commands: []string{command}})
	}
	sub := func(id string) agents.Event { return agents.Begin(agents.ToolCall{ID: id, Kind: agents.Sub}) }
	base := agents.NewTrajectory(sub("s"), sub("t"), run("a", "x").Under("s"), run("b", "y").Under("t"), agents.End("a", agents.Completed, "1"))
	for _, c := range []struct {
		name string
		same bool
		tr   *agents.Trajectory
	}{
		{"other ids, outputs, texts, and sub-agents interleaved otherwise", true, agents.NewTrajectory(
			agents.Say("hm"), sub("1"), sub("2"), run("3", "y").Under("2"), run("4", "x").Under("1"), agents.End("4", agents.InProgress, ""), agents.End("4", agents.Completed, "2"))},
		{"another command", false, agents.NewTrajectory(sub("s"), sub("t"), run("a", "z").Under("s"), run("b", "y").Under("t"), agents.End("a", agents.Completed, "1"))},
		{"another status", false, agents.NewTrajectory(sub("s"), sub("t"), run("a", "x").Under("s"), run("b", "y").Under("t"), agents.End("a", agents.Failed, "1"))},
		{"another parent", false, agents.NewTrajectory(sub("s"), sub("t"), run("a", "x").Under("s"), run("b", "y").Under("s"), agents.End("a", agents.Completed, "1"))},
		{"one call more", false, base.With(run("c", "z"))},
		{"another order", false, agents.NewTrajectory(sub("t"), sub("s"), run("a", "x").Under("s"), run("b", "y").Under("t"), agents.End("a", agents.Completed, "1"))},
	} {
		assert.Equal(t, c.same, Same(base, c.tr) == nil, "%s: %v", c.name, Same(base, c.tr))
	}
}
