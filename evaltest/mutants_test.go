package evaltest_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"golang.org/x/tools/txtar"
)

// Each file of testdata/mutants is a fault that the library could have: the file that it is in, the seeds for which
// TestSoundness has to notice, and the text to replace. The library is built with it (go test -overlay) and TestSoundness
// has to break one of its rules. A text that is not in the library any more is an error: a mutant must not rot.
func TestSoundnessNoticesMutants(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("each mutant is a build of its own")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	files, err := filepath.Glob("testdata/mutants/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no mutants", err)
	}
	var mu sync.Mutex
	killed := map[string]string{}
	t.Cleanup(func() {
		var table bytes.Buffer
		w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "mutant\tkilled by")
		var names []string
		for name := range killed {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			fmt.Fprintf(w, "%s\t%s\n", name, killed[name])
		}
		w.Flush()
		t.Logf("%d of %d mutants killed\n%s", len(killed), len(files), &table)
	})
	two := make(chan struct{}, 2)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two <- struct{}{}
			defer func() { <-two }()
			rule := readMutant(t, file).kill(t, goTool)
			mu.Lock()
			defer mu.Unlock()
			killed[name] = rule
		})
	}
}

// mutant is a fault.
type mutant struct {
	file  string // from the module's root
	seeds string
	edits [][2]string // old, new
}

func readMutant(t *testing.T, path string) mutant {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(data)
	m := mutant{seeds: "1-3000"}
	for line := range strings.Lines(string(a.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "file":
			m.file = value
		case "seeds":
			m.seeds = value
		}
	}
	for i := 0; i+1 < len(a.Files); i += 2 {
		if a.Files[i].Name != "old" || a.Files[i+1].Name != "new" {
			t.Fatalf("%s: write pairs of -- old -- and -- new --", path)
		}
		m.edits = append(m.edits, [2]string{string(a.Files[i].Data), string(a.Files[i+1].Data)})
	}
	if m.file == "" || len(m.edits) == 0 {
		t.Fatalf("%s: a mutant needs a file: line and a pair of -- old -- and -- new --", path)
	}
	return m
}

var brokenRule = regexp.MustCompile(`breaks a rule: ([^:]+)`)

// kill builds the library with the fault and returns the rule that TestSoundness says is broken.
func (m mutant) kill(t *testing.T, goTool string) (rule string) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	original := filepath.Join(root, filepath.FromSlash(m.file))
	source, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	for _, e := range m.edits {
		if n := strings.Count(text, e[0]); n != 1 {
			t.Fatalf("the text to replace stands %d times in %s, want once: the mutant has to follow the library\n%s", n, m.file, e[0])
		}
		text = strings.Replace(text, e[0], e[1], 1)
	}
	dir := t.TempDir()
	mutated, overlay := filepath.Join(dir, filepath.Base(m.file)), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err := cmp.Or(err, os.WriteFile(mutated, []byte(text), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(goTool, "test", "-overlay", overlay, "-count=1", "-vet=off", "-ldflags=-s -w", "-timeout=100s", "-run=^TestSoundness$", "./evaltest/")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "EVALTEST_SEED="+m.seeds, "GOWORK=off")
	out, err := cmd.CombinedOutput()
	found := brokenRule.FindSubmatch(out)
	switch {
	case err == nil:
		t.Fatalf("it survives seeds %s of TestSoundness", m.seeds)
	case found == nil:
		t.Fatalf("it does not break a rule, but: %v\n%s", err, clip(out, 4000))
	}
	return string(found[1])
}

func clip(b []byte, n int) []byte { return b[:min(len(b), n)] }
