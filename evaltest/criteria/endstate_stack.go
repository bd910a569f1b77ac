package criteria

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// A function is an author's, whose place is named where it panics or hangs: there the author has to look, not in what it called of ours or
// of others.
type function struct {
	name string // with its package's path: example.com/evals.TestRows.func1
	file string
	at   int
}

// functionOf describes the first of fs that is not nil.
func functionOf(fs ...any) function {
	for _, f := range fs {
		if v := reflect.ValueOf(f); v.Kind() == reflect.Func && !v.IsNil() {
			fn := runtime.FuncForPC(v.Pointer())
			file, line := fn.FileLine(v.Pointer())
			return function{fn.Name(), file, line}
		}
	}
	return function{}
}

// line is where the function begins: rows_test.go:12.
func (f function) line() string { return fmt.Sprintf("%s:%d", filepath.Base(f.file), f.at) }

// packageOf is the path of the package of a function's name.
func packageOf(name string) string {
	name, _, _ = strings.Cut(name, "(")
	slash := strings.LastIndexByte(name, '/') + 1
	element, _, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + element
}

// panicLine is where in the author's package the panic came up. It is called by the deferred function that recovers.
func (f function) panicLine() string {
	pcs := make([]uintptr, 128)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	panicking := false
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			panicking = true
		case panicking && packageOf(frame.Function) == packageOf(f.name):
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return f.line()
		}
	}
}

// goroutineID is the number of the calling goroutine in stack traces; 0 if it cannot be told.
func goroutineID() int64 {
	b := make([]byte, 64)
	b = b[:runtime.Stack(b, false)]
	text, _, _ := bytes.Cut(bytes.TrimPrefix(b, []byte("goroutine ")), []byte(" "))
	id, _ := strconv.ParseInt(string(text), 10, 64)
	return id
}

// traceLine is the second line of a frame in a stack trace: a tab, the file, the line.
var traceLine = regexp.MustCompile(`^\t(.+):(\d+)(?: \+0x[0-9a-f]+)?$`)

// hangsAt is where in the author's package the goroutine is now.
func (f function) hangsAt(id int64) string {
	b := make([]byte, 8<<20)
	for trace := range strings.SplitSeq(string(b[:runtime.Stack(b, true)]), "\n\n") {
		if !strings.HasPrefix(trace, fmt.Sprintf("goroutine %d ", id)) {
			continue
		}
		lines := strings.Split(trace, "\n")
		for i := 1; i+1 < len(lines); i++ {
			m := traceLine.FindStringSubmatch(lines[i+1])
			if m != nil && packageOf(lines[i]) == packageOf(f.name) {
				return filepath.Base(m[1]) + ":" + m[2]
			}
		}
	}
	return f.line()
}
