package shell

import (
	"regexp"
	"slices"
	"strings"
)

// A wrapper is a program that runs the command which its later arguments are.
type wrapper struct {
	valued string   // short options that take the next argument as their value
	long   []string // long ones
	skip   int      // arguments that come before the command
	assign bool     // X=1 may come before the command
}

var wrappers = map[string]wrapper{
	"sudo": {valued: "aCcDghpRrtTUu", assign: true,
		long: []string{"user", "group", "prompt", "chdir", "chroot", "host", "role", "type", "close-from", "command-timeout", "other-user"}},
	"doas":             {valued: "aCu"},
	"env":              {valued: "uC", long: []string{"unset", "chdir"}, assign: true},
	"nohup":            {},
	"setsid":           {},
	"time":             {valued: "fo", long: []string{"format", "output"}},
	"timeout":          {valued: "ks", long: []string{"kill-after", "signal"}, skip: 1},
	"gtimeout":         {valued: "ks", long: []string{"kill-after", "signal"}, skip: 1},
	"nice":             {valued: "n", long: []string{"adjustment"}},
	"ionice":           {valued: "cn", long: []string{"class", "classdata"}},
	"taskset":          {skip: 1},
	"stdbuf":           {valued: "ioe", long: []string{"input", "output", "error"}},
	"xargs":            {valued: "aEILnPsd", long: []string{"arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"}},
	"parallel":         {valued: "jNna", long: []string{"jobs", "arg-file", "max-args"}},
	"exec":             {valued: "a"},
	"command":          {},
	"builtin":          {},
	"busybox":          {},
	"toybox":           {},
	"chroot":           {long: []string{"userspec", "groups"}, skip: 1},
	"unshare":          {long: []string{"propagation", "map-user", "map-group", "root", "wd", "setuid", "setgid"}},
	"setpriv":          {long: []string{"reuid", "regid", "groups", "inh-caps", "ambient-caps", "bounding-set", "securebits", "pdeathsig"}},
	"chrt":             {valued: "TPD", long: []string{"sched-runtime", "sched-period", "sched-deadline"}, skip: 1},
	"prlimit":          {},
	"fakeroot":         {valued: "lisb", long: []string{"lib", "faked"}},
	"valgrind":         {},
	"dbus-run-session": {},
	"strace":           {valued: "abeIoOpPsSuUX"},
	"flock":            {valued: "wE", long: []string{"timeout", "conflict-exit-code"}, skip: 1},
	"watch":            {valued: "nq", long: []string{"interval"}},
	"unbuffer":         {},
	"caffeinate":       {valued: "tw"},
}

var shells = []string{"bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "rbash"}

// command is the command of these words, with what it runs. stdin is what the source writes to its input, "" if it does not
// say.
func command(words []string, stdin string, depth int) Command {
	c := Command{Words: words, Text: strings.Join(words, " ")}
	if depth > maxDepth {
		return c
	}
	args := words[1:]
	script := func(s string) { c.Inner = append(c.Inner, parse(s, depth+1)...) }
	switch program := Program(words[0]); {
	case slices.Contains(shells, program):
		if s, ok := scriptOf(args, stdin); ok {
			script(s)
		}
	case strings.HasPrefix(words[0], "$"):
		// What the word stands for is not known, and often it is nothing, or a wrapper: $SUDO rm x. A default may be it: ${RM:-rm}.
		if m := defaultWord.FindStringSubmatch(words[0]); m != nil {
			c.Inner = append(c.Inner, command(append([]string{m[1]}, args...), stdin, depth+1))
		}
		if len(args) > 0 {
			c.Inner = append(c.Inner, command(args, stdin, depth+1))
		}
	case program == "eval":
		script(strings.Join(behindDashes(args), " "))
	case program == "trap":
		if args = behindDashes(args); len(args) > 1 {
			script(args[0])
		}
	case program == "su", program == "runuser", program == "sg", program == "script":
		if s, ok := optionC(args); ok {
			script(s)
		}
	case program == "find":
		for _, inner := range findExec(args) {
			c.Inner = append(c.Inner, command(inner, "", depth+1))
		}
	case strings.EqualFold(program, "cmd"):
		if i := slices.IndexFunc(args, func(a string) bool { return strings.EqualFold(a, "/c") || strings.EqualFold(a, "/k") }); i >= 0 {
			script(strings.Join(args[i+1:], " "))
		}
	case strings.EqualFold(program, "powershell"), program == "pwsh":
		if i := slices.IndexFunc(args, func(a string) bool { return strings.EqualFold(a, "-c") || strings.EqualFold(a, "-command") }); i >= 0 {
			script(strings.Join(args[i+1:], " "))
		}
	default:
		w, ok := wrappers[program]
		if !ok || onlyLooks(program, args) {
			break
		}
		if s, ok := splitString(program, args); ok {
			script(s)
			break
		}
		switch inner := w.strip(args); {
		case len(inner) == 0:
		case program == "watch" || program == "parallel" || (program == "flock" && len(inner) == 1): // run by a shell
			script(strings.Join(inner, " "))
		case program == "flock" && inner[0] == "-c":
			script(strings.Join(inner[1:], " "))
		default:
			c.Inner = append(c.Inner, command(inner, stdin, depth+1))
		}
	}
	return c
}

var defaultWord = regexp.MustCompile(`^\$\{\w+:?[-=]([\w./-]+)\}$`)

// behindDashes is args without a leading --.
func behindDashes(args []string) []string {
	if len(args) > 0 && args[0] == "--" {
		return args[1:]
	}
	return args
}

// onlyLooks reports whether the wrapper looks a command up, or lists what may be run, and runs nothing.
func onlyLooks(program string, args []string) bool {
	letters := map[string]string{"command": "vV", "sudo": "lvK"}[program]
	for _, a := range args {
		if len(a) < 2 || a[0] != '-' || a[1] == '-' {
			break
		}
		if letters != "" && strings.ContainsAny(a[1:2], letters) || program == "command" && strings.ContainsAny(a, letters) {
			return true
		}
	}
	return false
}

// strip is what is left of args once options, assignments and arguments of the wrapper's own are gone.
func (w wrapper) strip(args []string) []string {
	skip := w.skip
	for len(args) > 0 {
		a := args[0]
		switch {
		case a == "-" && w.assign: // env - is env -i
		case a == "--":
			return args[min(1+skip, len(args)):]
		case strings.HasPrefix(a, "--"):
			if name := a[2:]; slices.Contains(w.long, name) {
				args = args[min(1, len(args)):]
			}
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			// The first option in a cluster that takes a value has the rest of the cluster, or the next argument.
			if i := strings.IndexAny(a[1:], w.valued); w.valued != "" && i >= 0 && i == len(a)-2 {
				args = args[min(1, len(args)):]
			}
		case w.assign && isAssignment(a):
		case skip > 0:
			skip--
		default:
			return args
		}
		args = args[min(1, len(args)):]
	}
	return nil
}

func isAssignment(a string) bool {
	name, _, ok := strings.Cut(a, "=")
	if !ok || name == "" {
		return false
	}
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
}

// scriptOf is the source that a shell with these arguments runs: the argument of -c, else its input, unless it runs a file.
func scriptOf(args []string, stdin string) (string, bool) {
	c, input, check := false, false, false
	for len(args) > 0 {
		a := args[0]
		if a == "--" || a == "-" {
			args = args[1:]
			break
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			break
		}
		args = args[1:]
		if strings.HasPrefix(a, "--") {
			if a == "--rcfile" || a == "--init-file" {
				args = args[min(1, len(args)):]
			}
			continue
		}
		c = c || a[0] == '-' && strings.Contains(a, "c")
		check = check || a[0] == '-' && strings.Contains(a, "n")
		input = input || a[0] == '-' && strings.Contains(a, "s")
		if strings.ContainsAny(a[1:], "oO") {
			args = args[min(1, len(args)):]
		}
	}
	switch {
	case check: // -n reads a script and does not run it
	case c && len(args) > 0:
		return args[0], true
	case !c && (input || len(args) == 0) && stdin != "":
		return stdin, true
	}
	return "", false
}

// optionC is the value of -c or --command.
func optionC(args []string) (string, bool) {
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--command="); ok {
			return v, true
		}
		if i+1 < len(args) && (a == "--command" || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.HasSuffix(a, "c")) {
			return args[i+1], true
		}
	}
	return "", false
}

// splitString is what env -S runs.
func splitString(program string, args []string) (string, bool) {
	if program != "env" {
		return "", false
	}
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--split-string="); ok {
			return strings.Join(append([]string{v}, args[i+1:]...), " "), true
		}
		if v, ok := strings.CutPrefix(a, "-S"); ok || a == "--split-string" {
			if a == "--split-string" {
				v = ""
			}
			return strings.Join(append([]string{v}, args[i+1:]...), " "), true
		}
		if !strings.HasPrefix(a, "-") && !isAssignment(a) {
			break
		}
	}
	return "", false
}

// findExec lists the commands that find runs for what it finds.
func findExec(args []string) [][]string {
	var all [][]string
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end] != ";" && (args[end] != "+" || args[end-1] != "{}") {
				end++
			}
			if end > i+1 {
				all = append(all, args[i+1:end])
			}
			i = end
		}
	}
	return all
}
