package polarity

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/lint/internal/names"
)

func TestSets(t *testing.T) {
	t.Parallel()
	pass, fail, both, neither := Exactly(names.Pass), Exactly(names.Fail), Exactly(3), Exactly(0)
	assert.Equal(t, fail, pass.flip())
	assert.Equal(t, both, both.flip())
	assert.Equal(t, "Pass or Fail", pass.union(fail).String())
	assert.Equal(t, pass.union(fail), pass.union(fail).flip())
	assert.True(t, Exactly(names.Decided).Decided())
	assert.False(t, Exactly(names.Decided).Cannot(names.Fail), "what is wrong is said elsewhere")
	assert.True(t, neither.Cannot(names.Pass))
	assert.False(t, Set{}.Cannot(names.Pass), "what never returns")
	assert.True(t, both.union(pass).Must(names.Pass))
	assert.False(t, both.union(pass).Must(names.Fail))
	assert.False(t, pass.union(unknown).Must(names.Pass))
	assert.Equal(t, unknown, Exactly(7))
}

// atLeast agrees with counting, for every choice of parts of which everything is known, and holds every choice of one that is
// not.
func TestAtLeast(t *testing.T) {
	t.Parallel()
	want := func(k int, parts []int) int {
		pass, fail, v := 0, 0, 0
		for _, p := range parts {
			pass += p & 1
			fail += p >> 1
		}
		if pass >= k {
			v |= names.Pass
		}
		if fail >= len(parts)-k+1 {
			v |= names.Fail
		}
		return v
	}
	for k := 1; k <= 3; k++ {
		for n := range 64 {
			parts := []int{n & 3, n >> 2 & 3, n >> 4}
			name := fmt.Sprint(k, parts)
			exact := []Set{Exactly(int64(parts[0])), Exactly(int64(parts[1])), Exactly(int64(parts[2]))}
			assert.Equal(t, Exactly(int64(want(k, parts))), atLeast(k, exact), name)
			assert.True(t, atLeast(k, []Set{exact[0], unknown, exact[2]}).Has(want(k, parts)), name)
		}
	}
	assert.Equal(t, unknown, atLeast(4, make([]Set, 3)))
	assert.Equal(t, unknown, atLeast(0, make([]Set, 3)))
}
