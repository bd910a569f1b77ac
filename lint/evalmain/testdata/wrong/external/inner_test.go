package external

import "testing"

func TestName(t *testing.T) {
	if Name != "a" {
		t.Fatal(Name)
	}
}
