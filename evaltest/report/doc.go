// Package report says what a run came to, from its journal: rates that may be believed, what went wrong, what it has cost,
// and which rules were in force.
//
//	run, err := journal.Read(dir)
//	if err != nil {
//		return err
//	}
//	fmt.Println(report.Summarize(run).Text())
//	fmt.Println(report.Summarize(run, "example.com/shop/evals").Text()) // one package of it
//
// # Rates
//
// A rate is shown three ways, of which none stands alone:
//
//	passed 7 of 8 measured (87.5 %; coverage 8 of 10; between 70 % and 90 % of 10)
//
// Among the measured: of the trials that have a verdict in which no error had a part, how many passed. The coverage: how many
// of all trials were measured. And the interval in which the rate over all trials lies, whatever those without a verdict
// would have come to: its ends are "all of them fail" and "all of them pass".
//
// A trial whose verdict was known before an error ended its session is not among the measured: lost trials are decided
// sooner than won ones, so that counting those that an outage caught would bias the rate. In the interval it counts as what
// it is.
//
// A session that ends in an error without a verdict is tried again, where retries are in force, and one that had its verdict by
// then is spared that. So evals that are lost early are measured more rarely than others, and where evals differ in how hard
// they are, the rate among the measured may lean: by about the part of trials that were spared, times the rate. A summary then
// says what the rate would be with those verdicts; the truth lies about between the two. The interval does not lean.
//
// # Smoke checks
//
// A trial that may end as soon as what is armed has passed is held to another gate than the others. Whether it is one is
// known before it begins, from its mode and from what is armed, not from what it came to: a rate over those that did not
// pass so soon would be one over the worse half. So smoke checks have a rate of their own, and how many of its passes are of
// the armed criteria alone is said beside it.
package report
