package claude

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/evaltest-go/evaltest/agents"
)

// kinds are the tools that Claude Code has, by what they do. What is not here is Other.
var kinds = map[string]agents.Kind{
	"Bash": agents.Execute, "PowerShell": agents.Execute, "Monitor": agents.Execute,
	"Read": agents.Read, "NotebookRead": agents.Read,
	"Write": agents.Edit, "Edit": agents.Edit, "MultiEdit": agents.Edit, "NotebookEdit": agents.Edit,
	"Glob": agents.Search, "Grep": agents.Search, "LS": agents.Search,
	"WebFetch": agents.Fetch, "WebSearch": agents.Fetch,
	"TodoWrite": agents.Think, "TaskCreate": agents.Think, "TaskUpdate": agents.Think, "TaskGet": agents.Think,
	"TaskList": agents.Think, "EnterPlanMode": agents.Think, "ExitPlanMode": agents.Think,
	"Skill": agents.Skill, "SlashCommand": agents.Skill,
	"Task": agents.Sub, "Agent": agents.Sub, "Workflow": agents.Sub,
}

// toolCall is a call in terms of package agents. Input of an unexpected form leaves the fields drawn from it empty.
func toolCall(id, parent, name string, input json.RawMessage, dirs []string) agents.ToolCall {
	c := agents.ToolCall{ID: id, Parent: parent, Kind: agents.Other, Name: name, Input: input}
	if k, ok := kinds[name]; ok {
		c.Kind = k
	}
	// Each field by itself: a model may get one of them wrong.
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(input, &fields)
	text := func(key string) string {
		var s string
		_ = json.Unmarshal(fields[key], &s)
		return s
	}
	switch c.Kind {
	case agents.Execute:
		if s := text("command"); s != "" {
			c.Commands = []string{s}
		}
	case agents.Read, agents.Edit, agents.Search:
		for _, key := range []string{"file_path", "notebook_path", "path"} {
			if s := text(key); s != "" {
				c.Paths = append(c.Paths, relative(s, dirs))
			}
		}
	case agents.Skill:
		for _, key := range []string{"skill", "command"} {
			if s := text(key); s != "" {
				name, _, _ := strings.Cut(strings.TrimPrefix(s, "/"), " ")
				c.Skill = name
				break
			}
		}
	}
	return c
}

// relative is p below one of dirs, the names of the workspace, else absolute; slash-separated.
func relative(p string, dirs []string) string {
	if !filepath.IsAbs(p) {
		return filepath.ToSlash(filepath.Clean(p)) // to the workspace: that is where tools run
	}
	for _, d := range dirs {
		if rel, err := filepath.Rel(d, p); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(filepath.Clean(p))
}
