package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
)

// Whatever a provider quotes of what lets the gateway in, on whatever path, in whatever form and in however many pieces, the
// agent does not see it, and the log does not hold it. What is no secret stays.
func TestNothingSecretComesBack(t *testing.T) {
	t.Parallel()
	const (
		secret   = `sk/se+cret<"9876543210`
		password = "hunter2-hunter2"
		team     = "blue-whales"
	)
	quoted, err := json.Marshal(secret)
	require.NoError(t, err)
	inJSON := strings.Trim(string(quoted), `"`)
	forms := strings.Join([]string{secret, inJSON, strings.ReplaceAll(inJSON, "/", `\/`), url.QueryEscape(secret), url.PathEscape(secret), password}, " ")
	answers := map[string]func(w http.ResponseWriter, pieces func(string)){
		"an error": func(w http.ResponseWriter, pieces func(string)) {
			w.WriteHeader(http.StatusUnauthorized)
			pieces(forms + " " + team)
		},
		"a page": func(w http.ResponseWriter, pieces func(string)) {
			w.Header().Set("Content-Type", "text/html")
			pieces(forms)
		},
		"a stream": func(w http.ResponseWriter, pieces func(string)) {
			w.Header().Set("Content-Type", "text/event-stream")
			pieces(started + "data: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"" + inJSON + " " + password + "\"}}\n\ndata: " + forms + "\n\n")
		},
		"an answer": func(_ http.ResponseWriter, pieces func(string)) {
			data, _ := json.Marshal(forms + " " + team)
			pieces(`{"type":"message","id":"m","content":[{"type":"text","text":` + string(data) + `}]}`)
		},
		"a header": func(w http.ResponseWriter, _ func(string)) {
			w.Header().Set("X-Seen", forms)
			w.WriteHeader(http.StatusInternalServerError)
		},
	}
	for name, answer := range answers {
		for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
			t.Run(name+path, func(t *testing.T) {
				t.Parallel()
				upstream := serve(t, func(w http.ResponseWriter, r *http.Request) {
					assert.Equal(t, secret, r.Header.Get("X-Api-Key"))
					assert.Equal(t, "Basic "+base64.StdEncoding.EncodeToString([]byte("me:"+password)), r.Header.Get("Authorization"))
					answer(w, func(text string) {
						for i := range len(text) {
							_, _ = io.WriteString(w, text[i:i+1])
							_ = http.NewResponseController(w).Flush()
						}
					})
				})
				at, err := url.Parse(upstream)
				require.NoError(t, err)
				at.User = url.UserPassword("me", password)
				g := open(t, gateway.Options{Provider: &agents.Provider{URL: at.String(), Header: http.Header{"x-api-key": {secret}, "X-Team": {team}}}})
				resp, err := do(t, request(t.Context(), t, g, path, begin(t, g, "Go.").body()))
				require.NoError(t, err)
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				log, err := json.Marshal(g.Log())
				require.NoError(t, err)
				seen := string(body) + fmt.Sprint(resp.Header) + string(log) + fmt.Sprintf("%+v", g.Log())
				for _, form := range strings.Fields(forms) {
					assert.NotContains(t, seen, form)
				}
				assert.Contains(t, seen, "‹key›")
				switch name {
				case "an answer":
					assert.Contains(t, string(body), team, "a word is no secret")
				case "an error":
					assert.NotContains(t, seen, team, "who quotes one header may quote them all")
				}
			})
		}
	}
}

// A company's URL may hold what is not for everybody.
func TestURLIsInNoError(t *testing.T) {
	t.Parallel()
	g := through(t, "http://127.0.0.1:1/tenant-4711-secret")
	resp, err := begin(t, g, "Go.").send(t.Context())
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Contains(t, string(body), "no answer from 127.0.0.1:1: dial tcp")
	f := g.Log()[0].Failure
	require.NotNil(t, f)
	assert.Equal(t, agents.Network, f.Kind)
	assert.NotContains(t, string(body)+f.Error(), "4711")
	_, err = gateway.Open(gateway.Options{Wire: agents.AnthropicMessages, Provider: &agents.Provider{URL: "ftp://me:password@x"}})
	require.ErrorContains(t, err, "no base URL")
	assert.NotContains(t, err.Error(), "password")
}
