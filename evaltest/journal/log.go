package journal

import (
	"io"
	"os"
	"sync"
	"time"
)

// storage is an open file for appending. A test puts a failing one in its place.
type storage interface {
	io.WriteCloser
	Sync() error
}

// syncedFile is a file as storage.
type syncedFile struct{ *os.File }

func (f syncedFile) Sync() error { return syncFile(f.File) }

// log appends records to one journal. It is safe for concurrent use.
type log struct {
	file storage

	mu      sync.Mutex
	seq     int   // records written
	midline bool  // a write failed after part of a line: the next begins on a line of its own
	closed  error // not nil: nothing more may be written

	// One sync covers every record written before it began, so that trials in parallel do not queue for the disk.
	syncing sync.Mutex
	synced  int   // records known to be on disk
	lost    int   // records up to this one were covered by a sync that failed
	lostErr error // how
}

// append writes one record with one write call and returns when it is on disk.
func (l *log) append(kind, trial string, data any) error {
	text, err := encode(data)
	if err != nil {
		return err
	}
	seq, err := l.write(envelope{V: Version, Type: kind, Trial: trial, Data: text})
	if err != nil {
		return err
	}
	return l.sync(seq)
}

// appendUnsynced writes one record, and leaves it to a later sync to have it on disk.
func (l *log) appendUnsynced(kind, trial string, data any) error {
	text, err := encode(data)
	if err != nil {
		return err
	}
	_, err = l.write(envelope{V: Version, Type: kind, Trial: trial, Data: text})
	return err
}

func (l *log) write(e envelope) (seq int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed != nil {
		return 0, l.closed
	}
	e.Seq, e.Time = l.seq+1, time.Now()
	line, err := encode(e)
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 0, len(line)+2)
	if l.midline {
		// What the failed write left is a broken line, which readers report. It must not break this record too.
		buf = append(buf, '\n')
	}
	buf = append(append(buf, line...), '\n')
	n, err := l.file.Write(buf)
	if err == nil && n < len(buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		l.midline = l.midline && n == 0 || n > 0 && buf[n-1] != '\n'
		return 0, err
	}
	l.midline = false
	l.seq++
	return l.seq, nil
}

// sync returns when the record seq is on disk.
func (l *log) sync(seq int) error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	if seq <= l.lost {
		return l.lostErr
	}
	if seq <= l.synced {
		return nil
	}
	l.mu.Lock()
	upTo := l.seq
	l.mu.Unlock()
	if err := l.file.Sync(); err != nil {
		// The system may drop what it could not write and report the next sync as a success: those records count as lost.
		l.lost, l.lostErr = upTo, err
		return err
	}
	l.synced = upTo
	return nil
}

// close makes later appends return why.
func (l *log) close(why error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed != nil {
		return nil
	}
	l.closed = why
	return l.file.Close()
}
