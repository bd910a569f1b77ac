package agents

import "net/http"

// A Provided agent says how it would reach its model if nothing stood between them, so that a gateway can take its place.
type Provided interface {
	Agent
	// Provider reads the environment of whoever runs the evals, by getenv, which answers "" for what is not set. The error
	// is an *Error of kind "auth" when no credential is there, and says how to give one.
	Provider(getenv func(string) string) (Provider, error)
}

// Provider is where a model is and what lets one in.
type Provider struct {
	// URL is the base of the provider's API: https://api.anthropic.com.
	URL string
	// Header is what authenticates a request. A gateway adds it; the agent never sees it.
	Header http.Header
	// Login is the environment of an agent with a login of its own, as "KEY=value": it presents that credential by itself.
	// Header then holds only what goes with it.
	Login []string
	// Direct, when not "", says why no gateway can stand between: no base URL can be set where the provider is a cloud's
	// ("Bedrock"). The other fields are then empty.
	Direct string
}

// A Fingerprinted agent is a program of its own, outside the binary that drives it. What it does depends on its name and
// version, and on how it was set up.
type Fingerprinted interface {
	Agent
	// Fingerprint is equal for agents that were set up alike: further arguments, a configuration. It holds no path that is
	// different on another machine, and no secret.
	Fingerprint() string
}
