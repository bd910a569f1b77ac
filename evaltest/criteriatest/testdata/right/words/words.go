// Package words knows nothing of evaltest.
package words

import (
	"slices"
	"strings"
	"sync"
)

var (
	once      sync.Once
	dangerous map[string]bool
)

// Dangerous reports whether a word is one of a list that is made when it is first asked for.
func Dangerous(word string) bool {
	once.Do(func() { dangerous = map[string]bool{"rm": true, "dd": true} })
	return dangerous[word]
}

// Sorted is the words of a text in lower case, sorted.
func Sorted(text string) []string {
	all := strings.Fields(strings.ToLower(text))
	slices.Sort(all)
	return all
}

// A Stack holds words.
type Stack struct{ words []string }

// Push puts a word on it.
func (s *Stack) Push(word string) { s.words = append(s.words, word) }

// Len is how many there are.
func (s *Stack) Len() int { return len(s.words) }
