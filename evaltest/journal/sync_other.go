//go:build !unix

package journal

// syncDir does nothing: a folder cannot be synced here, and the file system keeps its own log of names.
func syncDir(string) error { return nil }
