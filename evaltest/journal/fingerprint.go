package journal

import (
	"cmp"
	"slices"
)

// Fingerprint is what the result of a trial depends on, part by part: the name of a part and a digest of it. Two trials
// with equal fingerprints asked the same of the same.
type Fingerprint struct {
	// Run are the parts that the trajectory depends on: prompts, workspace, skills, agent, model, limits, …
	Run map[string]string `json:"run"`
	// Grade are the parts that its grading depends on: criteria, gate, test binary.
	Grade map[string]string `json:"grade"`
}

// IsZero reports whether nothing is known.
func (f Fingerprint) IsZero() bool { return len(f.Run) == 0 && len(f.Grade) == 0 }

// Diff names the parts in which both differ, sorted.
func (f Fingerprint) Diff(g Fingerprint) (run, grade []string) {
	return diff(f.Run, g.Run), diff(f.Grade, g.Grade)
}

func diff(a, b map[string]string) []string {
	var names []string
	for name := range a {
		if v, ok := b[name]; !ok || v != a[name] {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, cmp.Compare[string])
	return slices.Compact(names)
}
