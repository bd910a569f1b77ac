package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// mcpPrefix begins the names of tools of MCP servers: mcp__<server>__<tool>.
const mcpPrefix = "mcp__"

// mcpServer is a server in the CLI's configuration.
type mcpServer struct {
	Type    string            `json:"type"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// writeMCP writes the configuration of servers into home and returns its path. It may hold secrets: for the owner alone.
func writeMCP(home string, servers []agents.MCPServer) (string, error) {
	all := map[string]mcpServer{}
	for _, s := range servers {
		if s.Name == "" || all[s.Name].Type != "" {
			return "", fmt.Errorf("configure MCP servers: each needs a name of its own, have %q", s.Name)
		}
		switch {
		case len(s.Command) > 0 && s.URL == "":
			env, err := pairs(s.Env, "=")
			if err != nil {
				return "", fmt.Errorf("configure MCP server %s: environment: %w", s.Name, err)
			}
			all[s.Name] = mcpServer{Type: "stdio", Command: s.Command[0], Args: s.Command[1:], Env: env}
		case len(s.Command) == 0 && s.URL != "":
			headers, err := pairs(s.Headers, ":")
			if err != nil {
				return "", fmt.Errorf("configure MCP server %s: headers: %w", s.Name, err)
			}
			all[s.Name] = mcpServer{Type: "http", URL: s.URL, Headers: headers}
		default:
			return "", fmt.Errorf("configure MCP server %s: either Command or URL is to be set", s.Name)
		}
	}
	data, err := json.Marshal(map[string]any{"mcpServers": all})
	if err != nil {
		return "", fmt.Errorf("configure MCP servers: %w", err)
	}
	path := filepath.Join(home, "mcp.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("configure MCP servers: %w", err)
	}
	return path, nil
}

// pairs is a map of what stands left and right of sep. The values stay out of the error: they may be secret.
func pairs(list []string, sep string) (map[string]string, error) {
	out := map[string]string{}
	for i, s := range list {
		name, value, ok := strings.Cut(s, sep)
		if !ok || name == "" {
			return nil, fmt.Errorf("entry %d has no name before %q", i, sep)
		}
		if sep == ":" {
			name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		}
		out[name] = value
	}
	return out, nil
}
