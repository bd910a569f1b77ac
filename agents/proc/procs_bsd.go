//go:build unix && !linux && !darwin

package proc

// Elsewhere the process group is all there is.

func statOf(int) (procStat, bool) { return procStat{}, false }
func processes() []procStat       { return nil }
func markerOf(int) (string, bool) { return "", false }
