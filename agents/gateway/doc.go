// Package gateway is the loopback endpoint between an agent and its model. It speaks the wire format of any provider that agents
// know ([agents.AnthropicMessages], [agents.OpenAIResponses], [agents.OpenAIChat], [agents.GeminiGenerate]), knows every request
// that the agent makes, and can hold one for as long as it takes to decide whether the session goes on: the exact place to stop an
// agent, at no cost.
//
//	g, err := gateway.Open(gateway.Options{
//		Wire:   agents.AnthropicMessages,
//		Script: []script.Step{script.Run("go test ./..."), script.Say("All pass.")},
//		Dir:    dir,
//		Admit: func(ctx context.Context, r gateway.Request) error {
//			return decide(ctx, r.Answer, r.Results) // blocks while it is not known; an error refuses
//		},
//	})
//	if err != nil {
//		return err
//	}
//	defer g.Close()
//	endpoint := g.Endpoint()
//	session, err := agent.Open(ctx, agents.Setup{Dir: dir, Home: home, Temp: temp, Gateway: &endpoint})
//
// With [Options.Provider] requests go on to a real provider, and its answers come back byte by byte as they arrive. What they
// say is in the log before the agent can know it: which model answered, the calls that it makes, the tokens by kind, and how
// the provider failed where it did, by its status and its own word for the error. The provider's key stays here: the agent
// has a token that this gateway alone honours, on this machine alone, and a provider that quotes the key is not repeated.
//
//	p, err := agent.Provider(os.Getenv)
//	if err != nil {
//		return err // there is no credential
//	}
//	g, err := gateway.Open(gateway.Options{Wire: agents.AnthropicMessages, Provider: &p})
//	…
//	if x := gateway.Unhealed(g.Log()); x != nil {
//		return x.Failure // and the agent's own retries did not overcome it
//	}
//
// The scripted upstream plays the model: it answers with the steps of a script, in tools that the agent offers. It keeps
// no state between requests. Each call's id says where in the script it stands, so that the next answer is found in the
// conversation that the agent sends: a request that is repeated gets the same answer again, and requests on the side (a
// title, a summary) change nothing. The prompt of a sub-agent carries a line that says which part of the script is its own. An
// agent that has no tool to write or read a file with does so in its shell, and reads a skill where its instructions say that it is.
package gateway
