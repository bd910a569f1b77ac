// Package all registers every agent of this module, for EVALTEST_AGENT to name:
//
//	import _ "github.com/evaltest-go/evaltest/agents/all"
package all

import (
	_ "github.com/evaltest-go/evaltest/agents/chat"
	_ "github.com/evaltest-go/evaltest/agents/claude"
	_ "github.com/evaltest-go/evaltest/agents/codex"
	_ "github.com/evaltest-go/evaltest/agents/scripted"
)
