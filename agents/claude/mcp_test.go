package claude_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// serveMCP is a tool server on standard input and output: the test binary, started once more.
func serveMCP() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version   string            `json:"protocolVersion"`
				Name      string            `json:"name"`
				Arguments map[string]string `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue // a notification
		}
		var result any = map[string]any{}
		switch m.Method {
		case "initialize":
			time.Sleep(time.Second) // it takes its time to start: no request must go out without its tools
			result = map[string]any{"protocolVersion": m.Params.Version, "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": "db", "version": "1"}}
		case "tools/list":
			object := map[string]any{"type": "object", "properties": map[string]any{"sql": map[string]any{"type": "string"}}}
			result = map[string]any{"tools": []any{
				map[string]any{"name": "query", "description": "Runs a query.", "inputSchema": object},
				map[string]any{"name": "break", "description": "Fails.", "inputSchema": object}}}
		case "tools/call":
			text := fmt.Sprintf("rows of %q", m.Params.Arguments["sql"])
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": m.Params.Name == "break"}
		}
		reply, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
		fmt.Println(string(reply))
	}
}
