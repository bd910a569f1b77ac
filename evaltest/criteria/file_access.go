package criteria

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/evaltest-go/evaltest/agents"
)

// FileAccess asks how often files are read or edited. See [FileRead] and [FileEdited].
type FileAccess struct{ count }

type fileKey struct {
	pattern string
	edits   bool
}

// FileRead passes if a call reads a file that has the path, or matches the pattern: * is any run of characters but the slash,
// ** any number of folders, {a,b} one of the alternatives. Paths are slash-separated and relative to the workspace; a file outside
// has its absolute path. Calls count that have run, those of sub-agents included; one that reads several such files counts once.
//
// Only tools that read files are seen, not what a shell command reads: cat x is no FileRead.
//
// It reaches Pass; with Max, Fail instead.
func FileRead(pattern string) *FileAccess {
	return fileAccess("FileRead", "file read", pattern, false, agents.Read)
}

// FileEdited passes if a call writes, changes, deletes or moves a file that has the path, or matches the pattern, as in
// [FileRead]. A move counts for the path that it takes away and for the one that it makes. Calls count that have run, also those that failed:
// they may have done part of it.
//
// Only tools that edit files are seen, not what a shell command writes: for what became of the workspace, whoever changed it,
// ask when the agent is done, with [Unchanged] or [FileContains].
//
// It reaches Pass; with Max, Fail instead.
func FileEdited(pattern string) *FileAccess {
	return fileAccess("FileEdited", "file edited", pattern, true, agents.Edit, agents.Delete, agents.Move)
}

func fileAccess(constructor, did, pattern string, edits bool, kinds ...agents.Kind) *FileAccess {
	c := &FileAccess{count{live: live{needs: kinds}, did: did, object: pattern}}
	if pattern == "" || !doublestar.ValidatePattern(pattern) {
		c.err = misuse(constructor, "%q is no path and no pattern; name a file, or write a pattern such as **/*.go, with a backslash before what is meant as itself", pattern)
	}
	var key any = fileKey{pattern, edits}
	clean := pattern
	if clean != "" {
		clean = path.Clean(clean)
	}
	match := func(call agents.ToolCall) bool {
		return slices.Contains(kinds, call.Kind) && slices.ContainsFunc(call.Paths, func(p string) bool {
			return doublestar.MatchUnvalidated(clean, strings.TrimPrefix(p, "./"))
		})
	}
	c.tally = func(tr *agents.Trajectory) agents.Tally { return tr.Tally(key, match) }
	return c
}

// Min is c asking for n times at least.
func (c *FileAccess) Min(n int) *FileAccess { return &FileAccess{c.withMin(n)} }

// Max is c asking for n times at most; without Min, none will do.
func (c *FileAccess) Max(n int) *FileAccess { return &FileAccess{c.withMax(n)} }

// Partial is c with partial credit: k times of n that were asked for score k/n.
func (c *FileAccess) Partial() *FileAccess { return &FileAccess{c.withPartial()} }
