package deepdigest_test

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/evaltest/internal/deepdigest"
)

type node struct {
	name string
	next *node
	m    map[string]int
	any  any
	f    func()
	xs   []float64
}

func written(v any) string {
	var b strings.Builder
	deepdigest.Write(&b, v)
	return b.String()
}

func TestEqualValuesAreWrittenAlike(t *testing.T) {
	t.Parallel()
	value := func() any {
		return &node{name: "a", next: &node{any: regexp.MustCompile("x+")}, m: map[string]int{"a": 1, "b": 2, "c": 3}, f: func() {}, xs: []float64{0.1}}
	}
	for range 20 {
		assert.Equal(t, written(value()), written(value()))
	}
	assert.NotContains(t, written(value()), fmt.Sprintf("%p", value()))
}

func TestAnyDifferenceShows(t *testing.T) {
	t.Parallel()
	values := []any{
		nil, 0, int64(0), "", "a", "b", []string(nil), []string{"a"}, []string{"a", "b"}, []string{"ab"}, [1]string{"a"}, true, false, 1.5, 2.5, 1i,
		&node{name: "a"}, &node{name: "b"}, &node{next: &node{}}, &node{next: &node{name: "x"}}, &node{any: 1}, &node{any: "1"},
		&node{m: map[string]int{"a": 1}}, &node{m: map[string]int{"a": 2}}, &node{m: map[string]int{"b": 1}}, &node{f: func() {}},
		node{name: "a"}, regexp.MustCompile("a"), regexp.MustCompile("b"), big.NewRat(1, 3), big.NewRat(1, 4),
	}
	seen := map[string]any{}
	for _, v := range values {
		text := written(v)
		assert.NotContains(t, seen, text, "%#v is written as %#v is", v, seen[text])
		seen[text] = v
	}
}

func TestCyclesEnd(t *testing.T) {
	t.Parallel()
	a := &node{name: "a"}
	a.next = &node{name: "b", next: a}
	b := &node{name: "a"}
	b.next = &node{name: "b", next: &node{name: "a"}}
	assert.NotEqual(t, written(a), written(b))
	m := map[string]any{}
	m["self"] = m
	s := []any{nil}
	s[0] = s
	assert.NotEqual(t, written(m), written(s))
}
