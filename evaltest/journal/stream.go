package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// stream is a file that is made at the first write and only grows. It is safe for concurrent use, and Write never fails: an
// agent must not be ended by a full disk. What went wrong is said by close.
type stream struct {
	path string

	mu     sync.Mutex
	file   *os.File
	closed bool
	lost   int64 // bytes that could not be written
	err    error // the first error
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(p) == 0 {
		return len(p), nil
	}
	n, err := s.write(p)
	if err != nil {
		s.lost += int64(len(p) - n)
		if s.err == nil {
			s.err = err
		}
	}
	return len(p), nil
}

func (s *stream) write(p []byte) (int, error) {
	if s.file == nil {
		f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
		if err != nil {
			return 0, err
		}
		s.file = f
	}
	return s.file.Write(p)
}

// close syncs and closes the file. Its error says what is missing from it, also when it is called again.
func (s *stream) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.file != nil {
		s.err = errors.Join(s.err, syncFile(s.file), s.file.Close())
		s.file = nil
	}
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("write %s: %d bytes are missing: %w", filepath.Base(s.path), s.lost, s.err)
}
