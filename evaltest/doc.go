// Package evaltest evaluates coding agents with `go test`. An eval is an ordinary test:
//
//	func TestPDFSkill(t *testing.T) {
//		e := evaltest.New(t, evaltest.Agent(claude.New()), evaltest.Skills("../skills"), evaltest.MaxTurns(30))
//		e.Workspace(os.DirFS("testdata/starter"))
//
//		e.StopWhen(evaltest.Decided, criteria.FirstSkill("pdf"))
//		e.StopWhen(evaltest.Fail, criteria.Never(criteria.CommandExecuted("rm")))
//		e.Expect(criteria.FileContains("out.csv", "total"), evaltest.Weight(2))
//
//		e.Run("Extract the tables from report.pdf into out.csv.")
//	}
//
// [New] makes the eval, [T.Workspace] fills the agent's folder, [T.Expect] and [T.StopWhen] say what is asked, and [T.Run]
// runs the agent under a watcher and reports to the test. Package criteria has what can be asked; an author's own
// [Criterion] or [LiveCriterion] stands beside them.
//
// # Outcomes
//
// A trial is passed, failed, undecided, errored or not_run. Every criterion's score lies in an interval, which facts narrow;
// the verdict is that of the gate over them as soon as it is the same for every score the intervals allow (package
// verdict). An infrastructure error, such as a provider's outage or a grader's, widens an interval and decides nothing: it
// is reported as ERROR, never as FAILED. A mistake in how evaltest is used is reported as MISUSE, at the line of its
// author.
//
// # When a trial is stopped
//
// The environment variable EVALTEST_STOP names the mode:
//
//   - sound, the default of an eval that arms anything: the trial is stopped when the gate comes out the same for every
//     completion. It saves time and money and changes no verdict.
//   - armed, also [Smoke]: the trial is stopped when its armed criteria have answered. A failure is that of the whole
//     gate; a pass answers the smaller question of the armed criteria, and names what was left open.
//   - shadow: it is never stopped; where the other two would have stopped is recorded and held against the full run.
//   - off: it is never stopped.
//
// A stop is decided at an event and falls where the deciding thread asks its model for the next answer: by then every call
// of the deciding answer has settled, and no effect of them is lost. Then the rule is looked at again; if it no longer
// holds, the run goes on as if nothing had been decided. [DrainTimeout] bounds the wait.
//
// Only what can be observed while the agent works can be armed. This does not compile:
//
//	e.StopWhen(evaltest.Fail, criteria.FileExists("out.csv"))
//
//	cannot use criteria.FileExists("out.csv") (value of type *criteria.Existence) as evaltest.LiveCriterion value in
//	argument to e.StopWhen: *criteria.Existence does not implement evaltest.LiveCriterion (missing method LiveVerdict)
//
// # Errors
//
// An infrastructure error (a rate limit, a dead process, a broken grader) is never a verdict. It is told as ERROR, kept out of
// every rate, and has a kind and a source ([agents.Error]), from typed facts alone:
//
//   - An attempt that ended in an error which may pass is made again in a fresh workspace ([Retries], [Backoff]); every attempt
//     and what it cost stays on record. A grader's error that may pass is tried again without the agent.
//   - A gateway on loopback stands between an agent that costs money and its provider: it knows each status, each cut stream
//     and each token, keeps the provider's key from the agent, and holds what the agent claims against what it saw. A normal
//     end over a dead provider is an error; a failure that the agent's own retries overcame is a fact in the record.
//     Another model that answers in the place of the one asked for is an error, too ([AllowModels]). [NoGateway] opts out.
//   - At the fifth error in a row of an agent and its provider (the second, of a kind that does not pass by itself) the run
//     holds new trials until those under way are done; if nothing was measured among them, further evals end at once as
//     not_run ([NoBreaker]).
//   - An error widens what is known and decides nothing: where the gate is decided without it, the verdict stands, but the
//     trial is not among the measured.
//   - [OnError] says whether an errored eval is red or skipped. Errors of authors and of evaltest itself are always red.
//   - Silence ([IdleTimeout]) and endless loops of requests ([MaxRequests]) end an attempt.
//
// With [Main] a package prints at its end what it came to: the pass rate among the measured, the coverage, and the interval in
// which the rate of all trials lies. summary.txt and manifest.json in the run's directory say the same of the run.
//
// # Resuming a run
//
// EVALTEST_RESUME=latest (or the name or directory of a run) takes over every trial that is settled there and whose
// fingerprint has not changed: prompts, workspace, skills, servers, environment, set-up, agent with version and model, limits,
// criteria, test binary. Where only what is asked has changed (criteria, gate, or the test binary), the record is graded again,
// without the agent. The rest runs, and says why. An eval with a [Setup] depends on the test binary, and so does one whose
// agent is part of it. What a criterion reads from elsewhere (a golden file that it opens by name, a service) is not known:
// after changing such a thing run anew, or hand its content to the criterion, whose value is part of the fingerprint.
//
// # Environment
//
//   - EVALTEST_AGENT: the agent to run, by the name it is registered under; "scripted" is the embedded one, which carries
//     out the eval's [Script] and is the default of an eval that names no [Agent]
//   - EVALTEST_CLAUDE, EVALTEST_CODEX: the Claude Code, or Codex, to run, a path; else it is looked up in PATH
//   - EVALTEST_GATEWAY=script: a real agent runs, with the eval's Script in its model's place: no key, no cost; off: the agent
//     reaches its provider by itself
//   - EVALTEST_UPSTREAM: the base URL that the gateway forwards to, instead of the agent's own; user and password in it
//     authenticate as HTTP's Basic does
//   - EVALTEST_UPSTREAM_AUTH: the header that authenticates there, as "Name: value"; several on lines of their own. No other
//     credential is sent
//   - EVALTEST_LIVE=1: evals of an Agent that costs money run; else they are skipped, unless EVALTEST_AGENT names it
//   - EVALTEST_MODEL: the model to ask for
//   - EVALTEST_STOP: sound, armed, shadow or off
//   - EVALTEST_ON_ERROR: fail (an infrastructure error is red) or skip
//   - EVALTEST_RETRIES: how often an attempt that ended in an error is made again
//   - EVALTEST_MAX_AGENTS: how many agents of the run may be at work at once, in all packages together
//   - EVALTEST_RESUME: the run whose settled trials are taken over
//   - EVALTEST_KEEP: failed, all or none: whose workspaces are kept
//   - EVALTEST_DIR: the directory of the run's records, instead of .evaltest/<run> at the module's root
//
// # Inside go test
//
// No result of an eval is cached. A trial is on disk before its agent starts, each result the moment it exists (package
// journal). The agent is ended before the test binary's -timeout, and whatever kills the test binary, no process of the
// agent outlives it (package proc says what holds on which system). After Ctrl-C, kill -9 or a -timeout that strikes
// elsewhere in the package nothing more is printed and no [TearDown] runs; the trial is in the record, errored, with what the
// agent did until then (.evaltest/latest names the run), and its workspace stays in the system's folder for temporary files
// until a later run clears it away. Records are never removed by evaltest.
//
// What an agent says reaches the test log without control characters. JUnit keeps the attributes evaltest.outcome, score,
// mode, stop, saved_turns, open, limit, error, error_message, attempts, reused, agent, agent_version, model, tokens, cost and
// record, of passing tests too.
package evaltest
