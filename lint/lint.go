// Package lint is the analyzers that hold evals and their criteria against the contracts of evaltest before a run does, when they
// cost nothing yet.
//
//	multichecker.Main(lint.Analyzers(lint.Settings{})...)
//
// Each analyzer has a folder, with its manual as the comment of its package. They are run by cmd/evallint, alone or under go vet,
// and by golangci-lint with the plugin cmd/gclplugin. None of them imports evaltest: one build serves every version of it.
package lint

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint/evalmain"
	"github.com/evaltest-go/evaltest/lint/evalrun"
	"github.com/evaltest-go/evaltest/lint/graderr"
	"github.com/evaltest-go/evaltest/lint/livepair"
	"github.com/evaltest-go/evaltest/lint/livepolarity"
	"github.com/evaltest-go/evaltest/lint/livepure"
	"github.com/evaltest-go/evaltest/lint/stopwhen"
)

// Settings are the options of all analyzers, by name. The zero value runs all of them as most projects want them.
type Settings struct {
	// Disable names analyzers that are not run.
	Disable []string `json:"disable"`

	Livepair     livepair.Options     `json:"livepair"`
	Livepolarity livepolarity.Options `json:"livepolarity"`
	Livepure     livepure.Options     `json:"livepure"`
	Stopwhen     stopwhen.Options     `json:"stopwhen"`
	Graderr      graderr.Options      `json:"graderr"`
	Evalrun      evalrun.Options      `json:"evalrun"`
	Evalmain     evalmain.Options     `json:"evalmain"`
}

// Analyzers are those that the settings leave enabled.
func Analyzers(s Settings) []*analysis.Analyzer {
	return slices.DeleteFunc(all(s), func(a *analysis.Analyzer) bool { return slices.Contains(s.Disable, a.Name) })
}

func all(s Settings) []*analysis.Analyzer {
	return []*analysis.Analyzer{
		livepair.New(s.Livepair),
		livepolarity.New(s.Livepolarity),
		livepure.New(s.Livepure),
		stopwhen.New(s.Stopwhen),
		graderr.New(s.Graderr),
		evalrun.New(s.Evalrun),
		evalmain.New(s.Evalmain),
	}
}

// Validate is an error where the settings name an analyzer that there is not.
func (s Settings) Validate() error {
	var names []string
	for _, a := range all(s) {
		names = append(names, a.Name)
	}
	for _, name := range s.Disable {
		if !slices.Contains(names, name) {
			return fmt.Errorf("disable: there is no analyzer %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}
