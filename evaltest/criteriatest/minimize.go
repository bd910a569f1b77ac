package criteriatest

import "slices"

// minimize is a short part of items, in their order, for which holds still holds, found by leaving out ever smaller pieces
// (delta debugging). It asks for tries of them at most.
func minimize[T any](items []T, tries int, holds func([]T) bool) []T {
	for size := (len(items) + 1) / 2; size > 0 && len(items) > 0 && tries > 0; {
		shorter := false
		for from := len(items) - size; from > -size && tries > 0; from -= size {
			lo, hi := max(from, 0), from+size
			if hi > len(items) {
				continue
			}
			without := slices.Concat(items[:lo], items[hi:])
			tries--
			if holds(without) {
				items, shorter = without, true
			}
		}
		if !shorter {
			if size == 1 {
				break
			}
			size /= 2
			continue
		}
		size = min(size, max(len(items), 1))
	}
	return items
}
