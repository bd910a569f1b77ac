// Package proc runs a program, typically a coding agent's command line, so that nothing of it survives: not what it put
// into the background, not what it put into a session of its own, and not when the test that started it is killed.
//
//	home, tmp := t.TempDir(), t.TempDir()
//	p, err := proc.Start(proc.Command{
//		Path: "claude",
//		Args: []string{"-p", "--output-format", "stream-json"},
//		Dir:  workspace,
//		Env:  proc.Environ(home, tmp, []string{"ANTHROPIC_*"}),
//	})
//	if err != nil {
//		return err
//	}
//	defer p.Close() // ends every descendant
//	io.WriteString(p.Stdin, prompt)
//	p.Stdin.Close()
//	events := bufio.NewScanner(p.Stdout)
//
// [Run] is the short form for a command that is given its input and runs to its end.
//
// # How
//
// Agents put their tool shells into sessions of their own, so killing a process group does not reach them. A command
// therefore runs under a supervisor: the running binary, started once more in a session of its own, which an init
// function of this package turns into a supervisor before main or a test begins. It holds the read end of a pipe whose write end is
// the owner's (the process that called Start). When the pipe closes, because of Close, a panic, -timeout, Ctrl-C, or kill -9, the
// supervisor ends every descendant. No signal handler and no cleanup has to run in the owner.
//
// What holds the descendants together depends on the system; [Containment] names it:
//
//   - "pid namespace" (Linux, where unprivileged user namespaces are allowed, or for root): the supervisor is pid 1 of a PID
//     namespace with its own /proc. Its death, by whatever hand, is the death of all: the kernel sees to it. The command
//     sees no process but its own, and cannot read the environment of those that started it. For a user other than root
//     it is also a user namespace with the same user: set-user-id programs such as sudo do not work in it.
//   - "subreaper" (Linux otherwise; Command.NoNamespace or EVALTEST_NAMESPACE=off ask for it): orphans become children of the
//     supervisor instead of init's, which freezes and kills until it has no child left. Of the two processes that form
//     the supervisor each takes over when the other is killed or stopped. If both, or both and the owner, are killed at one stroke,
//     what carries the marker variable is ended, by the owner or by the next [Sweep]: only what has wiped its environment (env -i)
//     and was orphaned escapes then. A descendant that became another user (sudo) cannot be ended; Close says so.
//   - "process group" (macOS, the BSDs): the supervisor ends the command's process group, the tree below it, and, on macOS, what
//     carries the marker. What left the group, was orphaned, and wiped its environment escapes, as does what forks faster
//     than it is found; on the BSDs everything that left the group and was orphaned does. The death of the supervisor itself
//     (kill -9) is noticed by the owner, which then ends what carries the marker. If the binary's file is gone, Start fails.
//   - "job object" (Windows): there is no supervisor; the job ends with its last handle, the owner's. A process that
//     was told to break away cannot: the job forbids it. The end of the go command alone is not noticed. Signals are
//     os.Interrupt (as Ctrl-Break) and os.Kill.
//
// None of these is a security boundary: an agent with root's rights can leave any of them.
//
// # The go command
//
// If a test binary was started by the go command (told by the flag -test.paniconexit0, that it alone passes), and that go
// command dies while the binary lives on (kill -9 or SIGTERM of `go test` alone), commands are ended within about 200 ms, and Start
// fails from then on; [Abandoned] tells. A wrapper (-exec) may stand between. A binary started by hand has no such parent: the end of its shell
// is no reason. The death of what started the go command (gotestsum, make) is not noticed as such.
//
// # What the supervisor needs of the binary
//
// Any program that links this package can be a supervisor, test binaries with a TestMain, -race, or -cover included. Packages
// that are initialised before this one run their init functions in the supervisor too, with an almost empty environment:
// they may print and be slow (each Start pays for it), but should not panic for want of a variable; Start reports
// what they print. Starting and ending a trivial command costs about 10 ms, 15 without a namespace.
package proc
