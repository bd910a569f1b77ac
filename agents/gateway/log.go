package gateway

import (
	"io"
	stdlog "log"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// Request is a model request as the gateway saw it.
type Request struct {
	N int // from 1, in order of arrival
	// Results are the ids of the tool calls whose results it carries for the first time: those that follow the last answer
	// in it. Empty for the first request of a turn, and for one on the side.
	Results []string
	// Answer is the id of the answer that made those calls, as the agent was told it; "" when it carries no results.
	Answer string
	Model  string // that is asked for
	Stream bool
	// Point is equal for requests that ask for the same answer of the same conversation: one is the other, tried again.
	Point string
	// Side: no tools are offered, by an agent that has some. It is on the side, for a title, a summary, a probe, and nothing of the
	// conversation hangs on it.
	Side bool
}

// State is how far an exchange has come.
type State string

const (
	Held      State = "held"      // Admit has not returned yet
	Refused   State = "refused"   // Admit returned an error: closed without an answer
	Answering State = "answering" // the answer is under way
	Answered  State = "answered"  // to its end, be it an error of the provider's
	Cut       State = "cut"       // it ended before the answer's end, by whomever
)

// An Exchange is a model request and what became of it.
type Exchange struct {
	Request
	State State

	Arrived    time.Time
	Admitted   time.Time // zero: it was not
	FirstByte  time.Time // of the answer; zero: none came
	Progressed time.Time // when the answer last made progress; zero: never
	Ended      time.Time // zero: it has not

	Status     int           // HTTP status; 0: no answer began
	Answered   string        // the model that answered, as the provider says; "": it did not
	RetryAfter time.Duration // as the provider asks; 0: it does not
	// Failure is how the provider failed the request; nil: it did not, or nobody knows, since the agent went away or was refused.
	Failure *agents.Error
	ID      string       // of the answer; "" for an error
	Stop    string       // why the model stopped, in the provider's words: "tool_use", "end_turn"
	Calls   []string     // ids of the calls that the answer makes
	Error   string       // the provider's type of error: "overloaded_error"
	Usage   agents.Usage // what the answer cost, by tokens
	Note    string       // what a reader of the log should know: a tool of the script that the agent does not offer
	// Unplayed: a call of the script could not be made, since the agent has no tool for it. Note says which.
	Unplayed bool
}

// log is the exchanges of a gateway.
type log struct {
	mu   sync.Mutex
	all  []*Exchange
	from map[string]string // by id of a call: the answer that made it
}

// exchange is an entry of the log, changed under its lock.
type exchange struct {
	log *log
	e   *Exchange
}

// arrive makes an entry. It fills in N and Answer of r.
func (l *log) arrive(r Request) exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.N = len(l.all) + 1
	for _, id := range r.Results {
		if a := l.from[id]; a != "" {
			r.Answer = a
		}
	}
	e := &Exchange{Request: r, State: Held, Arrived: time.Now()}
	l.all = append(l.all, e)
	return exchange{l, e}
}

func (x exchange) update(change func(e *Exchange)) {
	x.log.mu.Lock()
	defer x.log.mu.Unlock()
	change(x.e)
}

// makes records which calls the answer makes, before the agent learns of any.
func (x exchange) makes(answer string, calls []string) {
	x.update(func(e *Exchange) {
		e.ID, e.Calls = answer, calls
		if x.log.from == nil {
			x.log.from = map[string]string{}
		}
		for _, id := range calls {
			x.log.from[id] = answer
		}
	})
}

// end records how it went. What was recorded as ended stays.
func (x exchange) end(s State) {
	x.update(func(e *Exchange) {
		if e.Ended.IsZero() {
			e.State, e.Ended = s, time.Now()
		}
	})
}

func (l *log) waiting() (since time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.all {
		if e.State != Answering {
			continue
		}
		at := e.Admitted
		if e.Progressed.After(at) {
			at = e.Progressed
		}
		if !ok || at.Before(since) {
			since, ok = at, true
		}
	}
	return since, ok
}

func (l *log) snapshot() []Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Exchange, len(l.all))
	for i, e := range l.all {
		out[i] = *e
		out[i].Results, out[i].Calls = slices.Clone(e.Results), slices.Clone(e.Calls)
	}
	return out
}

// discard takes what net/http says about connections that agents drop: nothing that anyone has to do anything about.
var discard = stdlog.New(io.Discard, "", 0)

func bearer(header string) string {
	token, ok := strings.CutPrefix(header, "Bearer ")
	if !ok {
		return ""
	}
	return token
}
