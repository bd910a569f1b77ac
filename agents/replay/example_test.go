package replay_test

import (
	"context"
	"fmt"
	"log"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/replay"
)

func Example() {
	recorded := agents.NewTrajectory(
		agents.Prompt("Say hello."), agents.Say("Hello."), agents.Event{Kind: agents.EventDone},
	)
	session, err := replay.New(recorded).Open(context.Background(), agents.Setup{})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	for event, err := range session.Send(context.Background(), "Say hello.") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Text)
	}
	// Output: Hello.
}
