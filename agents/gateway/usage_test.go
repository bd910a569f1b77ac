package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
)

// The same work, as each provider tells of it.
func TestUsageOfEachProvider(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		wire agents.Wire
		json string
		want agents.Usage
	}{
		{agents.AnthropicMessages, `{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":70,"output_tokens":5,
			"cache_creation":{"ephemeral_5m_input_tokens":15,"ephemeral_1h_input_tokens":5},"server_tool_use":{"web_search_requests":1}}`,
			agents.Usage{InputTokens: 10, CacheWriteTokens: 20, CachedTokens: 70, OutputTokens: 5}},
		{agents.AnthropicMessages, `{"input_tokens":3,"cache_creation_input_tokens":null,"output_tokens":1}`, agents.Usage{InputTokens: 3, OutputTokens: 1}},
		{agents.OpenAIResponses, `{"input_tokens":100,"input_tokens_details":{"cached_tokens":70},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":109}`,
			agents.Usage{InputTokens: 30, CachedTokens: 70, OutputTokens: 9}},
		{agents.OpenAIResponses, `{"input_tokens":7,"output_tokens":2}`, agents.Usage{InputTokens: 7, OutputTokens: 2}},
		{agents.OpenAIChat, `{"prompt_tokens":100,"completion_tokens":9,"total_tokens":109,"prompt_tokens_details":{"cached_tokens":70},"completion_tokens_details":{"reasoning_tokens":4}}`,
			agents.Usage{InputTokens: 30, CachedTokens: 70, OutputTokens: 9}},
		{agents.OpenAIChat, `{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":9}}`, agents.Usage{CachedTokens: 5}},
		{agents.GeminiGenerate, `{"promptTokenCount":100,"cachedContentTokenCount":70,"candidatesTokenCount":5,"thoughtsTokenCount":4,"toolUsePromptTokenCount":2,"totalTokenCount":111}`,
			agents.Usage{InputTokens: 32, CachedTokens: 70, OutputTokens: 9}},
		{agents.GeminiGenerate, `{}`, agents.Usage{}},
		{agents.OpenAIChat, `{"prompt_tokens":-5,"completion_tokens":-1}`, agents.Usage{}},
	} {
		got, err := gateway.ParseUsage(tc.wire, []byte(tc.json))
		require.NoError(t, err)
		assert.Equal(t, tc.want, got, "%s %s", tc.wire, tc.json)
	}
	_, err := gateway.ParseUsage("telepathy", []byte(`{}`))
	require.ErrorContains(t, err, "telepathy")
	_, err = gateway.ParseUsage(agents.OpenAIChat, []byte(`[]`))
	require.Error(t, err)
}
