package evaltest

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// masked is v, a record of whatever type, with every string in it masked. It shares nothing with v that was changed. All
// that enters a record or a report goes through it, so that a field that is added later is masked, too.
//
// Left as they are: the identity of a trial, by which its records are found and which the test log prints in any case, and
// its fingerprint, which is digests;
// numbers that are kept as text; and the words of types of ours, such as an outcome.
func masked[V any](m *masker, v V) V {
	if m != nil {
		m.value(reflect.ValueOf(&v).Elem())
	}
	return v
}

var (
	rawJSON  = reflect.TypeFor[json.RawMessage]()
	anError  = reflect.TypeFor[error]()
	plainStr = reflect.TypeFor[string]()

	// asTheyAre are types by which records are found, and hold no text of anyone's.
	asTheyAre = map[reflect.Type]bool{reflect.TypeFor[journal.TrialID](): true, reflect.TypeFor[journal.Fingerprint](): true}

	// exactly are fields that hold numbers as text, and nothing else.
	exactly = map[reflect.Type][]string{
		reflect.TypeFor[journal.Intent]():        {"MinScore"},
		reflect.TypeFor[journal.CriterionSpec](): {"Weight", "PassAt"},
	}

	// ourWord is what values of types such as Outcome and Status look like. Agents may have put other things there.
	ourWord = regexp.MustCompile(`^[A-Za-z_]*$`)
)

// value masks what is in v, which can be set; what v refers to is copied first.
func (m *masker) value(v reflect.Value) {
	switch t := v.Type(); t.Kind() {
	case reflect.String:
		if t == plainStr || !ourWord.MatchString(v.String()) {
			v.SetString(m.text(v.String()))
		}
	case reflect.Slice:
		m.slice(v)
	case reflect.Array:
		for i := range v.Len() {
			m.value(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		out := reflect.MakeMapWithSize(t, v.Len())
		for key, elem := range v.Seq2() {
			out.SetMapIndex(m.copied(key), m.copied(elem))
		}
		v.Set(out)
	case reflect.Pointer:
		if v.IsNil() || t.Elem().Kind() == reflect.Struct && !opens(t.Elem()) {
			return
		}
		out := reflect.New(t.Elem())
		out.Elem().Set(m.copied(v.Elem()))
		v.Set(out)
	case reflect.Interface:
		switch {
		case v.IsNil():
		case t == anError:
			v.Set(reflect.ValueOf(maskedError(m.text(v.Interface().(error).Error()))))
		default:
			v.Set(m.copied(v.Elem()))
		}
	case reflect.Struct:
		if asTheyAre[t] {
			return
		}
		for i := range t.NumField() {
			if v.Field(i).CanSet() && !slices.Contains(exactly[t], t.Field(i).Name) {
				m.value(v.Field(i))
			}
		}
	}
}

func (m *masker) slice(v reflect.Value) {
	switch t := v.Type(); {
	case v.IsNil():
	case t == rawJSON:
		v.SetBytes(m.json(v.Bytes()))
	case t.Elem().Kind() == reflect.Uint8:
		v.SetBytes([]byte(m.text(string(v.Bytes()))))
	default:
		out := reflect.MakeSlice(t, v.Len(), v.Len())
		reflect.Copy(out, v)
		for i := range out.Len() {
			m.value(out.Index(i))
		}
		v.Set(out)
	}
}

// copied is a masked copy of v.
func (m *masker) copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	m.value(out)
	return out
}

// opens reports whether a struct has fields that can be seen: others, such as a trajectory, are no records.
func opens(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return true
		}
	}
	return false
}

// maskedError is the text of an error, and no way to the error itself.
type maskedError string

func (e maskedError) Error() string { return string(e) }

// event is e as the transcript takes it.
func (m *masker) event(e agents.Event) agents.Event {
	e.Raw = nil // no part of it
	return masked(m, e)
}

// describe is a call in a few words.
func (m *masker) describe(c agents.ToolCall) string { return describe(masked(m, c)) }

// shown is the attempt as people may see it.
func (a *attempt) shown() *attempt {
	m := a.e.masker()
	if m == nil {
		return a
	}
	s := *a
	trial := masked(m, *a.trial)
	s.trial = &trial
	s.info, s.answered, s.err = masked(m, a.info), m.text(a.answered), masked(m, a.err)
	s.results, s.shadow = masked(m, a.results), masked(m, a.shadow)
	s.notes, s.torn, s.kept = masked(m, a.notes), masked(m, a.torn), m.text(a.kept)
	return &s
}
