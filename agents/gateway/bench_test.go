package gateway_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkForward holds a stream through the gateway against the same stream without it, one after the other, from a model
// that takes 50 ms to begin and 2 ms for each of 50 events; the conversation so far has 150 KB. first-ratio and
// event-ratio are medians of the quotients.
func BenchmarkForward(b *testing.B) {
	const events = 50
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(50 * time.Millisecond)
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w).Flush
		fmt.Fprint(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"x\",\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n")
		_ = flush()
		for range events {
			time.Sleep(2 * time.Millisecond)
			fmt.Fprint(w, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words of it \"}}\n\n")
			_ = flush()
		}
		fmt.Fprint(w, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	}))
	defer upstream.Close()
	g := through(b, upstream.URL)
	c := begin(b, g, "Go.")
	c.messages = append(c.messages, object{"role": "assistant", "content": "I am on it."}, object{"role": "user", "content": strings.Repeat("a line of a file that was read\n", 5000)})
	body, err := json.Marshal(c.body())
	require.NoError(b, err)
	direct, gated := &http.Client{Transport: &http.Transport{}}, &http.Client{Transport: &http.Transport{}}
	defer direct.CloseIdleConnections()
	defer gated.CloseIdleConnections()
	ask := func(c *http.Client, url string) (first, all time.Duration) {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url+"/v1/messages", bytes.NewReader(body))
		require.NoError(b, err)
		r.Header.Set("X-Api-Key", g.Endpoint().Token)
		start := time.Now()
		resp, err := c.Do(r)
		require.NoError(b, err)
		defer resp.Body.Close()
		lines := bufio.NewReader(resp.Body)
		_, err = lines.ReadByte()
		require.NoError(b, err)
		first = time.Since(start)
		_, err = io.Copy(io.Discard, lines)
		require.NoError(b, err)
		return first, time.Since(start) - first
	}
	ask(direct, upstream.URL)
	ask(gated, g.Endpoint().URL)
	var firsts, each []float64
	for b.Loop() {
		var f0, e0, f1, e1 time.Duration
		if len(firsts)%2 == 0 {
			f0, e0 = ask(direct, upstream.URL)
		}
		f1, e1 = ask(gated, g.Endpoint().URL)
		if len(firsts)%2 != 0 {
			f0, e0 = ask(direct, upstream.URL)
		}
		firsts, each = append(firsts, float64(f1)/float64(f0)), append(each, float64(e1)/float64(e0))
	}
	slices.Sort(firsts)
	slices.Sort(each)
	b.ReportMetric(firsts[len(firsts)/2], "first-ratio")
	b.ReportMetric(each[len(each)/2], "event-ratio")
}
