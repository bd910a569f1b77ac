package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// hush takes what authenticates out of what the agent gets to see, and out of what is written down: some providers quote a
// key that they refuse.
type hush struct {
	keys [][]byte // credentials for certain, in every form that a text can hold them in: taken out of everything
	all  [][]byte // and the values of other headers, which may be words as well: taken out of errors alone
}

// credential matches the names of headers whose values are secret for certain.
var credential = regexp.MustCompile(`(?i)auth|key|token|secret|password|credential|cookie`)

// shortest is the length from which on a value can be a secret that is not found in texts by chance.
const shortest = 8

func newHush(h http.Header) *hush {
	out := new(hush)
	for name, values := range h {
		for _, v := range values {
			for _, form := range forms(v) {
				if out.all = append(out.all, form); credential.MatchString(name) {
					out.keys = append(out.keys, form)
				}
			}
		}
	}
	for _, list := range [][][]byte{out.keys, out.all} { // the longest first: one may be part of another
		slices.SortFunc(list, func(a, b []byte) int { return len(b) - len(a) })
	}
	return out
}

// forms are the texts that tell of a header's value: itself without the scheme before it, as it stands in JSON and in a URL,
// and the password of HTTP's Basic scheme.
func forms(value string) (out [][]byte) {
	scheme, secret, ok := strings.Cut(strings.TrimSpace(value), " ")
	if !ok {
		scheme, secret = "", scheme
	}
	plain := []string{strings.TrimSpace(secret)}
	if strings.EqualFold(scheme, "Basic") {
		if pair, err := base64.StdEncoding.DecodeString(plain[0]); err == nil {
			_, password, _ := strings.Cut(string(pair), ":")
			plain = append(plain, password)
		}
	}
	for _, s := range plain {
		if len(s) < shortest {
			continue
		}
		quoted, err := json.Marshal(s)
		if err != nil {
			continue // no text has a JSON form only by being none
		}
		escaped := string(bytes.Trim(quoted, `"`))
		for _, form := range []string{s, escaped, strings.ReplaceAll(escaped, "/", `\/`), url.QueryEscape(s), url.PathEscape(s)} {
			if !slices.ContainsFunc(out, func(b []byte) bool { return string(b) == form }) {
				out = append(out, []byte(form))
			}
		}
	}
	return out
}

var hushed = []byte("‹key›")

// take is text without what is secret: text itself where there is nothing of it.
func take(secrets [][]byte, text []byte) []byte {
	for _, s := range secrets {
		if bytes.Contains(text, s) {
			text = bytes.ReplaceAll(text, s, hushed)
		}
	}
	return text
}

// error is err without what is secret. It is what err was, unless its text holds some.
func (h *hush) error(err error) error {
	if err == nil {
		return nil
	}
	if text := string(take(h.all, []byte(err.Error()))); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// sieve is take for a text that comes in pieces. What may be the beginning of a secret is held back until it is known: no
// more than the end of a piece, and of an event that is whole nothing, since no secret begins with the end of a line.
type sieve struct {
	secrets [][]byte
	held    []byte
}

// pass is what of the pieces so far can go on. It is valid until the next call.
func (s *sieve) pass(piece []byte) []byte {
	text := piece
	if len(s.held) > 0 {
		text = append(s.held, piece...)
		s.held = nil
	}
	text = take(s.secrets, text)
	if n := s.begun(text); n > 0 {
		s.held = bytes.Clone(text[len(text)-n:])
		text = text[:len(text)-n]
	}
	return text
}

// rest is what is held back, once the text has ended.
func (s *sieve) rest() []byte { return s.held }

// begun is how many bytes at the end of text may be the beginning of a secret.
func (s *sieve) begun(text []byte) (longest int) {
	for _, secret := range s.secrets {
		for n := min(len(secret)-1, len(text)); n > longest; n-- {
			if bytes.HasSuffix(text, secret[:n]) {
				longest = n
			}
		}
	}
	return longest
}
