package criteria

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/evaltest/verdict"
)

var (
	decimalScore = regexp.MustCompile(`^[0-9]{1,20}(\.[0-9]{1,20})?$`)
	ratioScore   = regexp.MustCompile(`^[0-9]{1,18} ?/ ?[0-9]{1,18}$`)
)

// parseScore reads what a grader printed: "0.75", "1", "3/4".
func parseScore(text string) (evaltest.Score, error) {
	if text == "" {
		return evaltest.Score{}, errors.New("the grader printed nothing")
	}
	if !decimalScore.MatchString(text) && !ratioScore.MatchString(text) {
		return evaltest.Score{}, fmt.Errorf("the last line of the grader is %q, not a score such as 0.75 or 3/4", clipLine(text, 80))
	}
	r, ok := new(big.Rat).SetString(strings.ReplaceAll(text, " ", ""))
	if !ok || r.Cmp(big.NewRat(1, 1)) > 0 {
		return evaltest.Score{}, fmt.Errorf("the last line of the grader is %s, which is not between 0 and 1", text)
	}
	return verdict.FromRat(r), nil
}
