package criteriatest

import (
	"reflect"
	"unsafe"

	"github.com/evaltest-go/evaltest/evaltest"
)

// copyOf is a copy of a criterion, with maps, slices and structs of its own where its fields hold them: what the copy keeps between
// calls, the original does not see. nil where the criterion is nothing that can be copied.
func copyOf(c evaltest.LiveCriterion) evaltest.LiveCriterion {
	v := reflect.ValueOf(c)
	switch {
	case v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct:
		n := reflect.New(v.Type().Elem())
		n.Elem().Set(v.Elem())
		ownFields(n.Elem(), 4)
		return n.Interface().(evaltest.LiveCriterion)
	case v.Kind() == reflect.Pointer:
		return nil
	}
	n := reflect.New(v.Type())
	n.Elem().Set(v)
	ownFields(n.Elem(), 4)
	return n.Elem().Interface().(evaltest.LiveCriterion)
}

// ownFields gives v, which is addressable, maps and slices of its own.
func ownFields(v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	v = writable(v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			ownFields(v.Field(i), depth-1)
		}
	case reflect.Array:
		for i := range v.Len() {
			ownFields(v.Index(i), depth-1)
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		n := reflect.MakeSlice(v.Type(), v.Len(), v.Cap())
		reflect.Copy(n, v)
		v.Set(n)
		for i := range v.Len() {
			ownFields(v.Index(i), depth-1)
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		n := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			n.SetMapIndex(it.Key(), it.Value())
		}
		v.Set(n)
	}
}

// writable is v, which is addressable, without the bar that reflection puts before unexported fields.
func writable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}
