// Package right has criteria that look suspicious and depend on the trajectory and their fields alone.
package right

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/criteria"
	"github.com/evaltest-go/evaltest/lint/livepure/testdata/helpers"
)

type base struct{ name string }

func (b base) String() string                  { return b.name }
func (base) StopPolarities() evaltest.Polarity { return evaltest.Pass | evaltest.Fail }

// Grade may look at what it likes, as far as purity goes.
func (base) Grade(context.Context, *evaltest.Trial) (evaltest.Score, error) {
	if time.Now().IsZero() {
		return evaltest.Score{}, errors.New("what time is it?")
	}
	return evaltest.Score{}, evaltest.ErrOpen
}

func failIf(bad bool) evaltest.Verdict {
	if bad {
		return evaltest.Failed
	}
	return evaltest.Undecided
}

type key struct{ name string }

// A pattern compiled where the criterion is made.
type matching struct {
	base
	re *regexp.Regexp
}

func newMatching(expr string) *matching {
	if !started.IsZero() && time.Since(started) > time.Hour {
		fmt.Println("slow")
	}
	return &matching{base{expr}, regexp.MustCompile(expr)}
}

var started = time.Now()

func (c *matching) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(tr.Tally(key{c.name}, func(call agents.ToolCall) bool { return c.re.MatchString(call.Name) }).Ran() > 0)
}

// One compiled when it is first needed, from a field.
type lazily struct {
	base
	once sync.Once
	re   *regexp.Regexp
}

func (c *lazily) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.once.Do(func() { c.re = regexp.MustCompile(c.name) })
	return failIf(c.re.MatchString(tr.Reply()))
}

type lazilyByMethod struct {
	base
	once sync.Once
	re   *regexp.Regexp
}

func (c *lazilyByMethod) compile() { c.re = regexp.MustCompile(c.name) }

func (c *lazilyByMethod) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.once.Do(c.compile)
	return failIf(c.re.MatchString(tr.Reply()))
}

type onceValue struct {
	base
	re func() *regexp.Regexp
}

func newOnceValue(expr string) *onceValue {
	return &onceValue{base{expr}, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

func (c *onceValue) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(c.re().MatchString(tr.Reply()))
}

// A field of a copy.
type copied struct {
	base
	n int
}

func (c copied) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	for range tr.Calls() {
		c.n--
	}
	return failIf(c.n < 0)
}

// Local maps, slices and counters, also from the body of a range over a function.
type local struct{ base }

func (c *local) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	seen, order, n := map[string]bool{}, []string(nil), 0
	for _, e := range tr.Events() {
		if e.Kind == agents.EventCall && !seen[e.Call.Name] {
			seen[e.Call.Name] = true
			order = append(order, e.Call.Name)
			n++
		}
	}
	sort.Strings(order)
	return failIf(n > 5 || len(order) > 0 && order[0] == "rm")
}

// Pure helpers of another package.
type helped struct{ base }

func (c *helped) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(helpers.Stop(tr.Reply()) || helpers.Words(tr.Reply()) > 100 || len(helpers.Lower(strings.Fields(tr.Reply()))) > 3)
}

// A state of one's own within the call.
type stacked struct{ base }

func (c *stacked) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	var s helpers.Stack
	for call := range tr.Calls() {
		s.Push(call.Name)
	}
	w := s.Words()
	if len(w) > 0 {
		w[0] = ""
	}
	return failIf(s.Len() > 3)
}

// A clone is sorted, not the field.
type sorting struct {
	base
	forbidden []string
}

func (c *sorting) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	forbidden := slices.Clone(c.forbidden)
	slices.Sort(forbidden)
	all := append([]string(nil), c.forbidden...)
	slices.SortFunc(all, cmp.Compare[string])
	for call := range tr.Calls() {
		if _, found := slices.BinarySearch(forbidden, call.Name); found {
			return evaltest.Failed
		}
	}
	return evaltest.Undecided
}

// Maps that do not decide by their order.
type mapped struct {
	base
	limits map[string]int
	banned map[string]bool
}

func (c *mapped) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	counts := c.counts(tr)
	for tool, limit := range c.limits { // some are
		if counts[tool] > limit {
			return evaltest.Failed
		}
	}
	total, most, who := 0, 0, ""
	for tool, n := range counts { // a sum, the largest
		total += n
		if n > most || n == most && tool < who {
			most, who = n, tool
		}
	}
	if limit, ok := find(c.limits, who); ok && total > limit {
		return evaltest.Failed
	}
	var tools []string
	for tool := range counts {
		tools = append(tools, tool)
	}
	slices.Sort(tools)
	for _, tool := range slices.Sorted(maps.Keys(c.banned)) {
		if len(tools) > 0 && tools[0] == tool {
			return evaltest.Passed
		}
	}
	all := true
	for _, banned := range c.banned { // all are
		all = all && banned
	}
	return failIf(all && total > 100)
}

func find(m map[string]int, name string) (int, bool) {
	for k, v := range m {
		if k == name {
			return v, true
		}
	}
	return 0, false
}

func (c *mapped) counts(tr *agents.Trajectory) map[string]int {
	return agents.Fold(tr, key{"counts"}, func(s map[string]int, e agents.Event) map[string]int {
		if s == nil {
			s = map[string]int{}
		}
		if e.Kind == agents.EventCall {
			s[e.Call.Name]++
		}
		return s
	})
}

// A state that belongs to the trajectory, with methods, a lock and a lazy part.
type state struct {
	mu    sync.Mutex
	once  sync.Once
	words map[string]int
	n     int
}

func (s *state) note(e agents.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words[e.Text]++
	s.n++
}

type remembering struct{ base }

func (c *remembering) state(tr *agents.Trajectory) *state {
	return agents.Fold(tr, key{c.name}, c.step)
}

func (c *remembering) step(s *state, e agents.Event) *state {
	if s == nil {
		s = &state{words: map[string]int{}}
	}
	s.note(e)
	return s
}

func (c *remembering) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	s := c.state(tr)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words["asked"]++
	s.once.Do(func() { s.n = tr.Len() })
	return failIf(s.n > 3)
}

// What a trajectory remembers may be used by a step.
type twice struct{ base }

func (c *twice) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	known := (&remembering{c.base}).state(tr)
	return failIf(tr.Weigh(key{"twice"}, func(call agents.ToolCall) int {
		known.mu.Lock()
		defer known.mu.Unlock()
		known.words[call.Name]++
		return known.words[call.Name]
	}).Ran() > 3)
}

// A view with a state of its own.
type viewed struct{ base }

func (c *viewed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	v := tr.View(key{c.name}, func() func(agents.Event, func(agents.Event)) {
		n, seen := 0, map[string]bool{}
		return func(e agents.Event, emit func(agents.Event)) {
			n++
			seen[e.CallID] = true
			if n < 10 {
				emit(e)
			}
		}
	})
	return failIf(v.Len() > 3)
}

// A loop over prefixes, under a key of its own.
type stepped struct{ base }

func (c *stepped) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	longest := 0
	agents.FoldPrefixes(tr, new(int), func(s struct{}, prefix *agents.Trajectory) struct{} {
		longest = max(longest, prefix.Turns())
		return s
	})
	return failIf(longest > 3)
}

// The times of events, and constants of package time.
type timed struct {
	base
	limit time.Duration
}

func (c *timed) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if tr.Len() == 0 {
		return evaltest.Undecided
	}
	deadline := tr.Event(0).Time.Add(c.limit).Round(time.Second).In(time.UTC)
	return failIf(tr.Event(tr.Len() - 1).Time.After(deadline))
}

// Builders, buffers, decoders and numbers of one's own.
type computing struct {
	base
	price *big.Rat
}

func (c *computing) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	var text strings.Builder
	var buf bytes.Buffer
	sum := new(big.Rat).Set(c.price)
	for call := range tr.Calls() {
		fmt.Fprintf(&text, "%s\n", call.Name)
		buf.WriteString(call.Name)
		var input struct{ Path string }
		if err := json.Unmarshal(call.Input, &input); err != nil {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(call.Input))
		dec.UseNumber()
		_ = dec.Decode(&input)
		sum.Add(sum, c.price)
	}
	w := tabwriter.NewWriter(&buf, 0, 8, 1, ' ', 0)
	fmt.Fprintln(w, text.String())
	return failIf(sum.Cmp(c.price) > 0 && buf.Len() > 3)
}

// A sequence that always begins the same way is not random.
type shuffled struct {
	base
	seed uint64
}

func (c *shuffled) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	r := rand.New(rand.NewPCG(c.seed, 1))
	return failIf(r.IntN(10) > 3)
}

//go:embed right.go
var table embed.FS

// A file that is part of the program is a constant.
type embedded struct{ base }

func (c *embedded) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	text, err := fs.ReadFile(table, "right.go")
	if err != nil {
		return evaltest.Undecided
	}
	return failIf(strings.Contains(string(text), tr.Reply()))
}

// Tables of the package, which nobody changes.
var (
	limits  = map[string]int{"rm": 0, "go": 10}
	word    = regexp.MustCompile(`\w+`)
	errLoud = errors.New("loud")
)

func init() { limits["git"] = 3 }

type tabled struct{ base }

func (c *tabled) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	if err := c.loud(tr); errors.Is(err, errLoud) {
		return evaltest.Failed
	}
	return failIf(len(word.FindAllString(tr.Reply(), -1)) > limits["go"])
}

func (c *tabled) loud(tr *agents.Trajectory) error {
	if strings.ToUpper(tr.Reply()) == tr.Reply() {
		return fmt.Errorf("right: %w", errLoud)
	}
	return nil
}

// What a criterion that is embedded does was looked at where it is declared.
type wrapped struct{ *criteria.CommandCount }

func (c wrapped) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return c.CommandCount.LiveVerdict(tr)
}

// Generic types, and functions that are given to others.
type generic[T cmp.Ordered] struct {
	base
	of    func(agents.Call) T
	limit T
}

func (c *generic[T]) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	return failIf(anyOf(tr, func(call agents.Call) bool { return c.of(call) > c.limit }))
}

func anyOf(tr *agents.Trajectory, match func(agents.Call) bool) bool {
	for call := range tr.Calls() {
		if match(call) {
			return true
		}
	}
	return false
}

// A constructor may count its criteria.
var made int

func newLocal() *local {
	made++
	return &local{base{fmt.Sprint("local ", made)}}
}

// Methods that are none of a live criterion's may do what they like.
type describing struct {
	base
	asked int
}

func (c *describing) Describe() string {
	c.asked++
	return time.Now().String()
}

func (c *describing) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict { return evaltest.Undecided }

// LiveVerdict that is another's.
type stranger struct{ n int }

func (s *stranger) LiveVerdict() bool {
	s.n++
	return s.n > 3
}

// It is meant so.
type deliberate struct {
	base
	n int
}

func (c *deliberate) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.n++ //nolint:evaltest // it breaks its contract on purpose
	return failIf(c.n > 3)
}

type deliberateAsAWhole struct {
	base
	n int
}

//nolint:livepure // so does this one
func (c *deliberateAsAWhole) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	c.n++
	return failIf(time.Now().IsZero())
}

var _ = []any{newMatching, newOnceValue, newLocal}

// What is asked of the elements of a map does not depend on their order.
type orderless struct {
	base
	strict bool
}

func (c *orderless) LiveVerdict(tr *agents.Trajectory) evaltest.Verdict {
	m := map[string]int{}
	for call := range tr.Calls() {
		m[call.Name]++
	}
	if !nonEmpty(m) || only(m) == "read" || onlyIterated(m) == "read" || hasLong(m) || total(m) > 3 || under(m, "rm") > 1 {
		return evaltest.Undecided
	}
	names := slices.Collect(maps.Keys(m))
	slices.Sort(names)
	if names[0] == "rm" || len(slices.Collect(maps.Values(m))) > 3 {
		return evaltest.Undecided
	}
	for _, n := range m {
		if n > 3 {
			if c.strict {
				return evaltest.Failed
			}
			return evaltest.Undecided
		}
	}
	return evaltest.Undecided
}

func nonEmpty(m map[string]int) bool {
	for range m {
		return true
	}
	return false
}

func only(m map[string]int) string {
	if len(m) == 1 {
		for name := range m {
			return name
		}
	}
	return ""
}

func onlyIterated(m map[string]int) string {
	if len(m) != 1 {
		return ""
	}
	for name := range maps.Keys(m) {
		return name
	}
	return ""
}

func hasLong(m map[string]int) bool {
	for name := range maps.Keys(m) {
		if len(name) > 3 {
			return true
		}
	}
	return false
}

func total(m map[string]int) (n int) {
	for count := range maps.Values(m) {
		n += count
	}
	return n
}

func under(m map[string]int, key string) int {
	for name, n := range maps.All(m) {
		if name == key {
			return n
		}
	}
	return 0
}
