package gateway

import (
	"encoding/json"
	"fmt"

	"github.com/evaltest-go/evaltest/agents"
)

// ParseUsage reads a usage block as a provider gives it: "usage" of an answer, or "usageMetadata" of Gemini's. Each token
// counts once, by its kind: some providers count cached input within other input, and thinking within other output, others
// beside it. Counts that are left out are 0. It has no cost.
func ParseUsage(wire agents.Wire, data []byte) (agents.Usage, error) {
	var u interface{ total() agents.Usage }
	switch wire {
	case agents.AnthropicMessages:
		u = new(apiUsage)
	case agents.OpenAIResponses:
		u = new(responsesUsage)
	case agents.OpenAIChat:
		u = new(chatUsage)
	case agents.GeminiGenerate:
		u = new(geminiUsage)
	default:
		return agents.Usage{}, fmt.Errorf("gateway: parse usage: no wire format %q", wire)
	}
	if err := json.Unmarshal(data, u); err != nil {
		return agents.Usage{}, fmt.Errorf("gateway: parse usage: %w", err)
	}
	return u.total(), nil
}

// responsesUsage counts cached input within the input, and reasoning within the output.
type responsesUsage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Detail struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
}

func (u *responsesUsage) total() agents.Usage {
	cached := within(u.Detail.Cached, u.Input)
	return agents.Usage{InputTokens: max(0, u.Input) - cached, CachedTokens: cached, OutputTokens: max(0, u.Output)}
}

// chatUsage counts cached input within the prompt, and reasoning within the completion.
type chatUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Detail     struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func (u *chatUsage) total() agents.Usage {
	cached := within(u.Detail.Cached, u.Prompt)
	return agents.Usage{InputTokens: max(0, u.Prompt) - cached, CachedTokens: cached, OutputTokens: max(0, u.Completion)}
}

// geminiUsage counts cached content within the prompt, what tools brought beside it, and thoughts beside the candidates.
type geminiUsage struct {
	Prompt     int64 `json:"promptTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount"`
	Tools      int64 `json:"toolUsePromptTokenCount"`
	Candidates int64 `json:"candidatesTokenCount"`
	Thoughts   int64 `json:"thoughtsTokenCount"`
}

func (u *geminiUsage) total() agents.Usage {
	cached := within(u.Cached, u.Prompt)
	return agents.Usage{
		InputTokens: max(0, u.Prompt) - cached + max(0, u.Tools), CachedTokens: cached,
		OutputTokens: max(0, u.Candidates) + max(0, u.Thoughts),
	}
}

// within is a part of a whole, neither negative nor more than it.
func within(part, whole int64) int64 { return min(max(0, part), max(0, whole)) }
