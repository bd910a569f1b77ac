package effects

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// looker collects what one function does.
type looker struct {
	a     *Analysis
	fn    *ssa.Function
	found []Finding
}

func (l *looker) add(pos token.Pos, kind Kind, what string) {
	l.found = append(l.found, Finding{Pos: pos, Kind: kind, What: what, In: l.fn})
}

func (l *looker) instr(instr ssa.Instruction) {
	switch i := instr.(type) {
	case *ssa.Go:
		l.add(i.Pos(), Concurrent, "starts a goroutine")
		return // what it does there is not looked at
	case *ssa.Send:
		l.add(i.Pos(), Concurrent, "sends on a channel")
	case *ssa.Select:
		if len(i.States) > 0 {
			l.add(i.Pos(), Concurrent, "waits for channels")
		}
	case *ssa.UnOp:
		if i.Op == token.ARROW {
			l.add(i.Pos(), Concurrent, "receives from a channel")
		}
	case *ssa.Store:
		l.write(i.Pos(), i.Addr, "")
	case *ssa.MapUpdate:
		l.write(i.Pos(), i.Map, "")
	case *ssa.MakeClosure:
		l.closure(i)
	case ssa.CallInstruction:
		l.call(i)
	}
	for _, op := range instr.Operands(nil) {
		if g, ok := (*op).(*ssa.Global); ok {
			l.read(instr, g)
		}
	}
}

// read notes that a variable is used that changes.
func (l *looker) read(instr ssa.Instruction, g *ssa.Global) {
	if store, ok := instr.(*ssa.Store); ok && store.Addr == g {
		return // see write
	}
	obj := g.Object()
	if obj == nil {
		return
	}
	by := l.a.changing[obj]
	if by == "" {
		var fact Changing
		if obj.Pkg() == l.a.pass.Pkg || !l.a.pass.ImportObjectFact(obj, &fact) {
			return
		}
		by = fact.By
	}
	if by == top(l.fn).Name() {
		return // it writes it, too
	}
	pos := instr.Pos()
	if !pos.IsValid() {
		pos = l.fn.Pos()
	}
	l.add(pos, Variable, "reads the variable "+obj.Name()+", which "+by+" changes")
}

// write notes that something is written to, unless nobody else sees it.
func (l *looker) write(pos token.Pos, addr ssa.Value, what string) {
	if _, ok := addr.(*ssa.Alloc); ok {
		return
	}
	r := l.a.rootsOf(addr)
	if r.params == 0 && len(r.globals) == 0 && len(r.through) == 0 {
		return
	}
	if l.a.once(l.fn) && len(r.globals) > 0 {
		return // set once and for all
	}
	if what == "" {
		what = "writes to " + described(addr)
	}
	l.found = append(l.found, Finding{Pos: pos, Kind: State, What: what, Roots: r, In: l.fn})
}

// described names what is at an address.
func described(addr ssa.Value) string {
	for range 20 {
		switch v := addr.(type) {
		case *ssa.FieldAddr:
			if s, ok := v.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct); ok {
				return "the field " + s.Field(v.Field).Name()
			}
			return "a field"
		case *ssa.Global:
			return "the variable " + v.Name()
		case *ssa.FreeVar:
			return "the variable " + v.Name()
		case *ssa.Parameter:
			return v.Name()
		case *ssa.IndexAddr:
			addr = v.X
		case *ssa.Field:
			if s, ok := v.X.Type().Underlying().(*types.Struct); ok {
				return "the field " + s.Field(v.Field).Name()
			}
			return "a field"
		case *ssa.UnOp:
			addr = v.X
		case *ssa.Slice:
			addr = v.X
		case *ssa.MakeInterface:
			addr = v.X
		case *ssa.ChangeType:
			addr = v.X
		case *ssa.Alloc:
			if v.Comment != "" && v.Comment != "complit" && v.Comment != "new" {
				return "the variable " + v.Comment
			}
			return "a variable"
		default:
			return "what it is given"
		}
	}
	return "what it is given"
}

// closure looks into a function literal that is run, as far as it shows, while its function is.
func (l *looker) closure(mk *ssa.MakeClosure) {
	fn, ok := mk.Fn.(*ssa.Function)
	if !ok {
		return
	}
	if !used(mk) {
		return
	}
	if fn.Parent() == nil { // a method value: c.step
		if obj := program.Object(fn); obj != nil && len(mk.Bindings) == 1 {
			args := mk.Bindings
			if onces(mk) {
				args = nil // what it sets, it sets from its fields
			}
			l.effect(mk.Pos(), obj, args)
		}
		return
	}
	if l.onceOf(mk, fn) {
		return
	}
	l.found = append(l.found, l.a.inside(fn)...)
}

// onces reports whether a function is given to a sync.Once.
func onces(v ssa.Value) bool {
	for _, ref := range *v.Referrers() {
		if call, ok := ref.(*ssa.Call); ok {
			if obj := program.Callee(&call.Call); obj != nil && names.Full(obj) == "(*sync.Once).Do" {
				return true
			}
		}
	}
	return false
}

// used reports whether a function literal is called here, or given to someone who may call it, rather than kept or returned.
func used(v ssa.Value) bool {
	if v.Referrers() == nil {
		return true
	}
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Go: // that is bad enough
		case ssa.CallInstruction:
			return true
		case *ssa.ChangeType:
			if used(ref) {
				return true
			}
		case *ssa.Phi:
			return true
		case *ssa.Store:
			if local, ok := ref.Addr.(*ssa.Alloc); ok && local.Comment != "complit" {
				return true
			}
		}
	}
	return false
}

// onceOf reports whether a function literal is what a sync.Once does, from what does not change: then it does not matter
// when, or that it is kept.
func (l *looker) onceOf(mk *ssa.MakeClosure, fn *ssa.Function) bool {
	if !l.a.once(fn) {
		return false
	}
	for _, b := range mk.Bindings {
		r := l.a.rootsOf(b)
		if s, ok := b.(*ssa.Alloc); ok { // a parameter that was captured
			for _, store := range program.StoresTo(s).Stores {
				r.add(l.a.rootsOf(store.Val))
			}
		}
		if r.params&^1 != 0 {
			return false // it depends on the trajectory
		}
	}
	for _, f := range l.a.inside(fn) {
		if f.Kind != State {
			return false
		}
	}
	return true
}

func (l *looker) call(instr ssa.CallInstruction) {
	call, pos := instr.Common(), instr.Pos()
	if b, ok := call.Value.(*ssa.Builtin); ok {
		l.builtin(pos, b.Name(), call.Args)
		return
	}
	for _, arg := range call.Args {
		if fn, ok := arg.(*ssa.Function); ok { // a function that is given to someone who may call it
			if obj := program.Object(fn); obj != nil {
				l.effect(pos, obj, nil)
			} else if fn.Parent() != nil {
				l.found = append(l.found, l.a.inside(fn)...)
			}
		}
	}
	if call.IsInvoke() {
		l.effect(pos, call.Method, append([]ssa.Value{call.Value}, call.Args...))
		return
	}
	if fn, ok := call.Value.(*ssa.Function); ok && fn.Parent() != nil {
		l.found = append(l.found, l.a.inside(fn)...)
		return
	}
	if obj := program.Callee(call); obj != nil {
		l.effect(pos, obj, call.Args)
	} else if l.a.opts.Strict && literal(call.Value) == nil {
		l.add(pos, Unknown, "calls a function that is not known")
	}
}

func (l *looker) builtin(pos token.Pos, name string, args []ssa.Value) {
	switch name {
	case "delete", "clear", "copy":
		l.write(pos, args[0], "")
	case "close":
		l.add(pos, Concurrent, "closes a channel")
	case "print", "println":
		l.add(pos, Output, "calls "+name)
	case "append":
		if s, ok := args[0].(*ssa.Slice); ok && s.Max == nil && s.High != nil {
			l.write(pos, s.X, "") // what lies behind it is written over
		}
	}
}

// effect notes what a function does that is called with these arguments, the receiver first; nil: with unknown ones.
func (l *looker) effect(pos token.Pos, obj *types.Func, args []ssa.Value) {
	obj = obj.Origin()
	full := names.Full(obj)
	if listed(l.a.opts.Pure, obj, full) {
		return
	}
	calls := "calls " + l.a.name(obj)
	if listed(l.a.opts.Impure, obj, full) {
		l.add(pos, Unknown, calls+", which is listed as impure")
		return
	}
	if std := standard(obj); std != nil {
		if !l.exempt(obj, args) {
			l.standard(pos, obj, std, args)
		}
		return
	}
	sig := obj.Signature()
	if sig.Recv() != nil && types.IsInterface(sig.Recv().Type()) {
		if l.a.opts.Strict && !ours(obj) {
			l.add(pos, Unknown, calls+", a method of an interface")
		}
		return
	}
	if l.a.opts.Strict && program.Stdlib(obj.Pkg().Path()) {
		l.add(pos, Unknown, calls+", of which nothing is known")
		return
	}
	f := l.a.of(obj)
	if f.Kind != None && (f.Kind.far() || obj.Pkg() == l.a.pass.Pkg || f.Module == l.a.module()) {
		l.found = append(l.found, Finding{Pos: pos, Kind: f.Kind, What: calls + ", which " + f.What, In: l.fn, Roots: roots{far: f.Kind == State}, Related: l.related(obj, f.What)})
	}
	for _, w := range f.Writes {
		if w.Param < len(args) {
			l.write(pos, args[w.Param], calls+", which "+w.What)
			if n := len(l.found); n > 0 && l.found[n-1].Pos == pos && l.found[n-1].Related == nil {
				l.found[n-1].Related = l.related(obj, w.What)
			}
		}
	}
}

// ours reports whether a function is one of evaltest's: its interfaces are kept to by others' contracts.
func ours(obj *types.Func) bool { return strings.HasPrefix(names.Path(obj.Pkg()), names.Module) }

// related is where a function of the package does what it does.
func (l *looker) related(obj *types.Func, what string) []analysis.RelatedInformation {
	if obj.Pkg() != l.a.pass.Pkg {
		return nil
	}
	for _, f := range l.a.findings[obj] {
		if f.What == what {
			return append([]analysis.RelatedInformation{{Pos: f.Pos, Message: "here it " + what}}, f.Related...)
		}
	}
	return nil
}

// standard notes what a function of the standard library does.
func (l *looker) standard(pos token.Pos, obj *types.Func, std *effect, args []ssa.Value) {
	calls := "calls " + short(obj)
	if std.kind != None {
		l.add(pos, std.kind, calls)
	}
	for _, i := range std.writes {
		if i >= len(args) {
			continue
		}
		what := calls + " on " + described(args[i])
		if r := l.a.rootsOf(args[i]); len(r.globals) > 0 && r.globals[0].Pkg != nil && r.globals[0].Pkg.Pkg.Path() == "os" {
			l.add(pos, Output, what)
			continue
		}
		l.write(pos, args[i], what)
	}
}

// exempt reports whether a call that could do anything is harmless as it is called here.
func (l *looker) exempt(obj *types.Func, args []ssa.Value) bool {
	switch names.Full(obj) {
	case "(*sync.Once).Do":
		// What it does tells whether that matters: see closure. A method value, c.compile, gets nothing but its receiver.
		if len(args) == 2 {
			if fn := literal(args[1]); fn != nil {
				mk, ok := args[1].(*ssa.MakeClosure)
				return !ok || l.onceOf(mk, fn) || fn.Parent() == nil
			}
		}
	case "io/fs.ReadFile", "io/fs.ReadDir", "io/fs.Stat", "io/fs.Glob", "io/fs.WalkDir", "io/fs.Sub":
		if len(args) > 0 {
			if mk, ok := args[0].(*ssa.MakeInterface); ok {
				return names.Is(mk.X.Type(), "embed", "FS") || names.IsPointer(mk.X.Type(), "embed", "FS")
			}
		}
	}
	return false
}
