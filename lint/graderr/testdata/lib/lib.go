// Package lib asks a judge.
package lib

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/evaltest-go/evaltest/evaltest"
)

// Option is here so that the package has to do with evals.
type Option = evaltest.Option

// Ask asks the judge.
func Ask(_ context.Context, text string) (string, error) { // want Ask:`returns the error of http.Post`
	response, err := http.Post("https://judge.example.com", "text/plain", strings.NewReader(text))
	if err != nil {
		return "", fmt.Errorf("ask: %w", err)
	}
	return response.Status, response.Body.Close()
}

// Judge answers something.
type Judge interface {
	Ask(text string) (string, error)
}

var judge Judge

// Untold is a function of whose errors nothing is known.
func Untold(_ context.Context, text string) (string, error) { return judge.Ask(text) }

// Parse parses what it is given.
func Parse(text string) (int, error) {
	var n int
	_, err := fmt.Sscan(text, &n)
	return n, err
}
