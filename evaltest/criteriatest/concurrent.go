package criteriatest

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/evaltest-go/evaltest/agents"
)

// concurrent holds the criterion against the rule of that name: goroutines judge trajectories of their own, and one that they share.
func (s *session) concurrent() {
	s.mu.Lock()
	skip := s.over || s.found["pure"] != nil || s.found["returns"] != nil
	s.mu.Unlock()
	if skip {
		return
	}
	var cases [][]agents.Event
	for _, w := range s.witnesses[:min(len(s.witnesses), 6)] {
		cases = append(cases, newTape().all(w[:min(len(w), 40)]).events)
	}
	cases = append(cases, newTape().all(s.relevant).events, newTape().all([]act{nothing}).events)
	want := make([][]look, len(cases))
	if !s.guarded(func() {
		for i, events := range cases {
			want[i] = s.watch(events)
		}
	}) {
		return
	}
	shared := cases[len(cases)-2]
	telling := shared
	for i, looks := range want {
		if !looks[len(looks)-1].same(looks[0]) {
			telling = cases[i]
			break
		}
	}
	growing := new(agents.Trajectory)
	rounds := 40
	if raceEnabled {
		rounds = 8
	}
	var wg sync.WaitGroup
	for g := range 4 {
		l := &looker{s, s.c, new(pulse), true}
		wg.Go(func() {
			l.guarded(func() {
				for n := range rounds {
					i := (g + n) % len(cases)
					if at := differ(want[i], l.watch(cases[i])); at >= 0 {
						l.clashed(scene{cases[i][:at], at}, telling, "while other goroutines judged other trajectories", want[i][at])
						return
					}
					l.look(growing)
					if g == 0 && n*len(shared)/rounds < len(shared) {
						for growing.Len() < (n+1)*len(shared)/rounds {
							_ = growing.Append(shared[growing.Len()])
						}
					}
					runtime.Gosched()
				}
			})
		})
	}
	wg.Wait()
	s.mu.Lock()
	over := s.over
	s.mu.Unlock()
	if over {
		return
	}
	s.guarded(func() {
		n := growing.Len()
		if k := s.look(growing); k.fault == "" && want[len(cases)-2][n].fault == "" && !k.same(want[len(cases)-2][n]) {
			s.clashed(scene{shared[:n], n}, telling, fmt.Sprintf("%v when goroutines had judged the trajectory together while it grew", k), want[len(cases)-2][n])
		}
	})
}

// clashed reports a look that was wrong. telling is a trajectory whose verdict is another than that of an empty one.
func (l *looker) clashed(sc scene, telling []agents.Event, what string, want look) {
	l.report(&Violation{
		Rule: "concurrent", Saw: fmt.Sprintf("another verdict than %v %s: does it keep anything in a field, or a global?", want, what),
		Trajectory: reel(sc.events), At: sc.at, Reproduction: l.reproduce("concurrent", scene{telling, len(telling)}),
	})
}
