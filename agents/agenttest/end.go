package agenttest

import (
	"os"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
)

var endRules = []rule{
	{"info", "Info has a name, and no kinds that there are not", info},
	{"provider-failure", "a refusal of the provider's is an *Error of its kind and source, after what was done before", providerFailure},
	{"usage", "the usage of all events, the tail's included, is that of Final, and there is some", usage},
	{"hermetic", "the agent has HOME and the variables of Setup, and nothing of the developer's", hermetic},
}

func info(x *exam) {
	i := x.h.Info
	require.NotEmpty(x, i.Name)
	for _, k := range slices.Concat(i.Shows, i.Gates) {
		require.Contains(x, agents.Kinds, k)
	}
}

func providerFailure(x *exam) {
	x.open(
		script.Write("before.txt", "b\n"),
		script.Fail(agents.Errorf(agents.Auth, agents.FromProvider, "agenttest: the key is not valid")),
	)
	err := x.send(x.ctx, "Work.", nil)
	require.NotNil(x, err, "Send ended without an error")
	require.Equal(x, agents.Auth, err.Kind, "%v", err)
	require.Equal(x, agents.FromProvider, err.Source, "%v", err)
	require.False(x, err.Retryable)
	x.holds("before.txt", "b\n")
	x.close()
}

func usage(x *exam) {
	x.open(
		script.Run("echo 1"),
		script.Agent("Help.", script.Run("echo 2"), script.Say("Helped.")),
		script.Say("Done."), script.HandBack(),
		script.Say("More."),
	)
	x.finish("One.")
	x.finish("Two.")
	f := x.close()
	x.tailFits(f)
	var sum agents.Usage
	for _, e := range x.tr.Events() {
		if e.Kind == agents.EventUsage {
			sum = sum.Add(e.Usage)
			require.GreaterOrEqual(x, min(e.Usage.InputTokens, e.Usage.OutputTokens, e.Usage.CachedTokens), int64(0))
		} else {
			require.Zero(x, e.Usage, "usage in an event of kind %s", e.Kind)
		}
	}
	require.InDelta(x, f.Usage.Cost, sum.Cost, 1e-9)
	sum.Cost = f.Usage.Cost
	require.Equal(x, f.Usage, sum)
	require.Positive(x, sum.Tokens())
}

func hermetic(x *exam) {
	x.effects()
	x.setup.Env = []string{"AGENTTEST_GIVEN=a given=value"}
	x.open(script.Run("env >env.txt"), script.Say("Done."))
	x.finish("Work.")
	env := strings.Split(strings.TrimSpace(x.file("env.txt")), "\n")
	require.Contains(x, env, "AGENTTEST_GIVEN=a given=value")
	require.Contains(x, env, "HOME="+x.setup.Home)
	require.True(x, slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }))
	require.NotContains(x, x.file("env.txt"), secretValue)
	if home, err := os.UserHomeDir(); err == nil {
		require.NotContains(x, env, "HOME="+home)
	}
}
