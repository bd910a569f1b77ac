package criteria

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/criteria/internal/shell"
)

// CommandCount asks how often a command is executed. See [CommandExecuted] and [CommandMatches].
type CommandCount struct{ count }

type commandKey struct {
	pattern string
	regexp  bool
}

// CommandExecuted passes if a command is executed whose words begin with these: CommandExecuted("go test") is met by
// go test ./... and not by go testx, nor by go -C dir test (see [CommandMatches] for that). Words are written as for a
// shell, quotes included.
//
// Commands are found by parsing the shell source of execute calls that have run, those of sub-agents included. a && b is
// two commands, and so are those of pipes, subshells, substitutions and loops, and those of a function that something names. A command
// that runs commands is seen through: bash -c '…', eval, env, sudo, nohup, time, timeout, nice, xargs, find -exec, exec, command, a trap
// on EXIT and their like; each of sudo rm x counts, sudo and rm. So is a shell that gets its script from a here-document, or from echo,
// printf or cat by a pipe, a redirection or a substitution; and what is run elsewhere, by ssh, docker exec and kubectl exec. What only
// looks a command up, lists or checks it (command -v, sudo -l, bash -n) does not run it. Quotes and backslashes hide
// nothing (\rm, 'r'm), and the first word may be given without its folder: rm is /bin/rm, while ./build.sh is that file only.
//
// What the source does not show is not counted, for a must as for a must-not. Further words are matched as they are written: the
// values of $x and *.go are not known. A first word counts as it is written and, where the source gives it a value before and under no
// condition, or a default, as that: r=rm; $r x is rm x, and ${GO:-go} test is go test. Else what follows it is no command
// ($ECHO rm x), unless the name says that it is sudo or nothing: $SUDO rm x is rm x. Not counted either is what an alias, a script's file or another
// program runs; what goes to a shell through a program that changes it (sed, or a file); what docker run and kubectl run give to an image's own
// program, unless --entrypoint or --command names another, or it is a shell; a line with an error that no shell
// forgives; and what lies more than twelve scripts deep, or is megabytes in all. Which commands of a && b the shell skipped is not known, and
// here the source does show them: all commands of a call that has run count, a loop's body once.
//
// It reaches Pass; with Max, Fail instead.
func CommandExecuted(words string) *CommandCount {
	var want []string
	if cs := shell.Parse(words); len(cs) == 1 {
		want = cs[0].Words
	}
	c := commandCount("command executed", words, commandKey{pattern: words}, func(c shell.Command) bool {
		have := c.Words
		return len(have) >= len(want) && isProgram(have[0], want[0]) && slices.Equal(have[1:len(want)], want[1:])
	})
	if len(want) == 0 {
		c.err = misuse("CommandExecuted", "%q is not the words of one command; give the words that it begins with, such as \"go test\"", words)
	}
	return c
}

// isProgram reports whether the first word of a command is the program that was asked for.
func isProgram(have, want string) bool {
	return have == want || !strings.ContainsAny(want, `/\`) && shell.Program(have) == want
}

// CommandMatches passes if a command is executed whose text the regular expression matches, anywhere in it unless it has anchors. The
// text is the command's words, without their quotes, with one blank between them. Commands are found as by [CommandExecuted];
// one that runs others counts by its own text only if no text of those matches.
//
// It reaches Pass; with Max, Fail instead.
func CommandMatches(expr string) *CommandCount {
	re, err := regexp.Compile(expr)
	c := commandCount("command matches", expr, commandKey{expr, true}, func(c shell.Command) bool {
		return re.MatchString(c.Text)
	})
	if err != nil {
		c.err = misuse("CommandMatches", "%w", err)
	}
	return c
}

func commandCount(did, object string, key any, match func(shell.Command) bool) *CommandCount {
	c := &CommandCount{count{live: live{needs: []agents.Kind{agents.Execute}}, did: did, object: object}}
	c.tally = func(tr *agents.Trajectory) agents.Tally {
		known := commandsOf(tr)
		return tr.Weigh(key, func(call agents.ToolCall) int {
			n := 0
			if call.Kind == agents.Execute {
				for _, source := range call.Commands {
					n += matching(known.of(source), match)
				}
			}
			return n
		})
	}
	return c
}

// matching counts the commands that match. What a command runs counts before the command itself, so that the text of
// bash -c '…' does not count once more what is in it.
func matching(cs []shell.Command, match func(shell.Command) bool) int {
	n := 0
	for _, c := range cs {
		inner := matching(c.Inner, match)
		if inner == 0 && match(c) {
			inner = 1
		}
		n += inner
	}
	return n
}

// Min is c asking for n times at least.
func (c *CommandCount) Min(n int) *CommandCount { return &CommandCount{c.withMin(n)} }

// Max is c asking for n times at most; without Min, none will do.
func (c *CommandCount) Max(n int) *CommandCount { return &CommandCount{c.withMax(n)} }

// Partial is c with partial credit: k times of n that were asked for score k/n.
func (c *CommandCount) Partial() *CommandCount { return &CommandCount{c.withPartial()} }

// commands is what is in the shell source of a trajectory's calls, parsed once for all criteria. It belongs to the
// trajectory.
type commands struct {
	mu       sync.Mutex
	bySource map[string][]shell.Command
}

type commandsKey struct{}

var commandsCell any = commandsKey{}

func commandsOf(tr *agents.Trajectory) *commands {
	return agents.Fold(tr, commandsCell, func(known *commands, _ agents.Event) *commands {
		if known == nil {
			known = &commands{bySource: map[string][]shell.Command{}}
		}
		return known
	})
}

// of is the commands in source.
func (known *commands) of(source string) []shell.Command {
	if known == nil { // the trajectory was empty a moment ago
		return shell.Parse(source)
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	cs, ok := known.bySource[source]
	if !ok {
		cs = shell.Parse(source)
		known.bySource[source] = cs
	}
	return cs
}
