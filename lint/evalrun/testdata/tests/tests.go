// Package tests has its criteria in its tests.
package tests
