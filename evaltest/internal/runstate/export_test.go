package runstate

import "time"

// Dir is the folder.
func (s *State) Dir() string { return s.dir }

// SetPatience is how long s waits for a lock that a stopped process holds.
func (s *State) SetPatience(d time.Duration) { s.patience = d }
