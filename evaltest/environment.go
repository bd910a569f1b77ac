package evaltest

import (
	"fmt"
	"os"
	"strconv"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/scripted"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// The environment variables, each read while a test runs:
const (
	envAgent   = "EVALTEST_AGENT"    // name of the agent to run, as it is registered
	envModel   = "EVALTEST_MODEL"    // model to ask it for
	envGateway = "EVALTEST_GATEWAY"  // script: the eval's script plays the model of a real agent; off: nothing stands between the two
	envLive    = "EVALTEST_LIVE"     // 1: agents that cost money may run
	envStop    = "EVALTEST_STOP"     // sound, armed, shadow, off
	envOnError = "EVALTEST_ON_ERROR" // fail, skip
	envKeep    = "EVALTEST_KEEP"     // all, failed, none

	envRetries      = "EVALTEST_RETRIES"       // how often an attempt that ended in an error is made again
	envMaxAgents    = "EVALTEST_MAX_AGENTS"    // how many agents of the run may be at work at once
	envResume       = "EVALTEST_RESUME"        // latest, or a run: its settled trials are taken over
	envUpstream     = "EVALTEST_UPSTREAM"      // URL of the API that the gateway forwards to
	envUpstreamAuth = "EVALTEST_UPSTREAM_AUTH" // "Name: value", the header that authenticates there; several on lines of their own
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
		if err := oneOf(&gateway, envGateway, v, "script", "off"); err != nil {
			return err
		}
		s.scripted, s.noGateway = gateway == "script", gateway == "off"
	}
	if err := s.policyOfEnvironment(); err != nil {
		return err
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

// policyOfEnvironment takes what the environment says about errors and the run.
func (s *settings) policyOfEnvironment() error {
	for _, n := range []struct {
		name  string
		least int
		to    *int
	}{{envRetries, 0, &s.retries}, {envMaxAgents, 1, &s.agentsAtOnce}} {
		v := os.Getenv(n.name)
		if v == "" {
			continue
		}
		i, err := strconv.Atoi(v)
		if err != nil || i < n.least {
			return fmt.Errorf("%s=%q: give a number of %d or more", n.name, v, n.least)
		}
		*n.to = i
	}
	s.resume = os.Getenv(envResume)
	s.upstream, s.upstreamAuth = os.Getenv(envUpstream), os.Getenv(envUpstreamAuth)
	if s.upstream == "" && s.upstreamAuth != "" {
		return fmt.Errorf("%s is set, and %s is not: say which upstream it is for", envUpstreamAuth, envUpstream)
	}
	return nil
}

// embedded is the name of the embedded agent.
const embedded = "scripted"
