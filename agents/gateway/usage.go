package gateway

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/evaltest-go/evaltest/agents"
)

// ParseUsage reads a usage block as a provider gives it: "usage" of an answer, or "usageMetadata" of Gemini's. Each token
// counts once, by its kind: some providers count cached input within other input, and thinking within other output, others
// beside it. Counts that are left out are 0. It has no cost.
func ParseUsage(wire agents.Wire, data []byte) (agents.Usage, error) {
	var u interface{ total() agents.Usage }
	switch wire {
	case agents.AnthropicMessages:
		u = new(anthropicUsage)
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
	Input  count `json:"input_tokens"`
	Output count `json:"output_tokens"`
	Detail struct {
		Cached count `json:"cached_tokens"`
	} `json:"input_tokens_details"`
}

func (u *responsesUsage) total() agents.Usage {
	cached := within(u.Detail.Cached, u.Input)
	return agents.Usage{InputTokens: int64(max(0, u.Input)) - cached, CachedTokens: cached, OutputTokens: int64(max(0, u.Output))}
}

// chatUsage counts cached input within the prompt, and reasoning within the completion.
type chatUsage struct {
	Prompt     count `json:"prompt_tokens"`
	Completion count `json:"completion_tokens"`
	Detail     struct {
		Cached count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func (u *chatUsage) total() agents.Usage {
	cached := within(u.Detail.Cached, u.Prompt)
	return agents.Usage{InputTokens: int64(max(0, u.Prompt)) - cached, CachedTokens: cached, OutputTokens: int64(max(0, u.Completion))}
}

// geminiUsage counts cached content within the prompt, what tools brought beside it, and thoughts beside the candidates.
type geminiUsage struct {
	Prompt     count `json:"promptTokenCount"`
	Cached     count `json:"cachedContentTokenCount"`
	Tools      count `json:"toolUsePromptTokenCount"`
	Candidates count `json:"candidatesTokenCount"`
	Thoughts   count `json:"thoughtsTokenCount"`
}

func (u *geminiUsage) total() agents.Usage {
	cached := within(u.Cached, u.Prompt)
	return agents.Usage{
		InputTokens: int64(max(0, u.Prompt)) - cached + int64(max(0, u.Tools)), CachedTokens: cached,
		OutputTokens: int64(max(0, u.Candidates) + max(0, u.Thoughts)),
	}
}

// count is a number of tokens: some servers give it as 12.0. What is no whole number counts as nothing.
type count int64

func (c *count) UnmarshalJSON(data []byte) error {
	var f float64
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	if whole := int64(f); f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		*c = count(whole)
	}
	return nil
}

// within is a part of a whole, neither negative nor more than it.
func within(part, whole count) int64 { return int64(min(max(0, part), max(0, whole))) }
