// Package fix has criteria of which it is certain what to return.
package fix

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	eval "github.com/evaltest-go/evaltest/evaltest"
)

type base struct{ part eval.Criterion }

func (base) String() string { return "" }

type judge struct{ base }

func (judge) Grade(ctx context.Context, trial *eval.Trial) (eval.Score, error) {
	response, err := http.Get("https://judge.example.com")
	if err != nil {
		return eval.PassIf(false).Because("no judge"), nil // want `scores the error of http.Get`
	}
	return eval.PassIf(response.StatusCode == 200), response.Body.Close()
}

type part struct{ base }

func (c part) Grade(ctx context.Context, trial *eval.Trial) (s eval.Score, e error) {
	s, failure := c.part.Grade(ctx, trial)
	switch {
	case failure != nil:
		return eval.Score{}, nil // want `scores the error of`
	case ctx.Err() != nil:
		return eval.Score{}, nil // want `scores the error of context.Context.Err`
	}
	if _, err := os.MkdirTemp("", "x"); err != nil {
		return eval.Score{Reason: "no folder"}, nil // want `scores the error of os.MkdirTemp`
	}
	return s, nil
}

type open struct{ base }

func (c open) Grade(ctx context.Context, trial *eval.Trial) (eval.Score, error) {
	s, err := c.part.Grade(ctx, trial)
	if errors.Is(err, eval.ErrOpen) {
		return eval.PassIf(false), nil // want `scores an error that is evaltest.ErrOpen`
	}
	return s, err
}

// A missing file is the agent's failure; nothing else is.
type file struct{ base }

func (file) Grade(_ context.Context, trial *eval.Trial) (eval.Score, error) {
	data, err := os.ReadFile(filepath.Join(trial.Dir, "a"))
	if err != nil {
		return eval.PassIf(false).Because("no a"), nil // want `scores the error of os.ReadFile`
	}
	return eval.PassIf(len(data) > 0), nil
}

type program struct{ base }

func (program) Grade(ctx context.Context, trial *eval.Trial) (eval.Score, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "./...")
	cmd.Dir = trial.Dir
	if err := cmd.Run(); err != nil {
		return eval.PassIf(false), nil // want `scores the error of`
	}
	return eval.PassIf(true), nil
}

// Of these it is not certain what is meant.
type unsure struct{ base }

func (unsure) Grade(ctx context.Context, trial *eval.Trial) (eval.Score, error) {
	_, err := os.Stat(filepath.Join(trial.Dir, "a"))
	return eval.PassIf(err == nil), nil // want `scores the error of os.Stat`
}

func read(path string) (eval.Score, error) {
	if _, err := os.Stat(path); err != nil {
		return eval.Score{}, nil // want `scores the error of os.Stat`
	}
	return eval.PassIf(true), nil
}

func (c judge) answer(trial *eval.Trial) error {
	response, err := http.Get("https://judge.example.com")
	if err != nil {
		return err
	}
	if response.StatusCode != 200 {
		return errors.New("it is wrong")
	}
	return nil
}

type mixed struct{ judge }

func (c mixed) Grade(ctx context.Context, trial *eval.Trial) (eval.Score, error) {
	if err := c.answer(trial); err != nil {
		return eval.PassIf(false), nil // want `mixed.Grade scores the error of judge.answer, which may be that of http.Get`
	}
	return eval.PassIf(true), nil
}

// AskAt asks somebody, who may be of the agent's making.
func AskAt(url string) error {
	_, err := http.Get(url)
	return err
}

type somebody struct{ base }

func (somebody) Grade(ctx context.Context, trial *eval.Trial) (eval.Score, error) {
	if err := AskAt("https://example.com"); err != nil {
		return eval.PassIf(false), nil // want `somebody.Grade scores the error of AskAt, which may be that of http.Get`
	}
	return eval.PassIf(true), nil
}
