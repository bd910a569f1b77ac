// Package fix has criteria of which it is certain what was meant.
package fix

import (
	"context"

	eval "github.com/evaltest-go/evaltest/evaltest"
)

type base struct{}

func (base) String() string { return "" }
func (base) Grade(context.Context, *eval.Trial) (eval.Score, error) {
	return eval.Score{}, eval.ErrOpen
}

type declaring struct{ base }

// StopPolarities is Fail.
func (c *declaring) StopPolarities() eval.Polarity { return eval.Fail } // want `declaring has StopPolarities and no LiveVerdict`
