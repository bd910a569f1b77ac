package criteria

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// chosen lists the choices that the reply names, and says how it did.
func chosen(reply string, choices []string) (named []string, how string) {
	reply = strings.TrimSpace(reply)
	last := choiceKey(reply[strings.LastIndexByte(reply, '\n')+1:])
	for _, line := range []string{last, choiceKey(afterLabel(last))} {
		for _, c := range choices {
			if line == choiceKey(c) {
				return []string{c}, "its last line"
			}
		}
	}
	// Longer ones first, each taking its words away: "very good" is not "good".
	byLength := slices.SortedStableFunc(slices.Values(choices), func(a, b string) int { return len(b) - len(a) })
	text := strings.ToLower(reply)
	found := map[string]bool{}
	for _, c := range byLength {
		rest, ok := cutWord(text, strings.ToLower(strings.TrimSpace(c)))
		text, found[c] = rest, ok
	}
	for _, c := range choices {
		if found[c] {
			named = append(named, c)
		}
	}
	return named, "the only one that it names"
}

// choiceKey is s without case, and without the white space, mark-up and punctuation around it. Signs stay: -1 is not 1.
func choiceKey(s string) string {
	const marks = " \t\r\n*_~`\"'“”‘’«»()[]{}<>|.,;:!?"
	return strings.ToLower(strings.TrimRight(strings.TrimLeft(s, marks+"#"), marks))
}

// labelled is a last line such as "Final answer: spam".
var labelled = regexp.MustCompile(`^[^:]{1,40}:(.*)$`)

func afterLabel(line string) string {
	if m := labelled.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// cutWord replaces every occurrence of word in text that stands as a word of its own.
func cutWord(text, word string) (rest string, found bool) {
	var b strings.Builder
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			b.WriteString(text[at:])
			return b.String(), found
		}
		i += at
		if end := i + len(word); boundary(text[:i], text[i:]) && boundary(text[:end], text[end:]) {
			b.WriteString(text[at:i] + "\x00")
			found, at = true, end
			continue
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		b.WriteString(text[at : i+n])
		at = i + n
	}
}

// boundary reports whether a word ends, or none is, between the two. A hyphen joins what is around it.
func boundary(before, after string) bool {
	l, n := utf8.DecodeLastRuneInString(before)
	r, m := utf8.DecodeRuneInString(after)
	switch {
	case n == 0 || m == 0:
		return true
	case l == '-' && isWordRune(r):
		l, n = utf8.DecodeLastRuneInString(before[:len(before)-1])
		return n == 0 || !isWordRune(l)
	case r == '-' && isWordRune(l):
		r, m = utf8.DecodeRuneInString(after[1:])
		return m == 0 || !isWordRune(r)
	}
	return !isWordRune(l) || !isWordRune(r)
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || r == '_'
}
