package agents

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

var registry = struct {
	sync.RWMutex
	m map[string]func() Agent
}{m: map[string]func() Agent{}}

// Register makes an adapter known by name, for EVALTEST_AGENT. It is called from the init function of the adapter's
// package and panics when the name is taken.
func Register(name string, open func() Agent) {
	registry.Lock()
	defer registry.Unlock()
	if _, ok := registry.m[name]; ok {
		panic(fmt.Sprintf("agents: Register called twice for %q", name))
	}
	registry.m[name] = open
}

// Lookup is the agent registered under name, with its defaults.
func Lookup(name string) (Agent, error) {
	registry.RLock()
	defer registry.RUnlock()
	if open, ok := registry.m[name]; ok {
		return open(), nil
	}
	known := slices.Sorted(maps.Keys(registry.m))
	return nil, fmt.Errorf("agents: no agent is registered as %q (known: %s); import its package, or %s for all of them",
		name, strings.Join(known, ", "), "github.com/evaltest-go/evaltest/agents/all")
}
