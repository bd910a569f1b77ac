package criteriatest

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
)

// words is what a criterion may look at, as far as it can be learnt without running it: what comes first is likelier.
type words struct {
	texts   []string
	numbers []float64 // positive
	kinds   []agents.Kind
	moments bool // it holds a time.Time
	funcs   []uintptr
	parts   []reflect.Type // of criteria that it holds
}

const (
	maxTexts   = 90
	maxNumbers = 24
)

// wordsOf collects the words of a criterion's fields, name and source.
func wordsOf(c evaltest.LiveCriterion, name string) *words {
	w := new(words)
	if r, ok := c.(evaltest.Restricted); ok {
		w.kinds = append(w.kinds, r.Needs()...)
	}
	w.fields(reflect.ValueOf(c), 12, map[uintptr]bool{})
	w.source(c)
	w.name(name)
	return w
}

func (w *words) text(s string) {
	if strings.TrimSpace(s) != "" && len(s) <= 200 && len(w.texts) < maxTexts && !slices.Contains(w.texts, s) {
		w.texts = append(w.texts, s)
		if x, err := strconv.ParseFloat(s, 64); err == nil {
			w.number(x)
		}
	}
}

func (w *words) number(x float64) {
	if x = math.Abs(x); x > 0 && x < 1e18 && len(w.numbers) < maxNumbers && !slices.Contains(w.numbers, x) {
		w.numbers = append(w.numbers, x)
	}
}

// name takes apart what the criterion is called: skill used: pdf.
func (w *words) name(name string) {
	w.text(name)
	for _, re := range nameParts {
		for _, m := range re.FindAllStringSubmatch(name, 24) {
			w.text(m[len(m)-1])
		}
	}
}

var nameParts = []*regexp.Regexp{
	regexp.MustCompile(`: ([^:]+)$`),
	regexp.MustCompile("[\"'`]([^\"'`]+)[\"'`]"),
	regexp.MustCompile(`\(([^()]+)\)`),
	regexp.MustCompile(`[^\s"'();,:]+`),
}

// fields collects what v and all that it refers to hold, but for what belongs to the standard library.
func (w *words) fields(v reflect.Value, depth int, seen map[uintptr]bool) {
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[agents.Kind]() {
			w.kinds = append(w.kinds, agents.Kind(v.String()))
			return
		}
		w.text(v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.number(float64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.number(float64(v.Uint()))
	case reflect.Float32, reflect.Float64:
		w.number(v.Float())
	case reflect.Func:
		if !v.IsNil() {
			w.funcs = append(w.funcs, v.Pointer())
		}
	case reflect.Interface:
		if !v.IsNil() {
			if t := v.Elem().Type(); t.Implements(reflect.TypeFor[evaltest.Criterion]()) && !slices.Contains(w.parts, t) {
				w.parts = append(w.parts, t)
			}
			w.fields(v.Elem(), depth-1, seen)
		}
	case reflect.Pointer:
		if !v.IsNil() && !seen[v.Pointer()] {
			seen[v.Pointer()] = true
			w.fields(v.Elem(), depth-1, seen)
		}
	case reflect.Struct:
		w.structFields(v, depth, seen)
	case reflect.Slice, reflect.Array:
		for i := range min(v.Len(), 40) {
			w.fields(v.Index(i), depth-1, seen)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			w.fields(it.Key(), depth-1, seen)
			w.fields(it.Value(), depth-1, seen)
		}
	}
}

func (w *words) structFields(v reflect.Value, depth int, seen map[uintptr]bool) {
	t := v.Type()
	switch {
	case t == reflect.TypeFor[regexp.Regexp]():
		w.text(v.FieldByName("expr").String())
		return
	case t == reflect.TypeFor[time.Time]():
		w.moments = w.moments || !v.IsZero()
		return
	case isStandard(t.PkgPath()):
		return
	}
	for i := range t.NumField() {
		w.fields(v.Field(i), depth-1, seen)
	}
}

// isStandard reports whether a package is of the standard library: the first element of its path has no dot. A program's own main
// package is not.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != "" && first != "main" && first != "command-line-arguments" && !strings.Contains(first, ".") && standard[first]
}

// standard is the first elements of paths of the standard library: modules may have names without dots, too.
var standard = map[string]bool{
	"archive": true, "bufio": true, "bytes": true, "cmp": true, "compress": true, "container": true, "context": true, "crypto": true,
	"database": true, "debug": true, "embed": true, "encoding": true, "errors": true, "expvar": true, "flag": true, "fmt": true, "go": true,
	"hash": true, "html": true, "image": true, "index": true, "internal": true, "io": true, "iter": true, "log": true, "maps": true,
	"math": true, "mime": true, "net": true, "os": true, "path": true, "plugin": true, "reflect": true, "regexp": true, "runtime": true,
	"slices": true, "sort": true, "strconv": true, "strings": true, "structs": true, "sync": true, "syscall": true, "testing": true,
	"text": true, "time": true, "unicode": true, "unique": true, "unsafe": true, "weak": true,
}
