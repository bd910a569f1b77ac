// Package inner has TestMain in package inner, and its evals in inner_test.
package inner
