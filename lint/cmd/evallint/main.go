// Command evallint runs the analyzers of package lint over an author's packages, alone or for the go command:
//
//	evallint ./...
//	evallint -fix ./...                                apply the fixes that are certain (-diff: show them)
//	evallint -json ./...                               findings as JSON
//	evallint -livepure.strict ./...                    a setting of an analyzer
//	evallint help livepure                             its manual in short, and its settings
//	go vet -vettool=$(which evallint) ./...            with the go command's cache; fastest in a large module
//	go vet -vettool=$(which evallint) -livepure ./...  only this one
//
// It exits with 0 when nothing is found, with 3 when something is, and with 1 when packages cannot be analysed; under -json, and
// under go vet, as go vet does. Tests are looked at, too (-test=false: not).
//
// A comment of the form //nolint:evaltest or //nolint:livepure on the line, or with the declaration, says that what is found is
// meant so.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/evaltest-go/evaltest/lint"
)

func main() { multichecker.Main(lint.Analyzers(lint.Settings{})...) }
