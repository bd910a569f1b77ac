package claude

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// defaultURL is where Claude Code finds its model when it is told nothing else.
const defaultURL = "https://api.anthropic.com"

// clouds are the variables that have Claude Code reach its model through a cloud, which takes no base URL.
var clouds = []struct{ variable, name string }{
	{"CLAUDE_CODE_USE_BEDROCK", "Bedrock"}, {"CLAUDE_CODE_USE_VERTEX", "Vertex"}, {"CLAUDE_CODE_USE_FOUNDRY", "Foundry"},
}

// loginVariable holds the token of a login to Claude, which the CLI presents by itself.
const loginVariable = "CLAUDE_CODE_OAUTH_TOKEN"

// Provider is where the CLI would find its model, in the environment that getenv answers for, as the CLI reads it.
func (a *agent) Provider(getenv func(string) string) (agents.Provider, error) {
	for _, c := range clouds {
		if isSet(getenv(c.variable)) {
			return agents.Provider{Direct: c.name + " (" + c.variable + ")"}, nil
		}
	}
	p := agents.Provider{URL: getenv("ANTHROPIC_BASE_URL"), Header: http.Header{}}
	if p.URL == "" {
		p.URL = defaultURL
	}
	for line := range strings.Lines(getenv("ANTHROPIC_CUSTOM_HEADERS")) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			p.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	key, token, login := getenv("ANTHROPIC_API_KEY"), getenv("ANTHROPIC_AUTH_TOKEN"), getenv(loginVariable)
	switch {
	case token != "":
		p.Header.Set("Authorization", "Bearer "+token)
	case key != "":
		p.Header.Set("X-Api-Key", key)
	case login != "":
		p.Login = []string{loginVariable + "=" + login}
	case len(p.Header) == 0:
		return agents.Provider{}, agents.Errorf(agents.Auth, agents.FromAgent,
			"claude: there is no credential for a model: set ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, or %s (which `claude setup-token` makes)", loginVariable)
	}
	return p, nil
}

// isSet reports whether a switch in the environment is on.
func isSet(v string) bool {
	switch strings.ToLower(v) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// Fingerprint is what was asked of the CLI beyond what every agent is asked for.
func (a *agent) Fingerprint() string {
	data, err := json.Marshal(a.args)
	if err != nil {
		panic(err) // texts
	}
	return string(data)
}
