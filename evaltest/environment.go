package evaltest

import (
	"fmt"
	"os"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/scripted"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// The environment variables, each read while a test runs:
const (
	envAgent   = "EVALTEST_AGENT"    // name of the agent to run, as it is registered
	envModel   = "EVALTEST_MODEL"    // model to ask it for
	envGateway = "EVALTEST_GATEWAY"  // script: the eval's script plays the model of a real agent
	envLive    = "EVALTEST_LIVE"     // 1: agents that cost money may run
	envStop    = "EVALTEST_STOP"     // sound, armed, shadow, off
	envOnError = "EVALTEST_ON_ERROR" // fail, skip
	envKeep    = "EVALTEST_KEEP"     // all, failed, none
)

// environment lets the environment have its say, after all options.
func (s *settings) environment() error {
	if v := os.Getenv(envStop); v != "" {
		var mode string
		if err := oneOf(&mode, envStop, v, "sound", "armed", "shadow", "off"); err != nil {
			return err
		}
		s.mode, s.modeForced = verdict.Mode(mode), true
	}
	if v := os.Getenv(envOnError); v != "" {
		if err := oneOf(&s.onError, envOnError, v, "fail", "skip"); err != nil {
			return err
		}
	}
	if v := os.Getenv(envKeep); v != "" {
		if err := oneOf(&s.keep, envKeep, v, "all", "failed", "none"); err != nil {
			return err
		}
	}
	if v := os.Getenv(envModel); v != "" {
		s.model = v
	}
	if v := os.Getenv(envLive); v != "" {
		var live string
		if err := oneOf(&live, envLive, v, "0", "1"); err != nil {
			return err
		}
		s.live = live == "1"
	}
	if v := os.Getenv(envGateway); v != "" {
		var gateway string
		if err := oneOf(&gateway, envGateway, v, "script"); err != nil {
			return err
		}
		s.scripted = true
	}
	if v := os.Getenv(envAgent); v != "" {
		if v == embedded {
			s.agent = nil
		} else {
			a, err := agents.Lookup(v)
			if err != nil {
				return fmt.Errorf("%s: %w", envAgent, err)
			}
			s.agent = a
		}
		s.live = true
	}
	if s.agent == nil {
		s.agent, s.embedded = scripted.New(s.script...), true
	}
	return nil
}

// embedded is the name of the embedded agent.
const embedded = "scripted"
