package scripted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/inprocess"
	"github.com/evaltest-go/evaltest/agents/script"
)

// session is what a script works with.
type session struct {
	setup  agents.Setup
	tools  map[string]ToolFunc
	skills map[string]fs.FS
	root   *os.Root
	shell  *shell
	main   *thread // used by the turn that is under way, of which there is one
}

// open makes what carries out a script in a session.
func (a *agent) open(in *inprocess.Session) (inprocess.Answer, error) {
	setup := in.Setup
	s := &session{setup: setup, tools: a.tools, skills: map[string]fs.FS{}, main: &thread{answers: a.answers}}
	if !filepath.IsAbs(setup.Dir) {
		return nil, fmt.Errorf("the workspace %q is not an absolute path", setup.Dir)
	}
	for _, fsys := range setup.Skills {
		name, err := agents.SkillName(fsys)
		if err != nil {
			return nil, agents.AsError(fmt.Errorf("scripted: open session: %w", err), agents.SetupError, agents.FromAuthor)
		}
		s.skills[name] = fsys
	}
	var err error
	if s.root, err = os.OpenRoot(setup.Dir); err != nil {
		return nil, agents.Errorf(agents.SetupError, agents.FromHarness, "scripted: open session: workspace: %w", err)
	}
	s.shell = &shell{setup: setup}
	in.OnClose(s.release)
	if runsCommands(a.answers) {
		go s.shell.prepare() // the supervisor takes longer to start than any command: meanwhile the eval gets ready
	}
	return func(t *inprocess.Turn) error {
		s.main.heard(t.Prompt)
		(&run{t, s}).talk(s.main)
		return nil
	}, nil
}

// release ends processes and removes what the session made for itself.
func (s *session) release() error { return errors.Join(s.shell.close(), s.root.Close()) }

// run is a turn of a script.
type run struct {
	*inprocess.Turn
	s *session
}

// runsCommands reports whether a script has a command in it.
func runsCommands(answers []script.Answer) bool {
	for _, a := range answers {
		for _, b := range a.Blocks {
			if b.Call != nil && (b.Call.Kind == agents.Execute || runsCommands(script.Answers(b.Call.Steps))) {
				return true
			}
		}
	}
	return false
}
