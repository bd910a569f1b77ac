// Package outer has TestMain in package outer_test, and its evals in outer.
package outer
