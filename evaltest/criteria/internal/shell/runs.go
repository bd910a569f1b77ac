package shell

import (
	"slices"
	"strings"
)

var shells = []string{"bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish"}

// runs is a command whose inner commands are being found.
type runs struct {
	f       *finder
	command Command
	args    []string // with marks
	stdin   string
	depth   int
}

// command is the command of these words, with what it runs. stdin is what the source writes to its input, "" if it does not
// say.
func (f *finder) command(words []string, stdin string, depth int) Command {
	shown, size := make([]string, len(words)), 0
	for i, w := range words {
		shown[i] = f.marks.shown(w)
		size += len(shown[i]) + 16
	}
	r := runs{f: f, command: Command{Words: shown, Text: strings.Join(shown, " ")}, args: words[1:], stdin: stdin, depth: depth}
	if depth > maxDepth || depth > 0 && !f.spend(size) {
		return r.command
	}
	if e, ok := f.marks.only(words[0]); ok {
		r.expanded(e)
	} else {
		r.known(Program(shown[0]))
	}
	return r.command
}

// script notes that a shell runs s, which is a word or several, with these parameters and this input.
func (r *runs) script(s string, params []string, stdin string) {
	r.text(r.f.scripted(s), params, stdin)
}

// text notes that a shell runs what it reads.
func (r *runs) text(s string, params []string, stdin string) {
	g := given{depth: r.depth + 1, work: r.f.work, stdin: stdin, outer: r.f.outer}
	for _, p := range params {
		g.params = append(g.params, r.f.scripted(p))
	}
	r.command.Inner = append(r.command.Inner, g.parse(s)...)
}

// words notes that a command of these words is run.
func (r *runs) words(words []string, stdin string) {
	if len(words) > 0 {
		r.command.Inner = append(r.command.Inner, r.f.command(words, stdin, r.depth+1))
	}
}

// expanded notes what runs if the first word is an expansion: what it stands for, with the words after it. If that is not
// known, nothing is; but a sudo by its name, or nothing in its place, runs the words after it.
func (r *runs) expanded(e expansion) {
	switch {
	case e.known && e.quoted:
		if e.value != "" {
			r.words(append([]string{e.value}, r.args...), r.stdin)
		}
	case e.quoted:
	case e.known:
		r.words(append(strings.Fields(e.value), r.args...), r.stdin)
	case r.f.isSudo(e.name):
		r.words(wrappers["sudo"].strip(r.args), r.stdin)
	}
}

func firstOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

func (r *runs) known(program string) {
	args := r.args
	switch lower := strings.ToLower(program); {
	case slices.Contains(shells, program):
		r.shell()
	case program == "eval":
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		r.script(strings.Join(args, " "), nil, r.stdin)
	case program == "." || program == "source":
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		if len(args) > 0 {
			r.file(args[0])
		}
	case program == "trap":
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		if len(args) > 1 && !strings.HasPrefix(args[0], "-") && slices.ContainsFunc(args[1:], comesToPass) {
			r.script(args[0], nil, "")
		}
	case program == "mapfile" || program == "readarray":
		if s, ok := shortValue(args, "C", "dnOstuc"); ok {
			r.script(s, nil, "")
		}
	case program == "su", program == "runuser", program == "sg", program == "script":
		if s, ok := optionC(args); ok {
			r.script(s, nil, r.stdin)
		} else if program == "runuser" && slices.ContainsFunc(args, isUserOption) {
			r.words(wrappers[program].strip(args), r.stdin)
		} else if i := slices.Index(args, "--"); program == "script" && i >= 0 {
			r.words(args[i+1:], "")
		} else if program == "su" {
			r.text(r.stdin, nil, "")
		}
	case program == "find":
		for _, inner := range execs(args, "-exec", "-execdir") {
			r.words(inner, "")
		}
	case program == "fd" || program == "fdfind":
		for _, inner := range execs(args, "-x", "--exec", "-X", "--exec-batch") {
			r.words(inner, "")
		}
	case program == "git":
		r.git()
	case slices.Contains([]string{"docker", "podman", "nerdctl", "docker-compose"}, program):
		r.container()
	case program == "kubectl" || program == "oc":
		r.pod()
	case lower == "cmd":
		r.rest("/c", "/k")
	case lower == "powershell" || lower == "pwsh":
		r.rest("-c", "-command")
	default:
		if w, ok := wrappers[program]; ok {
			r.wrapped(program, w)
		}
	}
}

// rest runs all that follows one of these options.
func (r *runs) rest(options ...string) {
	if i := slices.IndexFunc(r.args, func(a string) bool { return slices.Contains(options, strings.ToLower(a)) }); i >= 0 {
		r.script(strings.Join(r.args[i+1:], " "), nil, r.stdin)
	}
}

// opensShell reports whether an option of sudo has it run a shell.
func opensShell(a string) bool {
	return a == "--shell" || a == "--login" || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.ContainsAny(a, "si")
}

func isUserOption(a string) bool { return strings.HasPrefix(a, "-u") || strings.HasPrefix(a, "--user") }

func (r *runs) wrapped(program string, w wrapper) {
	inner := w.strip(r.args)
	if program == "env" {
		if text, rest, ok := splitString(r.args); ok {
			split := strings.Fields(text)
			if ws, err := fields(r.f.scripted(text)); err == nil {
				split = ws
			}
			inner = w.strip(append(split, rest...))
		}
	}
	switch {
	case program == "xargs":
		for _, words := range r.xargs(inner) {
			r.words(words, "")
		}
	case program == "parallel":
		r.parallel(inner)
	case len(inner) == 0 && (program == "ssh" && len(r.args) > 0 || program == "sudo" && slices.ContainsFunc(r.args, opensShell)):
		r.text(r.stdin, nil, "")
	case len(inner) == 0:
	case w.script || program == "flock" && len(inner) == 1:
		r.script(strings.Join(inner, " "), nil, r.stdin)
	case program == "flock" && (inner[0] == "-c" || inner[0] == "--command"):
		r.script(strings.Join(inner[1:], " "), nil, r.stdin)
	default:
		r.words(inner, r.stdin)
	}
}

// parallel runs what its words make with its arguments, or its arguments, or the lines that it reads.
func (r *runs) parallel(words []string) {
	switch at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, ":::") }); {
	case len(words) == 0:
		r.text(r.stdin, nil, "")
	case at == 0:
		for _, w := range words[1:] {
			r.script(w, nil, "")
		}
	default:
		r.script(strings.Join(words, " "), nil, "")
	}
}

// pod runs what kubectl runs in a container.
func (r *runs) pod() {
	args := kubectl.strip(r.args)
	if len(args) == 0 || args[0] != "exec" && args[0] != "run" && args[0] != "debug" {
		return
	}
	i := slices.Index(args, "--")
	switch {
	case i >= 0 && (args[0] != "run" || slices.Contains(args[:i], "--command") || isShell(args[i+1:])):
		r.words(args[i+1:], r.stdin)
	case i < 0 && args[0] == "exec":
		r.words(kubectl.after(1).strip(args[1:]), r.stdin)
	}
}

// isShell reports whether the words are a shell's. An image's own program, to which the words after its name go, has no use for them.
func isShell(words []string) bool {
	return len(words) > 0 && slices.Contains(shells, Program(words[0]))
}

// comesToPass reports whether a trap of this signal is carried out anyway.
func comesToPass(signal string) bool {
	return signal == "0" || strings.EqualFold(signal, "EXIT") || strings.EqualFold(signal, "DEBUG")
}

// git runs commands for some of its own, and aliases that are given on its command line.
func (r *runs) git() {
	global := wrapper{valued: "Cc", long: []string{"git-dir", "work-tree", "namespace", "exec-path", "config-env"}}
	args := global.strip(r.args)
	for i, a := range r.args[:len(r.args)-len(args)] {
		if a == "-c" && i+1 < len(r.args) {
			if name, value, ok := strings.Cut(r.args[i+1], "=!"); ok && len(args) > 0 && name == "alias."+args[0] {
				r.script(value+" "+strings.Join(args[1:], " "), nil, r.stdin)
			}
		}
	}
	if len(args) == 0 {
		return
	}
	switch rest := args[1:]; args[0] {
	case "submodule":
		rest = wrapper{}.strip(rest)
		if len(rest) > 1 && rest[0] == "foreach" {
			r.script(strings.Join(wrapper{}.strip(rest[1:]), " "), nil, "")
		}
	case "bisect":
		if len(rest) > 1 && rest[0] == "run" {
			r.words(rest[1:], "")
		}
	case "rebase":
		for _, name := range []string{"--exec", "-x"} {
			if s, ok := option(rest, name); ok {
				r.script(s, nil, "")
			}
		}
	}
}

// container runs what docker and its like run in a container. Words after the name of an image go to the image's own program,
// unless it is given, too.
func (r *runs) container() {
	args := docker.strip(r.args)
	if len(args) > 0 && (args[0] == "compose" || args[0] == "container") {
		args = docker.strip(args[1:])
	}
	if len(args) == 0 || args[0] != "exec" && args[0] != "run" {
		return
	}
	inner := docker.after(1).strip(args[1:])
	if args[0] == "exec" {
		r.words(inner, r.stdin)
		return
	}
	options := args[1 : len(args)-len(inner)]
	entry, given := option(options, "--entrypoint")
	switch {
	case given && entry != "":
		r.words(append([]string{entry}, inner...), r.stdin)
	case given || isShell(inner):
		r.words(inner, r.stdin)
	}
}

// file notes that a shell runs what is in a file.
func (r *runs) file(name string, params ...string) {
	switch {
	case isStdin(name):
		r.text(r.stdin, params, "")
	default:
		r.text(r.f.marks.file(name), params, r.stdin)
	}
}

// shell notes what a shell runs: the argument of -c, or a file, or else its input.
func (r *runs) shell() {
	args, c, input := r.args, false, false
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
			switch a {
			case "--rcfile", "--init-file":
				args = args[min(1, len(args)):]
			case "--version", "--help":
				return
			}
			continue
		}
		set := a[0] == '-'
		c = c || set && strings.Contains(a, "c")
		input = input || set && strings.Contains(a, "s")
		if set && strings.ContainsAny(a, "nD") {
			return // it reads the script and does not run it
		}
		for range strings.Count(strings.ToLower(a[1:]), "o") {
			if set && firstOf(args) == "noexec" {
				return
			}
			args = args[min(1, len(args)):]
		}
	}
	switch {
	case c && len(args) > 0:
		r.script(args[0], args[1:], r.stdin)
	case c:
	case input:
		r.text(r.stdin, append([]string{"bash"}, args...), "")
	case len(args) == 0:
		r.text(r.stdin, nil, "")
	default:
		r.file(args[0], args...)
	}
}

// shortValue is the value of a short option among others, of which valued take one.
func shortValue(args []string, name, valued string) (string, bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' || a == "--" {
			break
		}
		at := strings.IndexAny(a[1:], valued+name) + 1
		switch {
		case at == 0 || a[1] == '-':
		case at+1 < len(a):
			if a[at:at+1] == name {
				return a[at+1:], true
			}
		case i+1 < len(args):
			if a[at:] == name {
				return args[i+1], true
			}
			i++
		}
	}
	return "", false
}
