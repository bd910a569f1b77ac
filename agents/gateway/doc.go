// Package gateway is the loopback endpoint between an agent and its model. It speaks a provider's wire format, knows every
// request that the agent makes, and can hold one for as long as it takes to decide whether the session goes on: the exact
// place to stop an agent, at no cost.
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
// The scripted upstream plays the model: it answers with the steps of a script, in tools that the agent offers. It keeps
// no state between requests. Each call's id says where in the script it stands, so that the next answer is found in the
// conversation that the agent sends: a request that is repeated gets the same answer again, and requests on the side (a
// title, a summary) change nothing. The prompt of a sub-agent carries a line that says which part of the script is its own.
package gateway
