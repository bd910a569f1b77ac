package chat

import (
	"net/url"

	"github.com/evaltest-go/evaltest/agents"
)

// dialect is how a provider is found and asked.
type dialect struct {
	url, urlVariable string       // the default base URL, and what names another one
	credentials      []credential // the first that is set counts
	header           map[string]string
	path             func(model string) string // below the base URL
	body             func(c *conversation) any
}

// credential is a variable, and the header that its value goes into.
type credential struct{ variable, header, scheme string }

type object = map[string]any

var dialects = map[agents.Wire]dialect{
	agents.AnthropicMessages: {
		url: "https://api.anthropic.com", urlVariable: "ANTHROPIC_BASE_URL",
		credentials: []credential{{"ANTHROPIC_API_KEY", "X-Api-Key", ""}, {"ANTHROPIC_AUTH_TOKEN", "Authorization", "Bearer "}},
		header:      map[string]string{"Anthropic-Version": "2023-06-01"},
		path:        func(string) string { return "/v1/messages" },
		body: func(c *conversation) any {
			b := object{"model": c.model, "max_tokens": 8192, "stream": true, "messages": c.messages("assistant", "content", plain)}
			return c.with(b, "system", c.system, "max_tokens")
		},
	},
	agents.OpenAIResponses: {
		url: "https://api.openai.com/v1", urlVariable: "OPENAI_BASE_URL",
		credentials: []credential{{"OPENAI_API_KEY", "Authorization", "Bearer "}},
		path:        func(string) string { return "/responses" },
		body: func(c *conversation) any {
			b := object{"model": c.model, "stream": true, "store": false, "input": c.messages("assistant", "content", plain)}
			return c.with(b, "instructions", c.system, "max_output_tokens")
		},
	},
	agents.OpenAIChat: {
		url: "https://api.openai.com/v1", urlVariable: "OPENAI_BASE_URL",
		credentials: []credential{{"OPENAI_API_KEY", "Authorization", "Bearer "}},
		path:        func(string) string { return "/chat/completions" },
		body: func(c *conversation) any {
			messages := c.messages("assistant", "content", plain)
			if c.system != "" {
				messages = append([]any{object{"role": "system", "content": c.system}}, messages...)
			}
			b := object{"model": c.model, "stream": true, "stream_options": object{"include_usage": true}, "messages": messages}
			return c.with(b, "", "", "max_completion_tokens")
		},
	},
	agents.GeminiGenerate: {
		url: "https://generativelanguage.googleapis.com", urlVariable: "GOOGLE_GEMINI_BASE_URL",
		credentials: []credential{{"GEMINI_API_KEY", "X-Goog-Api-Key", ""}, {"GOOGLE_API_KEY", "X-Goog-Api-Key", ""}},
		path: func(model string) string {
			return "/v1beta/models/" + url.PathEscape(model) + ":streamGenerateContent?alt=sse"
		},
		body: func(c *conversation) any {
			b := object{"contents": c.messages("model", "parts", parts)}
			if c.system != "" {
				b["systemInstruction"] = object{"parts": parts(c.system)}
			}
			if n := c.agent.maxTokens; n > 0 {
				b["generationConfig"] = object{"maxOutputTokens": n}
			}
			return b
		},
	},
}

// messages is what was said, in a dialect's words for the model's role and for what a message holds.
func (c *conversation) messages(model, field string, content func(text string) any) (all []any) {
	for _, l := range c.said {
		role := "user"
		if l.model {
			role = model
		}
		all = append(all, object{"role": role, field: content(l.text)})
	}
	return all
}

func plain(text string) any { return text }

func parts(text string) any { return []any{object{"text": text}} }

// with is a body with a system prompt and a bound of the answer, where there are any.
func (c *conversation) with(body object, field, system, bound string) object {
	if system != "" && field != "" {
		body[field] = system
	}
	if n := c.agent.maxTokens; n > 0 {
		body[bound] = n
	}
	return body
}
