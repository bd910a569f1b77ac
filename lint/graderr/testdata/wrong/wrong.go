// Package wrong has criteria that score errors.
package wrong

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/graderr/testdata/lib"
)

type base struct{}

func (base) String() string { return "" }

// The zero of the design: a file that cannot be read is a score of 0.
type reads struct{ base }

func (reads) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	data, err := os.ReadFile(filepath.Join(trial.Dir, "out.csv"))
	if err != nil {
		return evaltest.Score{}, nil // want `reads.Grade scores the error of os.ReadFile; only a missing file is the agent's failure: return what is not fs.ErrNotExist`
	}
	return evaltest.PassIf(strings.Contains(string(data), "total")), nil
}

// Whether there is an error is no more than whether there is one.
type exists struct{ base }

func (exists) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	_, err := os.Stat(filepath.Join(trial.Dir, "out.csv"))
	return evaltest.PassIf(err == nil), nil // want `exists.Grade scores the error of os.Stat; only a missing file`
}

type both struct{ base }

func (both) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	data, err := os.ReadFile(filepath.Join(trial.Dir, "out.csv"))
	return evaltest.PassIf(err == nil && len(data) > 0), nil // want `both.Grade scores the error of os.ReadFile`
}

// The error is dropped where it happens.
type dropped struct{ base }

func (dropped) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	data, _ := os.ReadFile(filepath.Join(trial.Dir, "out.csv")) // want `dropped.Grade drops the error of os.ReadFile and scores what is left; only a missing file`
	return evaltest.PassIf(strings.Contains(string(data), "total")), nil
}

type droppedBranch struct{ base }

func (droppedBranch) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	entries, _ := os.ReadDir(trial.Dir) // want `droppedBranch.Grade drops the error of os.ReadDir and scores what is left; no score could be had: return the error`
	for _, e := range entries {
		if e.Name() == "out.csv" {
			return evaltest.PassIf(true), nil
		}
	}
	return evaltest.PassIf(false).Because("no out.csv"), nil
}

// The reason does not make it better.
type reason struct{ base }

func (reason) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if _, err := os.Stat(filepath.Join(trial.Dir, "a")); err != nil {
		return evaltest.PassIf(false).Because("stat: %v", err), nil // want `reason.Grade scores the error of os.Stat`
	}
	return evaltest.PassIf(true), nil
}

type literal struct{ base }

func (literal) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if _, err := os.Stat(filepath.Join(trial.Dir, "a")); err != nil {
		return evaltest.Score{Reason: err.Error()}, nil // want `literal.Grade scores the error of os.Stat`
	}
	return evaltest.PassIf(true), nil
}

// The author's own file is missing, and the agent has failed.
type golden struct {
	base
	file string
}

func (c *golden) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	want, err := os.ReadFile(c.file)
	if err != nil {
		return evaltest.PassIf(false), nil // want `golden.Grade scores the error of os.ReadFile; no score could be had: return the error`
	}
	return evaltest.PassIf(trial.Reply == string(want)), nil
}

// The judge is down, or answers something else.
type judge struct {
	base
	url string
}

func (c *judge) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(trial.Reply))
	if err != nil {
		return evaltest.Score{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return evaltest.Score{}, nil // want `judge.Grade scores the error of \(\*http.Client\).Do; no score could be had: return the error`
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return evaltest.Points(0), nil // want `judge.Grade scores the error of io.ReadAll; no score`
	}
	var answer struct{ Score float64 }
	if err := json.Unmarshal(body, &answer); err != nil {
		return evaltest.Ratio(0, 1), nil // want `judge.Grade scores the error of json.Unmarshal; no score`
	}
	return evaltest.Points(answer.Score), nil
}

// The same with named results, which a defer keeps in memory.
type named struct{ base }

func (named) Grade(ctx context.Context, trial *evaltest.Trial) (score evaltest.Score, err error) {
	response, e := http.Get("https://judge.example.com/?q=" + "x")
	if e != nil {
		return // want `named.Grade scores the error of http.Get`
	}
	defer response.Body.Close()
	if err = json.NewDecoder(response.Body).Decode(&score); err != nil {
		return evaltest.Score{}, nil // want `named.Grade scores the error of \(\*json.Decoder\).Decode`
	}
	return score, nil
}

// A program that is not installed.
type runs struct{ base }

func (runs) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "./...")
	cmd.Dir = trial.Dir
	if err := cmd.Run(); err != nil {
		return evaltest.PassIf(false), nil // want `runs.Grade scores the error of \(\*exec.Cmd\).Run; only what ran has judged the agent: return what is not an \*exec.ExitError`
	}
	return evaltest.PassIf(true), nil
}

type output struct{ base }

func (output) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	out, _ := exec.CommandContext(ctx, "python3", "check.py").CombinedOutput() // want `output.Grade drops the error of \(\*exec.Cmd\).CombinedOutput and scores what is left`
	return evaltest.PassIf(strings.Contains(string(out), "OK")), nil
}

// The part's error is no score of the whole.
type wraps struct {
	base
	part evaltest.Criterion
}

func (c wraps) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s, err := c.part.Grade(ctx, trial)
	if err != nil {
		return evaltest.Score{}, nil // want `wraps.Grade scores the error of evaltest.Criterion.Grade; no score`
	}
	return s.Complement(), nil
}

type keeps struct {
	base
	part evaltest.Criterion
}

func (c keeps) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s, err := c.part.Grade(ctx, trial)
	if err != nil {
		return s, nil // want `keeps.Grade scores the error of evaltest.Criterion.Grade; no score`
	}
	return s, nil
}

type drops struct {
	base
	part evaltest.Criterion
}

func (c drops) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s, _ := c.part.Grade(ctx, trial) // want `drops.Grade drops the error of evaltest.Criterion.Grade and scores what is left`
	return s, nil
}

// Open is not failed.
type openIsZero struct {
	base
	part evaltest.Criterion
}

func (c openIsZero) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s, err := c.part.Grade(ctx, trial)
	if errors.Is(err, evaltest.ErrOpen) {
		return evaltest.PassIf(false), nil // want `openIsZero.Grade scores an error that is evaltest.ErrOpen; no score`
	}
	return s, err
}

// The end of time says nothing of the agent.
type late struct{ base }

func (late) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	for range 10 {
		if ctx.Err() != nil {
			return evaltest.Score{}, nil // want `late.Grade scores the error of context.Context.Err; no score`
		}
	}
	return evaltest.PassIf(true), nil
}

type waits struct {
	base
	done chan bool
}

func (c waits) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	select {
	case ok := <-c.done:
		return evaltest.PassIf(ok), nil
	case <-ctx.Done():
		return evaltest.PassIf(false).Because("too late"), nil // want `waits.Grade scores the end of ctx; no score`
	}
}

type timeout struct{ base }

func (timeout) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s, err := score(ctx, trial.Dir)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return evaltest.PassIf(false), nil // want `timeout.Grade scores an error that is context.DeadlineExceeded; no score`
	case err != nil:
		return evaltest.Score{}, err
	}
	return s, nil
}

// A helper that scores is held to the same.
func score(ctx context.Context, dir string) (evaltest.Score, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return evaltest.Score{}, nil // want `score scores the error of os.OpenRoot`
	}
	defer root.Close()
	temp, err := os.MkdirTemp("", "x")
	if err != nil {
		return evaltest.PassIf(false).Because("no folder"), nil // want `score scores the error of os.MkdirTemp; no score`
	}
	defer os.RemoveAll(temp)
	return evaltest.PassIf(true), nil
}

// Beside a missing file there are errors that are nobody's failure.
type apart struct{ base }

func (apart) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	data, err := os.ReadFile(filepath.Join(trial.Dir, "out.csv"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return evaltest.PassIf(false).Because("no out.csv"), nil
	case err != nil:
		return evaltest.PassIf(false).Because("%v", err), nil // want `apart.Grade scores the error of os.ReadFile`
	}
	return evaltest.PassIf(len(data) > 0), nil
}

// A score that is only set where all went well.
type unset struct{ base }

func (unset) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	ok := false
	if data, err := os.ReadFile(filepath.Join(trial.Dir, "out.csv")); err == nil {
		ok = strings.Contains(string(data), "total")
	}
	return evaltest.PassIf(ok), nil // want `unset.Grade scores the error of os.ReadFile`
}

type unsetScore struct{ base }

func (unsetScore) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	var s evaltest.Score
	if data, err := os.ReadFile(filepath.Join(trial.Dir, "out.csv")); err == nil {
		s = evaltest.Ratio(strings.Count(string(data), "ok"), 10)
	}
	return s, nil // want `unsetScore.Grade scores the error of os.ReadFile`
}

// The pattern is the author's.
type pattern struct {
	base
	expr string
}

func (c *pattern) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	re, err := regexp.Compile(c.expr)
	if err != nil {
		return evaltest.PassIf(false).Because("bad pattern"), nil // want `pattern.Grade scores the error of regexp.Compile; no score`
	}
	return evaltest.PassIf(re.MatchString(trial.Reply)), nil
}

// What a helper of the package answers in the place of an error.
type helped struct{ base }

func (helped) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	return evaltest.PassIf(has(filepath.Join(trial.Dir, "a"), "x") && thereIs(filepath.Join(trial.Dir, "b"))), nil
}

func has(path, text string) bool {
	data, err := os.ReadFile(path)
	if err != nil {
		return false // want `has, whose answer helped.Grade scores, makes an answer of the error of os.ReadFile; only a missing file is the agent's failure: return what is not fs.ErrNotExist, as a second result`
	}
	return strings.Contains(string(data), text)
}

func thereIs(path string) bool {
	_, err := os.Stat(path)
	return err == nil // want `thereIs, whose answer helped.Grade scores, makes an answer of the error of os.Stat`
}

type slurps struct{ base }

func (slurps) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	text := slurp(filepath.Join(trial.Dir, "a"))
	if !strings.Contains(text, "x") {
		return evaltest.PassIf(false), nil
	}
	return evaltest.PassIf(true), nil
}

func slurp(path string) string {
	data, _ := os.ReadFile(path) // want `slurp, whose answer slurps.Grade scores, makes an answer of the error of os.ReadFile and scores what is left`
	return string(data)
}

// A helper's error is that of what it calls.
type follows struct {
	base
	url string
}

func (c *follows) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	answer, err := c.ask(ctx, trial.Reply)
	if err != nil {
		return evaltest.PassIf(false).Because("%v", err), nil // want `follows.Grade scores the error of \(\*follows\).ask, which may be that of http.Post; no score`
	}
	return evaltest.PassIf(answer == "yes"), nil
}

func (c *follows) ask(_ context.Context, text string) (string, error) {
	response, err := http.Post(c.url, "text/plain", strings.NewReader(text))
	if err != nil {
		return "", fmt.Errorf("ask the judge: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return string(body), nil
}

// An error of checking is both.
type checked struct{ base }

func (checked) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if err := check(trial); err != nil {
		return evaltest.PassIf(false).Because("%v", err), nil // want `checked.Grade scores the error of check, which may be that of os.ReadFile; only a missing file`
	}
	return evaltest.PassIf(true), nil
}

func check(trial *evaltest.Trial) error {
	data, err := os.ReadFile(filepath.Join(trial.Dir, "out.csv"))
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return errors.New("it is empty")
	}
	return nil
}

// A function of another package.
type elsewhere struct{ base }

func (elsewhere) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	answer, err := lib.Ask(ctx, trial.Reply)
	if err != nil {
		return evaltest.Score{}, nil // want `elsewhere.Grade scores the error of lib.Ask, which may be that of http.Post`
	}
	return evaltest.PassIf(answer == "yes"), nil
}

// Typed errors are never the agent's.
type typed struct{ base }

func (typed) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	answer, err := lib.Untold(ctx, trial.Reply)
	var e *agents.Error
	if errors.As(err, &e) {
		return evaltest.PassIf(false).Because("%v", e), nil // want `typed.Grade scores an error that is an \*agents.Error`
	}
	return evaltest.PassIf(answer == "yes"), err
}

type typedToo struct{ base }

func (typedToo) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	answer, err := lib.Untold(ctx, trial.Reply)
	if _, ok := errors.AsType[*agents.Error](err); ok {
		return evaltest.PassIf(false), nil // want `typedToo.Grade scores an error that is an \*agents.Error`
	}
	return evaltest.PassIf(answer == "yes"), err
}

// A panic is a score of 0.
type calm struct{ base }

func (calm) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	defer func() { recover() }() // want `calm.Grade scores a panic; a panic is the author's error: do not recover, and it is reported`
	return evaltest.PassIf(strings.Fields(trial.Reply)[3] == "x"), nil
}

type calmer struct{ base }

func (calmer) Grade(_ context.Context, trial *evaltest.Trial) (score evaltest.Score, err error) {
	defer func() {
		if p := recover(); p != nil { // want `calmer.Grade scores a panic`
			score, err = evaltest.PassIf(false).Because("%v", p), nil
		}
	}()
	return evaltest.PassIf(strings.Fields(trial.Reply)[3] == "x"), nil
}

type forgets struct{ base }

func (forgets) Grade(_ context.Context, trial *evaltest.Trial) (score evaltest.Score, err error) {
	defer func() {
		if err != nil {
			score, err = evaltest.PassIf(false), nil // want `forgets.Grade scores every error, which a deferred function takes away`
		}
	}()
	data, err := os.ReadFile(filepath.Join(trial.Dir, "a"))
	if err != nil {
		return score, err
	}
	return evaltest.PassIf(len(data) > 0), nil
}

// A function literal scores as a criterion does.
func literals(file string) []evaltest.Criterion {
	return []evaltest.Criterion{
		criteria.CheckScore("golden", func(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
			want, err := os.ReadFile(file)
			if err != nil {
				return evaltest.Score{}, nil // want `a function in literals scores the error of os.ReadFile; no score`
			}
			return evaltest.PassIf(trial.Reply == string(want)), nil
		}),
		criteria.CheckScore("part", inner),
	}
}

var inner = func(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s, err := criteria.FileExists("a").Grade(ctx, trial)
	if err != nil {
		return failed("no %s", "a"), nil // want `a function that scores scores the error of \(\*criteria.Existence\).Grade`
	}
	return s, nil
}

func failed(format string, args ...any) evaltest.Score {
	return evaltest.PassIf(false).Because(format, args...)
}

// Without an error there is no way to say it.
func alone(trial *evaltest.Trial) evaltest.Score {
	data, err := os.ReadFile(filepath.Join(trial.Dir, "a"))
	if err != nil {
		return evaltest.Score{} // want `alone scores the error of os.ReadFile; only a missing file is the agent's failure: return what is not fs.ErrNotExist, as a second result`
	}
	return evaltest.PassIf(len(data) > 3)
}

// An error that was made elsewhere, and is given to what makes scores.
type viaHelper struct {
	base
	part evaltest.Criterion
}

func (c viaHelper) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s, err := c.part.Grade(ctx, trial)
	if err != nil {
		return c.zero("cannot grade") // want `viaHelper.Grade scores the error of evaltest.Criterion.Grade`
	}
	return s, nil
}

func (c viaHelper) zero(why string) (evaltest.Score, error) {
	return evaltest.PassIf(false).Because("%s", why), nil
}

// One of several reasons is an error.
type several struct{ base }

func (several) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	data, err := os.ReadFile(filepath.Join(trial.Dir, "a"))
	if err != nil || len(data) == 0 {
		return evaltest.PassIf(false).Because("no a"), nil // want `several.Grade scores the error of os.ReadFile`
	}
	return evaltest.PassIf(true), nil
}

type falls struct{ base }

func (falls) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if data, err := os.ReadFile(filepath.Join(trial.Dir, "a")); err == nil && strings.Contains(string(data), "x") {
		return evaltest.PassIf(true), nil
	}
	return evaltest.PassIf(false), nil // want `falls.Grade scores the error of os.ReadFile`
}
