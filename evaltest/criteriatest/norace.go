//go:build !race

package criteriatest

const raceEnabled = false
