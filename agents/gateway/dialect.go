package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// A dialect is a provider's wire format: how a request is read, how an answer is given, and how one is read along.
type dialect interface {
	// route says what a request is for.
	route(r *http.Request) route
	// parse finds what has to be known of a model request. What is of another form than is known is left out. An error is that the
	// body is no request.
	parse(r *http.Request, body []byte) (*query, error)
	// tools are the tools of an entry of those that a request offers: one, in most dialects.
	tools(entry []byte) []tool
	// side answers what is no model request, without a provider; false: there is no such resource.
	side(r *http.Request, q *query) (answer any, ok bool)

	// spent is what an answer of the script cost, of the kinds that the dialect tells apart.
	spent(u usage) usage
	// whole is an answer in one piece.
	whole(q *query, a reply) any
	// stream gives an answer piece by piece.
	stream(s *sse, q *query, a reply) pieces
	// garbled is the beginning of a stream that breaks the format.
	garbled() string
	// stop is why the model stopped, in the provider's words.
	stop(a reply) string

	// word is the provider's word for an error with a status.
	word(status int) string
	// failure is how the provider fails with an error of a kind; 0: it has no status of its own for it.
	failure(kind agents.ErrorKind) (status int, word string)
	// refusal is the body of an error.
	refusal(status int, word, text string) any

	// reader reads along an answer of the provider.
	reader() reader
}

// A route says what a request is for.
type route int

const (
	elsewhere route = iota // anything else
	asks                   // a model request
	counts                 // how many tokens a request has
)

// pieces gives an answer of the script as a stream, in order: begin, each block, end; ping in pauses.
type pieces interface {
	begin() error
	block(i int, b block) error
	end() error
	ping() error
}

// reader reads along one answer of a provider, and tells the meter what it says.
type reader interface {
	// event takes an event of a stream.
	event(m *meter, data []byte)
	// whole takes an answer in one piece.
	whole(m *meter, body []byte)
	// complete reports whether a stream that has ended well here has the whole answer, where no event says so.
	complete() bool
}

var dialects = map[agents.Wire]dialect{
	agents.AnthropicMessages: anthropic{},
	agents.OpenAIResponses:   responses{},
	agents.OpenAIChat:        chat{},
	agents.GeminiGenerate:    gemini{},
}

func dialectOf(wire agents.Wire) (dialect, error) {
	if d, ok := dialects[wire]; ok {
		return d, nil
	}
	var known []string
	for w := range dialects {
		known = append(known, string(w))
	}
	slices.Sort(known)
	return nil, fmt.Errorf("no wire format %q (known: %s)", wire, strings.Join(known, ", "))
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// resource is the path of a request without the versions of the API before it and slashes behind it.
func resource(r *http.Request, versions ...string) string {
	path := "/" + strings.Trim(r.URL.Path, "/")
	for _, v := range versions {
		if rest, ok := strings.CutPrefix(path, "/"+v+"/"); ok {
			return "/" + rest
		}
	}
	return path
}
