//go:build race

package evaltest_test

const raceEnabled = true
