package scripted_test

import (
	"context"
	"fmt"
	"os"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/agents/scripted"
)

func Example() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	agent := scripted.New(
		script.Write("out.csv", "total,3\n"),
		script.Run("cat out.csv"),
		script.Say("The total is 3."),
	)
	session, err := agent.Open(context.Background(), agents.Setup{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	for event, err := range session.Send(context.Background(), "What is the total?") {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch event.Kind {
		case agents.EventCall:
			fmt.Println(event.Call.Name, event.Call.Commands, event.Call.Paths)
		case agents.EventStatus:
			fmt.Println(event.Status, event.Output)
		case agents.EventMessage:
			fmt.Println(event.Text)
		}
	}
	// Unordered output:
	// Write [] [out.csv]
	// completed wrote 8 bytes to out.csv
	// Bash [cat out.csv] []
	// completed total,3
	//
	// The total is 3.
}
