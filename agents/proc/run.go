package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// runHalf: [Run] keeps this many bytes of the beginning, and as many of the end, of each output.
const runHalf = 512 << 10

// Result is what a command run by [Run] left.
type Result struct {
	// Stdout and Stderr are what was written until the command ended, 1 MiB each at most: of more, the beginning and the end,
	// with the line "[... N bytes left out ...]" between them.
	Stdout, Stderr []byte
	// Truncated: some of Stdout or Stderr was left out.
	Truncated bool
	Status    ExitStatus
}

// Run runs the command to its end, or to the end of ctx, with stdin as its standard input, and leaves nothing of it running: what it
// put into the background is ended with it. If c.Stderr is set, it gets standard error as well.
//
// A command that fails is no error: see Result.Status. An error is that it could not be started, that ctx ended first
// (wrapped; the result then holds what came until then), that its status was lost, or that something could not be ended.
func Run(ctx context.Context, c Command, stdin string) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{Status: ExitStatus{Code: -1, Lost: "not started"}}, fmt.Errorf("proc: run %s: %w", c.Path, err)
	}
	stdout, stderr := &bounded{half: runHalf}, &bounded{half: runHalf}
	if c.Stderr != nil {
		c.Stderr = io.MultiWriter(stderr, c.Stderr)
	} else {
		c.Stderr = stderr
	}
	p, err := Start(c)
	if err != nil {
		return Result{Status: ExitStatus{Code: -1, Lost: "not started"}}, err
	}
	go func() {
		_, _ = io.WriteString(p.Stdin, stdin) // a command need not read it
		p.Stdin.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(stdout, p.Stdout) // neither side fails but at its end
	}()
	var errs []error
	select {
	case <-p.Exited():
	case <-ctx.Done():
		select {
		case <-p.Exited(): // both: the command was in time
		default:
			errs = append(errs, fmt.Errorf("proc: run %s: %w", c.Path, ctx.Err()))
		}
	}
	if err := p.Close(); err != nil {
		errs = append(errs, err)
	}
	<-read
	r := Result{Status: p.Status()}
	var cutOut, cutErr bool
	r.Stdout, cutOut = stdout.bytes()
	r.Stderr, cutErr = stderr.bytes()
	r.Truncated = cutOut || cutErr
	if r.Status.Lost != "" && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("proc: run %s: %s", c.Path, r.Status.Lost))
	}
	return r, errors.Join(errs...)
}
