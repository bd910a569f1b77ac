package runstate

import "crypto/rand"

func randomText() string { return rand.Text()[:8] }
