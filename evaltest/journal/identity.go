package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/evaltest-go/evaltest/evaltest/internal/owner"
)

// startDir is the directory that the process was started in: for a test the folder of its package. It is taken before any
// test can change the working directory.
var startDir, startDirErr = os.Getwd()

// identity is what tells one run from another.
type identity struct {
	// build is the number of the go command's folder, go-build<number>, that the binary runs from: equal for all packages
	// of one `go test`. "": the binary was started otherwise.
	build string
	// alone is a name that no other process has, for a run of its own.
	alone string
	root  string // the module's root, absolute
}

func identify() (identity, error) {
	if startDirErr != nil {
		return identity{}, fmt.Errorf("find the working directory: %w", startDirErr)
	}
	exe, _ := os.Executable() // an error leaves os.Args[0], which is what `go test` gave
	return identity{
		build: buildNumber(os.Args[0], exe),
		alone: fmt.Sprintf("p%d-%s", os.Getpid(), suffix()),
		root:  moduleRoot(startDir),
	}, nil
}

var goBuild = regexp.MustCompile(`^go-build([0-9]+)$`)

// buildNumber finds the go command's folder in the path of the binary: $TMPDIR/go-build<number>/b001/pkg.test. The first
// path that has one counts: under -exec the process's own image can be an interpreter.
func buildNumber(paths ...string) string {
	for _, p := range paths {
		parts := strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == filepath.Separator })
		// From the inside: TMPDIR may itself lie in the folder of another go command.
		for i := len(parts) - 2; i >= 0; i-- {
			if m := goBuild.FindStringSubmatch(parts[i]); m != nil {
				return m[1]
			}
		}
	}
	return ""
}

// moduleRoot is the nearest folder with a go.mod, from dir upwards; dir itself when there is none.
func moduleRoot(dir string) string {
	for d := dir; ; {
		if fi, err := os.Stat(filepath.Join(d, "go.mod")); err == nil && !fi.IsDir() {
			return d
		}
		up := filepath.Dir(d)
		if up == d {
			return dir
		}
		d = up
	}
}

// process describes the running process.
func process(run, root string) Process {
	p := Process{Run: run, Root: root, PID: os.Getpid(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Started: time.Now(), Owner: owner.Self()}
	p.Host, _ = os.Hostname()
	if info, ok := debug.ReadBuildInfo(); ok {
		p.Package = strings.TrimSuffix(info.Path, ".test")
		p.Module = info.Main.Path
	}
	return p
}
