package effects

// Kind says in what way something is not pure.
type Kind uint8

// The kinds.
const (
	None Kind = iota
	Clock
	Random
	Files
	Network
	Process
	Environment
	Output
	Concurrent // goroutines, channels
	State      // what is kept between calls
	Variable   // a package's variable that changes
	MapOrder
	Unknown // of what is called nothing is known
)

// Advice is what to do instead.
func (k Kind) Advice() string {
	switch k {
	case Clock:
		return "use the times of the trajectory's events"
	case Random:
		return "decide by what the trajectory shows"
	case Files, Network, Process:
		return "judge by the trajectory, or look when the trial is over, with a criterion that is not live"
	case Environment:
		return "read it where the criterion is made, and keep it in a field"
	case Output:
		return "say it in the reason of Grade's score"
	case Concurrent:
		return "judge in the goroutine that asks"
	case State:
		return "keep memory in the trajectory, with agents.Fold"
	case Variable:
		return "make it a field of the criterion"
	case MapOrder:
		return "go over the keys in order: slices.Sorted(maps.Keys(m))"
	}
	return "list it in pure if it depends on its arguments alone"
}

// far reports whether what is done in this way by another module counts. Of its goroutines, caches and maps nothing may be
// seen outside.
func (k Kind) far() bool { return k != None && k < Concurrent }
