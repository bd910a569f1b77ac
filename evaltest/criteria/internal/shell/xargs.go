package shell

import (
	"slices"
	"strconv"
	"strings"
)

// xargs lists the commands that xargs makes of words and of its input. Where that is not known, or its quotes are for xargs to take off, it
// is the words alone.
func (r *runs) xargs(words []string) [][]string {
	options := r.args[:len(r.args)-len(words)]
	items, ok := r.items(options)
	if !ok || len(words) == 0 {
		return [][]string{words}
	}
	valued := wrappers["xargs"].valued
	if replace, ok := shortValue(options, "I", valued); ok {
		return r.replaced(words, replace, items)
	}
	most := len(items)
	if n, ok := shortValue(options, "n", valued); ok {
		var err error
		if most, err = strconv.Atoi(n); err != nil || most < 1 {
			return [][]string{words}
		}
	}
	var all [][]string
	for chunk := range slices.Chunk(items, max(most, 1)) {
		if !r.f.spend(16 * (len(words) + len(chunk) + 4)) {
			break
		}
		all = append(all, slices.Concat(words, chunk))
	}
	if len(all) == 0 {
		all = [][]string{words}
	}
	return all
}

// items are the arguments that xargs reads.
func (r *runs) items(options []string) ([]string, bool) {
	valued := wrappers["xargs"].valued
	has := func(short, long string) bool {
		_, ok := shortValue(options, short, valued)
		return ok || slices.ContainsFunc(options, func(a string) bool { return strings.HasPrefix(a, long) })
	}
	if r.stdin == "" || has("a", "--arg-file") || has("L", "--max-lines") || has("E", "--eof") || has("s", "--max-chars") ||
		slices.ContainsFunc(options, func(a string) bool {
			return strings.HasPrefix(a, "--max-args") || strings.HasPrefix(a, "--replace") || isCluster(a, "li")
		}) {
		return nil, false
	}
	null := slices.ContainsFunc(options, func(a string) bool { return a == "--null" || isCluster(a, "0") })
	_, lines := shortValue(options, "I", valued)
	by, delimited := shortValue(options, "d", valued)
	switch {
	case null:
		return split0(r.stdin, "\x00"), true
	case delimited && (by == `\n` || by == "\n"):
		return split0(r.stdin, "\n"), true
	case delimited || strings.ContainsAny(r.stdin, "\"'\\\x00") || slices.ContainsFunc(options, func(a string) bool { return strings.HasPrefix(a, "--delimiter") }):
		return nil, false
	case lines:
		var items []string
		for line := range strings.SplitSeq(r.stdin, "\n") {
			if line = strings.TrimLeft(line, " \t"); line != "" {
				items = append(items, line)
			}
		}
		return items, true
	}
	return strings.Fields(r.stdin), true
}

// isCluster reports whether a is short options with one of these among them.
func isCluster(a, letters string) bool {
	if len(a) < 2 || a[0] != '-' || a[1] == '-' {
		return false
	}
	a = a[1:]
	if i := strings.IndexAny(a, wrappers["xargs"].valued); i >= 0 {
		a = a[:i]
	}
	return strings.ContainsAny(a, letters)
}

func split0(text, by string) []string {
	items := strings.Split(strings.TrimSuffix(text, by), by)
	for i, item := range items {
		items[i] = strings.ReplaceAll(item, "\x00", "")
	}
	return items
}

// replaced is the command for each item, with the item wherever the words hold what stands for it.
func (r *runs) replaced(words []string, replace string, items []string) [][]string {
	if replace == "" {
		return [][]string{words}
	}
	size := 64
	for _, w := range words {
		size += len(w) + 16
	}
	var all [][]string
	for _, item := range items {
		if !r.f.spend(size + len(item)*len(words)) {
			break
		}
		made := make([]string, len(words))
		for i, w := range words {
			made[i] = strings.Replace(w, replace, item, 4)
		}
		all = append(all, made)
	}
	return all
}
