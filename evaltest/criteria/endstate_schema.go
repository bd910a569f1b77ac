package criteria

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// parseSchema reads the text of a JSON schema.
func parseSchema(text []byte) (*jsonschema.Schema, error) {
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(text, schema); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line, column := jsonPosition(text, err)
			return nil, fmt.Errorf("malformed schema at line %d, column %d: %w", line, column, err)
		}
		return nil, fmt.Errorf("malformed schema: %w", err)
	}
	return schema, nil
}

// resolveSchema makes a schema ready. It is copied: the author may go on to change it.
func resolveSchema(schema *jsonschema.Schema) (*jsonschema.Resolved, error) {
	if schema == nil {
		return nil, errors.New("the schema is nil")
	}
	if !slices.Contains(drafts, schema.Schema) {
		return nil, fmt.Errorf("schema: $schema is %q; draft 2020-12 and draft 7 can be checked", schema.Schema)
	}
	resolved, err := schema.CloneSchemas().Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("malformed schema: %w", err)
	}
	return resolved, nil
}

// drafts are the values of $schema that the library knows; it says so of others only when a value is held against them.
var drafts = []string{
	"",
	"http://json-schema.org/draft-07/schema#",
	"https://json-schema.org/draft-07/schema#",
	"https://json-schema.org/draft/2020-12/schema",
}

// schemaValue is v with its numbers as the library wants them: as a json.Number the rules for strings would apply to them.
func schemaValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			m[k] = schemaValue(x)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, x := range v {
			l[i] = schemaValue(x)
		}
		return l
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if x, err := v.Float64(); err == nil {
			return x
		}
	}
	return v
}

// schemaWords is what a validation error says: the rule that is broken, and where in the schema it stands. The library puts the
// whole way there before it, once for each level.
func schemaWords(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil || errors.Unwrap(inner) == nil {
			break
		}
		err = inner
	}
	return clipLine(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "validating "), "root: "), 150)
}
