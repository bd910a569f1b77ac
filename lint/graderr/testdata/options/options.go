// Package options asks judges of which code does not show whose errors theirs are.
package options

import (
	"context"
	"os"
	"path/filepath"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/lint/graderr/testdata/lib"
)

type base struct{ judge lib.Judge }

func (base) String() string { return "" }

type listed struct{ base }

func (c listed) Grade(ctx context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	answer, err := c.judge.Ask(trial.Reply)
	if err != nil {
		return evaltest.Score{}, nil // want `listed.Grade scores the error of lib.Judge.Ask; no score could be had: return the error`
	}
	other, err := lib.Untold(ctx, trial.Reply)
	if err != nil {
		return evaltest.Score{}, nil // want `listed.Grade scores the error of lib.Untold`
	}
	return evaltest.PassIf(answer == other), nil
}

// The agent is to blame for whatever keeps this file from being read.
type blamed struct{ base }

func (blamed) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if _, err := os.Stat(filepath.Join(trial.Dir, "a")); err != nil {
		return evaltest.PassIf(false), nil
	}
	if _, err := lib.Ask(context.Background(), trial.Reply); err != nil {
		return evaltest.PassIf(false), nil
	}
	return evaltest.PassIf(true), nil
}
