package polarity

import "slices"

// An Expr is a polarity or a verdict as it depends on the parameters of a function, or on the fields of a receiver: what
// is known of Never(c) is what is known of c, the other way round. An Expr of a criterion is that of its StopPolarities.
//
// Exprs are parts of facts: everything in them is exported, and a nil Expr is unknown.
type Expr struct {
	Op   Op
	Is   Set     // Const; for Param and Field what their type says
	N    int     // Param, Field: the parameter; AtLeast: the number asked for, All, or First; Int: the number
	Path []int   // Field: of the parameter, pointers followed
	Args []*Expr // of the others
	Keys [][]int // Struct: the path of each of Args
}

// Op is what an Expr does.
type Op uint8

// The operations.
const (
	Const   Op = iota
	Param      // a parameter, the receiver being the first
	Field      // a field of a parameter
	Flip       // Pass for Fail, and the reverse
	Or         // | of two
	Union      // one of several
	AtLeast    // the k-th highest of several
	List       // a slice of criteria
	Struct     // a struct whose fields are known
	Int        // a number
)

// What AtLeast asks for, besides numbers.
const (
	All   = -1 // every part
	First = -2 // as many as the first of Args, an Int, says
)

func exactly(v int64) *Expr { return &Expr{Is: Exactly(v)} }

var open = &Expr{Is: unknown}

// maxSize bounds how much is kept of one function.
const maxSize = 64

func (e *Expr) size() int {
	n := 1
	if e != nil {
		for _, a := range e.Args {
			n += a.size()
		}
	}
	return n
}

// Set is what e can be, whatever the parameters are.
func (e *Expr) Set() Set {
	if e == nil {
		return unknown
	}
	switch e.Op {
	case Const, Param, Field:
		return e.Is
	case Flip:
		return e.Args[0].Set().flip()
	case Or:
		return e.Args[0].Set().combine(e.Args[1].Set(), func(a, b int) int { return a | b })
	case Union:
		var s Set
		for _, a := range e.Args {
			s = s.union(a.Set())
		}
		return s
	case AtLeast:
		k, parts := e.N, e.Args
		if k == First {
			if parts[0] == nil || parts[0].Op != Int {
				return unknown
			}
			k, parts = parts[0].N, parts[1:]
		}
		var sets []Set
		for _, p := range parts {
			if p == nil || p.Op != List { // a slice of which nothing is known
				return unknown
			}
			for _, part := range p.Args {
				sets = append(sets, part.Set())
			}
		}
		if k == All {
			k = len(sets)
		}
		return atLeast(k, sets)
	}
	return unknown
}

// with is e where the parameters are these; arg is nil for one of which nothing is known but its type.
func (e *Expr) with(arg func(int) *Expr) *Expr {
	if e == nil {
		return nil
	}
	switch e.Op {
	case Const, Int:
		return e
	case Param:
		return or(arg(e.N), &Expr{Is: e.Is})
	case Field:
		return or(arg(e.N).field(e.Path, e.Is), &Expr{Is: e.Is})
	}
	out := *e
	out.Args = make([]*Expr, len(e.Args))
	for i, a := range e.Args {
		out.Args[i] = a.with(arg)
	}
	return out.short()
}

// whole is e without nil in it, which a fact cannot hold.
func (e *Expr) whole() *Expr {
	if e == nil {
		return open
	}
	if len(e.Args) == 0 {
		return e
	}
	out := *e
	out.Args = make([]*Expr, len(e.Args))
	for i, a := range e.Args {
		out.Args[i] = a.whole()
	}
	return &out
}

func or(e, other *Expr) *Expr {
	if e == nil {
		return other
	}
	return e
}

// field is the field of e at path, of a type that can be set; nil: nothing is known of it.
func (e *Expr) field(path []int, set Set) *Expr {
	if e == nil {
		return nil
	}
	switch e.Op {
	case Param:
		return &Expr{Op: Field, N: e.N, Path: path, Is: set}
	case Field:
		return &Expr{Op: Field, N: e.N, Path: slices.Concat(e.Path, path), Is: set}
	case Struct:
		var found []*Expr
		for i, key := range e.Keys {
			switch {
			case slices.Equal(key, path):
				found = append(found, e.Args[i])
			case len(key) < len(path) && slices.Equal(key, path[:len(key)]):
				found = append(found, e.Args[i].field(path[len(key):], set))
			case len(path) < len(key) && slices.Equal(path, key[:len(path)]):
				return nil // a struct in parts
			}
		}
		return union(found)
	}
	return nil
}

// union is one of several; nil for none.
func union(es []*Expr) *Expr {
	switch len(es) {
	case 0:
		return nil
	case 1:
		return es[0]
	}
	return (&Expr{Op: Union, Args: es}).short()
}

// short is e, as a constant if it is one, and cut off where it is too large.
func (e *Expr) short() *Expr {
	if e.Op == List || e.Op == Struct {
		return e
	}
	constant := true
	for _, a := range e.Args {
		constant = constant && a != nil && a.closed()
	}
	if constant || e.size() > maxSize {
		return &Expr{Is: e.Set()}
	}
	return e
}

// closed reports whether e does not depend on parameters.
func (e *Expr) closed() bool {
	if e == nil {
		return true
	}
	if e.Op == Param || e.Op == Field {
		return false
	}
	for _, a := range e.Args {
		if !a.closed() {
			return false
		}
	}
	return true
}
