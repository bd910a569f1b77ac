package stopwhen

import (
	"fmt"
	"go/constant"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/evals"
	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
)

// misuse is what is wrong with how a criterion is built, where code shows it; empty: nothing that is known.
func (p *pack) misuse(c ssa.Value, depth int) string {
	if absent(c) {
		return "the criterion is nil; arm one, or leave the call out"
	}
	call, ok := evals.Origin(c).(*ssa.Call)
	if !ok || depth > 10 {
		return ""
	}
	name := builder(call)
	args := call.Call.Args
	switch name {
	case "Never", "Succeeded", "Attempted":
		return p.parts(name, args[:1], depth)
	case "WithinCalls":
		if n, ok := number(args[0]); ok && n < 1 {
			return fmt.Sprintf("WithinCalls(%s, …) judges no call; ask for one at least", shown(n))
		}
		return p.parts(name, args[1:2], depth)
	case "Before", "Then":
		return p.parts(name, args[:2], depth)
	case "AllOf", "AnyOf", "AtLeast":
		list, known := p.written(args[len(args)-1])
		if !known {
			return ""
		}
		if what := p.parts(name, list, depth); what != "" {
			return what
		}
		if len(list) == 0 {
			return name + " has nothing to choose from; give it criteria"
		}
		if k, ok := number(args[0]); ok && name == "AtLeast" && (k < 1 || k > float64(len(list))) {
			return fmt.Sprintf("AtLeast asks for %s of %d criteria; ask for one at least, and for no more than there are", shown(k), len(list))
		}
	case "Min", "Max", "Partial", "Input":
		if what := p.misuse(args[0], depth+1); what != "" && name == "Input" {
			return what
		}
		return bounds(call)
	case "CommandMatches", "MessageMatches":
		if expr, ok := text(args[0]); ok {
			if _, err := regexp.Compile(expr); err != nil {
				return fmt.Sprintf("%s: %v", name, err)
			}
		}
	case "CommandExecuted", "SkillTriggered", "FirstSkill":
		if words, ok := text(args[0]); ok && (words == "" || name == "CommandExecuted" && strings.TrimSpace(words) == "") {
			return name + " is given nothing to look for; name it"
		}
	case "CallsAtMost", "TurnsAtMost", "TokensAtMost", "CostAtMost", "TimeAtMost":
		if n, ok := number(args[0]); ok && n < 0 {
			return name + " is given a negative bound: no trial could pass"
		}
	case "CallsAtLeast", "TurnsAtLeast", "TokensAtLeast", "CostAtLeast", "TimeAtLeast":
		if n, ok := number(args[0]); ok && n <= 0 {
			return name + " is given no positive bound: every trial would pass"
		}
	}
	return ""
}

// parts is what is wrong with the parts of a combination.
func (p *pack) parts(name string, parts []ssa.Value, depth int) string {
	for i, part := range parts {
		if part == nil {
			continue
		}
		if absent(part) {
			return fmt.Sprintf("part %d of %s is nil; leave it out", i+1, name)
		}
		if what := p.misuse(part, depth+1); what != "" {
			return what
		}
	}
	if name == "Never" || name == "AllOf" || name == "AnyOf" || name == "AtLeast" {
		return ""
	}
	for _, part := range parts {
		if end := p.endState(part, 0); end != nil {
			return fmt.Sprintf("%s cannot judge %s, which looks at the workspace when the agent is done; combine such criteria outside of %[1]s, with AllOf or AnyOf",
				name, p.quote(end, "a criterion"))
		}
	}
	if name == "Before" || name == "Then" {
		for _, part := range parts {
			if reach := p.reach.Value(part); reach.Cannot(names.Pass) {
				return fmt.Sprintf("%s needs parts that can pass while the agent works, and %s can reach %v alone; give it criteria that can",
					name, p.quote(part, "one of them"), reach)
			}
		}
	}
	return ""
}

// quote is a criterion as it is written.
func (p *pack) quote(v ssa.Value, otherwise string) string {
	if call, ok := evals.Origin(v).(*ssa.Call); ok {
		if x := p.prog.Expr(call); x != nil {
			return program.Text(x, otherwise)
		}
	}
	return otherwise
}

// endState is a part that is not live, of a built-in combination that is; nil: none that is known.
func (p *pack) endState(v ssa.Value, depth int) ssa.Value {
	o := evals.Origin(v)
	if m := names.MethodsOf(o.Type()); !types.IsInterface(o.Type()) && m.Criterion() && !m.Live() {
		return o
	}
	call, ok := o.(*ssa.Call)
	if !ok || depth > 10 {
		return nil
	}
	var parts []ssa.Value
	switch builder(call) {
	case "Never", "Succeeded", "Attempted":
		parts = call.Call.Args[:1]
	case "AllOf", "AnyOf", "AtLeast":
		parts, _ = p.written(call.Call.Args[len(call.Call.Args)-1])
	}
	for _, part := range parts {
		if part != nil {
			if end := p.endState(part, depth+1); end != nil {
				return end
			}
		}
	}
	return nil
}

// bounds is what is wrong with the bounds of a criterion that counts.
func bounds(last *ssa.Call) string {
	var least, most float64
	var hasMin, hasMax, partial bool
	for call := last; call != nil; {
		n, known := 0.0, true
		name := builder(call)
		if len(call.Call.Args) > 1 && name != "Input" {
			n, known = number(call.Call.Args[1])
		}
		switch {
		case name == "Min" && !known, name == "Max" && !known:
			return ""
		case name == "Min" && !hasMin: // the last one counts
			least, hasMin = n, true
		case name == "Max" && !hasMax:
			most, hasMax = n, true
		case name == "Partial":
			partial = true
		}
		if name != "Min" && name != "Max" && name != "Partial" && name != "Input" {
			if recv := call.Call.Signature().Recv(); name == "" || recv != nil {
				return "" // it may have bounds already
			}
			break
		}
		call, _ = evals.Origin(call.Call.Args[0]).(*ssa.Call)
		if call == nil {
			return ""
		}
	}
	if !hasMin && !hasMax {
		least = 1
	}
	switch {
	case hasMin && least < 0, hasMax && most < 0:
		return "a criterion counts to a negative bound; give Min and Max numbers from 0"
	case hasMin && least == 0 && !hasMax:
		return "Min(0) asks for nothing; for something that must not happen use Never or Max(0)"
	case hasMax && least > most:
		return fmt.Sprintf("Min(%s) lies above Max(%s): no trial could pass", shown(least), shown(most))
	case partial && least == 0:
		return "Partial gives credit on the way to a minimum; add Min(n)"
	}
	return ""
}

// builder is the name of the function or method of package criteria that is called; empty: it is of another.
func builder(call *ssa.Call) string {
	obj := program.Callee(&call.Call)
	if obj == nil || names.Path(obj.Pkg()) != names.Criteria {
		return ""
	}
	return obj.Name()
}

// absent reports whether it is certain that a criterion is nil.
func absent(v ssa.Value) bool {
	c, ok := evals.Origin(v).(*ssa.Const)
	if !ok || c.Value != nil {
		return false
	}
	switch c.Type().Underlying().(type) {
	case *types.Interface, *types.Pointer:
		return true
	}
	return false
}

// written is the elements of a slice that is written out, or passed as arguments.
func (p *pack) written(v ssa.Value) (list []ssa.Value, known bool) {
	if c, ok := v.(*ssa.Const); ok && c.Value == nil {
		return nil, true
	}
	list = p.elements(v)
	return list, list != nil
}

// option is what is wrong with an option of StopWhen; empty: nothing that is known.
func (p *pack) option(options ssa.Value) string {
	if options == nil {
		return ""
	}
	for _, o := range p.elements(options) {
		if o == nil {
			continue
		}
		call, ok := evals.Origin(o).(*ssa.Call)
		if !ok {
			continue
		}
		obj := program.Callee(&call.Call)
		if obj == nil || names.Path(obj.Pkg()) != names.Evaltest || len(call.Call.Args) != 1 {
			continue
		}
		n, ok := number(call.Call.Args[0])
		switch name := obj.Name(); {
		case !ok:
		case name == "Weight" && n <= 0:
			return fmt.Sprintf("Weight(%s): a weight is a positive number", shown(n))
		case name == "PassAt" && (n <= 0 || n > 1):
			return fmt.Sprintf("PassAt(%s): a threshold lies in (0, 1]", shown(n))
		case name == "Timeout" && n <= 0:
			return "Timeout: give a positive duration"
		}
	}
	return ""
}

// prevents reports whether Prevent is one of the options.
func (p *pack) prevents(options ssa.Value) bool {
	if options == nil {
		return false
	}
	found, _ := p.optionsOf(options)
	return found["Prevent"]
}

func number(v ssa.Value) (float64, bool) {
	c, ok := evals.Origin(v).(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.Int && c.Value.Kind() != constant.Float {
		return 0, false
	}
	f, _ := constant.Float64Val(constant.ToFloat(c.Value))
	return f, true
}

func text(v ssa.Value) (string, bool) {
	c, ok := evals.Origin(v).(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(c.Value), true
}

func shown(n float64) string { return fmt.Sprint(n) }
