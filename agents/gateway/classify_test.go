package gateway

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/agents"
)

// What no answer came to is told apart by the types of errors.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		kind agents.ErrorKind
	}{
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, agents.Network},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, agents.Network},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, agents.Timeout},
		{&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}, agents.Network},
		{&net.DNSError{Err: "no answer", Name: "x", IsTimeout: true}, agents.Timeout},
		{x509.UnknownAuthorityError{}, agents.Network},
		{context.DeadlineExceeded, agents.Timeout},
		{io.ErrUnexpectedEOF, agents.Network},
		{fmt.Errorf("i/o timeout"), agents.Network}, // words say nothing
	} {
		err := error(&url.Error{Op: "Post", URL: "https://x/tenant", Err: tc.err})
		e := unreachable("x", err, cause(err))
		assert.Equal(t, tc.kind, e.Kind, "%v", tc.err)
		assert.Equal(t, agents.FromProvider, e.Source)
		assert.True(t, e.Retryable)
		assert.ErrorIs(t, e, tc.err)
		assert.NotContains(t, e.Error(), "tenant")
	}
}
