// Package deepdigest writes down all that a Go value holds, unexported fields included, so that two values of one type can
// be told apart by a digest:
//
//	h := sha256.New()
//	deepdigest.Write(h, criterion)
//
// Functions and channels have no content: of them only their being there counts. What a pointer points to is written, not
// where it is, so that equal values of two processes are written alike.
package deepdigest

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Write writes v to w. It never fails: an error of w is lost.
func Write(w io.Writer, v any) {
	d := &writer{w: w, seen: map[visit]int{}}
	d.value(reflect.ValueOf(v))
}

// visit is a place that is being written: to come there again is a cycle.
type visit struct {
	p uintptr
	t reflect.Type
}

type writer struct {
	w    io.Writer
	seen map[visit]int // depth at which a place is being written
}

func (d *writer) text(format string, args ...any) { fmt.Fprintf(d.w, format, args...) }

// cycle reports whether the place is being written already, and marks it if not.
func (d *writer) cycle(v reflect.Value) (leave func(), yes bool) {
	at := visit{v.Pointer(), v.Type()}
	if depth, ok := d.seen[at]; ok {
		d.text("again %d;", depth)
		return nil, true
	}
	d.seen[at] = len(d.seen)
	return func() { delete(d.seen, at) }, false
}

func (d *writer) value(v reflect.Value) {
	if !v.IsValid() {
		d.text("nil;")
		return
	}
	d.text("%s ", v.Type())
	switch v.Kind() {
	case reflect.Bool:
		d.text("%v;", v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.text("%d;", v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		d.text("%d;", v.Uint())
	case reflect.Float32, reflect.Float64:
		d.text("%b;", v.Float())
	case reflect.Complex64, reflect.Complex128:
		d.text("%b;", v.Complex())
	case reflect.String:
		d.text("%q;", v.String())
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		d.text("nil %v;", v.IsNil())
	case reflect.Interface:
		d.value(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			d.text("nil;")
			return
		}
		if leave, again := d.cycle(v); !again {
			d.value(v.Elem())
			leave()
		}
	case reflect.Slice:
		if v.IsNil() || v.Len() == 0 {
			d.text("[];")
			return
		}
		if leave, again := d.cycle(v); !again {
			d.elements(v)
			leave()
		}
	case reflect.Array:
		d.elements(v)
	case reflect.Struct:
		d.text("{")
		for i := range v.NumField() {
			d.text("%s:", v.Type().Field(i).Name)
			d.value(v.Field(i))
		}
		d.text("}")
	case reflect.Map:
		d.mapping(v)
	}
}

func (d *writer) elements(v reflect.Value) {
	d.text("%d[", v.Len())
	for i := range v.Len() {
		d.value(v.Index(i))
	}
	d.text("]")
}

// mapping writes a map in the order of its keys as they are written.
func (d *writer) mapping(v reflect.Value) {
	if leave, again := d.cycle(v); again {
		return
	} else if leave != nil {
		defer leave()
	}
	var entries []string
	for key, elem := range v.Seq2() {
		var b strings.Builder
		e := &writer{w: &b, seen: d.seen}
		e.value(key)
		b.WriteString("=>")
		e.value(elem)
		entries = append(entries, b.String())
	}
	slices.Sort(entries)
	d.text("map%d[%s]", len(entries), strings.Join(entries, ","))
}
