//go:build linux && !race

package proc_test

const raceEnabled = false
