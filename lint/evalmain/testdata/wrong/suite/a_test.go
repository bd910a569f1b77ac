package suite

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
	"github.com/evaltest-go/evaltest/lint/evalmain/testdata/kit"
)

type evals struct{ kit.Suite }

func (s evals) lenient() []evaltest.Option { return []evaltest.Option{kit.Lenient()} } // want `errors skip evals of package suite`

func TestA(t *testing.T) {
	s := evals{kit.Suite{T: t}}
	s.Eval().Run("Do it.")
	evaltest.New(t, s.lenient()...)
}
