// Package codex runs OpenAI's Codex, over the protocol of its app server (`codex app-server`): requests, answers and notifications in
// lines of JSON on standard input and output. It was written against version 0.171.0.
//
//	agent := codex.New(codex.Model("some-model"))
//
// Codex gets a home of its own, with a configuration that is made here: the gateway as its model's provider, no telemetry, no look for
// updates, few retries of its own, no sandbox (the session is supervised as a whole), and no approvals. Skills are staged in its
// home. It has no tool for reading files or for skills: it does both in its shell, where reading a staged SKILL.md is told as the use
// of that skill.
//
// What is not covered: Setup.Permit, for which an eval that needs it is refused; lists of tools; what its sub-agents do, which is left out
// of the trajectory; a login to ChatGPT, since it takes a key of the API. Its newest models call their tools from a program of
// theirs (the tool exec). What the program calls is in the trajectory, under ids that the requests do not carry: each request then waits
// two seconds for them, and a stop, or a limit on turns and calls, falls where the agent hands back instead of at the next request.
// Limits on time, requests and tokens hold as for any agent.
package codex

import (
	"net/http"
	"path/filepath"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/inprocess"
	"github.com/evaltest-go/evaltest/agents/internal/cli"
)

// Name is what the agent is registered as.
const Name = "codex"

// PathVariable is the environment variable that says where the program is.
const PathVariable = "EVALTEST_CODEX"

var program = cli.Program{Name: Name, Variable: PathVariable, Package: "@openai/codex"}

func init() { agents.Register(Name, func() agents.Agent { return New() }) }

// An Option changes how Codex is run.
type Option interface{ apply(*agent) }

type option func(*agent)

func (o option) apply(a *agent) { o(a) }

// Path is the program to run: a path, or a name to look up in PATH.
func Path(path string) Option { return option(func(a *agent) { a.path = path }) }

// Args are further arguments, before "app-server".
func Args(args ...string) Option { return option(func(a *agent) { a.args = append(a.args, args...) }) }

// Model is the model to ask for where Setup.Model names none; "" leaves the choice to Codex.
func Model(name string) Option { return option(func(a *agent) { a.model = name }) }

// New is Codex.
func New(opts ...Option) agents.Agent {
	a := new(agent)
	for _, o := range opts {
		o.apply(a)
	}
	a.Agent = inprocess.New(agents.Info{
		Name: Name, Version: program.Version(a.path), Model: a.model, Live: true, Wire: agents.OpenAIResponses,
		Shows: []agents.Kind{agents.Execute, agents.Edit, agents.Delete, agents.Fetch, agents.Skill, agents.Sub, agents.Other},
		Gates: []agents.Kind{}, HidesSubagents: true,
	}, a.open)
	return a
}

type agent struct {
	agents.Agent
	path  string
	args  []string
	model string
}

// Provider is OpenAI's API, or what OPENAI_BASE_URL names, with its version: https://api.openai.com/v1.
func (a *agent) Provider(getenv func(string) string) (agents.Provider, error) {
	p := agents.Provider{URL: "https://api.openai.com/v1", Header: http.Header{}}
	if url := getenv("OPENAI_BASE_URL"); url != "" {
		p.URL = url
	}
	key := getenv("OPENAI_API_KEY")
	if key == "" {
		return agents.Provider{}, agents.Errorf(agents.Auth, agents.FromAgent, "codex: there is no credential for a model: set OPENAI_API_KEY")
	}
	p.Header.Set("Authorization", "Bearer "+key)
	return p, nil
}

// open starts Codex and a thread of its own.
func (a *agent) open(in *inprocess.Session) (inprocess.Answer, error) {
	setup := in.Setup
	for _, dir := range []string{setup.Dir, setup.Home, setup.Temp} {
		if !filepath.IsAbs(dir) {
			return nil, agents.Errorf(agents.SetupError, agents.FromHarness, "codex: open session: Dir, Home and Temp of the setup are to be absolute paths, have %q", dir)
		}
	}
	if len(setup.Allow)+len(setup.Deny) > 0 {
		return nil, agents.Errorf(agents.SetupError, agents.FromAuthor, "codex: open session: Codex takes no lists of tools; restrict such evals to other agents with Only")
	}
	path, err := program.Locate(a.path)
	if err != nil {
		return nil, err
	}
	home, env, err := a.prepare(setup)
	if err != nil {
		return nil, agents.Errorf(agents.SetupError, agents.FromHarness, "codex: open session: %w", err)
	}
	model := setup.Model
	if model == "" {
		model = a.model
	}
	s, err := start(in, path, a.arguments(), env, home, model)
	if err != nil {
		return nil, err
	}
	return s.answer, nil
}
