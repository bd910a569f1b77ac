package all_test

import (
	"testing"

	"github.com/evaltest-go/evaltest/agents"
	_ "github.com/evaltest-go/evaltest/agents/all"
)

func TestEveryAdapterIsRegisteredUnderItsOwnName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude", "scripted"} {
		a, err := agents.Lookup(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := a.Info().Name; got != name {
			t.Errorf("the agent registered as %q calls itself %q", name, got)
		}
	}
}
