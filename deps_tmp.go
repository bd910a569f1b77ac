//go:build deps

package evaltest

import (
	_ "github.com/bmatcuk/doublestar/v4"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/jsonschema-go/jsonschema"
	_ "github.com/rogpeppe/go-internal/lockedfile"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/stretchr/testify/require"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/tools/txtar"
	_ "mvdan.cc/sh/v3/syntax"
)
