package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/gateway"
	"github.com/evaltest-go/evaltest/agents/script"
)

// What an agent would do, by hand.
func ExampleOpen() {
	g, err := gateway.Open(gateway.Options{
		Wire:   agents.AnthropicMessages,
		Script: []script.Step{script.Run("go test ./...")},
		Admit: func(_ context.Context, r gateway.Request) error {
			fmt.Println("request", r.N, "with results of", len(r.Results), "calls")
			return nil
		},
	})
	if err != nil {
		panic(err)
	}
	defer g.Close()
	body := `{"model":"m","messages":[{"role":"user","content":"Make the tests pass."}],
		"tools":[{"name":"Bash","input_schema":{"properties":{"command":{"type":"string"}}}}]}`
	r, err := http.NewRequest(http.MethodPost, g.Endpoint().URL+"/v1/messages", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("X-Api-Key", g.Endpoint().Token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	fmt.Println(strings.Contains(string(data), `"input":{"command":"go test ./..."}`), g.Log()[0].Stop)
	// Output:
	// request 1 with results of 0 calls
	// true tool_use
}
