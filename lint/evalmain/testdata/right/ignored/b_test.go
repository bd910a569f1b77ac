//go:build evals

package ignored_test

import "os"

func init() { os.Setenv("EVALTEST_ON_ERROR", "skip") }
