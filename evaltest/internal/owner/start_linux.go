package owner

import (
	"fmt"
	"os"
	"strings"
)

// startOf is when the process began, in clock ticks since the system started; "": there is none, or it cannot be told.
func startOf(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name, in parentheses, may hold anything; the 22nd field is the 20th behind it.
	stat := string(data)
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// namespace names the PID namespace that this process is in.
func namespace() string {
	ns, _ := os.Readlink("/proc/self/ns/pid")
	return ns
}
