// Package report says what a run came to, from its journal: rates that may be believed, what went wrong, what it has cost,
// and which rules were in force.
//
//	run, err := journal.Read(dir)
//	if err != nil {
//		return err
//	}
//	fmt.Println(report.Summarize(run).Text())
//
// # Rates
//
// A rate is shown three ways. Among the measured: of the trials that have a verdict in which no error had a part, how many
// passed. The coverage: how many of all trials were measured. And the interval in which the rate over all trials lies,
// whatever those without a verdict would have come to: its ends are "all of them fail" and "all of them pass".
//
// A trial whose verdict was known before an error ended its session is not among the measured: lost trials are decided
// sooner than won ones, so that counting those that an outage caught would bias the rate. In the interval it counts as what
// it is. Trials that were stopped by what was armed alone (smoke checks) passed another gate than the others: they are
// counted apart.
package report
