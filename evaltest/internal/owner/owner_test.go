package owner_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/evaltest-go/evaltest/evaltest/internal/owner"
)

func TestDead(t *testing.T) {
	t.Parallel()
	me := owner.Self()
	assert.Equal(t, os.Getpid(), me.PID)
	assert.False(t, me.Dead())

	cmd := exec.Command(os.Args[0], "-test.run=^$")
	require.NoError(t, cmd.Run())
	gone := me
	gone.PID = cmd.Process.Pid
	assert.True(t, gone.Dead())

	elsewhere := gone
	elsewhere.Host += "x"
	assert.False(t, elsewhere.Dead(), "a process of another machine cannot be looked for")
	assert.False(t, owner.Owner{}.Dead())
	if me.Start != "" {
		before := me
		before.Start += "0"
		assert.True(t, before.Dead(), "another process has its number")
	}
}
