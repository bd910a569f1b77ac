package polarity

import "golang.org/x/tools/go/ssa"

// Expr is what is known of a criterion or a polarity in terms of the parameters of its function. It can be part of a fact.
func (r *Result) Expr(v ssa.Value) *Expr {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.expr(v).whole()
}

// Given is what e, which depends on the parameters of a function, is where the function is called with these arguments.
func (r *Result) Given(e *Expr, args []ssa.Value) *Expr {
	r.mu.Lock()
	defer r.mu.Unlock()
	return e.with(r.arguments(args, map[ssa.Value]bool{})).whole()
}

// Fixed reports whether e is the same whatever the parameters are.
func (e *Expr) Fixed() bool { return e.closed() }

// arguments is what is known of each argument of a call; nil where nothing is.
func (r *Result) arguments(args []ssa.Value, busy map[ssa.Value]bool) func(int) *Expr {
	return func(n int) *Expr {
		if n < 0 || n >= len(args) {
			return nil
		}
		if interesting(args[n].Type()) {
			return r.follow(args[n], busy)
		}
		return r.list(args[n], busy)
	}
}
