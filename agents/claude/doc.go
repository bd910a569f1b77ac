// Package claude has Claude Code work in a session: it starts the CLI, talks to it over stream-json on standard input and
// output, and says what it does in the terms of package agents. Importing it registers the agent as "claude".
//
//	agent := claude.New()
//	session, err := agent.Open(ctx, agents.Setup{Dir: dir, Home: home, Temp: temp, Gateway: &endpoint})
//	if err != nil {
//		return err // of kind "missing" when the CLI is not installed
//	}
//	defer session.Close()
//	for event, err := range session.Send(ctx, "Make the tests pass.") {
//		…
//	}
//
// The CLI is the one that [Path] names, else EVALTEST_CLAUDE, else claude in PATH. With Setup.Gateway it reaches that
// endpoint and no other; without, it finds its provider by the developer's own variables (ANTHROPIC_*, AWS_* and so on) and
// costs money.
//
// What is particular about this agent:
//
//   - A hook before every call, of sub-agents too, asks this package. So a call that never got that far is known not to
//     have run, and Setup.Permit covers tools of every kind.
//   - A tool runs while the rest of its answer still streams: the result of a call can come before its sibling is announced.
//   - An interrupted session is over: no further message can be sent.
//   - Its permission prompts are off, and its own rules with them, unless Setup.Allow names the tools.
package claude
