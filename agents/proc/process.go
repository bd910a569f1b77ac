package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Process is a running command and all that it starts.
type Process struct {
	// Stdin is the command's standard input. Closing it is the command's end of file; Close closes it too.
	Stdin io.WriteCloser
	// Stdout is what the command and its descendants write to standard output. It ends (io.EOF) when none of them holds
	// it any more. What was written before Close can still be read after it. For one reader at a time.
	Stdout io.Reader

	name        string
	containment string
	backend     backend

	in        *os.File
	out       *outPipe
	errPipe   *os.File
	errCopied chan struct{}

	exited   chan struct{}
	exitOnce sync.Once
	status   ExitStatus

	closeOnce sync.Once
	closeErr  error
}

// backend is what the system gives to hold a process and its descendants together.
type backend interface {
	pid() int
	signal(os.Signal) error
	// end ends every descendant and returns when none is running, or an error after a bounded time.
	end() error
}

// How long Close waits for the copying of standard error once nothing is running any more, and for what is left in the
// pipes. Only a writer that blocks, or a process that cannot be ended, takes so long.
const copyPatience = 2 * time.Second

// Start starts the command. An error wraps the cause: an [os/exec.Error] with [os.ErrNotExist] when the program is not in
// the PATH of c.Env, an [os.PathError] when it or c.Dir cannot be used. The caller must Close the process.
func Start(c Command) (*Process, error) {
	path, dir, err := c.check()
	if err != nil {
		return nil, err
	}
	c.Dir = dir
	return start(c, path)
}

// newProcess makes the pipes of a process. The returned files are the command's ends; the caller closes them.
func newProcess(c Command) (p *Process, stdin, stdout, stderr *os.File, err error) {
	var files []*os.File
	defer func() {
		if err != nil {
			closeAll(files...)
			err = fmt.Errorf("proc: start %s: %w", c.Path, err)
		}
	}()
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err == nil {
			files = append(files, r, w)
		}
		return r, w
	}
	p = &Process{name: c.Path, exited: make(chan struct{})}
	stdin, p.in = pipe()
	outR, stdout := pipe()
	if c.Stderr != nil {
		p.errPipe, stderr = pipe()
	} else if err == nil {
		if stderr, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
			files = append(files, stderr)
		}
	}
	if err != nil {
		return nil, nil, nil, nil, err
	}
	p.out = &outPipe{f: outR}
	p.Stdin, p.Stdout = &inPipe{f: p.in}, p.out
	return p, stdin, stdout, stderr, nil
}

// copyStderr begins to copy what comes on the pipe for standard error, if there is one.
func (p *Process) copyStderr(w io.Writer) {
	if p.errPipe == nil {
		return
	}
	p.errCopied = make(chan struct{})
	go func() {
		defer close(p.errCopied)
		if _, err := io.Copy(onlyWriter{w}, onlyReader{p.errPipe}); err != nil {
			_, _ = io.Copy(io.Discard, onlyReader{p.errPipe}) // or the command would wait for a reader
		}
	}()
}

// Pid is the command's process id as seen from this process; 0 if it is not known.
func (p *Process) Pid() int { return p.backend.pid() }

// Containment is what holds this process and its descendants together; see the function [Containment].
func (p *Process) Containment() string { return p.containment }

// Signal sends sig to the command itself, not to its descendants. It is [os.ErrProcessDone] after the command ended.
func (p *Process) Signal(sig os.Signal) error {
	select {
	case <-p.exited:
		return os.ErrProcessDone
	default:
	}
	return p.backend.signal(sig)
}

// Exited is closed when the command itself has ended. What it started may still be running.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Status says how the command ended. It waits for Exited.
func (p *Process) Status() ExitStatus {
	<-p.exited
	return p.status
}

func (p *Process) finish(s ExitStatus) {
	p.exitOnce.Do(func() {
		p.status = s
		close(p.exited)
	})
}

// Close ends the command and every descendant, without asking them, and returns when none of them is running and all that they
// wrote to standard error has been copied. It is bounded in time (about 12 seconds, for processes that the kernel does not
// let go; milliseconds else) and says in its error what could not be ended. Further calls wait for the first and return
// the same.
func (p *Process) Close() error {
	p.closeOnce.Do(func() {
		p.Stdin.Close()
		errs := []error{p.backend.end()}
		if p.errCopied != nil {
			p.errPipe.SetReadDeadline(time.Now().Add(copyPatience))
			select {
			case <-p.errCopied:
			case <-time.After(copyPatience + copyPatience/4):
				errs = append(errs, errors.New("the writer given as Command.Stderr does not return"))
			}
			p.errPipe.Close()
		}
		p.out.finish()
		if err := errors.Join(errs...); err != nil {
			p.closeErr = fmt.Errorf("proc: close %s: %w", p.name, err)
		}
	})
	return p.closeErr
}

// inPipe lets Close be called twice.
type inPipe struct {
	f    *os.File
	once sync.Once
	err  error
}

func (w *inPipe) Write(b []byte) (int, error) { return w.f.Write(b) }

func (w *inPipe) Close() error {
	w.once.Do(func() { w.err = w.f.Close() })
	return w.err
}

// outPipe is the read end of standard output. When the process is closed, what is still in the pipe moves to memory
// (the size of a pipe at most), so that no descriptor depends on the reader's reading to the end.
type outPipe struct {
	mu   sync.Mutex // held while reading f: the order of the bytes
	f    *os.File
	done bool
	rest []byte
}

func (r *outPipe) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.done {
		n, err := r.f.Read(b)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if n > 0 || len(b) == 0 {
			return n, nil
		}
		r.drain()
	}
	if len(r.rest) == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// finish is called when nobody writes any more.
func (r *outPipe) finish() {
	// A reader that waits, though nobody is left to write, holds mu: the deadline frees it.
	r.f.SetReadDeadline(time.Now().Add(copyPatience))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drain()
}

func (r *outPipe) drain() {
	if !r.done {
		r.done = true
		r.rest, _ = io.ReadAll(r.f)
		r.f.Close()
	}
}

// onlyReader and onlyWriter hide ReadFrom and WriteTo: splice would go around the deadline and the error handling.
type onlyReader struct{ io.Reader }
type onlyWriter struct{ io.Writer }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
