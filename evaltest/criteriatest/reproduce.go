package criteriatest

import (
	"fmt"
	"go/format"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/evaltest-go/evaltest/agents"
)

// reproduce is the source of a test that shows the breach without this package; "" where there is none.
func (s *session) reproduce(kind string, sc scene) string {
	rule, _, _ := strings.Cut(kind, "/")
	body, ok := reproductions[kind]
	if !ok {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func Test%s(t *testing.T) {\n", testName(s.c, rule))
	fmt.Fprintf(&b, "var c evaltest.LiveCriterion = %s\n", s.expression())
	times := kind == "pure/clock"
	for _, e := range sc.events {
		times = times || !e.Time.Equal(sc.events[0].Time)
	}
	if strings.Contains(body, "events") {
		if times && len(sc.events) > 0 {
			fmt.Fprintf(&b, "at := time.Date(%s, time.UTC)\n", sc.events[0].Time.UTC().Format("2006, 1, 2, 15, 4, 5, 0"))
		}
		b.WriteString("events := []agents.Event{\n")
		for _, e := range sc.events {
			b.WriteString(eventSource(e))
			if times {
				fmt.Fprintf(&b, ".At(at%s)", offset(e.Time.Sub(sc.events[0].Time.Truncate(time.Second))))
			}
			b.WriteString(",\n")
		}
		b.WriteString("}\n")
	}
	b.WriteString(strings.ReplaceAll(strings.TrimSpace(body), "AT", strconv.Itoa(sc.at)))
	b.WriteString("\n}\n")
	source, err := format.Source([]byte(b.String()))
	if err != nil {
		return b.String()
	}
	return string(source)
}

// reproductions is what tests do with a criterion c and events; AT is the length of the prefix that was judged.
var reproductions = map[string]string{
	"string": `
	if name := c.String(); strings.TrimSpace(name) == "" || strings.ContainsFunc(name, unicode.IsControl) {
		t.Errorf("String gives %q", name)
	}`,
	"returns": `
	tr := agents.NewTrajectory(events...)
	c.LiveVerdict(tr)
	evaltest.LiveInterval(c, tr)
	_, _ = c.Grade(t.Context(), &evaltest.Trial{Trajectory: tr, Reply: tr.Reply()})`,
	"declared": `
	tr := agents.NewTrajectory(events...)
	v, known, p := c.LiveVerdict(tr), evaltest.LiveInterval(c, tr), c.StopPolarities()
	if (v == evaltest.Passed || known.Lo.Float() > 0) && !p.Has(evaltest.Pass) ||
		(v == evaltest.Failed || known.Hi.Float() < 1) && !p.Has(evaltest.Fail) || v < evaltest.Undecided || v > evaltest.Failed {
		t.Errorf("LiveVerdict is %v (%v), StopPolarities %v", v, known, p)
	}`,
	"pure": `
	first := evaltest.LiveInterval(c, agents.NewTrajectory(events...))
	for n := range 1000 {
		tr := agents.NewTrajectory(events...)
		for range 2 {
			if known := evaltest.LiveInterval(c, tr); !known.Equal(first) {
				t.Fatalf("round %d: the same events were judged %v first, and now %v", n+1, first, known)
			}
		}
		evaltest.LiveInterval(c, tr.Prefix(n%(tr.Len()+1)))
	}`,
	"pure/clock": `
	synctest.Test(t, func(t *testing.T) {
		first := c.LiveVerdict(agents.NewTrajectory(events...))
		time.Sleep(60 * 365 * 24 * time.Hour)
		if v := c.LiveVerdict(agents.NewTrajectory(events...)); v != first {
			t.Errorf("%v, and years later %v", first, v)
		}
	})`,
	"concurrent": `
	want := c.LiveVerdict(agents.NewTrajectory(events...))
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for range 10_000 {
				if n%2 == 0 {
					c.LiveVerdict(agents.NewTrajectory(agents.Prompt("Do it.")))
				} else if v := c.LiveVerdict(agents.NewTrajectory(events...)); v != want {
					t.Errorf("%v, and by itself %v", v, want)
					return
				}
			}
		})
	}
	wg.Wait()`,
	"incremental": `
	tr, watched := new(agents.Trajectory), evaltest.Interval{}
	for _, e := range events {
		if err := tr.Append(e); err != nil {
			t.Fatal(err)
		}
		watched = evaltest.LiveInterval(c, tr)
	}
	if known := evaltest.LiveInterval(c, agents.NewTrajectory(events...)); !known.Equal(watched) {
		t.Errorf("%v where it is judged after each event, %v at once", watched, known)
	}`,
	"monotone": `
	tr := agents.NewTrajectory(events...)
	if was, is := c.LiveVerdict(tr.Prefix(AT)), c.LiveVerdict(tr); was != evaltest.Undecided && is != was {
		t.Errorf("%v after AT events, %v after %d", was, is, tr.Len())
	}`,
	"bounds": `
	tr := agents.NewTrajectory(events...)
	was, is := evaltest.LiveInterval(c, tr.Prefix(AT)), evaltest.LiveInterval(c, tr)
	switch v := c.LiveVerdict(tr); {
	case was.Valid() != nil || is.Valid() != nil:
		t.Errorf("no bounds: %v, %v", was.Valid(), is.Valid())
	case !is.Within(was):
		t.Errorf("%v after AT events, %v after %d", was, is, tr.Len())
	case v == evaltest.Passed && is.Lo.Float() < 1 || v == evaltest.Failed && is.Hi.Float() > 0:
		t.Errorf("%v with bounds %v", v, is)
	}
	if s, err := c.Grade(t.Context(), &evaltest.Trial{Trajectory: tr, Reply: tr.Reply()}); err == nil && !(evaltest.Interval{Lo: s, Hi: s}).Within(was) {
		t.Errorf("%v after AT events, and Grade is %v", was, s)
	}`,
	"sound": `
	tr := agents.NewTrajectory(events...)
	v := c.LiveVerdict(tr.Prefix(AT))
	s, err := c.Grade(t.Context(), &evaltest.Trial{Trajectory: tr, Reply: tr.Reply()})
	if v != evaltest.Undecided && (err != nil || s.Cmp(evaltest.PassIf(v == evaltest.Passed)) != 0) {
		t.Errorf("%v after AT events, and Grade of the whole is %v (error: %v)", v, s, err)
	}`,
	"trajectory/score": `
	tr := agents.NewTrajectory(events...)
	s, err := c.Grade(t.Context(), &evaltest.Trial{Trajectory: tr, Reply: tr.Reply()})
	if err != nil || s.Err() != nil {
		t.Errorf("every call has settled, and Grade gives %v (error: %v)", s, err)
	}`,
	"trajectory/open": `
	tr := agents.NewTrajectory(events...)
	open := tr.Prefix(AT) // calls may have run
	if s, err := c.Grade(t.Context(), &evaltest.Trial{Trajectory: open, Reply: open.Reply()}); err == nil {
		later, err := c.Grade(t.Context(), &evaltest.Trial{Trajectory: tr, Reply: tr.Reply()})
		if err != nil || later.Cmp(s) != 0 {
			t.Errorf("%v with open calls, %v (error: %v) when it is known how they ended; want ErrOpen first", s, later, err)
		}
	}`,
}

// expression makes the criterion: as it was written where it was passed, or as its fields say.
func (s *session) expression() string {
	if s.site.expr != "" {
		return s.site.expr
	}
	if c, ok := s.fresh(); ok {
		if x, ok := valueSource(reflect.ValueOf(c), s.site.pkg); ok {
			return x
		}
	}
	return fmt.Sprintf("nil // put the criterion here, a %T: %s", s.c, s.name)
}

// valueSource is Go for a value, as written in the package with the path pkg; ok is false for what cannot be written there.
func valueSource(v reflect.Value, pkg string) (source string, ok bool) {
	t := v.Type()
	name := t.String()
	if t.PkgPath() == pkg {
		name = t.Name()
	} else if t.Name() != "" && t.PkgPath() != "" && !unicode.IsUpper([]rune(t.Name())[0]) {
		return "", false
	}
	switch v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32,
		reflect.Uint64, reflect.Uint, reflect.Float32, reflect.Float64:
		return fmt.Sprintf("%v", plainValue(v)), true
	case reflect.String:
		return strconv.Quote(v.String()), true
	case reflect.Pointer:
		if v.IsNil() {
			return "nil", true
		}
		x, ok := valueSource(v.Elem(), pkg)
		return "&" + x, ok && v.Elem().Kind() == reflect.Struct
	case reflect.Slice, reflect.Map, reflect.Func, reflect.Interface, reflect.Chan:
		if v.IsNil() {
			return "nil", true
		}
		if v.Kind() != reflect.Slice || t.Name() != "" || t.Elem().PkgPath() != "" {
			return "", false
		}
		var xs []string
		for i := range v.Len() {
			x, ok := valueSource(v.Index(i), pkg)
			if !ok {
				return "", false
			}
			xs = append(xs, x)
		}
		return name + "{" + strings.Join(xs, ", ") + "}", true
	case reflect.Struct:
		if t.Name() == "" || strings.Contains(t.Name(), "[") {
			return "", false
		}
		var xs []string
		for i := range t.NumField() {
			f := t.Field(i)
			if v.Field(i).IsZero() {
				continue
			}
			x, ok := valueSource(v.Field(i), pkg)
			if !ok || !f.IsExported() && t.PkgPath() != pkg {
				return "", false
			}
			xs = append(xs, f.Name+": "+x)
		}
		return name + "{" + strings.Join(xs, ", ") + "}", true
	}
	return "", false
}

func plainValue(v reflect.Value) any {
	switch {
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	case v.CanFloat():
		return v.Float()
	}
	return v.Bool()
}

// testName is the rest of the name of a test, after Test.
func testName(c any, rule string) string {
	t := reflect.TypeOf(c)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	return title(name) + title(rule)
}

func title(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// offset is what is added to a time.
func offset(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d%time.Second == 0:
		return fmt.Sprintf(".Add(%d * time.Second)", d/time.Second)
	}
	return fmt.Sprintf(".Add(%d)", int64(d))
}

// eventSource is Go for an event, but for its time.
func eventSource(e agents.Event) string {
	var x string
	switch e.Kind {
	case agents.EventPrompt:
		x = fmt.Sprintf("agents.Prompt(%q)", e.Text)
	case agents.EventMessage:
		x = fmt.Sprintf("agents.Say(%q)", e.Text)
	case agents.EventRequest:
		x = "agents.Request()"
	case agents.EventCall:
		x = "agents.Begin(" + callSource(e.Call) + ")"
	case agents.EventStatus:
		x = fmt.Sprintf("agents.End(%q, %s, %q)", e.CallID, statusSource(e.Status), e.Output)
	case agents.EventUsage:
		x = "agents.Spent(" + usageSource(e.Usage) + ")"
	default:
		x = fmt.Sprintf("agents.Event{Kind: %q, Text: %q}", e.Kind, e.Text)
	}
	if e.Message != "" {
		x += fmt.Sprintf(".In(%q)", e.Message)
	}
	if e.Parent != "" && e.Kind != agents.EventCall {
		x += fmt.Sprintf(".Under(%q)", e.Parent)
	}
	return x
}

func callSource(c agents.ToolCall) string {
	fields := []string{fmt.Sprintf("ID: %q", c.ID)}
	if c.Parent != "" {
		fields = append(fields, fmt.Sprintf("Parent: %q", c.Parent))
	}
	fields = append(fields, "Kind: "+kindSource(c.Kind), fmt.Sprintf("Name: %q", c.Name))
	if len(c.Input) > 0 {
		fields = append(fields, fmt.Sprintf("Input: json.RawMessage(%q)", c.Input))
	}
	if len(c.Commands) > 0 {
		fields = append(fields, fmt.Sprintf("Commands: %#v", c.Commands))
	}
	if len(c.Paths) > 0 {
		fields = append(fields, fmt.Sprintf("Paths: %#v", c.Paths))
	}
	if c.Skill != "" {
		fields = append(fields, fmt.Sprintf("Skill: %q", c.Skill))
	}
	return "agents.ToolCall{" + strings.Join(fields, ", ") + "}"
}

var kindNames = map[agents.Kind]string{
	agents.Execute: "Execute", agents.Read: "Read", agents.Edit: "Edit", agents.Delete: "Delete", agents.Move: "Move", agents.Search: "Search",
	agents.Fetch: "Fetch", agents.Think: "Think", agents.Skill: "Skill", agents.Sub: "Sub", agents.Other: "Other",
}

func kindSource(k agents.Kind) string {
	if name, ok := kindNames[k]; ok {
		return "agents." + name
	}
	return strconv.Quote(string(k))
}

func statusSource(s agents.Status) string {
	switch s {
	case agents.Pending, agents.Completed, agents.Failed, agents.Denied, agents.Unresolved:
		return "agents." + title(string(s))
	case agents.InProgress:
		return "agents.InProgress"
	}
	return strconv.Quote(string(s))
}

func usageSource(u agents.Usage) string {
	var fields []string
	v := reflect.ValueOf(u)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			fields = append(fields, fmt.Sprintf("%s: %v", v.Type().Field(i).Name, plainValue(v.Field(i))))
		}
	}
	return "agents.Usage{" + strings.Join(fields, ", ") + "}"
}
