package criteriatest

import (
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/transcript"
	"github.com/evaltest-go/evaltest/evaltest"
)

// An Option adds to what a criterion is checked with.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

type config struct {
	calls    []agents.ToolCall
	texts    []string
	recorded []*agents.Trajectory
	beside   []evaltest.LiveCriterion
	seed     uint64
	cases    int
	limit    time.Duration
}

// Calls mixes these calls into the trajectories, often: what the criterion looks at, where that is not found by itself. Their ids
// and parents do not count.
func Calls(calls ...agents.ToolCall) Option {
	return option(func(c *config) error {
		c.calls = append(c.calls, calls...)
		return nil
	})
}

// Texts has the model say these, users ask them, and tools answer them.
func Texts(texts ...string) Option {
	return option(func(c *config) error {
		c.texts = append(c.texts, texts...)
		return nil
	})
}

// Transcripts adds the recorded trajectories in fsys: every file whose name ends with .jsonl, as evals and package transcript write
// them. What else has that ending is an error; so is an fsys without any.
func Transcripts(fsys fs.FS) Option {
	return option(func(c *config) error {
		n := len(c.recorded)
		err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
				return err
			}
			f, err := fsys.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			tr, _, err := transcript.Read(f)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			c.recorded = append(c.recorded, tr)
			return nil
		})
		switch {
		case err != nil:
			return fmt.Errorf("criteriatest: read transcripts: %w", err)
		case len(c.recorded) == n:
			return fmt.Errorf("criteriatest: read transcripts: there is no file *.jsonl; give the folder that holds them")
		}
		return nil
	})
}

// Trajectories adds trajectories.
func Trajectories(trs ...*agents.Trajectory) Option {
	return option(func(c *config) error {
		c.recorded = append(c.recorded, trs...)
		return nil
	})
}

// Beside has other criteria look at the same trajectories first, as they may in an eval. Give one that differs from the criterion in a
// parameter: where both use one key with agents.Fold, or Tally, each gets what the other has counted.
func Beside(cs ...evaltest.LiveCriterion) Option {
	return option(func(c *config) error {
		c.beside = append(c.beside, cs...)
		return nil
	})
}

// Seed makes other trajectories. The default is 1, so that a check does the same each time.
func Seed(seed uint64) Option {
	return option(func(c *config) error {
		c.seed = seed
		return nil
	})
}

// Cases sets how many trajectories are made, from 1. The default takes about a second; with the race detector it is a fourth of that.
func Cases(n int) Option {
	return option(func(c *config) error {
		if n < 1 {
			return fmt.Errorf("criteriatest: make %d cases: ask for one at least", n)
		}
		c.cases = n
		return nil
	})
}

// Limit is how long one look, or one grading, may take before it counts as hanging. The default is 10 seconds.
func Limit(d time.Duration) Option {
	return option(func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("criteriatest: limit looks to %v: give them some time", d)
		}
		c.limit = d
		return nil
	})
}
