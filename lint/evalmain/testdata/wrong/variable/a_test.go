package variable

import "testing"

func BenchmarkA(b *testing.B) {
	eval(b).Run("Do it.") // want `errors skip evals of package variable`
}
