package claude

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/internal/cli"
)

// Name is what the agent is registered as.
const Name = "claude"

// PathVariable is the environment variable that says where the CLI is.
const PathVariable = "EVALTEST_CLAUDE"

var program = cli.Program{Name: Name, Variable: PathVariable, Package: "@anthropic-ai/claude-code"}

func init() { agents.Register(Name, func() agents.Agent { return New() }) }

// An Option changes how Claude Code is run.
type Option interface{ apply(*agent) }

type option func(*agent)

func (o option) apply(a *agent) { o(a) }

// Path is the CLI to run: a path, or a name to look up in PATH.
func Path(path string) Option { return option(func(a *agent) { a.path = path }) }

// Args are further arguments of the CLI, after all others.
func Args(args ...string) Option {
	return option(func(a *agent) { a.args = append(a.args, args...) })
}

// Model is the model to ask for where Setup.Model names none; "" leaves the choice to the CLI.
func Model(name string) Option { return option(func(a *agent) { a.model = name }) }

// New is Claude Code.
func New(opts ...Option) agents.Agent {
	a := new(agent)
	for _, o := range opts {
		o.apply(a)
	}
	return a
}

type agent struct {
	path  string
	args  []string
	model string
}

func (a *agent) Info() agents.Info {
	return agents.Info{
		Name:    Name,
		Version: program.Version(a.path),
		Model:   a.model,
		Live:    true,
		Costs:   true,
		Wire:    agents.AnthropicMessages,
		Gates:   slices.Clone(agents.Kinds), // the hook is asked about every tool
	}
}

func (a *agent) Open(ctx context.Context, setup agents.Setup) (agents.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, agents.Errorf(agents.Interrupted, agents.FromHarness, "claude: open session: %w", err)
	}
	for _, dir := range []string{setup.Dir, setup.Home, setup.Temp} {
		if !filepath.IsAbs(dir) {
			return nil, agents.Errorf(agents.SetupError, agents.FromHarness,
				"claude: open session: Dir, Home and Temp of the setup are to be absolute paths, have %q", dir)
		}
	}
	path, err := program.Locate(a.path)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(setup.Home, ".claude")
	if err := os.MkdirAll(config, 0o755); err != nil {
		return nil, agents.Errorf(agents.SetupError, agents.FromHarness, "claude: open session: %w", err)
	}
	if err := cli.StageSkills(filepath.Join(config, "skills"), setup.Skills); err != nil {
		return nil, agents.Errorf(agents.SetupError, agents.FromHarness, "claude: open session: %w", err)
	}
	args, err := a.arguments(setup)
	if err != nil {
		return nil, agents.Errorf(agents.SetupError, agents.FromHarness, "claude: open session: %w", err)
	}
	return start(path, args, environment(setup, config), setup)
}
