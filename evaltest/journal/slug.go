package journal

import (
	"crypto/rand"
	"strings"
)

// slug makes a name of a file from any text: ASCII letters, digits, and -._ between them, at most max bytes. It may be "".
// Distinct texts can have one slug; a suffix keeps them apart, and keeps the names that Windows reserves (CON, NUL) out.
func slug(text string, max int) string {
	var b strings.Builder
	gap := false
	for _, r := range text {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' && b.Len() > 0
		if !ok {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(r)
		if b.Len() >= max {
			break
		}
	}
	s := b.String()
	if len(s) > max {
		s = s[:max]
	}
	return strings.TrimRight(s, ".-")
}

// suffix is 8 random characters of one case, since some file systems know but one: 40 bits.
func suffix() string { return strings.ToLower(rand.Text()[:8]) }

// join puts the parts that are not empty together.
func join(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "-")
}
