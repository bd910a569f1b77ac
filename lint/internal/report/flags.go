package report

import (
	"flag"
	"strings"
)

// ListVar defines a flag for a list of names with commas between.
func ListVar(flags *flag.FlagSet, list *[]string, name, usage string) {
	flags.Var((*commas)(list), name, usage)
}

type commas []string

func (n *commas) String() string { return strings.Join(*n, ",") }

func (n *commas) Set(text string) error {
	*n = nil
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			*n = append(*n, name)
		}
	}
	return nil
}
