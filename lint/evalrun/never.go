package evalrun

import (
	"fmt"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// never reports evals that are made in fn, and are never run.
func (p *pack) never(fn *ssa.Function) {
	evals.Calls(fn, func(instr ssa.CallInstruction) {
		call, ok := instr.(*ssa.Call)
		if !ok {
			return
		}
		for _, v := range results(call) {
			of := p.madeOf(v)
			if of == nil || !realTest(of) {
				continue
			}
			if w := p.follow(v); w.run || w.returned || w.lost || !p.goesOn(call) {
				continue
			}
			p.report(call, fmt.Sprintf("the eval that %s makes is never run, so its test fails without having asked the agent anything; call its Run", p.callee(call)), nil)
		}
	})
}

// results is the results of a call, one by one.
func results(call *ssa.Call) (all []ssa.Value) {
	if call.Call.Signature().Results().Len() == 1 {
		return []ssa.Value{call}
	}
	for _, ref := range *call.Referrers() {
		if x, ok := ref.(*ssa.Extract); ok {
			all = append(all, x)
		}
	}
	return all
}

// goesOn reports whether the function can return after the call without having failed or skipped the test.
func (p *pack) goesOn(call *ssa.Call) bool {
	b := call.Block()
	from := 0
	for i, instr := range b.Instrs {
		if instr == ssa.Instruction(call) {
			from = i + 1
		}
	}
	return reaches(b, from, p.over)
}

// reaches reports whether a function can return when it goes on at the instruction that is the from-th of b, without passing
// one that is over.
func reaches(b *ssa.BasicBlock, from int, over func(ssa.Instruction) bool) bool {
	seen := map[*ssa.BasicBlock]bool{}
	var walk func(b *ssa.BasicBlock, from int) bool
	walk = func(b *ssa.BasicBlock, from int) bool {
		for _, instr := range b.Instrs[from:] {
			if over(instr) {
				return false
			}
			if _, ok := instr.(*ssa.Return); ok {
				return true
			}
		}
		for _, s := range b.Succs {
			if !seen[s] {
				seen[s] = true
				if walk(s, 0) {
					return true
				}
			}
		}
		return false
	}
	return walk(b, from)
}

// over reports whether the test has failed or is skipped after an instruction.
func (p *pack) over(instr ssa.Instruction) bool {
	call, ok := instr.(ssa.CallInstruction)
	if !ok {
		return false
	}
	if obj := program.Callee(call.Common()); obj != nil {
		switch names.Full(obj) {
		case "os.Exit", "runtime.Goexit", "log.Fatal", "log.Fatalf", "log.Fatalln":
			return true
		}
		if isTestify(names.Path(obj.Pkg())) && strings.HasPrefix(obj.Name(), "Fail") {
			return true
		}
	}
	for _, d := range p.deeds(call) {
		if d.self && (d.act == ends || d.act == marks) {
			return true
		}
	}
	return false
}
