package option

import (
	"testing"

	"github.com/evaltest-go/evaltest/evaltest"
)

func TestA(t *testing.T) {
	evaltest.New(t, evaltest.OnError("skip")).Run("Do it.") // want `evalmain: errors skip evals of package option, which has no evaltest.Main: an outage looks like success; add func TestMain\(m \*testing.M\) { evaltest.Main\(m\) }`
}

func TestB(t *testing.T) {
	evaltest.New(t, evaltest.OnError("skip")).Run("Do it.")
}
