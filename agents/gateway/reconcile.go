package gateway

import "github.com/evaltest-go/evaltest/agents"

// Overcome says of each request whether the provider failed it and a later one got the answer that it asked for: the agent's
// own retries have overcome the failure, and it is none of the session's.
func Overcome(log []Exchange) []bool {
	out := make([]bool, len(log))
	answered := map[string]bool{} // points that were answered later
	for i := len(log) - 1; i >= 0; i-- {
		switch x := log[i]; {
		case x.Failure != nil:
			out[i] = answered[x.Point]
		case x.State == Answered:
			answered[x.Point] = true
		}
	}
	return out
}

// Unhealed is the last request that the provider failed and that the agent did not get answered by trying again, nil when
// there is none. Requests on the side do not count: nothing of the conversation hangs on them.
func Unhealed(log []Exchange) *Exchange {
	overcome := Overcome(log)
	for i := len(log) - 1; i >= 0; i-- {
		if x := log[i]; x.Failure != nil && !x.Side && !overcome[i] {
			return &x
		}
	}
	return nil
}

// Metered is the tokens of all answers, those that were cut included as far as the provider had told of them.
func Metered(log []Exchange) (u agents.Usage) {
	for _, x := range log {
		u = u.Add(x.Usage)
	}
	return u
}
