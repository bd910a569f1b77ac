package evaltest

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forms are ways in which a program may write a text down.
var forms = map[string]func(string) string{
	"base64":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"raw base64": func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"URL base64": func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"wrapped": func(s string) string {
		var b strings.Builder
		for i, r := range base64.StdEncoding.EncodeToString([]byte(s)) {
			if i > 0 && i%64 == 0 {
				b.WriteByte('\n')
			}
			b.WriteRune(r)
		}
		return b.String()
	},
	"base64 in JSON": func(s string) string {
		text, _ := json.Marshal(base64.StdEncoding.EncodeToString([]byte(s)))
		return strings.ReplaceAll(strings.ReplaceAll(string(text), "+", `\u002b`), "/", `\/`)
	},
	"base64 in a URL": func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) },
	"hex":             func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":             func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"query":           url.QueryEscape,
	"path":            url.PathEscape,
	"query twice":     func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"all escaped": func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
		return b.String()
	},
	"HTML": html.EscapeString,
}

// Whatever is beside a secret, and however both are written down, the secret is not in what is shown; and who decodes what
// is shown does not find it.
func TestEncodedSecretsAreMasked(t *testing.T) {
	t.Parallel()
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.!@#$%^&*()+/= \"'\\<>äß漢"
	rng := rand.New(rand.NewPCG(7, 7))
	text := func(n int) string {
		rs := []rune(letters)
		var b strings.Builder
		for range n {
			b.WriteRune(rs[rng.IntN(len(rs))])
		}
		return b.String()
	}
	for i := range 300 {
		secret := strings.TrimSpace(text(8 + rng.IntN(60)))
		if len(secret) < 8 {
			continue
		}
		m := newMasker(map[string]string{secret: "KEY"})
		for name, form := range forms {
			whole := text(rng.IntN(12)) + "|" + secret + "|" + text(rng.IntN(12))
			shown := m.text("<<" + form(whole) + ">>")
			require.Contains(t, shown, "‹KEY›", "%d %s: %q in %q", i, name, secret, form(whole))
			require.Equal(t, shown, m.text(shown), "masking again changes nothing")
			if core := base64Core(secret, 0); strings.Contains(name, "base64") {
				require.NotContains(t, shown, core)
			}
		}
	}
}

func TestOtherTextsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	m := newMasker(map[string]string{"s3cret-value": "A", "true": "B", "an other one": "C"})
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		data := make([]byte, 100)
		for i := range data {
			data[i] = byte(rng.IntN(256))
		}
		for _, form := range forms {
			s := strings.ReplaceAll(form(base64.StdEncoding.EncodeToString(data)), "true", "")
			assert.Equal(t, s, m.text(s))
		}
	}
}

// A secret in an agent's stream is not in the record, however it is encoded and in whatever pieces it comes.
func TestEncodedSecretsInAStream(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2-hunter2"
	m := newMasker(map[string]string{secret: "A"})
	rng := rand.New(rand.NewPCG(3, 4))
	for name, form := range forms {
		line := `{"output":` + string(quoteJSON("some "+form("key: "+secret+"\n")+" text")) + "}\n"
		for range 20 {
			var out strings.Builder
			w := &maskingWriter{m: m, w: &out}
			for rest := line; rest != ""; {
				n := min(len(rest), 1+rng.IntN(20))
				_, err := w.Write([]byte(rest[:n]))
				require.NoError(t, err)
				rest = rest[n:]
			}
			w.flush()
			require.Contains(t, out.String(), "‹A›", "%s: %s", name, line)
			require.True(t, json.Valid([]byte(out.String())), out.String())
		}
	}
}

func BenchmarkMasking(b *testing.B) {
	secrets := map[string]string{}
	for i := range 5 {
		secrets[fmt.Sprintf("sk-%d-abcdefghijklmnopqrstuvwxyz0123456789", i)] = fmt.Sprintf("KEY%d", i)
	}
	m := newMasker(secrets)
	line := `{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat("All of it is plain text, of no use to anyone. ", 40) + `"}]}}` + "\n"
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		_ = m.lines([]byte(line))
	}
}
