package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/evaltest-go/evaltest/evaltest/internal/owner"
)

// The types of records.
const (
	typeRun       = "run"
	typeIntent    = "intent"
	typeCriterion = "criterion"
	typeVerdict   = "verdict"
	typeNote      = "note"
	typeFailure   = "failure"
	typeGrading   = "grading"
	typeResumes   = "resumes"
)

var types = []string{typeRun, typeIntent, typeCriterion, typeVerdict, typeNote, typeFailure, typeGrading, typeResumes}

// envelope is one line of a journal. The trial stands before the data, so that a person who looks at a torn line can still
// tell whose it was.
type envelope struct {
	V     int             `json:"v"`
	Type  string          `json:"type"`
	Time  time.Time       `json:"time"`
	Seq   int             `json:"seq"`             // from 1 in each file
	Trial string          `json:"trial,omitempty"` // Intent.Folder; "": of the process
	Data  json.RawMessage `json:"data"`
}

// Process is the first record of a journal: which test process wrote it.
type Process struct {
	Run     string `json:"run"`     // equal for all processes of one `go test`
	Package string `json:"package"` // import path of the package under test; "" when the binary does not say
	Module  string `json:"module"`  // path of the main module; "" when the binary does not say
	Root    string `json:"root"`    // the module's root directory, absolute
	PID     int    `json:"pid"`
	Host    string `json:"host,omitempty"`
	// Owner tells the process from a later one of the same number.
	Owner   owner.Owner `json:"owner,omitzero"`
	Go      string      `json:"go"` // runtime.Version
	OS      string      `json:"os"`
	Arch    string      `json:"arch"`
	Started time.Time   `json:"started"`
}

// resumes names the run whose settled trials the process takes over.
type resumes struct {
	Dir string `json:"dir"` // absolute
}

// grading names a criterion that is about to be graded.
type grading struct {
	Name string `json:"name"`
}

// note is a fact that is no result.
type note struct {
	Text string `json:"text"`
}

// encode is data as compact JSON without a newline. It never panics: a value that cannot be written is an error of its
// record, and must not take the other records with it.
func encode(data any) (text json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot be written as JSON: %v", p)
		}
	}()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(data); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
