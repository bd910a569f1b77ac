package report_test

import (
	"fmt"

	"github.com/evaltest-go/evaltest/evaltest/report"
)

func ExampleRate() {
	r := report.Rate{Passed: 7, Failed: 1, Errored: 2}
	fmt.Println(r)
	// Output: passed 7 of 8 measured (87.5 %; coverage 8 of 10; between 70 % and 90 % of 10)
}
