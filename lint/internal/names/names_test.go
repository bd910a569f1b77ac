package names_test

import (
	"go/token"
	"go/types"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/evaltest-go/evaltest/lint/internal/names"
)

// A copy in a vendor folder is the library; a type of the same name elsewhere is not.
func TestWhereATypeIsFrom(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		names.Agents:                             true,
		"example.com/app/vendor/" + names.Agents: true,
		"vendor/" + names.Agents:                 true,
		"example.com/agents":                     false,
		names.Agents + "/fake":                   false,
		"agents":                                 false,
	} {
		pkg := types.NewPackage(path, "agents")
		named := types.NewNamed(types.NewTypeName(token.NoPos, pkg, "Trajectory", nil), types.NewStruct(nil, nil), nil)
		assert.Equal(t, want, names.IsTrajectory(types.NewPointer(named)), path)
		assert.False(t, names.IsTrajectory(named), "it is no pointer: %s", path)
		alias := types.NewAlias(types.NewTypeName(token.NoPos, pkg, "T", nil), types.NewPointer(named))
		assert.Equal(t, want, names.IsTrajectory(alias), "an alias: %s", path)
	}
}
