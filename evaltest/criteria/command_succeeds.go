package criteria

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/proc"
	"github.com/evaltest-go/evaltest/evaltest"
)

// CommandOutcome runs a command in the workspace when the agent is gone, and asks how it ends. See [CommandSucceeds]. Its methods
// return a changed copy.
type CommandOutcome struct {
	command string
	args    []string
	shell   bool
	env     []string
	timeout time.Duration
	hidden  bool // the command sees files that the agent did not
	files   map[string][]byte
	modes   map[string]fs.FileMode
	output  []outputCheck
	score   bool
	err     error
}

// outputCheck is an assertion about standard output.
type outputCheck struct {
	name  string
	holds func(stdout []byte) bool
}

// CommandSucceeds passes if the command, run in the workspace after the agent is gone, exits with status 0. Without args the
// command is a line for the shell (sh -c); with args it is a program, which gets them as they are.
//
//	criteria.CommandSucceeds("go test ./...").Files(os.DirFS("testdata/hidden")).Timeout(2 * time.Minute)
//	criteria.CommandSucceeds("python3", "out.py", "--check")
//
// It runs with a HOME and TMPDIR of its own and a hermetic environment (proc.Environ; the agent's variables are not in it, see Env),
// with nothing on standard input; what it leaves running is ended. What it writes to the workspace stays there for the criteria after it, unless Files is used.
//
// Another status, or the end by a signal, scores 0, with the last lines of output as reason. So does a program that is named by
// a path in the workspace ("./build/tool") and is not there, or cannot be run. These are errors of the grader, and never a
// score: a program that this machine does not have in its PATH (also within a shell's line, as far as it can be told from its text
// and the status 127), and a command that is not done in time.
func CommandSucceeds(command string, args ...string) *CommandOutcome {
	c := &CommandOutcome{command: command, args: slices.Clone(args), shell: len(args) == 0}
	switch {
	case strings.TrimSpace(command) == "":
		c.err = errors.New("the command is empty")
	case strings.ContainsRune(command+strings.Join(args, ""), 0):
		c.err = errors.New("the command holds a NUL byte")
	case c.shell:
		c.err = checkShell(command)
	}
	return c
}

func (c *CommandOutcome) clone() *CommandOutcome {
	d := *c
	return &d
}

// Env adds variables, "KEY=value", to the command's environment.
func (c *CommandOutcome) Env(variables ...string) *CommandOutcome {
	c = c.clone()
	for _, kv := range variables {
		if key, _, ok := strings.Cut(kv, "="); !ok || key == "" || strings.ContainsRune(kv, 0) {
			c.err = errors.Join(c.err, fmt.Errorf("Env: %q is not of the form KEY=value", kv))
		}
	}
	c.env = append(slices.Clone(c.env), variables...)
	return c
}

// Timeout bounds the command's time. Reaching it is an error of the grader: nobody knows what the command would have said. The criterion's
// own timeout bounds it too, and is the only bound if this is not called.
func (c *CommandOutcome) Timeout(d time.Duration) *CommandOutcome {
	c = c.clone()
	if c.timeout = d; d <= 0 {
		c.err = errors.Join(c.err, fmt.Errorf("Timeout: %v is not a time that a command can take", d))
	}
	return c
}

// Files lets the command see files that the agent did not: tests, reference data. The command runs in a copy of the workspace,
// into which they are copied, in place of what is there at their paths; the copy is removed afterwards. They are read at
// once, and hold 64 MiB at most.
func (c *CommandOutcome) Files(files fs.FS) *CommandOutcome {
	c = c.clone()
	contents, modes, err := readFiles(files)
	if err == nil && len(contents) == 0 {
		err = errors.New("there are none; is the folder the right one?")
	}
	if err != nil {
		c.err = errors.Join(c.err, fmt.Errorf("Files: %w", err))
	}
	c.hidden, c.files, c.modes = true, contents, modes
	return c
}

// Stdout asks that standard output contains the text.
func (c *CommandOutcome) Stdout(text string) *CommandOutcome {
	var err error
	if text == "" {
		err = errors.New("Stdout: no text to look for: every output contains the empty one")
	}
	return c.with(err, fmt.Sprintf("%q", clipLine(text, 60)), func(out []byte) bool { return bytes.Contains(out, []byte(text)) })
}

// StdoutMatches asks that the regular expression matches in standard output.
func (c *CommandOutcome) StdoutMatches(expr string) *CommandOutcome {
	re, err := compileExpr(expr)
	return c.with(err, "/"+clipLine(expr, 60)+"/", func(out []byte) bool { return re.Match(out) })
}

func (c *CommandOutcome) with(err error, name string, holds func([]byte) bool) *CommandOutcome {
	c = c.clone()
	c.err = errors.Join(c.err, err)
	c.output = append(slices.Clone(c.output), outputCheck{name, holds})
	return c
}

// Score takes the score from the last line of standard output that is not blank: a decimal between 0 and 1 ("0.75"), or a
// ratio ("3/4"). The command is then a grader: if it exits with another status than 0, or its last line is something else, there is no
// score, which is an error of the grader. A program that exits with 1 because tests fail ends with || true.
func (c *CommandOutcome) Score() *CommandOutcome {
	c = c.clone()
	c.score = true
	return c
}

// String is like: command succeeds (go test ./...).
func (c *CommandOutcome) String() string {
	what := "command succeeds"
	switch {
	case c.score:
		what = "score of command"
	case len(c.output) > 0:
		what += " and prints " + c.output[0].name
	}
	return fmt.Sprintf("%s (%s)", what, clipLine(c.line(), 80))
}

// line is the command as one would type it.
func (c *CommandOutcome) line() string {
	if c.shell {
		return c.command
	}
	return quoteWords(append([]string{c.command}, c.args...))
}

// Misuse reports an empty command or one that the shell cannot parse, and bad variables, times, files and expressions.
func (c *CommandOutcome) Misuse() error { return c.err }

// Grade runs the command.
func (c *CommandOutcome) Grade(ctx context.Context, trial *evaltest.Trial) (score evaltest.Score, err error) {
	if c.err != nil {
		return evaltest.Score{}, misuseError(c, c.err)
	}
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	w, err := openWorkspace(trial)
	if err != nil {
		return evaltest.Score{}, err
	}
	defer w.close()
	desk, err := newDesk()
	if err != nil {
		return evaltest.Score{}, err
	}
	defer func() {
		if e := desk.remove(); e != nil && err == nil {
			score, err = evaltest.Score{}, e
		}
	}()
	dir := trial.Dir
	if c.hidden {
		if dir, err = desk.copyWorkspace(ctx, w, trial.Dir, c.files, c.modes); err != nil {
			return evaltest.Score{}, err
		}
	}
	command := proc.Command{Path: c.command, Args: c.args, Dir: dir, Env: proc.Environ(desk.home, desk.temp, nil, c.env...)}
	if c.shell {
		command.Path, command.Args = "sh", []string{"-c", c.command}
	}
	result, err := proc.Run(ctx, command, "")
	if err != nil {
		return c.didNotRun(ctx, result, err)
	}
	return c.judge(result, command.Env)
}

// didNotRun decides what it means that the command could not be started or was not done in time.
func (c *CommandOutcome) didNotRun(ctx context.Context, r proc.Result, err error) (evaltest.Score, error) {
	// In the workspace is what the agent was to make; the rest is what the machine has.
	relative := !c.shell && strings.Contains(filepath.ToSlash(c.command), "/") && !filepath.IsAbs(c.command)
	switch started := r.Status.Lost != "not started"; {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		err := ctxEnded(ctx, "run "+clipLine(c.line(), 80))
		var e *agents.Error
		if out := outputOf(r); out != "" && errors.As(err, &e) {
			e.Err = fmt.Errorf("%w; its last lines were:\n%s", e.Err, clipDetail(out))
		}
		return evaltest.Score{}, err
	case !started && relative && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOEXEC)):
		return c.noScore("%s cannot be run: %s", c.command, lastCause(err))
	case !started && errors.Is(err, fs.ErrNotExist):
		return evaltest.Score{}, agents.Errorf(agents.Judge, agents.FromGrader,
			"criteria: run %s: the program is not installed here: %w", clipLine(c.line(), 80), err)
	case !started:
		return evaltest.Score{}, agents.Errorf(agents.Judge, agents.FromGrader, "criteria: run %s: %w", clipLine(c.line(), 80), err)
	}
	return evaltest.Score{}, agents.Errorf(agents.Harness, agents.FromHarness, "criteria: run %s: %w", clipLine(c.line(), 80), err)
}

// noScore is a score of 0 for a command that is to succeed, and an error for one that is to print a score.
func (c *CommandOutcome) noScore(format string, args ...any) (evaltest.Score, error) {
	if c.score {
		return evaltest.Score{}, agents.Errorf(agents.Judge, agents.FromGrader,
			"criteria: score of %s: %s", clipLine(c.line(), 80), fmt.Sprintf(format, args...))
	}
	return scoreFailed(format, args...), nil
}

// lastCause is the innermost error: "no such file or directory".
func lastCause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// judge decides what the end of the command means.
func (c *CommandOutcome) judge(r proc.Result, env []string) (evaltest.Score, error) {
	out := outputOf(r)
	if c.shell && r.Status.Code == 127 {
		if missing := missingProgram(c.command, env); missing != "" {
			return evaltest.Score{}, agents.Errorf(agents.Judge, agents.FromGrader,
				"criteria: run %s: the program %s is not installed here", clipLine(c.line(), 80), missing)
		}
	}
	if !r.Status.Success() {
		what := r.Status.String()
		if last := lastLines(out, 1, maxReason); last != "" {
			what += ": " + strings.TrimSpace(last)
		}
		if c.score {
			return evaltest.Score{}, agents.Errorf(agents.Judge, agents.FromGrader,
				"criteria: score of %s: the grader ended with %s\n%s", clipLine(c.line(), 80), what, clipDetail(out))
		}
		return withReason(evaltest.PassIf(false), out, "%s", what), nil
	}
	for _, check := range c.output {
		switch {
		case check.holds(r.Stdout):
		case r.Truncated:
			return evaltest.Score{}, tooMuch("search the output of %s: it is too long to be kept whole; print less", clipLine(c.line(), 80))
		default:
			return withReason(evaltest.PassIf(false), out, "its output has no %s", check.name), nil
		}
	}
	if !c.score {
		return scorePassed("exit status 0"), nil
	}
	last := lastLines(string(r.Stdout), 1, maxReason)
	score, err := parseScore(strings.TrimSpace(last))
	if err != nil {
		return evaltest.Score{}, agents.Errorf(agents.Judge, agents.FromGrader,
			"criteria: score of %s: %w\n%s", clipLine(c.line(), 80), err, clipDetail(out))
	}
	return withReason(score, "", "it printed %s", strings.TrimSpace(last)), nil
}

// outputOf is the end of what a command wrote: of each output its last lines.
func outputOf(r proc.Result) string {
	const most = maxDetail/2 - 100
	stdout, stderr := lastLines(string(r.Stdout), 20, most), lastLines(string(r.Stderr), 20, most)
	switch {
	case stdout == "":
		return stderr
	case stderr == "":
		return stdout
	}
	return stdout + "\n" + stderr
}
