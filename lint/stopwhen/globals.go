package stopwhen

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// globals is what the package does with its variables.
type globals struct {
	set     map[*ssa.Global]ssa.Value   // to what, where it is declared
	changed map[*ssa.Global]bool        // it is set elsewhere, or its address is taken
	loads   map[*ssa.Global][]*ssa.UnOp // who reads it
}

func (p *pack) look() {
	p.globals = &globals{map[*ssa.Global]ssa.Value{}, map[*ssa.Global]bool{}, map[*ssa.Global][]*ssa.UnOp{}}
	for _, fn := range p.prog.Funcs() {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				p.globals.see(fn, instr)
			}
		}
	}
}

func (g *globals) see(fn *ssa.Function, instr ssa.Instruction) {
	for _, op := range instr.Operands(nil) {
		global, ok := (*op).(*ssa.Global)
		if !ok {
			continue
		}
		switch x := instr.(type) {
		case *ssa.UnOp:
			if x.Op == token.MUL {
				g.loads[global] = append(g.loads[global], x)
			}
		case *ssa.Store:
			if fn.Synthetic != "" && x.Addr == global && g.set[global] == nil { // where variables are declared
				g.set[global] = x.Val
				continue
			}
			g.changed[global] = true
		default:
			g.changed[global] = true
		}
	}
}

// constant reports whether the package never changes a variable after it is declared.
func (p *pack) constant(global *ssa.Global) bool {
	if p.globals == nil {
		p.look()
	}
	return !p.globals.changed[global]
}

// declared is what a variable of the package is declared as that v reads and nobody changes; nil: it is no such.
func (p *pack) declared(v ssa.Value) ssa.Value {
	load, ok := v.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return nil
	}
	if global, ok := load.X.(*ssa.Global); ok && p.constant(global) {
		return p.globals.set[global]
	}
	return nil
}
