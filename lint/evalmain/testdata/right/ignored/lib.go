// Package ignored has tests that are not built.
package ignored
