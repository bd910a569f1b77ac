// Package parts has TestMain in one test package, and its evals in the other.
package parts
