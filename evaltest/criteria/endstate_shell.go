package criteria

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// checkShell reports a line that is none: it would score 0 whatever the agent did. Bash is what knows most of what the sh of a
// system may know.
func checkShell(line string) error {
	if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), ""); err != nil {
		return fmt.Errorf("the command is no line for the shell: %w", err)
	}
	return nil
}

// missingProgram is a program that the line calls by its bare name and that is not in the PATH of env: the reason for the status 127
// that is not the agent's doing. "" if there is none.
func missingProgram(line string, env []string) string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return ""
	}
	var called, defined []string
	changesPath := false
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.FuncDecl:
			defined = append(defined, node.Name.Value)
		case *syntax.Assign:
			changesPath = changesPath || node.Name != nil && node.Name.Value == "PATH"
		case *syntax.CallExpr:
			if len(node.Args) > 0 {
				if name := node.Args[0].Lit(); name != "" && !strings.ContainsAny(name, `/\`) {
					called = append(called, name)
				}
			}
		}
		return true
	})
	if changesPath {
		return "" // what is found there, only the shell knows
	}
	for _, name := range called {
		if !slices.Contains(defined, name) && !slices.Contains(builtins, name) && !inPath(name, env) {
			return name
		}
	}
	return ""
}

// builtins are the commands that a POSIX shell, or one that stands in for it, has in itself.
var builtins = strings.Fields(`. : [ alias bg bind break builtin caller cd command compgen complete continue declare dirs disown
	echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd
	pwd read readarray readonly return set shift shopt source suspend test time times trap true type typeset ulimit umask
	unalias unset wait`)

func inPath(name string, env []string) bool {
	var list string
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			list = value
		}
	}
	for _, dir := range filepath.SplitList(list) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() &&
			(info.Mode()&0o111 != 0 || runtime.GOOS == "windows") {
			return true
		}
	}
	return false
}

// quoteWords is the words as one would type them for a shell.
func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			q = fmt.Sprintf("%q", w)
		}
		quoted[i] = q
	}
	return strings.Join(quoted, " ")
}
