package claude

import (
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/proc"
)

// arguments are the CLI's. They write the configuration of MCP servers into the agent's home where there are any.
func (a *agent) arguments(setup agents.Setup) ([]string, error) {
	args := []string{
		"--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
		// Shows when the model is asked, and what each answer cost.
		"--include-partial-messages",
	}
	if model := setup.Model; model != "" {
		args = append(args, "--model", model)
	} else if a.model != "" {
		args = append(args, "--model", a.model)
	}
	if setup.System != "" {
		args = append(args, "--append-system-prompt", setup.System)
	}
	if len(setup.Allow) > 0 {
		// --tools takes other built-in tools from the model's sight; in this mode what is not on the list is refused.
		args = append(args, "--permission-mode", "dontAsk", "--tools", strings.Join(builtin(setup.Allow), ","), "--allowedTools")
		args = append(args, setup.Allow...)
	} else {
		args = append(args, "--dangerously-skip-permissions")
	}
	if len(setup.Deny) > 0 {
		args = append(args, "--disallowedTools")
		args = append(args, setup.Deny...)
	}
	if len(setup.MCP) > 0 {
		path, err := writeMCP(setup.Home, setup.MCP)
		if err != nil {
			return nil, err
		}
		args = append(args, "--strict-mcp-config", "--mcp-config", path)
	}
	return append(args, a.args...), nil
}

// builtin is the names of the built-in tools among rules, each of which is a tool or a tool with a pattern: "Bash(git *)".
func builtin(rules []string) []string {
	var out []string
	for _, r := range rules {
		name, _, _ := strings.Cut(r, "(")
		if !strings.HasPrefix(name, mcpPrefix) {
			out = append(out, name)
		}
	}
	return out
}

// providers are the variables by which Claude Code reaches a model without a gateway.
var providers = []string{
	"ANTHROPIC_*", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
	"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_SKIP_BEDROCK_AUTH", "AWS_*",
	"CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_SKIP_VERTEX_AUTH", "CLOUD_ML_REGION", "VERTEX_REGION_*",
	"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT",
	"CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_SKIP_FOUNDRY_AUTH", "AZURE_*",
	"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy",
}

// environment is the CLI's whole environment. What the eval sets wins.
func environment(setup agents.Setup, config string) []string {
	set := []string{
		"CLAUDE_CONFIG_DIR=" + config,
		"IS_SANDBOX=1", // root may skip permissions
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		// By default ten, three minutes of silence: what fails so often is better tried again in a fresh workspace.
		"CLAUDE_CODE_MAX_RETRIES=2",
		"MCP_CONNECTION_NONBLOCKING=0", // no request goes out before the tool servers are there
	}
	pass := providers
	if g := setup.Gateway; g != nil {
		pass = nil
		if g.Token != "" {
			set = append(set, "ANTHROPIC_API_KEY="+g.Token)
		} else {
			pass = []string{loginVariable} // the CLI's own login
		}
		set = append(set, "ANTHROPIC_BASE_URL="+g.URL,
			"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")
	}
	return proc.Environ(setup.Home, setup.Temp, pass, append(set, setup.Env...)...)
}
