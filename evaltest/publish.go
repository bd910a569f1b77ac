package evaltest

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evaltest-go/evaltest/evaltest/internal/printable"
	"github.com/evaltest-go/evaltest/evaltest/journal"
	"github.com/evaltest-go/evaltest/evaltest/report"
)

// The files of a run's directory that are for people and say what is in the journals.
const (
	manifestFile = "manifest.json"
	summaryFile  = "summary.txt"
)

// underWay counts the trials of this process that have begun and are not over; begun those that ever did.
var underWay, begun atomic.Int64

// published is when this process last wrote down what the run came to, and how long that has taken in all.
var published struct {
	sync.Mutex
	took time.Duration
}

// publishShare is the part of a process's time that writing down what the run came to may take.
const publishShare = 20

// publishSometimes writes manifest and summary of the run, at a moment when no trial of this process is under way: a
// package without Main has no other. It costs a twentieth of the time at most.
func publishSometimes() {
	if underWay.Load() > 0 || !published.TryLock() {
		return
	}
	defer published.Unlock()
	if published.took*publishShare > time.Since(processStart) {
		return
	}
	begin := time.Now()
	_, _, _ = publish() // what is missing there is in the journals
	published.took += time.Since(begin)
}

// publish writes manifest.json and summary.txt of the run as it is now. It returns the run and its summary, nil where the
// run cannot be read.
func publish() (*journal.Run, *report.Summary, error) {
	j, err := journal.Default()
	if err != nil {
		return nil, nil, err
	}
	run, err := journal.Read(j.Dir())
	if err != nil {
		return nil, nil, err
	}
	manifest := report.NewManifest(run)
	all := manifest.Summary
	data, err := json.MarshalIndent(manifest, "", "\t")
	if err != nil {
		return run, all, fmt.Errorf("encode the manifest: %w", err)
	}
	if err := j.WriteFile(manifestFile, append(data, '\n')); err != nil {
		return run, all, err
	}
	return run, all, j.WriteFile(summaryFile, []byte(all.Text()+"\n"))
}

// printSummary says at the end of a package what it came to, and, where others were before it, what the run did.
func printSummary() {
	if begun.Load() == 0 {
		return
	}
	published.Lock()
	defer published.Unlock()
	run, all, err := publish()
	if err != nil {
		fmt.Fprintf(os.Stderr, "evaltest: sum up the run: %v\n", err)
	}
	if run == nil {
		return
	}
	j, err := journal.Default()
	if err != nil {
		return
	}
	mine := j.Process()
	fmt.Println(report.Summarize(run, mine.Package).Text())
	if len(all.Packages) > 1 {
		fmt.Println("the run so far:")
		fmt.Println(all.Text())
	}
	fmt.Printf("  %-10s %s\n", "records", j.Dir())
}

// tellLeftOpen reports, once in a process, the trials of this package that an earlier process did not end.
var tellLeftOpen = sync.OnceFunc(func() {
	j, err := journal.Default()
	if err != nil {
		return // the trial says so
	}
	open, err := j.LeftOpen()
	if err != nil {
		fmt.Fprintf(os.Stderr, "evaltest: look for trials that were left open: %v\n", err)
	}
	for i, t := range open {
		if i == 10 {
			fmt.Fprintf(os.Stderr, "evaltest: … and %d more\n", len(open)-i)
			break
		}
		fmt.Fprintf(os.Stderr, "evaltest: %s was left open in run %s: %s; its record is %s\n", printable.Text(t.Intent.ID.String()), t.RunName(), printable.Text(t.Err().Message()), t.Dir)
	}
})
