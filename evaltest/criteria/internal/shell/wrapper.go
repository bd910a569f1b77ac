package shell

import (
	"slices"
	"strings"
)

// A wrapper is a program that runs the command which its later arguments are.
type wrapper struct {
	valued string   // short options that take the next argument as their value
	long   []string // long ones
	flags  []string // if any: the long options that take none, as all others do
	stop   string   // short options with which it runs nothing
	stops  []string // long ones
	skip   int      // arguments that come before the command
	assign bool     // X=1 may come before the command
	dash   bool     // - is an option
	script bool     // what it runs is handed to a shell
	root   bool     // it is all about whose rights the command has
}

// after is the wrapper with n arguments before the command.
func (w wrapper) after(n int) wrapper {
	w.skip = n
	return w
}

var docker = wrapper{valued: "euwvphlmcaHf", flags: []string{"detach", "interactive", "tty", "rm", "init", "privileged", "publish-all",
	"read-only", "no-healthcheck", "oom-kill-disable", "quiet", "no-TTY", "no-deps", "service-ports", "use-aliases", "build", "remove-orphans", "replace", "tls-verify", "debug", "tls", "tlsverify", "remote", "all-resources", "verbose"}}

var kubectl = wrapper{valued: "cnfsv", long: []string{"container", "namespace", "context", "filename", "pod-running-timeout", "kubeconfig", "cluster", "user",
	"server", "token", "as", "as-group", "request-timeout", "cache-dir", "image", "labels", "env", "target", "profile", "copy-to", "overrides", "restart"}}

var wrappers = map[string]wrapper{
	"sudo": {valued: "aCcDghpRrtTUu", assign: true, root: true, stop: "lveVK", stops: []string{"list", "validate", "edit", "remove-timestamp"},
		long: []string{"user", "group", "prompt", "chdir", "chroot", "host", "role", "type", "close-from", "command-timeout", "other-user"}},
	"doas":       {valued: "aCu", root: true},
	"env":        {valued: "uCa", long: []string{"unset", "chdir", "argv0"}, assign: true, dash: true},
	"nohup":      {},
	"setsid":     {},
	"time":       {valued: "fo", long: []string{"format", "output"}},
	"timeout":    {valued: "ks", long: []string{"kill-after", "signal"}, skip: 1},
	"gtimeout":   {valued: "ks", long: []string{"kill-after", "signal"}, skip: 1},
	"nice":       {valued: "n", long: []string{"adjustment"}},
	"ionice":     {valued: "cn", long: []string{"class", "classdata"}, stop: "pPu"},
	"chrt":       {valued: "TPD", long: []string{"sched-runtime", "sched-period", "sched-deadline"}, stop: "pm", stops: []string{"pid", "max"}, skip: 1},
	"taskset":    {stop: "p", stops: []string{"pid"}, skip: 1},
	"prlimit":    {valued: "o", long: []string{"output"}, stop: "p", stops: []string{"pid"}},
	"stdbuf":     {valued: "ioe", long: []string{"input", "output", "error"}},
	"xargs":      {valued: "aEILnPsd", stop: "p", stops: []string{"interactive"}, long: []string{"arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"}},
	"exec":       {valued: "a"},
	"command":    {stop: "vV"},
	"builtin":    {},
	"busybox":    {stops: []string{"list", "list-full", "install"}},
	"toybox":     {},
	"chroot":     {long: []string{"userspec", "groups"}, skip: 1},
	"runuser":    {valued: "ugGsw", long: []string{"user", "group", "supp-group", "shell", "whitelist-environment"}},
	"fakeroot":   {valued: "lisb", long: []string{"lib", "faked"}},
	"fakechroot": {valued: "esdb"},
	"valgrind":   {},
	"unbuffer":   {},
	"caffeinate": {valued: "tw"},
	"strace":     {valued: "abeEIoOpPsSuUX"},
	"ltrace":     {valued: "aAeFlnopsuwx"},
	"proot":      {valued: "rbqwkRS"},
	"firejail":   {},
	"systemd-run": {valued: "pMHtuE", long: []string{"unit", "property", "description", "slice", "uid", "gid", "nice", "working-directory", "setenv",
		"machine", "host", "service-type", "on-active", "on-calendar", "background"}},
	"dbus-run-session": {long: []string{"config-file", "dbus-daemon"}},
	"setpriv": {long: []string{"ruid", "euid", "rgid", "egid", "reuid", "regid", "groups", "inh-caps", "ambient-caps", "bounding-set", "securebits",
		"selinux-label", "apparmor-profile", "pdeathsig", "ptracer", "landlock-access", "landlock-rule", "seccomp-filter"}, stop: "d", stops: []string{"dump", "list-caps"}},
	"unshare": {valued: "SGRwl", long: []string{"propagation", "setgroups", "setuid", "setgid", "root", "wd", "map-user", "map-users", "map-group", "map-groups",
		"monotonic", "boottime", "load-interp", "owner"}},
	"nsenter":  {valued: "tSGW", long: []string{"target", "setuid", "setgid", "wdns"}},
	"flock":    {valued: "wE", long: []string{"timeout", "conflict-exit-code"}, skip: 1},
	"watch":    {valued: "nqs", long: []string{"interval", "equexit", "shotsdir"}, script: true},
	"parallel": {valued: "jNnaISLPE", script: true, flags: parallelFlags, stops: []string{"dry-run", "dryrun", "interactive"}},
	"ssh":      {valued: "BbcDEeFIiJLlmOopPQRSWw", skip: 1, script: true, stop: "NVGQOW"},
}

var parallelFlags = []string{"null", "bar", "progress", "eta", "keep-order", "verbose", "line-buffer", "lb", "group", "ungroup", "pipe",
	"pipe-part", "xargs", "no-notice", "will-cite", "no-run-if-empty", "quote", "resume", "resume-failed", "link", "tag", "tty", "semaphore", "fg", "bg",
	"round-robin", "cat", "fifo", "files", "linebuffer", "silent", "plain", "shuf", "header-only"}

// strip is what is left of args once options, assignments and arguments of the wrapper's own are gone. It is nothing if one
// of the options has the wrapper run nothing.
func (w wrapper) strip(args []string) []string {
	skip := w.skip
	for len(args) > 0 {
		a := args[0]
		switch {
		case a == "--":
			return args[min(1+skip, len(args)):]
		case a == "-" && w.dash:
		case strings.HasPrefix(a, "--"):
			name, _, given := strings.Cut(a[2:], "=")
			if name == "help" || name == "version" || slices.Contains(w.stops, name) {
				return nil
			}
			if !given && (slices.Contains(w.long, name) || w.flags != nil && !slices.Contains(w.flags, name)) {
				args = args[1:]
			}
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			stop, value := w.cluster(a[1:])
			if stop {
				return nil
			}
			if value {
				args = args[1:]
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

// cluster looks at short options that are written as one. The first of them that takes a value has the rest for it, or the
// next argument, which value reports.
func (w wrapper) cluster(letters string) (stop, value bool) {
	for i := range len(letters) {
		switch {
		case strings.IndexByte(w.stop, letters[i]) >= 0:
			return true, false
		case strings.IndexByte(w.valued, letters[i]) >= 0:
			return false, i == len(letters)-1
		}
	}
	return false, false
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

// optionC is the value of -c or --command, of the arguments before --.
func optionC(args []string) (string, bool) {
	for i, a := range args {
		if a == "--" {
			break
		}
		if v, ok := strings.CutPrefix(a, "--command="); ok {
			return v, true
		}
		if i+1 < len(args) && (a == "--command" || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.HasSuffix(a, "c")) {
			return args[i+1], true
		}
	}
	return "", false
}

// option is the value of a long option, in whichever way it is written.
func option(args []string, name string) (string, bool) {
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return v, true
		}
		if a == name && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return "", false
}

// splitString is what env -S splits into arguments, and what comes after it.
func splitString(args []string) (text string, rest []string, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if v, ok := strings.CutPrefix(a, "--split-string="); ok {
			return v, args[i+1:], true
		}
		next := a == "--split-string"
		if !next && len(a) > 1 && a[0] == '-' && a[1] != '-' {
			at := strings.IndexAny(a[1:], "uCaS") + 1
			switch {
			case at == 0:
			case a[at] == 'S' && at+1 < len(a):
				return a[at+1:], args[i+1:], true
			case a[at] == 'S':
				next = true
			case at+1 == len(a):
				i++
			}
		}
		if next {
			if i+1 == len(args) {
				return "", nil, false
			}
			return args[i+1], args[i+2:], true
		}
		if a == "--unset" || a == "--chdir" || a == "--argv0" {
			i++
		} else if a == "--" || !strings.HasPrefix(a, "-") && !isAssignment(a) {
			break
		}
	}
	return "", nil, false
}

// execs lists the commands that follow these options, each up to a semicolon or the + of find.
func execs(args []string, options ...string) [][]string {
	var all [][]string
	for i := 0; i < len(args); i++ {
		if !slices.Contains(options, args[i]) {
			continue
		}
		end := i + 1
		for end < len(args) && args[end] != ";" && (args[end] != "+" || args[end-1] != "{}") {
			end++
		}
		if end > i+1 {
			all = append(all, args[i+1:end])
		}
		i = end
	}
	return all
}
