// Package chat is a bare model as an agent: it answers, and has no tools. It is for questions of knowledge, for prompts under test,
// and for whatever else asks a model and no agent.
//
//	func TestCapital(t *testing.T) {
//		e := evaltest.New(t, evaltest.Agent(chat.New(agents.OpenAIChat, chat.Model("some-model"))))
//		e.Expect(criteria.ReplyContains("Paris"))
//		e.Run("What is the capital of France?")
//	}
//
// It speaks each wire format that the gateway speaks, is registered for EVALTEST_AGENT under the names in [Names], and finds its
// provider where that provider's own clients do: see [Names].
package chat

import (
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/inprocess"
)

// Names are what the agents are registered as, by the wire format that they speak. The environment has the provider's key, and its
// base URL where that is another than the default one.
//
//	chat-anthropic  Anthropic Messages  ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL
//	chat-responses  OpenAI Responses    OPENAI_API_KEY, OPENAI_BASE_URL (with its version: https://api.openai.com/v1)
//	chat-openai     Chat Completions    OPENAI_API_KEY, OPENAI_BASE_URL (with its version)
//	chat-gemini     Gemini              GEMINI_API_KEY or GOOGLE_API_KEY, GOOGLE_GEMINI_BASE_URL
var Names = map[agents.Wire]string{
	agents.AnthropicMessages: "chat-anthropic", agents.OpenAIResponses: "chat-responses",
	agents.OpenAIChat: "chat-openai", agents.GeminiGenerate: "chat-gemini",
}

func init() {
	for wire, name := range Names {
		agents.Register(name, func() agents.Agent { return New(wire) })
	}
}

// An Option changes how the model is asked.
type Option interface{ apply(*agent) }

type option func(*agent)

func (o option) apply(a *agent) { o(a) }

// Model is the model to ask where Setup.Model names none. One of both has to.
func Model(name string) Option { return option(func(a *agent) { a.model = name }) }

// MaxTokens bounds each answer; 0, which is the default, leaves the bound to the provider, or is 8,192 where it asks for one.
func MaxTokens(n int) Option { return option(func(a *agent) { a.maxTokens = n }) }

// New is a bare model. It panics on a wire format that is not known.
func New(wire agents.Wire, opts ...Option) agents.Agent {
	name, ok := Names[wire]
	if !ok {
		panic(fmt.Sprintf("chat: New: no wire format %q", wire))
	}
	a := &agent{dialect: dialects[wire]}
	for _, o := range opts {
		o.apply(a)
	}
	a.Agent = inprocess.New(agents.Info{
		Name: name, Model: a.model, Live: true, Wire: wire,
		Shows: []agents.Kind{}, Gates: []agents.Kind{}, // it makes no calls
	}, a.open)
	return a
}

// agent is a bare model.
type agent struct {
	agents.Agent
	dialect   dialect
	model     string
	maxTokens int
}

// Provider is where the provider's own clients find it.
func (a *agent) Provider(getenv func(string) string) (agents.Provider, error) {
	p := agents.Provider{URL: a.dialect.url, Header: http.Header{}}
	if url := getenv(a.dialect.urlVariable); url != "" {
		p.URL = url
	}
	for _, c := range a.dialect.credentials {
		if value := getenv(c.variable); value != "" {
			p.Header.Set(c.header, c.scheme+value)
			return p, nil
		}
	}
	if p.URL != a.dialect.url {
		return p, nil // a server of one's own may ask for none
	}
	return agents.Provider{}, agents.Errorf(agents.Auth, agents.FromAgent, "%s: there is no credential for a model: set %s",
		a.Info().Name, a.dialect.credentials[0].variable)
}

// open prepares a conversation. What a bare model cannot do is refused before anything is spent.
func (a *agent) open(s *inprocess.Session) (inprocess.Answer, error) {
	setup := s.Setup
	for what, asked := range map[string]bool{
		"skills": len(setup.Skills) > 0, "MCP servers": len(setup.MCP) > 0, "lists of tools": len(setup.Allow)+len(setup.Deny) > 0,
	} {
		if asked {
			return nil, agents.Errorf(agents.SetupError, agents.FromAuthor, "%s: a bare model has no tools, and no use for %s", a.Info().Name, what)
		}
	}
	c := &conversation{agent: a, system: setup.System, model: setup.Model}
	if c.model == "" {
		c.model = a.model
	}
	if c.model == "" {
		return nil, agents.Errorf(agents.SetupError, agents.FromAuthor, "%s: name the model to ask, with evaltest.Model or chat.Model", a.Info().Name)
	}
	c.header = http.Header{}
	if g := setup.Gateway; g != nil {
		c.base = g.URL
		first := a.dialect.credentials[0]
		c.header.Set(first.header, first.scheme+g.Token)
	} else {
		p, err := a.Provider(os.Getenv)
		if err != nil {
			return nil, err
		}
		c.base, c.header = p.URL, p.Header
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("http.DefaultTransport was replaced by what is no *http.Transport")
	}
	transport = transport.Clone()
	s.OnClose(func() error { transport.CloseIdleConnections(); return nil })
	c.client = &http.Client{Transport: transport}
	return func(t *inprocess.Turn) error { return c.answer(s, t) }, nil
}
