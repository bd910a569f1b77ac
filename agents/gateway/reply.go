package gateway

import (
	"context"
	"time"

	"github.com/evaltest-go/evaltest/agents"
)

// reply is an answer to give, whatever its wire format.
type reply struct {
	id     string
	wait   time.Duration // before it begins
	blocks []block
	usage  usage
	fail   *agents.Error // instead of all but wait
	note   string
	short  bool // a call of the script could not be made
}

// block is a part of an answer: a call when name is not empty, else text.
type block struct {
	pause time.Duration // before it
	text  string
	id    string
	name  string
	space string // the name of those that the tool is among
	input []byte // a JSON object; what the tool takes where it is free
	free  bool   // the tool's input is no JSON
}

// calls are the ids of the calls in r.
func (r reply) calls() []string {
	var ids []string
	for _, b := range r.blocks {
		if b.name != "" {
			ids = append(ids, b.id)
		}
	}
	return ids
}

// usage is the tokens of an answer.
type usage struct {
	input, written, read, output int64
}

func (u usage) total() agents.Usage {
	return agents.Usage{InputTokens: u.input, CacheWriteTokens: u.written, OutputTokens: u.output, CachedTokens: u.read}
}

// sleep waits for d, calling tick every second, and returns early with ctx's error or tick's.
func sleep(ctx context.Context, d time.Duration, tick func() error) error {
	if d <= 0 {
		return ctx.Err()
	}
	end := time.NewTimer(d)
	defer end.Stop()
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return nil
		case <-beat.C:
			if err := tick(); err != nil {
				return err
			}
		}
	}
}
