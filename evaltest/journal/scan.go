package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// record is what stands before the data of a record, and where the record is.
type record struct {
	V     int
	Type  string
	Trial string
	Data  json.RawMessage

	n    int    // number of the line, from 1
	line []byte // all of it
	last bool   // it has no newline behind it, so that it may be torn
	err  error  // why it is no record
}

// journals are the names of the journals in a run directory.
func journals(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filePrefix) && strings.HasSuffix(e.Name(), fileSuffix) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// lines calls do with each line of r that is not blank: its number, where it begins, and whether it has no newline. The line
// is valid until do returns.
func lines(r io.Reader, do func(n int, at int64, line []byte, last bool) error) error {
	in := bufio.NewReaderSize(r, 256<<10)
	var long []byte
	var at int64
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long[:0], line...)
			for errors.Is(err, bufio.ErrBufferFull) {
				line, err = in.ReadSlice('\n')
				long = append(long, line...)
			}
			line = long
		}
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := do(n, at, line, last); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
		at += int64(len(line))
	}
}

// readRecords calls do with the records of a journal.
func readRecords(dir, name string, do func(at int64, r record) error) error {
	f, err := os.Open(filepath.Join(dir, name))
	if err == nil {
		defer f.Close()
		err = lines(f, func(n int, at int64, line []byte, last bool) error {
			r := recordOf(line)
			r.n, r.last = n, last
			if errors.Is(r.err, errNewer) {
				return r.err
			}
			return do(at, r)
		})
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", filepath.Join(dir, name), err)
	}
	return err
}

var errNewer = errors.New("written by a newer version of evaltest")

// recordOf reads a line. Its data may not be JSON.
func recordOf(line []byte) record {
	r, ok := headOf(line)
	if !ok || !slices.Contains(types, r.Type) {
		r = parse(line)
	}
	r.line = line
	return r
}

// headOf reads the head of a line as it is written, without looking at the data: of most lines no more is ever asked. It is
// false for any other line.
func headOf(line []byte) (r record, ok bool) {
	rest := bytes.TrimSpace(line)
	next := func(before, behind string) []byte {
		after, ok := bytes.CutPrefix(rest, []byte(before))
		if !ok {
			rest = nil
			return nil
		}
		text, after, ok := bytes.Cut(after, []byte(behind))
		if !ok || bytes.IndexByte(text, '\\') >= 0 || bytes.IndexByte(text, '"') >= 0 {
			rest = nil
			return nil
		}
		rest = after
		return text
	}
	version := next(`{"v":`, `,`)
	kind := next(`"type":"`, `",`)
	next(`"time":"`, `",`)
	next(`"seq":`, `,`)
	var trial []byte
	if bytes.HasPrefix(rest, []byte(`"trial":`)) {
		trial = next(`"trial":"`, `",`)
	}
	data, ok := bytes.CutPrefix(rest, []byte(`"data":`))
	if !ok || len(version) != 1 || version[0] < '1' || version[0] > '0'+Version || len(data) == 0 || data[len(data)-1] != '}' {
		return record{}, false
	}
	return record{V: int(version[0] - '0'), Type: string(kind), Trial: string(trial), Data: data[:len(data)-1]}, true
}

// parse reads any line.
func parse(line []byte) record {
	var e envelope
	if err := json.Unmarshal(line, &e); err != nil {
		// A newer version may give a field another shape; its number is the better message.
		var head struct{ V int }
		if json.Unmarshal(line, &head) != nil || head.V <= Version {
			return record{err: fmt.Errorf("a broken line: %w", err)}
		}
		e.V = head.V
	}
	switch {
	case e.V > Version:
		return record{err: fmt.Errorf("%w: its records are of schema %d, this version reads up to %d; update evaltest", errNewer, e.V, Version)}
	case e.V < 1:
		return record{err: errors.New("a line that is no record")}
	}
	return record{V: e.V, Type: e.Type, Trial: e.Trial, Data: e.Data}
}

// value decodes the data of a record; nil when its type is not known.
func (r *record) value() (any, error) {
	if r.err != nil {
		return nil, r.err
	}
	v, err := decode(r.Type, r.Data)
	if err != nil {
		// What headOf took for the data may have had a field behind it.
		p := parse(r.line)
		if p.err != nil {
			return nil, p.err
		}
		v, err = decode(p.Type, p.Data)
	}
	if err != nil {
		return nil, fmt.Errorf("a record of type %q: %w", r.Type, err)
	}
	return v, nil
}
