// Package journal keeps what an eval came to on disk, from before its agent starts, so that nothing paid for is lost.
//
//	j, err := journal.Default() // the run directory of this process's run
//	if err != nil {
//		return err
//	}
//	trial, err := j.Begin(journal.Intent{ID: journal.TrialID{Package: "example.com/evals", Test: "TestPDF", N: 1, Trial: 1, Attempt: 1}})
//	if err != nil {
//		return err
//	}
//	// … run the agent: its stream goes to trial.Raw(), its transcript to trial.TranscriptFile() …
//	err = trial.Verdict(journal.Verdict{Outcome: verdict.OutcomePassed})
//
// and, in any other process, at any time:
//
//	run, err := journal.Read(j.Dir())
//	…
//	for _, t := range run.Final() { // each trial once
//		fmt.Println(t.Intent.ID, t.Outcome(), t.Err())
//	}
//
// A later run finds what was settled, and runs only the rest:
//
//	base, err := j.Resume("latest")
//	…
//	for _, old := range base.Find(id) {
//		if run, grade := old.Intent.Fingerprint.Diff(now); old.Settled() && len(run)+len(grade) == 0 {
//
// # The run directory
//
// All packages of one `go test` share one directory: EVALTEST_DIR, or .evaltest/<run> at the root of the module.
//
//	.evaltest/
//	  .gitignore                     ignores all of it
//	  latest                         the name of the run that was begun last
//	  20261130T223057-3141592653/    begun at that time (UTC) by the go command whose folder is go-build3141592653
//	    previous                       the name of the run that was the latest before; empty when there was none
//	    journal-evals-4711-k3f9q2xa.jsonl   one for each test process
//	    manifest.json, summary.txt     what the run came to, for people; all of it is in the journals
//	    state/                         what the run's processes share while they live: the breaker, the places of agents
//	    trials/TestPDF-scanned-7h2m4c9d/    one for each attempt at a trial
//	      report.txt         what the test log says of it
//	      transcript.jsonl   what the agent did (package transcript)
//	      raw.log            its stream as it came
//	      stderr.log         what it wrote to standard error, if anything
//	      changes.json       what it changed in the workspace
//	      changed/           the files that it created or modified, where they were kept
//	      requests.json      its requests to the model, where a gateway saw them
//	      workspace/         the workspace, where it was kept
//
// A test binary that was not started by `go test` (`go test -c`, a debugger) is a run of its own. EVALTEST_DIR is the run
// directory itself; a relative one is meant from the root of the module. Later runs into the same EVALTEST_DIR add journals
// beside those that are there; [Process].Run tells them apart. No record that is there is ever removed or written over.
//
// A run that resumes another writes that down, so that a run which was resumed and killed again leads to the one before it. The
// directories may be moved together: each is looked for where it was, and then beside the others.
//
// # The records
//
// A journal is JSON lines, each an envelope:
//
//	{"v":2,"type":"intent","time":"…","seq":2,"trial":"trials/TestPDF-7h2m4c9d","data":{…}}
//
// with the types
//
//	run         once, first: the [Process]
//	resumes     {"dir":…}: the run that the process resumes
//	intent      an [Intent]: an attempt at a trial is about to begin
//	grading     {"name":…}: a criterion is about to be graded
//	criterion   a [CriterionResult]
//	verdict     a [Verdict]: the attempt is over
//	note        {"text":…}: a fact that is no result, of the trial or of the process
//	failure     {"text":…}: an assertion on the result that failed, after the verdict
//
// A record is one write to a file opened for appending, and has been synced to the disk when the call that wrote it returns:
// what one sync costs depends on the disk (from 0.1 to 10 ms), records that are written at the same time share one. Only
// grading is not synced: it says which criterion ended the process, and outlives that without. An intent without a
// verdict is an errored trial. A reader skips types and fields that it does not know; it refuses a larger v.
//
// Schema 1 had neither resumes nor grading, nor what an intent says of policy and fingerprint, nor whether a trial was
// measured, which [Read] derives. Its input tokens included those that were written to a cache.
//
// Text that is no valid UTF-8 is written with U+FFFD in place of what is not: the bytes as they came are in raw.log.
package journal
