//go:build !unix && !windows

package owner

// exists says yes, since nothing is known: nothing is swept here.
func exists(int) bool { return true }
