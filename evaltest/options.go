package evaltest

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// An Option sets something up for an eval (New) or for all evals of a package (Main). Where several say something of the
// same, an environment variable comes first, then the eval's option, then the package's.
type Option interface{ option(*settings) error }

type option func(*settings) error

func (o option) option(s *settings) error { return o(s) }

// settings is everything that options can say.
type settings struct {
	agent     agents.Agent
	script    []script.Step
	hasScript bool
	model     string
	system    string
	allow     []string
	deny      []string
	mcp       []agents.MCPServer
	env       []string
	secrets   map[string]string // value → name: one name can have several
	skills    []string          // folders
	only      []string
	requires  []requirement
	setups    []hook
	teardowns []hook

	gate        verdict.Gate
	limits      journal.Limits
	failOnLimit bool
	drain       time.Duration
	prices      *Prices      // nil: the agent reports what it costs
	mode        verdict.Mode // "": the default
	smoke       bool
	onError     string // "fail", "skip"
	keep        string // "failed", "all", "none"

	retries     int
	backoff     limitsOfBackoff
	idle        time.Duration
	maxRequests int
	models      []string // patterns of models that may answer for others
	noGateway   bool
	breaker     bool

	// From the environment alone.
	modeForced bool // the mode comes from the environment
	live       bool
	embedded   bool // no other agent was asked for
	scripted   bool // the script plays the model of a real agent

	agentsAtOnce int    // 0: as many as tests run in parallel
	resume       string // the run whose settled trials are taken over; "": none
	upstream     string // URL of another upstream than the agent's own; "": none
	upstreamAuth string // header lines that authenticate there
}

// hook is a function of the author's that prepares or undoes.
type hook struct {
	f      func(context.Context, *Trial) error
	source string // file:line of the author
}

func (h hook) call(ctx context.Context, what string, trial *Trial) error {
	if err := guarded(func() error { return h.f(ctx, trial) }); err != nil {
		return fmt.Errorf("%s: %s: %w", h.source, what, err)
	}
	return nil
}

type requirement struct {
	reason string
	ok     func(agents.Info) bool
}

func defaults() settings {
	return settings{
		drain: 30 * time.Second, onError: "fail", keep: "failed",
		retries: 2, backoff: limitsOfBackoff{2 * time.Second, time.Minute}, idle: 5 * time.Minute, maxRequests: 1000, breaker: true,
	}
}

// clone keeps what an eval appends from reaching the package's settings.
func (s settings) clone() settings {
	s.mcp, s.env, s.skills = slices.Clip(s.mcp), slices.Clip(s.env), slices.Clip(s.skills)
	s.setups, s.teardowns = slices.Clip(s.setups), slices.Clip(s.teardowns)
	s.requires, s.allow, s.deny = slices.Clip(s.requires), slices.Clip(s.allow), slices.Clip(s.deny)
	s.models, s.only = slices.Clip(s.models), slices.Clip(s.only)
	s.secrets = maps.Clone(s.secrets)
	return s
}

func (s *settings) secret(name, value string) {
	if value == "" {
		return
	}
	if s.secrets == nil {
		s.secrets = map[string]string{}
	}
	s.secrets[value] = name
}

// Agent says which agent runs, unless EVALTEST_AGENT names another one. Without either, the embedded agent carries out
// the eval's Script.
func Agent(a agents.Agent) Option {
	return option(func(s *settings) error {
		if a == nil {
			return fmt.Errorf("Agent(nil): give an agent, such as claude.New()")
		}
		s.agent = a
		return nil
	})
}

// Script says what the embedded agent does, and, with EVALTEST_GATEWAY=script, what the model of a real one says.
func Script(steps ...script.Step) Option {
	return option(func(s *settings) error {
		s.script, s.hasScript = steps, true
		return nil
	})
}

// Model asks for a model, in the agent's own words. EVALTEST_MODEL comes first.
func Model(name string) Option {
	return option(func(s *settings) error { s.model = name; return nil })
}

// System is appended to the agent's own system prompt.
func System(prompt string) Option {
	return option(func(s *settings) error { s.system = prompt; return nil })
}

// AllowTools names the only tools that the agent may use, in its own words.
func AllowTools(names ...string) Option {
	return option(func(s *settings) error { s.allow = append(s.allow, names...); return nil })
}

// DenyTools names tools that the agent may not use, in its own words.
func DenyTools(names ...string) Option {
	return option(func(s *settings) error { s.deny = append(s.deny, names...); return nil })
}

// Skills gives the agent skills, as its user would have them: each folder holds SKILL.md, or folders that do. What a
// skill's own tests and evals say is left out: the answers must not be in reach.
func Skills(dirs ...string) Option {
	return option(func(s *settings) error { s.skills = append(s.skills, dirs...); return nil })
}

// MCPServer gives the agent a tool server. The values of its Env and Headers are kept out of every record.
func MCPServer(m agents.MCPServer) Option {
	return option(func(s *settings) error {
		if m.Name == "" || (len(m.Command) == 0) == (m.URL == "") {
			return fmt.Errorf("MCPServer: it needs a Name and either a Command or a URL")
		}
		for _, kv := range m.Env {
			k, v, ok := strings.Cut(kv, "=")
			if !ok {
				return fmt.Errorf("MCPServer %s: Env %q is not KEY=value", m.Name, kv)
			}
			s.secret(k, v)
		}
		for _, h := range m.Headers {
			k, v, ok := strings.Cut(h, ":")
			if !ok {
				return fmt.Errorf("MCPServer %s: a header is not Name: value", m.Name)
			}
			s.secret(k, strings.TrimSpace(v))
		}
		s.mcp = append(s.mcp, m)
		return nil
	})
}

// maskFrom is the length from which a value of Env is taken for a secret: "true" and the like would make records unreadable.
const maskFrom = 8

// Env adds to the agent's environment, as "KEY=value". Values of eight bytes or more are kept out of every record; use
// Secret for a shorter one.
func Env(kv ...string) Option {
	return option(func(s *settings) error {
		for _, e := range kv {
			k, v, ok := strings.Cut(e, "=")
			if !ok || k == "" {
				return fmt.Errorf("Env %q: write it as KEY=value", e)
			}
			if len(v) >= maskFrom {
				s.secret(k, v)
			}
			s.env = append(s.env, e)
		}
		return nil
	})
}

// Secret keeps value out of every record, log and report: ‹name› stands there instead, also for a value in quotes or escaped
// as in JSON. A value may be of any length; a short one is masked wherever its characters occur. The names of tests and the
// kept workspace stay as they are.
func Secret(name, value string) Option {
	return option(func(s *settings) error {
		if name == "" || value == "" {
			return fmt.Errorf("Secret: it needs a name and a value")
		}
		s.secret(name, value)
		return nil
	})
}

// Only says which agents the eval makes sense for, by name. On others it is skipped as not applicable.
func Only(names ...string) Option {
	return option(func(s *settings) error { s.only = append(s.only, names...); return nil })
}

// Requires says what the eval needs of an agent, and why. On others it is skipped as not applicable.
func Requires(reason string, ok func(agents.Info) bool) Option {
	return option(func(s *settings) error {
		if ok == nil {
			return fmt.Errorf("Requires(%q, nil): give a function", reason)
		}
		s.requires = append(s.requires, requirement{reason, ok})
		return nil
	})
}

// Setup prepares each trial, after its workspace was filled and before the agent starts. An error is the author's: the
// trial is errored.
func Setup(f func(ctx context.Context, trial *Trial) error) Option {
	h := hook{f, callerLine()}
	return option(func(s *settings) error { s.setups = append(s.setups, h); return nil })
}

// TearDown undoes Setup when the trial is over and graded, in reverse order, whatever it came to.
func TearDown(f func(ctx context.Context, trial *Trial) error) Option {
	h := hook{f, callerLine()}
	return option(func(s *settings) error { s.teardowns = append(s.teardowns, h); return nil })
}

// MinScore is the gate of an eval with partial credit: the weighted mean of its criteria is at least x, in (0, 1], and
// each that is Required passes. Without it, every criterion has to pass.
func MinScore(x float64) Option {
	return option(func(s *settings) error {
		r, err := verdict.Threshold(x)
		if err != nil {
			return fmt.Errorf("MinScore: %s", plain(err))
		}
		s.gate.MinScore = r
		return nil
	})
}

// MaxTurns ends the trajectory after n answers of the model on the main thread: the calls of the n-th still run. A limit
// is no outcome: what is there is graded.
func MaxTurns(n int) Option {
	return positive("MaxTurns", n, func(s *settings) { s.limits.Turns = n })
}

// MaxToolCalls ends the trajectory once n calls were dispatched on the main thread: those of the same answer still run,
// so there may be more.
func MaxToolCalls(n int) Option {
	return positive("MaxToolCalls", n, func(s *settings) { s.limits.ToolCalls = n })
}

// MaxTokens ends the trajectory when more than n tokens were reported, sub-agents and cached input included.
func MaxTokens(n int64) Option {
	return positive("MaxTokens", n, func(s *settings) { s.limits.Tokens = n })
}

// MaxCost ends the trajectory when more than this was reported, in US dollars, sub-agents included.
func MaxCost(usd float64) Option {
	return positive("MaxCost", usd, func(s *settings) { s.limits.Cost = usd })
}

// MaxDuration ends the trajectory when it has taken d, counted from the first prompt.
func MaxDuration(d time.Duration) Option {
	return positive("MaxDuration", d, func(s *settings) { s.limits.Duration = d })
}

// StepBudget, for smoke checks alone (mode armed), is how many calls of the main thread may settle before the armed
// criteria have answered. Then the outcome is undecided, which is red, and never failed. Elsewhere it says nothing.
func StepBudget(n int) Option {
	return positive("StepBudget", n, func(s *settings) { s.limits.StepBudget = n })
}

func positive[N int | int64 | float64 | time.Duration](name string, n N, set func(*settings)) Option {
	return option(func(s *settings) error {
		if !(n > 0) || float64(n) > 1e300 {
			return fmt.Errorf("%s(%v): a limit is a positive number; leave the option out for none", name, n)
		}
		set(s)
		return nil
	})
}

// FailOnLimit adds a criterion: no limit ended the trajectory. Like others it is open until the end.
func FailOnLimit() Option {
	return option(func(s *settings) error { s.failOnLimit = true; return nil })
}

// DrainTimeout bounds how long the calls of the answer that decided a stop are let finish. The default is 30 s.
func DrainTimeout(d time.Duration) Option {
	return positive("DrainTimeout", d, func(s *settings) { s.drain = d })
}

// Smoke makes the eval a smoke check by itself: it is stopped when its armed criteria have answered, and its verdict
// names what was left open. EVALTEST_STOP comes first.
func Smoke() Option {
	return option(func(s *settings) error { s.smoke = true; return nil })
}

// OnError says what an infrastructure error does to the test: "fail" (the default) makes it red, worded as an error;
// "skip" records it and skips the test. EVALTEST_ON_ERROR comes first. Errors of authors are always red.
func OnError(policy string) Option {
	return option(func(s *settings) error { return oneOf(&s.onError, "OnError", policy, "fail", "skip") })
}

func oneOf(dst *string, what, got string, allowed ...string) error {
	if !slices.Contains(allowed, got) {
		return fmt.Errorf("%s=%q: use one of %s", what, got, strings.Join(allowed, ", "))
	}
	*dst = got
	return nil
}

// spec is a criterion as an author asked for it.
type spec struct {
	criterion Criterion
	live      LiveCriterion // nil when it is not
	name      string
	weight    *big.Rat // nil: 1
	passAt    *big.Rat // nil: 1
	advisory  bool
	required  bool
	prevent   bool
	timeout   time.Duration
	armed     Polarity
	source    string // file:line of the author
	errs      []error
}

// An ExpectOption is an option of T.Expect.
type ExpectOption interface{ expect(*spec) }

// An ArmOption is an option of T.StopWhen.
type ArmOption interface{ arm(*spec) }

// A CriterionOption makes sense wherever a criterion is added.
type CriterionOption func(*spec)

func (o CriterionOption) expect(s *spec) { o(s) }
func (o CriterionOption) arm(s *spec)    { o(s) }

type expectOption func(*spec)

func (o expectOption) expect(s *spec) { o(s) }

type armOption func(*spec)

func (o armOption) arm(s *spec) { o(s) }

// Weight is the criterion's weight in the score; the default is 1. It is positive.
func Weight(w float64) CriterionOption {
	return func(s *spec) {
		r, err := verdict.Weight(w)
		s.weight = r
		s.fail(err)
	}
}

// PassAt is the score at which the criterion passes, in (0, 1]; the default is 1.
func PassAt(x float64) CriterionOption {
	return func(s *spec) {
		r, err := verdict.Threshold(x)
		s.passAt = r
		s.fail(err)
	}
}

// Required has the criterion pass by itself, whatever the score, under MinScore.
func Required() CriterionOption { return func(s *spec) { s.required = true } }

// Timeout bounds how long grading the criterion may take; the default is five minutes. Running out of it is an error of
// the grader.
func Timeout(d time.Duration) CriterionOption {
	return func(s *spec) {
		if d <= 0 {
			s.fail(fmt.Errorf("Timeout(%v): give a positive duration", d))
		}
		s.timeout = d
	}
}

// Advisory has the criterion shown, and count for nothing.
func Advisory() ExpectOption { return expectOption(func(s *spec) { s.advisory = true }) }

// Prevent has the agent refused, at its permission gate and before any effect, a call with which the criterion would
// fail, in every mode: with EVALTEST_STOP=off, too. For the criterion the call then counts as run. For StopWhen(Fail, …).
func Prevent() ArmOption { return armOption(func(s *spec) { s.prevent = true }) }

func (s *spec) fail(err error) {
	if err != nil {
		s.errs = append(s.errs, err)
	}
}
