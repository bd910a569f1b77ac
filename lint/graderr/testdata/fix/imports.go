package fix

import (
	"context"
	"os"
	"path/filepath"

	"github.com/evaltest-go/evaltest/evaltest"
)

type noImport struct{ base }

func (noImport) Grade(_ context.Context, trial *evaltest.Trial) (evaltest.Score, error) {
	if _, err := os.Stat(filepath.Join(trial.Dir, "a")); err != nil {
		return evaltest.PassIf(false), nil // want `scores the error of os.Stat`
	}
	return evaltest.PassIf(true), nil
}
