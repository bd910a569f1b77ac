package journal

import (
	"fmt"
	"path/filepath"
	"strings"
)

// WriteFile writes a file into the run directory, in place of what is there: a reader finds the one or the other, whole. Of
// processes that write at the same time one is last.
func (j *Journal) WriteFile(name string, data []byte) error {
	if name != filepath.Base(name) || !filepath.IsLocal(name) || name == "." || strings.HasPrefix(name, filePrefix) || name == previousFile || name == trialsDir {
		return fmt.Errorf("journal: write %s: it is no name of a file beside the journals", name)
	}
	if err := replaceFile(filepath.Join(j.dir, name), string(data)); err != nil {
		return fmt.Errorf("journal: write %s: %w", name, err)
	}
	return nil
}
