package claude

import "github.com/evaltest-go/evaltest/agents"

// ledger turns totals, which is what the CLI tells, into what came on top.
type ledger struct {
	answers map[string]*agents.Usage // by answer: what was told of it
	sum     agents.Usage             // of all that was reported
}

// answer takes what is known of an answer, told once more with every block of it, and returns what is new.
func (l *ledger) answer(id string, u apiUsage) agents.Usage {
	if l.answers == nil {
		l.answers = map[string]*agents.Usage{}
	}
	known := l.answers[id]
	if known == nil {
		known = new(agents.Usage)
		l.answers[id] = known
	}
	next := *known
	next.InputTokens = max(next.InputTokens, value(u.Input))
	next.CacheWriteTokens = max(next.CacheWriteTokens, value(u.Written))
	next.OutputTokens = max(next.OutputTokens, value(u.Output))
	next.CachedTokens = max(next.CachedTokens, value(u.Read))
	added := next.Beyond(*known)
	*known = next
	l.sum = l.sum.Add(added)
	return added
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// total takes the session's total and returns what was not reported yet. A report is never taken back.
func (l *ledger) total(r result) agents.Usage {
	all := agents.Usage{Cost: r.Cost}
	for _, m := range r.ModelUsage {
		all.InputTokens += m.Input
		all.CacheWriteTokens += m.Written
		all.OutputTokens += m.Output
		all.CachedTokens += m.Read
	}
	added := all.Beyond(l.sum)
	l.sum = l.sum.Add(added)
	return added
}

// with is u with the counts that v tells in their place.
func (u apiUsage) with(v apiUsage) apiUsage {
	for _, f := range []struct{ to, from **int64 }{{&u.Input, &v.Input}, {&u.Output, &v.Output}, {&u.Written, &v.Written}, {&u.Read, &v.Read}} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	return u
}
