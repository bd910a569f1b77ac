// Package external is tested from outside.
package external

// Name is a name.
const Name = "a"
