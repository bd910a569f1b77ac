package replay_test

import (
	"context"
	"fmt"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/replay"
)

func Example() {
	recorded := agents.NewTrajectory(
		agents.Prompt("Say hello."), agents.Say("Hello."), agents.Event{Kind: agents.EventDone},
	)
	session, err := replay.New(recorded).Open(context.Background(), agents.Setup{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	for event, err := range session.Send(context.Background(), "Say hello.") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.Text)
	}
	// Output: Hello.
}
