package claude_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/claude"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	agent, ok := claude.New().(agents.Provided)
	require.True(t, ok)
	const api = "https://api.anthropic.com"
	for name, tc := range map[string]struct {
		env  map[string]string
		want agents.Provider
	}{
		"key":            {map[string]string{"ANTHROPIC_API_KEY": "k"}, agents.Provider{URL: api, Header: http.Header{"X-Api-Key": {"k"}}}},
		"token":          {map[string]string{"ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_API_KEY": "k"}, agents.Provider{URL: api, Header: http.Header{"Authorization": {"Bearer t"}}}},
		"other base URL": {map[string]string{"ANTHROPIC_BASE_URL": "http://x/y", "ANTHROPIC_API_KEY": "k"}, agents.Provider{URL: "http://x/y", Header: http.Header{"X-Api-Key": {"k"}}}},
		"headers": {map[string]string{"ANTHROPIC_CUSTOM_HEADERS": "X-Team: a\n x-cost : b \nnonsense\n"},
			agents.Provider{URL: api, Header: http.Header{"X-Team": {"a"}, "X-Cost": {"b"}}}},
		"login":     {map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "o"}, agents.Provider{URL: api, Header: http.Header{}, Login: []string{"CLAUDE_CODE_OAUTH_TOKEN=o"}}},
		"Bedrock":   {map[string]string{"CLAUDE_CODE_USE_BEDROCK": "1", "ANTHROPIC_API_KEY": "k"}, agents.Provider{Direct: "Bedrock (CLAUDE_CODE_USE_BEDROCK)"}},
		"Vertex":    {map[string]string{"CLAUDE_CODE_USE_VERTEX": "true"}, agents.Provider{Direct: "Vertex (CLAUDE_CODE_USE_VERTEX)"}},
		"Foundry":   {map[string]string{"CLAUDE_CODE_USE_FOUNDRY": "yes", "CLAUDE_CODE_OAUTH_TOKEN": "o"}, agents.Provider{Direct: "Foundry (CLAUDE_CODE_USE_FOUNDRY)"}},
		"key first": {map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "o", "ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_USE_VERTEX": "False"}, agents.Provider{URL: api, Header: http.Header{"X-Api-Key": {"k"}}}},
		"login beside headers": {map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "o", "ANTHROPIC_CUSTOM_HEADERS": "X-Team: a"},
			agents.Provider{URL: api, Header: http.Header{"X-Team": {"a"}}, Login: []string{"CLAUDE_CODE_OAUTH_TOKEN=o"}}},
		"none such": {map[string]string{"CLAUDE_CODE_USE_BEDROCK": "0", "ANTHROPIC_API_KEY": "k"}, agents.Provider{URL: api, Header: http.Header{"X-Api-Key": {"k"}}}},
	} {
		got, err := agent.Provider(func(name string) string { return tc.env[name] })
		require.NoError(t, err, name)
		assert.Equal(t, tc.want, got, name)
	}
	_, err := agent.Provider(func(string) string { return "" })
	var e *agents.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, agents.Auth, e.Kind)
	assert.Contains(t, e.Error(), "set ANTHROPIC_API_KEY")
}
