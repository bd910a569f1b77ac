// Package graderr reports errors that become a score.
//
// A criterion that cannot be graded, since a judge is down, a program is not installed or a golden file is missing, has no score: Grade
// returns the error, and the trial is errored. Where it returns a score of 0 instead, the agent is blamed for an outage, and rates
// fall with nobody knowing why. So in functions that score (Grade, what criteria.CheckScore is given, and everything else that returns an
// evaltest.Score) an error must not lead to a score and a nil error.
//
// Bad:
//
//	answer, err := c.judge.Do(request)
//	if err != nil {
//		return evaltest.Score{}, nil // the judge is down, and the agent has failed
//	}
//
//	data, _ := os.ReadFile("testdata/golden.csv")
//
// Good:
//
//	answer, err := c.judge.Do(request)
//	if err != nil {
//		return evaltest.Score{}, err
//	}
//
// Some errors are the agent's failure, and a score: that is the rule of the built-in criteria, too. A file of the workspace that is
// not there is the agent's failure; whatever else keeps it from being read is not, so tell them apart:
//
//	data, err := os.ReadFile(filepath.Join(trial.Dir, "out.csv"))
//	switch {
//	case errors.Is(err, fs.ErrNotExist):
//		return evaltest.PassIf(false).Because("no out.csv"), nil
//	case err != nil:
//		return evaltest.Score{}, err
//	}
//
// A program that ran and ended with another status than 0, an *exec.ExitError, has judged the agent. One that is not installed has
// not, nor has one that was killed since ctx has ended:
//
//	out, err := cmd.CombinedOutput()
//	var status *exec.ExitError
//	switch {
//	case ctx.Err() != nil:
//		return evaltest.Score{}, ctx.Err()
//	case errors.As(err, &status):
//		return evaltest.PassIf(false).Because("%s", out), nil
//	case err != nil:
//		return evaltest.Score{}, err
//	}
//
// Not reported, since they are the agent's, or may be:
//
//   - what the agent wrote and cannot be parsed (json.Unmarshal of trial.Reply), what the criterion itself finds wrong (errors.New);
//   - a server or a program that the agent made: requests to this machine, a command by its path;
//   - an error that is told apart: with errors.Is, errors.As, any function that looks at it, or since some path returns it;
//   - an error of which code does not show whose it is: of functions of other modules, of methods of interfaces; see [Options].
//
// Never a score are
//
//   - the error of another criterion's Grade, evaltest.ErrOpen, evaltest.AuthorError, an *agents.Error, the end of ctx;
//   - of requests to other machines, and of parsing what they answer, or what the author wrote;
//   - of reading files that are not the agent's, and of making files and folders for the criterion's own use;
//   - a panic that is recovered from.
//
// Functions of the package that answer without an error (has(path, text) bool) are looked at where the answer is scored.
//
// Where the error is in no case the agent's, the fix returns it; where a missing file or an exit status may be meant, it returns the
// other errors.
package graderr

import (
	"go/token"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/evaltest-go/evaltest/lint/internal/names"
	"github.com/evaltest-go/evaltest/lint/internal/program"
	"github.com/evaltest-go/evaltest/lint/internal/report"
)

const name = "graderr"

// Options say whose errors those of functions are that code does not show. The zero value is what most projects want.
type Options struct {
	// Faults lists functions and methods whose errors are never the agent's failure, by full name (example.com/judge.Ask,
	// (*example.com/judge.Client).Ask, (example.com/judge.Judge).Ask for an interface), and packages of such functions, by import path.
	Faults []string `json:"faults"`
	// Verdicts lists those whose errors are the agent's failure, in the same form: they may become a score. It comes first.
	Verdicts []string `json:"verdicts"`
}

// New is the analyzer.
func New(opts Options) *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name: name,
		Doc: "reports errors that become a score\n\n" +
			"Where a criterion cannot be graded, Grade returns the error. A score of 0 in its place blames the agent for an outage.",
		URL:       names.Page(name),
		Requires:  []*analysis.Analyzer{program.Analyzer},
		FactTypes: []analysis.Fact{new(Fault)},
		Run: func(pass *analysis.Pass) (any, error) {
			run(pass, opts)
			return nil, nil
		},
	}
	report.ListVar(&a.Flags, &opts.Faults, "faults", "functions and packages whose errors are never the agent's, by full name, with commas between")
	report.ListVar(&a.Flags, &opts.Verdicts, "verdicts", "functions and packages whose errors are the agent's failure, by full name, with commas between")
	return a
}

func run(pass *analysis.Pass, opts Options) {
	prog := pass.ResultOf[program.Analyzer].(*program.Program)
	if !prog.Concerned() || prog.Standard() {
		return
	}
	a := &analyzer{pass: pass, prog: prog, opts: opts, faults: map[*ssa.Function]*Fault{}, reported: map[token.Pos]bool{}}
	a.export()
	for _, fn := range prog.Funcs() {
		if errs, ok := scores(fn.Signature); ok {
			g := &grader{analyzer: a, fn: fn, err: errs}
			g.check()
		}
	}
}
