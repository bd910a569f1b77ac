package transcript_test

import (
	"fmt"
	"os"
	"time"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/transcript"
)

func Example() {
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	tr := agents.NewTrajectory(agents.Prompt("Say hello.").At(at), agents.Say("Hello.").At(at.Add(time.Second)))
	if err := transcript.Write(os.Stdout, tr, transcript.Header{Agent: "claude", Started: at}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"schema":"evaltest.transcript","version":"2.0","agent":"claude","started":"2026-02-03T04:05:06Z"}
	// {"kind":"prompt","time":"2026-02-03T04:05:06Z","text":"Say hello."}
	// {"kind":"message","time":"2026-02-03T04:05:07Z","text":"Hello."}
}
