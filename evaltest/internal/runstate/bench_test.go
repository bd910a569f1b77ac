package runstate_test

import (
	"context"
	"testing"
)

func BenchmarkAcquire(b *testing.B) {
	s := open(b, b.TempDir())
	for b.Loop() {
		acquire(b, s, 4)()
	}
}

// Eight goroutines, two places.
func BenchmarkAcquireContended(b *testing.B) {
	s := open(b, b.TempDir())
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			release, err := s.Acquire(context.Background(), 2, nil)
			if err != nil {
				b.Error(err)
				return
			}
			release()
		}
	})
}

func BenchmarkEnter(b *testing.B) {
	s := open(b, b.TempDir())
	for b.Loop() {
		enter(b, s, "k").Done(result("measured"))
	}
}

// Each writes the count.
func BenchmarkEnterWithErrors(b *testing.B) {
	s := open(b, b.TempDir())
	for b.Loop() {
		enter(b, s, "k").Done(result("crash"))
		enter(b, s, "k").Done(result("measured"))
	}
}

// After a thousand trials.
func BenchmarkOpened(b *testing.B) {
	s := open(b, b.TempDir())
	for range 1000 {
		enter(b, s, "k").Done(result("measured"))
	}
	for range 5 {
		enter(b, s, "k").Done(result("crash"))
	}
	for b.Loop() {
		if looked(b, s, "k") != 5 {
			b.Fatal("it is not open")
		}
	}
}
