package replace

import (
	"fmt"
	"os"
	"testing"
)

// TestMain says hello.
func TestMain(m *testing.M) { // want `without evaltest.Main`
	fmt.Println("hello")
	os.Exit(m.Run())
}
