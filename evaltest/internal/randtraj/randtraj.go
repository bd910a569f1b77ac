// Package randtraj makes random trajectories, for tests that hold for every one of them.
//
//	rng := rand.New(rand.NewPCG(seed, 0))
//	tr := randtraj.New(rng, 30)        // some 30 events, cut anywhere
//	end := randtraj.Complete(rng, tr)  // one of the ways in which it may go on and end
//
// They look like those of agents of several shapes: with and without ids of answers, with and without requests, calls one
// after the other and side by side, sub-agents that are waited for and that are not, calls that are denied, that fail, that
// are still pending at the end and that nobody saw the end of. What calls do is taken from the lists of this package, so that
// criteria about it are met often. All times are fixed by the seed.
package randtraj

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// What calls are about.
var (
	Skills   = []string{"pdf", "csv", "git"}
	Commands = []string{
		"go test ./...", "rm -rf build", "ls", "go build && go test ./x", "bash -lc 'rm x; ls'", "cat <<EOF\nrm\nEOF",
		"sudo rm x", "echo $(rm y)", "go vet | tee log", "rm 'x", "", "go test a; go test b; go test c",
	}
	Paths  = []string{"main.go", "src/a.go", "src/deep/b.go", "README.md", "/etc/hosts"}
	Tools  = []string{"WebFetch", "mcp__db__query", "mcp__db__drop", "TodoWrite"}
	Inputs = []string{`{"url":"https://go.dev","n":1}`, `{"q":{"table":"users","ids":[1,2]}}`, `{}`, ``}
	Texts  = []string{"I am done.", "Let me look.", "Sorry, I cannot.", ""}
)

// Start is the time of the first event.
var Start = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// A Maker makes a trajectory, event by event.
type Maker struct {
	// Words, when not nil, is what the agent does and says, in place of the lists of this package.
	Words *Vocabulary

	rng *rand.Rand
	tr  *agents.Trajectory
	now time.Time

	// The agent's shape.
	ids, requests, usage bool

	open    []agents.ToolCall // calls that have not settled
	threads []string          // "" and the ids of sub-agents that may go on
	calls   int
	answers int
	answer  string // id of the answer under way on the main thread
}

// A Vocabulary is what an agent may do, say and spend. Each function gives something at random.
type Vocabulary struct {
	Call  func(*rand.Rand) agents.ToolCall // its id and its parent do not count
	Text  func(*rand.Rand) string
	Spend func(*rand.Rand) agents.Usage
}

// NewMaker makes a trajectory of a random shape, empty so far.
func NewMaker(rng *rand.Rand) *Maker {
	return &Maker{
		rng: rng, tr: new(agents.Trajectory), now: Start, threads: []string{""},
		ids: rng.IntN(3) > 0, requests: rng.IntN(2) == 0, usage: rng.IntN(2) == 0,
	}
}

// New is a trajectory of n steps, each of one event or two.
func New(rng *rand.Rand, n int) *agents.Trajectory {
	m := NewMaker(rng)
	for range n {
		m.Step()
	}
	return m.tr
}

// Trajectory is what was made so far; it grows with the next step.
func (m *Maker) Trajectory() *agents.Trajectory { return m.tr }

// Step has the agent do one thing.
func (m *Maker) Step() {
	switch n := m.rng.IntN(20); {
	case m.tr.Len() == 0:
		m.add(agents.Prompt("Do it."))
	case n < 7 && len(m.open) > 0:
		m.settle(m.rng.IntN(len(m.open)), m.status())
	case n < 14:
		m.dispatch(m.Call())
	case n < 16:
		m.say()
	case n < 17 && m.requests:
		m.add(agents.Request().In(m.next("")))
	case n < 19 && m.usage:
		m.spend()
	default:
		m.rest()
	}
}

// rest is what happens seldom.
func (m *Maker) rest() {
	switch m.rng.IntN(5) {
	case 0:
		m.add(agents.Event{Kind: agents.EventDone})
		m.add(agents.Prompt("Go on."))
	case 1:
		m.now = m.now.Add(time.Duration(m.rng.IntN(90)) * time.Second)
	case 2:
		if len(m.open) > 0 {
			m.add(agents.End(pick(m.rng, m.open).ID, agents.InProgress, ""))
		}
	case 3: // what must be refused is refused: the events of real agents contradict each other
		m.add(agents.End("nobody", agents.Completed, ""))
	default:
		m.answer = ""
	}
}

func (m *Maker) add(e agents.Event) {
	m.now = m.now.Add(time.Duration(m.rng.IntN(3000)) * time.Millisecond)
	_ = m.tr.Append(e.At(m.now))
}

// next is the id of an answer: that under way, or a new one.
func (m *Maker) next(thread string) string {
	if !m.ids {
		return ""
	}
	if thread != "" {
		return "sub-" + thread
	}
	if m.answer == "" || m.rng.IntN(3) == 0 {
		m.answers++
		m.answer = fmt.Sprintf("m%d-%d", m.answers, m.tr.Len())
	}
	return m.answer
}

func (m *Maker) thread() string { return pick(m.rng, m.threads) }

// Call is a random call that was not made before.
func (m *Maker) Call() agents.ToolCall {
	m.calls++
	id := fmt.Sprintf("c%d-%d", m.calls, m.tr.Len())
	if m.Words != nil {
		c := m.Words.Call(m.rng)
		c.ID, c.Parent = id, m.thread()
		return c
	}
	c := agents.ToolCall{ID: id, Parent: m.thread(), Kind: pick(m.rng, agents.Kinds)}
	if m.rng.IntN(2) == 0 {
		c.Kind = pick(m.rng, []agents.Kind{agents.Execute, agents.Skill, agents.Edit})
	}
	c.Name = string(c.Kind)
	switch c.Kind {
	case agents.Execute:
		c.Commands = []string{pick(m.rng, Commands)}
	case agents.Skill:
		c.Skill = pick(m.rng, Skills)
	case agents.Read, agents.Edit, agents.Delete:
		c.Paths = []string{pick(m.rng, Paths)}
	case agents.Move:
		c.Paths = []string{pick(m.rng, Paths), pick(m.rng, Paths)}
	case agents.Other, agents.Fetch, agents.Think:
		c.Name = pick(m.rng, Tools)
		if in := pick(m.rng, Inputs); in != "" {
			c.Input = json.RawMessage(in)
		}
	}
	return c
}

func (m *Maker) dispatch(c agents.ToolCall) {
	m.add(agents.Begin(c).In(m.next(c.Parent)))
	m.open = append(m.open, c)
	if c.Kind == agents.Sub {
		m.threads = append(m.threads, c.ID)
	}
}

func (m *Maker) status() agents.Status {
	return pick(m.rng, []agents.Status{agents.Completed, agents.Completed, agents.Completed, agents.Failed, agents.Denied, agents.Unresolved})
}

// settle ends the i-th open call; one that is unresolved stays open. Sub-agents now and then go on after their call.
func (m *Maker) settle(i int, s agents.Status) {
	c := m.open[i]
	m.add(agents.End(c.ID, s, "output"))
	if !s.Settled() {
		return
	}
	m.open = append(m.open[:i:i], m.open[i+1:]...)
	for t, id := range m.threads {
		if id == c.ID && m.rng.IntN(4) > 0 {
			m.threads = append(m.threads[:t:t], m.threads[t+1:]...)
			break
		}
	}
}

func (m *Maker) say() {
	thread := m.thread()
	text := pick(m.rng, Texts)
	if m.Words != nil {
		text = m.Words.Text(m.rng)
	}
	m.add(agents.Say(text).In(m.next(thread)).Under(thread))
}

func (m *Maker) spend() {
	if m.Words != nil {
		m.add(agents.Spent(m.Words.Spend(m.rng)).Under(m.thread()))
		return
	}
	u := agents.Usage{InputTokens: int64(m.rng.IntN(100)), OutputTokens: int64(m.rng.IntN(100)), CachedTokens: int64(m.rng.IntN(100))}
	if m.rng.IntN(2) == 0 {
		u.Cost = float64(m.rng.IntN(100)) / 1000
	}
	m.add(agents.Spent(u).Under(m.thread()))
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }
