// Package right has criteria that look as if they scored errors.
package right

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/graderr/testdata/lib"
)

type base struct{}

func (base) String() string { return "" }

// A file that the agent did not write.
type missing struct{ base }

func (missing) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	data, err := os.ReadFile(filepath.Join(trial.Dir, "out.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return evaltest.PassIf(false).Because("no out.csv"), nil
	}
	if err != nil {
		return evaltest.Score{}, err
	}
	return evaltest.PassIf(len(data) > 0), nil
}

type guarded struct{ base }

func (guarded) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	_, err := os.Stat(filepath.Join(trial.Dir, "out.csv"))
	if err != nil && !os.IsNotExist(err) {
		return evaltest.Score{}, fmt.Errorf("look for out.csv: %w", err)
	}
	return evaltest.PassIf(err == nil), nil
}

type nested struct{ base }

func (nested) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	data, err := os.ReadFile(filepath.Join(trial.Dir, "out.csv"))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
			return evaltest.PassIf(false), nil
		}
		return evaltest.Score{}, err
	}
	return evaltest.PassIf(len(data) > 0), nil
}

// The author knows better what the agent is to blame for.
type predicate struct{ base }

func (predicate) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	_, err := os.ReadFile(filepath.Join(trial.Dir, "out.csv"))
	if blame(err) {
		return evaltest.PassIf(false), nil
	}
	return evaltest.PassIf(err == nil), err
}

func blame(err error) bool {
	var p *fs.PathError
	return errors.As(err, &p)
}

type byText struct{ base }

func (byText) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	_, err := os.ReadFile(filepath.Join(trial.Dir, "out.csv"))
	if err != nil {
		if strings.Contains(err.Error(), "is a directory") {
			return evaltest.PassIf(false), nil
		}
		return evaltest.Score{}, err
	}
	return evaltest.PassIf(true), nil
}

// What the agent wrote is its own.
type parsed struct{ base }

func (parsed) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	var doc struct{ Total string }
	if err := json.Unmarshal([]byte(trial.Reply), &doc); err != nil {
		return evaltest.PassIf(false).Because("no JSON: %v", err), nil
	}
	n, err := strconv.Atoi(doc.Total)
	if err != nil {
		return evaltest.Score{}, nil
	}
	return evaltest.PassIf(n == 3), nil
}

type rows struct{ base }

func (rows) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	f, err := os.Open(filepath.Join(trial.Dir, "out.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return evaltest.PassIf(false), nil
	} else if err != nil {
		return evaltest.Score{}, err
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return evaltest.PassIf(false).Because("malformed: %v", err), nil
	}
	n, _ := strconv.Atoi(all[0][0])
	return evaltest.PassIf(n == 3), nil
}

// A program that ran and failed.
type exit struct{ base }

func (exit) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "./...")
	cmd.Dir = trial.Dir
	out, err := cmd.CombinedOutput()
	var status *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return evaltest.Score{}, ctx.Err()
	case errors.As(err, &status):
		return evaltest.PassIf(false).Because("%s", out), nil
	case err != nil:
		return evaltest.Score{}, err
	}
	return evaltest.PassIf(true), nil
}

type told struct{ base }

func (told) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	out, err := exec.CommandContext(ctx, "go", "vet").CombinedOutput()
	if err != nil {
		if strings.Contains(string(out), "vet:") {
			return evaltest.PassIf(false), nil
		}
		return evaltest.Score{}, fmt.Errorf("go vet: %w", err)
	}
	return evaltest.PassIf(true), nil
}

// A program that the agent made, or one of which nobody knows.
type tool struct {
	base
	command string
}

func (c tool) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if err := exec.CommandContext(ctx, filepath.Join(trial.Dir, "tool")).Run(); err != nil {
		return evaltest.PassIf(false), nil
	}
	if err := exec.CommandContext(ctx, "./tool").Run(); err != nil {
		return evaltest.PassIf(false), nil
	}
	return evaltest.PassIf(exec.CommandContext(ctx, c.command).Run() == nil), nil
}

// A server that the agent made.
type server struct{ base }

func (server) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	response, err := http.Get("http://localhost:8080/health")
	if err != nil {
		return evaltest.PassIf(false).Because("it does not answer"), nil
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return evaltest.PassIf(false), nil
	}
	var answer struct{ OK bool }
	if err := json.Unmarshal(body, &answer); err != nil {
		return evaltest.PassIf(false), nil
	}
	return evaltest.PassIf(answer.OK), nil
}

type started struct {
	base
	address string
}

func (c started) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(trial.Dir, "server"))
	if err := cmd.Start(); err != nil {
		return evaltest.PassIf(false), nil
	}
	defer cmd.Process.Kill()
	response, err := http.Get(c.address)
	if err != nil {
		return evaltest.PassIf(false), nil
	}
	return evaltest.PassIf(response.StatusCode == 200), response.Body.Close()
}

// A link that the agent gave.
type link struct{ base }

func (link) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if _, err := http.Get(strings.TrimSpace(trial.Reply)); err != nil {
		return evaltest.PassIf(false).Because("a dead link"), nil
	}
	return evaltest.PassIf(true), nil
}

// What the criterion itself finds wrong.
type assertions struct{ base }

func (assertions) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if err := wellFormed(trial.Reply); err != nil {
		return evaltest.PassIf(false).Because("%v", err), nil
	}
	return evaltest.PassIf(true), nil
}

func wellFormed(text string) error {
	switch {
	case text == "":
		return errors.New("it is empty")
	case len(text) > 100:
		return fmt.Errorf("it has %d bytes", len(text))
	}
	return json.Unmarshal([]byte(text), new(any))
}

// Another part can still say it.
type either struct {
	base
	parts []evaltest.Criterion
}

func (c either) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	var errs []error
	for _, p := range c.parts {
		s, err := p.Grade(ctx, trial)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if s.Float() == 1 {
			return s, nil
		}
	}
	return evaltest.Score{}, errors.Join(errs...)
}

// A second way where the first one fails.
type fallback struct{ base }

func (fallback) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	text := trial.Reply
	if data, err := os.ReadFile(filepath.Join(trial.Dir, "answer.txt")); err == nil {
		text = string(data)
	}
	return evaltest.PassIf(strings.Contains(text, "42")), nil
}

type cached struct {
	base
	part evaltest.Criterion
}

func (c cached) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if s, err := fromCache(trial); err == nil {
		return s, nil
	}
	return c.part.Grade(ctx, trial)
}

func fromCache(*evaltest.Trial) (evaltest.Score, error) {
	return evaltest.Score{}, errors.New("not there")
}

type heuristic struct {
	base
	part evaltest.Criterion
}

func (c heuristic) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s, err := c.part.Grade(ctx, trial)
	if err != nil {
		return evaltest.PassIf(len(trial.Reply) > 100), nil // less exact, and no error
	}
	return s, nil
}

// The trial's own limits are the agent's.
type limit struct{ base }

func (limit) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if trial.Err != nil {
		return evaltest.PassIf(false), nil
	}
	return evaltest.PassIf(trial.Limit == ""), nil
}

// A time that the agent's program has.
type hangs struct{ base }

func (hangs) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err := exec.CommandContext(short, "go", "run", ".").Run()
	switch {
	case ctx.Err() != nil:
		return evaltest.Score{}, ctx.Err()
	case short.Err() != nil:
		return evaltest.PassIf(false).Because("it hangs"), nil
	case errors.Is(err, context.DeadlineExceeded):
		return evaltest.PassIf(false).Because("it hangs"), nil
	}
	return evaltest.PassIf(true), err
}

// Errors that do not matter for the score.
type tidy struct{ base }

func (tidy) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	dir, err := os.MkdirTemp("", "x")
	if err != nil {
		return evaltest.Score{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	matches, _ := filepath.Glob(filepath.Join(trial.Dir, "*.csv"))
	return evaltest.PassIf(len(matches) > 0), nil
}

// The error is kept, and returned where it matters.
type late struct{ base }

func (late) Grade(_ context.Context, trial *evaltest.Trial) (score evaltest.Score, err error) {
	f, err := os.Open(filepath.Join(trial.Dir, "a"))
	if errors.Is(err, fs.ErrNotExist) {
		return evaltest.PassIf(false), nil
	}
	if err != nil {
		return score, err
	}
	defer func() {
		if e := f.Close(); e != nil && err == nil {
			score, err = evaltest.Score{}, e
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return
	}
	return evaltest.PassIf(info.Size() > 0), nil
}

// A panic that becomes an error.
type calm struct{ base }

func (calm) Grade(_ context.Context, trial *evaltest.Trial) (score evaltest.Score, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = evaltest.AuthorError("panic: %v", p)
		}
	}()
	return evaltest.PassIf(strings.Fields(trial.Reply)[3] == "x"), nil
}

type again struct{ base }

func (again) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("reply %q: %v", trial.Reply, p))
		}
	}()
	return evaltest.PassIf(strings.Fields(trial.Reply)[3] == "x"), nil
}

type doubt struct{ base }

func (doubt) Grade(_ context.Context, trial *evaltest.Trial) (score evaltest.Score, err error) {
	err = errors.New("it was not finished")
	defer func() { _ = recover() }()
	return evaltest.PassIf(strings.Fields(trial.Reply)[3] == "x"), nil
}

// Whose error it is depends on what is given.
func total(path string, text string) (evaltest.Score, error) {
	n, err := lib.Parse(text)
	if err != nil {
		return evaltest.Score{}, nil
	}
	m, err := strconv.Atoi(path)
	if err != nil {
		return evaltest.Score{}, nil
	}
	return evaltest.PassIf(n == m), nil
}

type untold struct{ base }

func (untold) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	answer, err := lib.Untold(ctx, trial.Reply)
	if err != nil {
		return evaltest.PassIf(false), nil
	}
	return evaltest.PassIf(answer == "yes"), nil
}

// It does not matter whether there is a log.
type logs struct{ base }

func (logs) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if trial.Reply == "" {
		return evaltest.PassIf(false), nil
	}
	if data, err := os.ReadFile(filepath.Join(trial.Dir, "log")); err == nil {
		fmt.Fprintln(os.Stderr, string(data))
	}
	return evaltest.PassIf(true), nil
}

type warns struct{ base }

func (warns) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	_, err := os.Stat(filepath.Join(trial.Dir, "log"))
	if err != nil {
		if trial.Number > 1 {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return evaltest.PassIf(true), nil
}

// A score of 0 that is explained.
type explains struct{ base }

func (explains) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if trial.Reply == "x" {
		return evaltest.PassIf(true), nil
	}
	return explain(trial), nil
}

func explain(trial *evaltest.Trial) evaltest.Score {
	data, err := os.ReadFile(filepath.Join(trial.Dir, "log"))
	if err != nil {
		return evaltest.PassIf(false).Because("there is no log")
	}
	return nothing("the log says %s", data)
}

func nothing(format string, args ...any) evaltest.Score {
	return evaltest.Ratio(0, 3).Because(format, args...)
}

// What comes second is found, whatever kept the first from being read.
type second struct{ base }

func (second) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if _, err := os.Stat(filepath.Join(trial.Dir, "a")); err != nil {
		_, err := os.Stat(filepath.Join(trial.Dir, "b"))
		if errors.Is(err, fs.ErrNotExist) {
			return evaltest.PassIf(false), nil
		}
		if err != nil {
			return evaltest.Score{}, err
		}
		return evaltest.PassIf(true), nil
	}
	return evaltest.PassIf(true), nil
}

// There is a score, and a record of it is not worth losing it.
type records struct {
	base
	part evaltest.Criterion
}

func (c records) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	s, err := c.part.Grade(ctx, trial)
	if err != nil {
		return evaltest.Score{}, err
	}
	if err := os.MkdirAll("results", 0o755); err != nil {
		return s, nil
	}
	return s, nil
}

// Something else decides when there was an error, too.
type elsewise struct{ base }

func (elsewise) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if _, err := os.Stat(filepath.Join(trial.Dir, "log")); err != nil {
		if trial.Number > 1 {
			return evaltest.PassIf(len(trial.Reply) > 3), nil
		}
	}
	return evaltest.PassIf(true), nil
}

// What is read is only told.
type tells struct{ base }

func (tells) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	log, _ := os.ReadFile(filepath.Join(trial.Dir, "log"))
	if trial.Reply == "" {
		return evaltest.PassIf(false).Because("the log says %s", log), nil
	}
	if trial.Reply == "y" {
		return evaltest.Score{Reason: string(log)}, nil
	}
	return explained(evaltest.PassIf(trial.Reply == "x"), logOf(trial)), nil
}

func explained(s evaltest.Score, why string) evaltest.Score {
	if why == "" {
		return s
	}
	return s.Because("%s", why)
}

func logOf(trial *evaltest.Trial) string {
	log, err := os.ReadFile(filepath.Join(trial.Dir, "log"))
	if err != nil {
		return ""
	}
	return string(log)
}

// Checks say it with their own t.
var checks = []evaltest.Criterion{
	criteria.Check("rows", func(t require.TestingT, trial *evaltest.Trial) {
		data, err := os.ReadFile(filepath.Join(trial.Dir, "out.csv"))
		require.NoError(t, err)
		require.NotEmpty(t, data)
	}),
	criteria.CheckScore("info", func(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
		info, _ := os.Stat(filepath.Join(trial.Dir, "out.csv"))
		if info == nil {
			return evaltest.Score{}, agents.Errorf(agents.Judge, agents.FromGrader, "cannot look at it")
		}
		return evaltest.PassIf(info.Size() > 0), nil
	}),
}

// A type of the same name.
type Score struct{ points int }

func other() (Score, error) {
	if _, err := os.ReadFile("golden"); err != nil {
		return Score{}, nil
	}
	return Score{1}, nil
}

// Where nothing is scored errors are nobody's business.
func present(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestNothing(t *testing.T) {
	if present("a") {
		t.Log(other())
	}
}
