package journal

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

// BenchmarkTrial is what a trial with five criteria pays for its record: seven records and a transcript, each synced.
func BenchmarkTrial(b *testing.B) {
	j := openAt(b, b.TempDir())
	for b.Loop() {
		wholeTrial(b, j, "TestBench", 5)
	}
}

// BenchmarkTrialsInParallel shows what sharing syncs is worth.
func BenchmarkTrialsInParallel(b *testing.B) {
	j := openAt(b, b.TempDir())
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			wholeTrial(b, j, "TestBench", 5)
		}
	})
}

func BenchmarkRead1000Trials(b *testing.B) {
	dir := b.TempDir()
	j := openAt(b, dir)
	j.log.file = noSync{j.log.file}
	for i := range 1000 {
		wholeTrial(b, j, fmt.Sprintf("TestBench/%d", i), 5)
	}
	for b.Loop() {
		run, err := Read(dir)
		require.NoError(b, err)
		require.Len(b, run.Trials, 1000)
		require.Equal(b, verdict.OutcomePassed, run.Trials[999].Outcome())
	}
}

// noSync is a file of which nothing need survive the machine.
type noSync struct{ storage }

func (noSync) Sync() error { return nil }
