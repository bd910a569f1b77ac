// Package evaltest is the front door of a module for evaluating coding agents with `go test`. It holds no code but its
// example evals (examples_test.go); the packages are below it:
//
//   - [github.com/evaltest-go/evaltest/evaltest]: T, an eval within a test: criteria, stops, limits, verdicts
//   - [github.com/evaltest-go/evaltest/evaltest/criteria]: what can be asked of an agent
//   - [github.com/evaltest-go/evaltest/agents]: what a coding agent is and does; adapters for particular ones are in the
//     folders below it
//   - [github.com/evaltest-go/evaltest/agents/script]: what a scripted agent does, or what the model of a real one says
//   - [github.com/evaltest-go/evaltest/evaltest/journal]: what is on disk of a run
//   - [github.com/evaltest-go/evaltest/evaltest/verdict]: scores, intervals and gates
package evaltest
