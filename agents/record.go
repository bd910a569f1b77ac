package agents

import "io"

// Record takes an agent's own words, for the record of a trial.
type Record struct {
	Raw    io.Writer // the agent's stream as it came, line by line
	Stderr io.Writer
}

// RawTo is r.Raw, or a writer that discards when r or its field is nil.
func (r *Record) RawTo() io.Writer {
	if r == nil || r.Raw == nil {
		return io.Discard
	}
	return r.Raw
}

// StderrTo is r.Stderr, or a writer that discards when r or its field is nil.
func (r *Record) StderrTo() io.Writer {
	if r == nil || r.Stderr == nil {
		return io.Discard
	}
	return r.Stderr
}
