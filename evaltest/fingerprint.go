package evaltest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/evaltest-go/evaltest/agents"
	"github.com/evaltest-go/evaltest/agents/script"
	"github.com/evaltest-go/evaltest/evaltest/internal/deepdigest"
	"github.com/evaltest-go/evaltest/evaltest/internal/workspace"
	"github.com/evaltest-go/evaltest/evaltest/journal"
)

// fingerprint is what the trial's result depends on. filled is the workspace before anything was done in it.
func (a *attempt) fingerprint(filled workspace.Snapshot) (journal.Fingerprint, error) {
	e := a.e
	binary, err := testBinary()
	if err != nil {
		return journal.Fingerprint{}, fmt.Errorf("read the test binary: %w", err)
	}
	skills, err := digestSkills(e.skills)
	if err != nil {
		return journal.Fingerprint{}, err
	}
	run := map[string]string{
		"prompts":   digest(a.trial.Prompts),
		"workspace": filled.Digest(),
		"skills":    skills,
		"servers":   digestServers(e.mcp),
		"env":       digest(sorted(e.env)),
		"system":    digest(e.system),
		"tools":     digest([][]string{sorted(e.allow), sorted(e.deny)}),
		"limits":    digest(e.limits),
		"mode":      string(e.mode),
		"agent":     e.agentPrint(binary),
		"model":     digest([]any{e.model, a.info.Model, sorted(e.models)}),
		"upstream":  e.route.name,
		"prevents":  digest(e.prevents()),
	}
	if e.embedded || e.scripted {
		run["script"] = digestValue(script.Answers(e.script))
	}
	if len(e.setups) > 0 { // what a function does is known from the binary alone
		run["setup"] = binary
	}
	grade := map[string]string{
		"criteria": e.digestCriteria(),
		"gate":     e.gate.String(),
		"binary":   binary,
	}
	if e.gate.MinScore != nil {
		grade["gate"] = e.gate.MinScore.RatString()
	}
	return journal.Fingerprint{Run: run, Grade: grade}, nil
}

// testBinary is the digest of the running test binary. Builds of the same sources are the same binary.
var testBinary = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	if err := copyFile(h, path); err != nil {
		return "", err
	}
	return sum(h), nil
})

// copyFile writes the content of a file to w.
func copyFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:12]) }

// digest is that of a value which JSON can hold.
func digest(v any) string {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(v); err != nil {
		panic(err) // all that is digested is made of texts and numbers
	}
	return sum(h)
}

// digestValue is that of all that a value holds.
func digestValue(v any) string {
	h := sha256.New()
	deepdigest.Write(h, v)
	return sum(h)
}

func sorted(texts []string) []string { return slices.Sorted(slices.Values(texts)) }

// prevents are the names of the criteria for whose sake calls are refused.
func (e *T) prevents() []string {
	var names []string
	for _, s := range e.specs {
		if s.prevent {
			names = append(names, s.name)
		}
	}
	return sorted(names)
}

// agentPrint is the agent, with what it alone knows of how it was set up. An agent that is no program of its own is a part of
// the test binary.
func (e *T) agentPrint(binary string) string {
	print := []string{e.info.Name, e.info.Version}
	switch a := e.agent.(type) {
	case agents.Fingerprinted:
		print = append(print, a.Fingerprint())
	default:
		if !e.embedded {
			print = append(print, binary)
		}
	}
	return digest(print)
}

// digestSkills is that of what the agent is given of the skills.
func digestSkills(dirs []string) (string, error) {
	skills, err := stagedSkills(dirs)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, skill := range skills {
		name, err := agents.SkillName(skill)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "skill %q\n", name)
		if err := digestTree(h, skill); err != nil {
			return "", fmt.Errorf("read skill %s: %w", name, err)
		}
	}
	return sum(h), nil
}

// digestTree takes the files of fsys into h, by name.
func digestTree(h io.Writer, fsys fs.FS) error {
	return fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %v %d\n", path, info.Mode(), fileSize(info))
		if !info.Mode().IsRegular() {
			return nil
		}
		f, err := fsys.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(h, f)
		return err
	})
}

func fileSize(info fs.FileInfo) int64 {
	if info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

// digestServers is that of the tool servers, with the programs and files that their commands name.
func digestServers(servers []agents.MCPServer) string {
	h := sha256.New()
	for _, s := range servers {
		fmt.Fprintf(h, "%q %q %q %q %q\n", s.Name, s.Command, s.URL, sorted(s.Env), sorted(s.Headers))
		for i, word := range s.Command {
			path := word
			if i == 0 {
				if found, err := exec.LookPath(word); err == nil {
					path = found
				}
			}
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				_ = copyFile(h, path) // what cannot be read makes the digest another
			}
		}
	}
	return sum(h)
}

// digestCriteria is that of what is asked: each criterion with all that its value holds.
func (e *T) digestCriteria() string {
	h := sha256.New()
	for _, s := range e.specs {
		fmt.Fprintf(h, "%q %v %v %v %v %v %v\n", s.name, s.weight, s.passAt, s.advisory, s.required, s.armed, s.timeout)
		deepdigest.Write(h, s.criterion)
	}
	return sum(h)
}

// changedParts says which parts of two fingerprints differ, for people.
func changedParts(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
