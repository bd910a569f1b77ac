package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/internal/cli"
	"github.com/evaltest-go/evaltest/agents/proc"
)

// keyVariable is how Codex is given its key: a name that no other program looks for.
const keyVariable = "EVALTEST_MODEL_KEY"

// arguments are the program's. What is disabled would look for updates, plugins and apps over the network; a login shell would reset PATH.
func (a *agent) arguments() []string {
	args := []string{"--disable", "plugins", "--disable", "apps", "--disable", "remote_plugin", "--disable", "shell_snapshot", "-c", "allow_login_shell=false"}
	return append(append(args, a.args...), "app-server")
}

// prepare makes Codex' home and environment.
func (a *agent) prepare(setup agents.Setup) (home string, env []string, err error) {
	home = filepath.Join(setup.Home, ".codex")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return "", nil, err
	}
	if err := cli.StageSkills(filepath.Join(home, "skills"), setup.Skills); err != nil {
		return "", nil, err
	}
	var url, key string
	if g := setup.Gateway; g != nil {
		url, key = g.URL, g.Token
	} else {
		p, err := a.Provider(os.Getenv)
		if err != nil {
			return "", nil, err
		}
		url, key = p.URL, strings.TrimPrefix(p.Header.Get("Authorization"), "Bearer ")
	}
	config, err := configuration(setup, url)
	if err != nil {
		return "", nil, err
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil { // it may hold secrets of MCP servers
		return "", nil, err
	}
	set := append([]string{"CODEX_HOME=" + home, keyVariable + "=" + key, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost"}, setup.Env...)
	return home, proc.Environ(setup.Home, setup.Temp, nil, set...), nil
}

// configuration is Codex' config.toml. A string of JSON is one of TOML.
func configuration(setup agents.Setup, url string) (string, error) {
	var b strings.Builder
	line := func(name string, value any) {
		data, err := json.Marshal(value)
		if err != nil {
			panic(err) // strings, numbers and lists of them
		}
		fmt.Fprintf(&b, "%s = %s\n", name, data)
	}
	line("model_provider", "evaltest")
	line("check_for_update_on_startup", false)
	line("approval_policy", "never")
	line("sandbox_mode", "danger-full-access")
	b.WriteString("[analytics]\nenabled = false\n[feedback]\nenabled = false\n[model_providers.evaltest]\n")
	line("name", "evaltest")
	line("base_url", url)
	line("wire_api", "responses")
	line("env_key", keyVariable)
	// What fails so often is better tried again in a fresh workspace.
	line("request_max_retries", 2)
	line("stream_max_retries", 2)
	seen := map[string]bool{}
	for _, m := range setup.MCP {
		if m.Name == "" || seen[m.Name] {
			return "", fmt.Errorf("configure MCP servers: each needs a name of its own, have %q", m.Name)
		}
		seen[m.Name] = true
		name, _ := json.Marshal(m.Name) // a string
		fmt.Fprintf(&b, "[mcp_servers.%s]\n", name)
		switch {
		case len(m.Command) > 0 && m.URL == "":
			line("command", m.Command[0])
			line("args", append([]string{}, m.Command[1:]...))
			fmt.Fprintf(&b, "[mcp_servers.%s.env]\n", name)
			if err := table(m.Env, "=", line); err != nil {
				return "", fmt.Errorf("configure MCP server %s: environment: %w", m.Name, err)
			}
		case len(m.Command) == 0 && m.URL != "":
			line("url", m.URL)
			fmt.Fprintf(&b, "[mcp_servers.%s.http_headers]\n", name)
			if err := table(m.Headers, ":", line); err != nil {
				return "", fmt.Errorf("configure MCP server %s: headers: %w", m.Name, err)
			}
		default:
			return "", fmt.Errorf("configure MCP server %s: either Command or URL is to be set", m.Name)
		}
	}
	return b.String(), nil
}

// table writes what stands left and right of sep. The values stay out of the error: they may be secret.
func table(list []string, sep string, line func(string, any)) error {
	for _, s := range list {
		name, value, ok := strings.Cut(s, sep)
		if name = strings.TrimSpace(name); !ok || name == "" {
			return errors.New("an entry has no name before " + sep)
		}
		quoted, _ := json.Marshal(name) // a string
		if sep == ":" {
			value = strings.TrimSpace(value)
		}
		line(string(quoted), value)
	}
	return nil
}
