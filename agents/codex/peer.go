package codex

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"sync"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/internal/cli"
)

// frame is a line of the protocol: a request (method and id), a notification (method), or an answer (id).
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`

	fault *agents.Error // the line made no sense; nothing comes after it
	eof   bool          // the stream is over
}

// peer reads and writes frames. What comes waits for whoever takes it: the program never waits.
type peer struct {
	in   *cli.Input
	wake chan struct{} // has one element when something came

	mu     sync.Mutex
	frames []frame
	last   int // id of the last request
}

func newPeer(stdin io.WriteCloser, stdout io.Reader, raw io.Writer) *peer {
	p := &peer{in: cli.NewInput(stdin), wake: make(chan struct{}, 1)}
	go p.read(stdout, raw)
	return p
}

func (p *peer) read(stdout io.Reader, raw io.Writer) {
	r := bufio.NewReaderSize(stdout, 64<<10)
	for {
		line, err := r.ReadBytes('\n') // a line may have any length
		if len(bytes.TrimSpace(line)) > 0 {
			_, _ = raw.Write(line)
			p.push(decodeFrame(line, err != nil))
		}
		if err != nil {
			p.push(frame{eof: true})
			return
		}
	}
}

// decodeFrame reads a line; cut: the stream ended before the line did.
func decodeFrame(line []byte, cut bool) (f frame) {
	switch err := json.Unmarshal(line, &f); {
	case err == nil && (f.Method != "" || len(f.ID) > 0):
		return f
	case err == nil:
		return frame{fault: agents.Errorf(agents.Protocol, agents.FromAgent, "codex: a line is no message: %.200q", line)}
	case cut:
		return frame{fault: agents.Errorf(agents.Protocol, agents.FromAgent, "codex: the stream ended within a line: %.200q", line)}
	default:
		return frame{fault: agents.Errorf(agents.Protocol, agents.FromAgent, "codex: a line is no JSON: %w: %.200q", err, line)}
	}
}

func (p *peer) push(f frame) {
	p.mu.Lock()
	p.frames = append(p.frames, f)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// next is the next frame, if there is one. The end of the stream stays.
func (p *peer) next() (frame, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.frames) == 0 {
		return frame{}, false
	}
	f := p.frames[0]
	if !f.eof {
		p.frames[0] = frame{} // let go of it
		p.frames = p.frames[1:]
	}
	return f, true
}

// ask sends a request and returns its id.
func (p *peer) ask(method string, params any) string {
	p.mu.Lock()
	p.last++
	id := p.last
	p.mu.Unlock()
	p.in.Send(map[string]any{"id": id, "method": method, "params": params})
	data, err := json.Marshal(id)
	if err != nil {
		panic(err) // a number
	}
	return string(data)
}

func (p *peer) tell(method string) { p.in.Send(map[string]any{"method": method}) }

// decline answers a request of the program's that is not for us to grant.
func (p *peer) decline(id json.RawMessage, why string) {
	p.in.Send(map[string]any{"id": id, "error": map[string]any{"code": -32601, "message": why}})
}
