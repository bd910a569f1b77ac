// Package owner says which process something belongs to, and whether that process is gone.
//
//	o := owner.Self() // written down beside what it owns
//	if o.Dead() {     // in any other process, later
//		remove(it)
//	}
package owner

import (
	"os"
	"sync"
)

// Owner is a process. Host and Namespace say where PID and Start mean something.
type Owner struct {
	PID       int    `json:"pid"`
	Start     string `json:"start,omitempty"` // when the process began, as the system counts; "": it cannot tell
	Namespace string `json:"namespace,omitempty"`
	Host      string `json:"host"`
}

// Self is the running process.
func Self() Owner { return self() }

var self = sync.OnceValue(func() Owner {
	o := Owner{PID: os.Getpid(), Namespace: namespace()}
	o.Start = startOf(o.PID)
	o.Host, _ = os.Hostname()
	return o
})

// Dead reports whether the process is certainly gone. One of another machine or PID namespace is not: it cannot be looked for.
func (o Owner) Dead() bool {
	me := Self()
	if o.PID <= 0 || o.Host != me.Host || o.Namespace != me.Namespace {
		return false
	}
	if start := startOf(o.PID); start != "" && o.Start != "" {
		return start != o.Start // else another process has the number now
	}
	return !exists(o.PID)
}
