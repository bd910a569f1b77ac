package shell

import (
	"strconv"
	"strings"
)

// marks stand in words for what the shell expands, as a number between two zero bytes, while the words are looked at. No
// word of a shell holds a zero byte.
type marks []expansion

// An expansion is a parameter, a command substitution or a process substitution in a word.
type expansion struct {
	shown  string // how it reads in the words of a command
	source string // how it reads in a script
	file   string // what is in the file that it names
	name   string // of the parameter
	// value is what it stands for, if it is known.
	value  string
	known  bool
	quoted bool // it is one word, whatever is in it
}

func (m *marks) add(e expansion) string {
	*m = append(*m, e)
	return "\x00" + strconv.Itoa(len(*m)-1) + "\x00"
}

func (m marks) replace(word string, by func(expansion) string) string {
	if !strings.Contains(word, "\x00") {
		return word
	}
	var b strings.Builder
	for i, piece := range strings.Split(word, "\x00") {
		if n, err := strconv.Atoi(piece); i%2 == 1 && err == nil && n >= 0 && n < len(m) {
			piece = by(m[n])
		}
		if b.Len() < maxSource {
			b.WriteString(piece)
		}
	}
	return b.String()
}

// shown is the word as it reads in a command.
func (m marks) shown(word string) string {
	return m.replace(word, func(e expansion) string { return e.shown })
}

// scripted is the word as it reads in a script that it is, or is a part of. What is not known of the word is not known in that
// script either, whatever has the same name there.
func (f *finder) scripted(word string) string {
	return f.marks.replace(word, func(e expansion) string {
		if !e.known && e.name != "" {
			f.outer[e.name] = true
		}
		return e.source
	})
}

// file is what is in the file that the word names, "" if that is not known.
func (m marks) file(word string) string {
	if e, ok := m.only(word); ok {
		return e.file
	}
	return ""
}

// only is the expansion that is all of the word.
func (m marks) only(word string) (expansion, bool) {
	if len(word) < 3 || word[0] != 0 || strings.Count(word, "\x00") != 2 {
		return expansion{}, false
	}
	n, err := strconv.Atoi(strings.Trim(word, "\x00"))
	if err != nil || n < 0 || n >= len(m) || word[len(word)-1] != 0 {
		return expansion{}, false
	}
	return m[n], true
}
