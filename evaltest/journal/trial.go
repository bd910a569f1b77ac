package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ErrIncomplete is in the chain of what [Trial.Verdict] returns when the verdict is on disk but some of the agent's
// transcript, stream or stderr is not.
var ErrIncomplete = errors.New("the record is incomplete")

// Trial is the record of one trial that is under way. It is safe for concurrent use.
type Trial struct {
	log                     *log
	intent                  Intent
	dir                     string
	raw, stderr, transcript stream

	mu   sync.RWMutex // read: a record is being written; records of one trial may share a sync
	over bool
}

// Dir is the trial's folder, absolute.
func (t *Trial) Dir() string { return t.dir }

// Intent is the intent as it was written.
func (t *Trial) Intent() Intent { return t.intent }

// Raw takes the agent's stream as it comes: raw.log. A write never fails, and after Verdict is dropped.
func (t *Trial) Raw() io.Writer { return &t.raw }

// Stderr takes what the agent writes to its standard error: stderr.log. A write never fails, and after Verdict is dropped.
func (t *Trial) Stderr() io.Writer { return &t.stderr }

// TranscriptFile takes the normalized transcript: transcript.jsonl. A write never fails, and after Verdict is dropped.
func (t *Trial) TranscriptFile() io.Writer { return &t.transcript }

var errOver = errors.New("the trial is over: its verdict is written")

// Criterion writes what a criterion came to, and returns when it is on disk.
func (t *Trial) Criterion(r CriterionResult) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.append(typeCriterion, r, "criterion "+r.Name)
}

// Grading writes down that a criterion is about to be graded, so that a criterion which ends the process is known. It is
// not synced: it survives the process, which is what it is for, and may be lost with the machine.
func (t *Trial) Grading(name string) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	err := errOver
	if !t.over {
		err = t.log.appendUnsynced(typeGrading, t.intent.Folder, grading{name})
	}
	if err != nil {
		return fmt.Errorf("journal: write that %s of %v is being graded: %w", name, t.intent.ID, err)
	}
	return nil
}

// Note writes down a fact of the trial that is no result.
func (t *Trial) Note(text string) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.append(typeNote, note{text}, "note")
}

// Failure writes down an assertion that the author of the eval made on its result and that failed: also after Verdict,
// which it does not change.
func (t *Trial) Failure(text string) error {
	if err := t.log.append(typeFailure, t.intent.Folder, note{text}); err != nil {
		return fmt.Errorf("journal: write failure of %v: %w", t.intent.ID, err)
	}
	return nil
}

func (t *Trial) append(kind string, data any, what string) error {
	err := errOver
	if !t.over {
		err = t.log.append(kind, t.intent.Folder, data)
	}
	if err != nil {
		return fmt.Errorf("journal: write %s of %v: %w", what, t.intent.ID, err)
	}
	return nil
}

// Changes writes changes.json: what the agent changed in its workspace, as a JSON array ordered as cs is. A second call
// replaces it.
func (t *Trial) Changes(cs []Change) error {
	if cs == nil {
		cs = []Change{}
	}
	err := replaceWith(filepath.Join(t.dir, changesFile), func(f *os.File) error {
		e := json.NewEncoder(f)
		e.SetEscapeHTML(false)
		e.SetIndent("", "\t")
		return e.Encode(cs)
	})
	if err != nil {
		return fmt.Errorf("journal: write changes of %v: %w", t.intent.ID, err)
	}
	return nil
}

const changesFile = "changes.json"

// Verdict ends the trial: it closes the streams, writes the verdict and returns when all of it is on disk. It sets v.ID, and
// v.Ended when that is zero. A second call is an error, and so is a Criterion after it: what was reported stands. (After an
// error other than [ErrIncomplete] it may be called again: the trial is not over.)
//
// An error that is [ErrIncomplete] says that the verdict is on disk, with what is missing beside it as a note.
func (t *Trial) Verdict(v Verdict) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	v.ID = t.intent.ID
	if v.Ended.IsZero() {
		v.Ended = time.Now()
	}
	// Streams and verdict go to the disk side by side: it takes them in one go.
	streams := []*stream{&t.raw, &t.stderr, &t.transcript}
	errs := make([]error, len(streams))
	var wg sync.WaitGroup
	for i, s := range streams {
		if !t.over {
			wg.Go(func() { errs[i] = s.close() })
		}
	}
	err := t.append(typeVerdict, v, "verdict")
	wg.Wait()
	if err != nil {
		return err
	}
	missing := errors.Join(errs...)
	if missing != nil {
		err = fmt.Errorf("%w: %w", ErrIncomplete, missing)
		err = fmt.Errorf("journal: end %v: %w", t.intent.ID, errors.Join(err, t.append(typeNote, note{err.Error()}, "note")))
	}
	t.over = true
	return err
}
