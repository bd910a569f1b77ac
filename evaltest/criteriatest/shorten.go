package criteriatest

import (
	"fmt"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/evaltest/internal/randtraj"
)

// frame is an event of a scene; rest: it comes after the prefix.
type frame struct {
	event agents.Event
	rest  bool
}

func framesOf(sc scene) []frame {
	frames := make([]frame, len(sc.events))
	for i, e := range sc.events {
		frames[i] = frame{e, i >= sc.at}
	}
	return frames
}

// sceneOf is the scene of frames, without what a trajectory refuses, and with what happened inside a call that is not there
// on the main thread.
func sceneOf(frames []frame) scene {
	var sc scene
	tr := new(agents.Trajectory)
	for _, f := range frames {
		e := f.event
		if e.Parent != "" {
			if _, ok := tr.Call(e.Parent); !ok {
				e = e.Under("")
			}
		}
		if tr.Append(e) != nil {
			continue
		}
		sc.events = append(sc.events, tr.Event(tr.Len()-1))
		if !f.rest {
			sc.at = len(sc.events)
		}
	}
	return sc
}

// shorten is a short and plain scene that still shows the breach; early: with as short a prefix as will do.
func (s *session) shorten(sc scene, b breach, early bool) scene {
	shows := func(frames []frame) bool { return b(sceneOf(frames)) != "" }
	frames := framesOf(sc)
	if !shows(frames) {
		return sc
	}
	frames = minimize(frames, 600, shows)
	for range 2 {
		for _, plainer := range simplifications {
			frames = simplify(frames, plainer, shows)
		}
		frames = minimize(frames, 200, shows)
	}
	if early {
		frames = earliest(frames, shows)
	}
	return renamed(sceneOf(frames), b)
}

// earliest leaves as many events as possible to the rest.
func earliest(frames []frame, shows func([]frame) bool) []frame {
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].rest {
			continue
		}
		shorter := append([]frame(nil), frames...)
		shorter[i].rest = true
		if !shows(shorter) {
			break
		}
		frames = shorter
	}
	return frames
}

// simplify applies a change to all events at once, else to each by itself, where the breach still shows.
func simplify(frames []frame, change func(agents.Event) agents.Event, shows func([]frame) bool) []frame {
	all := make([]frame, len(frames))
	for i, f := range frames {
		all[i] = frame{change(f.event), f.rest}
	}
	if shows(all) {
		return all
	}
	for i := range frames {
		one := append([]frame(nil), frames...)
		one[i].event = change(one[i].event)
		if shows(one) {
			frames = one
		}
	}
	return frames
}

var simplifications = []func(agents.Event) agents.Event{
	func(e agents.Event) agents.Event { return e.In("") },
	func(e agents.Event) agents.Event { return e.Under("") },
	func(e agents.Event) agents.Event { e.Output = ""; return e },
	func(e agents.Event) agents.Event { e.Call.Input = nil; return e },
	func(e agents.Event) agents.Event {
		if e.Kind == agents.EventStatus && e.Status.Settled() {
			e.Status = agents.Completed
		}
		return e
	},
	func(e agents.Event) agents.Event {
		if e.Kind == agents.EventPrompt {
			e.Text = "Do it."
		}
		return e
	},
	func(e agents.Event) agents.Event { e.Time = randtraj.Start; return e },
}

// renamed is the scene with plain ids, and a second from event to event, where the breach still shows.
func renamed(sc scene, b breach) scene {
	ids := map[string]string{}
	plain, timed := scene{at: sc.at}, scene{at: sc.at}
	apart := false
	for _, e := range sc.events {
		apart = apart || !e.Time.Equal(sc.events[0].Time)
		if e.Kind == agents.EventCall {
			ids[e.Call.ID] = fmt.Sprintf("c%d", len(ids)+1)
			e.Call.ID = ids[e.Call.ID]
			e.Call.Parent = ids[e.Call.Parent]
		}
		if id, ok := ids[e.CallID]; ok {
			e.CallID = id
		}
		e.Parent = ids[e.Parent]
		plain.events = append(plain.events, e)
		timed.events = append(timed.events, e.At(randtraj.Start.Add(time.Duration(len(timed.events))*time.Second)))
	}
	for _, other := range []scene{timed, plain} {
		if (apart || other.events == nil) && b(other) != "" {
			return other
		}
	}
	if b(plain) != "" {
		return plain
	}
	return sc
}

// shortenPanic makes the trajectory of a panic as short as that of any other breach.
func (s *session) shortenPanic() {
	v := s.violation("returns")
	if v == nil || v.Trajectory == nil || s.over {
		return
	}
	events := eventsOf(v.Trajectory)
	s.guarded(func() {
		sc := s.shorten(scene{events, len(events)}, s.panics, false)
		if saw := s.panics(sc); saw != "" {
			s.mu.Lock()
			v.Saw, v.Trajectory, v.At = saw, reel(sc.events), len(sc.events)
			s.mu.Unlock()
			v.Reproduction = s.reproduce("returns", sc)
		}
	})
}

func (s *session) panics(sc scene) string {
	if k := s.on(sc.events); k.fault != "" {
		return k.fault
	}
	return s.grade(trialOf(reel(sc.events), s.emptyDir())).fault
}
