// Package gclplugin is the analyzers of package lint as a module plugin of golangci-lint v2, under the name evaltest.
//
// A golangci-lint that has it is built by golangci-lint custom, from a file .custom-gcl.yml:
//
//	version: v2.15.0
//	plugins:
//	  - module: github.com/evaltest-go/evaltest
//	    import: github.com/evaltest-go/evaltest/lint/cmd/gclplugin
//	    version: latest
//
// and is told to use it in .golangci.yml, where the settings are those of [lint.Settings], by analyzer:
//
//	version: "2"
//	linters:
//	  enable: [evaltest]
//	  settings:
//	    custom:
//	      evaltest:
//	        type: module
//	        description: holds evals and their criteria against the contracts of evaltest
//	        original-url: https://github.com/evaltest-go/evaltest
//	        settings:
//	          disable: [evalmain]
//	          livepure:
//	            strict: true
//
// A setting that does not exist is an error. Findings are those of the linter evaltest, and begin with the name of the analyzer;
// //nolint:evaltest says that one is meant so.
package gclplugin

import (
	"fmt"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/evaltest-go/evaltest/lint"
	"github.com/evaltest-go/evaltest/lint/internal/report"
)

// Name is what the plugin is called in the configuration of golangci-lint.
const Name = "evaltest"

func init() { register.Plugin(Name, New) }

// New is the plugin with these settings: nil, or what YAML decodes the settings of golangci-lint's configuration to. It fails on
// settings that do not exist or cannot be decoded.
func New(conf any) (register.LinterPlugin, error) {
	settings, err := register.DecodeSettings[lint.Settings](conf)
	if err != nil {
		return nil, fmt.Errorf("%s: read settings: %w", Name, err)
	}
	if err := settings.Validate(); err != nil {
		return nil, fmt.Errorf("%s: read settings: %w", Name, err)
	}
	report.Hosted = true
	return plugin{settings}, nil
}

type plugin struct{ settings lint.Settings }

func (p plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	return lint.Analyzers(p.settings), nil
}

// GetLoadMode asks for types: what is found cannot be told from syntax alone.
func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
