// Package helpers knows nothing of evaltest.
package helpers

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

var counts = map[string]int{}

// Limit is changed by SetLimit.
var Limit = 3 // want Limit:"changed by SetLimit"

// SetLimit sets the limit.
func SetLimit(n int) { Limit = n } // want SetLimit:"writes to the variable Limit"

// Count counts how often it was given a word.
func Count(word string) int { // want Count:"writes to the variable counts"
	counts[word]++
	return counts[word]
}

// Late knows the time.
func Late(deadline time.Time) bool { return late(deadline) } // want Late:"calls late, which calls time.Now"

func late(deadline time.Time) bool { return time.Now().After(deadline) }

// Allowed asks the environment.
func Allowed(word string) bool { // want Allowed:"calls os.Getenv"
	return strings.Contains(os.Getenv("ALLOWED"), word)
}

// Jitter is random.
func Jitter(n int) int { return n + rand.IntN(2) } // want Jitter:"calls rand.IntN"

// Push puts a word into a stack.
func (s *Stack) Push(word string) { s.words = append(s.words, word) } // want Push:"writes to the field words of parameter 0"

// A Stack holds words.
type Stack struct{ words []string }

// Len is how many words there are.
func (s *Stack) Len() int { return len(s.words) }

// Words is what is in the stack.
func (s *Stack) Words() []string { return s.words } // want Words:"returns what it was given"

var word = regexp.MustCompile(`\w+`)

var (
	stopOnce sync.Once
	stops    map[string]bool
)

// Stop reports whether a word is one of a list that is made when it is first asked for.
func Stop(word string) bool {
	stopOnce.Do(func() { stops = map[string]bool{"the": true, "a": true} })
	return stops[word]
}

// Words is how many words are in a text.
func Words(text string) int { return len(word.FindAllString(text, -1)) }

// Lower is the words of a text in lower case, sorted.
func Lower(words []string) []string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		out = append(out, strings.ToLower(w))
	}
	return out
}
