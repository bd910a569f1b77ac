package shell

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// show writes commands on one line: words joined by blanks, inner commands in braces.
func show(cs []Command) string {
	var parts []string
	for _, c := range cs {
		s := c.Text
		if len(c.Inner) > 0 {
			s += " {" + show(c.Inner) + "}"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ; ")
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, source, want string }{
		{"one", `go test ./...`, `go test ./...`},
		{"nothing", "  \n", ``},
		{"a comment", "# rm -rf /\nls # rm", `ls`},
		{"and", `a && b`, `a ; b`},
		{"or, semicolon, background", `a || b; c & d`, `a ; b ; c ; d`},
		{"pipe", `a x | b y |& c`, `a x ; b y ; c`},
		{"subshell and group", `(cd x && rm y); { z; }`, `cd x ; rm y ; z`},
		{"negation", `! grep x f`, `grep x f`},
		{"lines", "cd x\nrm y\n", `cd x ; rm y`},
		{"line continuation", "go \\\n  test", `go test`},
		{"if", `if test -f x; then rm x; elif a; then b; else c; fi`, `test -f x ; rm x ; a ; b ; c`},
		{"loops", `for f in $(ls); do rm "$f"; done; while a; do b; done; until c; do d; done`, `ls ; rm $f ; a ; b ; c ; d`},
		{"case", `case $x in a) rm y;; *) z;; esac`, `rm y ; z`},
		{"function body", `f() { rm x; }; f`, `rm x ; f`},
		{"command substitution", "echo $(rm x) `rm y`", `rm x ; rm y ; echo $() $()`},
		{"substitution in quotes", `echo "a $(rm x) b"`, `rm x ; echo a $() b`},
		{"substitution in a default", `echo ${x:-$(rm y)}`, `rm y ; echo ${x:-$(rm y)}`},
		{"substitution in an assignment", `x=$(rm y)`, `rm y`},
		{"substitution in arithmetic", `echo $(( $(rm y) + 1 ))`, `rm y ; echo $(( $(rm y) + 1 ))`},
		{"substitution in a redirection", `a > $(rm y)`, `a ; rm y`},
		{"process substitution", `diff <(rm x) >(b)`, `rm x ; b ; diff <() >()`},
		{"test", `[[ -n $(rm x) ]] && y`, `rm x ; y`},
		{"coprocess", `coproc rm x`, `rm x`},
		{"assignments before a command", `A=1 B=2 rm x`, `rm x`},
		{"export", `export A=1`, `export A=1`},
		{"single quotes", `'rm' 'a b'`, `rm a b`},
		{"pieces of quotes", `"r"m r''m r\m \rm`, `rm rm rm rm`},
		{"double quotes keep backslashes", `echo "a\n\"\$x\\"`, `echo a\n"$x\`},
		{"ansi c quotes", `$'r\x6d' $'\162m' $'a\tb' $'\u00e9'`, "rm rm a\tb é"},
		{"expansions as written", `cmd $HOME/x ~/y *.go {a,b}`, `cmd $HOME/x ~/y *.go {a,b}`},
		{"here-document is no command", "cat <<EOF > f\nrm -rf /\nEOF", `cat`},
		{"substitution in a here-document", "cat <<EOF\n$(rm x)\nEOF", `cat ; rm x`},
		{"no substitution in a quoted one", "cat <<'EOF'\n$(rm x)\nEOF", `cat`},

		{"bash -c", `bash -c 'a && b'`, `bash -c a && b {a ; b}`},
		{"bash -lc", `bash -lc "rm x"`, `bash -lc rm x {rm x}`},
		{"by path", `/usr/bin/bash -c 'rm x'`, `/usr/bin/bash -c rm x {rm x}`},
		{"bash -euo pipefail -c", `bash -euo pipefail -c 'rm x' arg`, `bash -euo pipefail -c rm x arg {rm x}`},
		{"shells within shells", `sh -c "bash -c 'rm x'"`, `sh -c bash -c 'rm x' {bash -c rm x {rm x}}`},
		{"a substitution in a script", `bash -c "cd $(pwd) && rm $x"`, `pwd ; bash -c cd $() && rm $x {cd $() ; rm $x}`},
		{"a script that is not known", `bash -c "$script"`, `bash -c $script {$script}`},
		{"a script's file", `bash run.sh -c 'rm x'`, `bash run.sh -c rm x`},
		{"here-document to a shell", "bash <<EOF\nrm x\nEOF", `bash {rm x}`},
		{"here-string to a shell", `sh <<< 'rm x'`, `sh {rm x}`},
		{"here-document to a shell under sudo", "sudo -u x bash -s <<'EOF'\nrm x\nEOF", `sudo -u x bash -s {bash -s {rm x}}`},
		{"echo to a shell", `echo "rm x" | bash`, `echo rm x ; bash {rm x}`},
		{"cat of a here-document to a shell", "cat <<EOF | sh\nrm x\nEOF", `cat ; sh {rm x}`},
		{"a longer pipe to a shell", `a | echo rm x | sh`, `a ; echo rm x ; sh {rm x}`},
		{"eval", `eval "rm x"; eval rm y`, `eval rm x {rm x} ; eval rm y {rm y}`},
		{"here-document that is not closed", "cat > f <<'EOF'\nrm -rf x\n  EOF\n", "cat"},
		{"here-document without an end", "cat > f <<EOF\nrm -rf x\n", "cat"},
		{"a wrapper in a variable", `$SUDO rm x`, `$SUDO rm x {rm x}`},
		{"a program with a default", `"${RM:-rm}" x`, `${RM:-rm} x {rm x}`},
		{"behind dashes", `eval -- rm x; trap -- 'rm y' EXIT`, `eval -- rm x {rm x} ; trap -- rm y EXIT {rm y}`},
		{"an empty environment", `env - A=1 rm x`, `env - A=1 rm x {rm x}`},
		{"what only looks", `command -pv rm; sudo -l rm; bash -n -c 'rm x'`, `command -pv rm ; sudo -l rm ; bash -n -c rm x`},
		{"escapes of echo", `echo -e 'cd .\nrm x' | bash`, "echo -e cd .\\nrm x ; bash {cd . ; rm x}"},
		{"more wrappers", `chrt 5 rm a; prlimit --nofile=5 rm b; unshare --propagation private rm c; chroot --userspec u / rm d`,
			`chrt 5 rm a {rm a} ; prlimit --nofile=5 rm b {rm b} ; unshare --propagation private rm c {rm c} ; chroot --userspec u / rm d {rm d}`},
		{"trap", `trap 'rm x' EXIT; trap EXIT`, `trap rm x EXIT {rm x} ; trap EXIT`},
		{"env", `env -i -u Z A=1 rm x`, `env -i -u Z A=1 rm x {rm x}`},
		{"env -S", `env -S 'rm x' y`, `env -S rm x y {rm x y}`},
		{"env alone", `env`, `env`},
		{"sudo", `sudo -n -u root A=1 rm x`, `sudo -n -u root A=1 rm x {rm x}`},
		{"sudo --user", `sudo --user=root --group x -- rm x`, `sudo --user=root --group x -- rm x {rm x}`},
		{"nohup", `nohup rm x &`, `nohup rm x {rm x}`},
		{"time, the keyword", `time -p rm x`, `rm x`},
		{"time, the program", `/usr/bin/time -v rm x`, `/usr/bin/time -v rm x {rm x}`},
		{"timeout", `timeout -k 5 -s KILL 10s rm x`, `timeout -k 5 -s KILL 10s rm x {rm x}`},
		{"timeout with long options", `timeout --signal=9 --kill-after 5 10 rm x`, `timeout --signal=9 --kill-after 5 10 rm x {rm x}`},
		{"nice", `nice -n 5 nice -10 rm x`, `nice -n 5 nice -10 rm x {nice -10 rm x {rm x}}`},
		{"xargs", `ls | xargs -0 -n1 -I{} rm {}`, `ls ; xargs -0 -n1 -I{} rm {} {rm {}}`},
		{"exec", `exec -a name rm x`, `exec -a name rm x {rm x}`},
		{"command", `command rm x`, `command rm x {rm x}`},
		{"command -v looks up", `command -v rm`, `command -v rm`},
		{"find -exec", `find . -name x -exec rm {} + -exec a {} \; -print`, `find . -name x -exec rm {} + -exec a {} ; -print {rm {} ; a {}}`},
		{"flock", `flock -w 5 lock rm x; flock lock -c 'rm y'`, `flock -w 5 lock rm x {rm x} ; flock lock -c rm y {rm y}`},
		{"su", `su - user -c 'rm x'`, `su - user -c rm x {rm x}`},
		{"wrappers within wrappers", `sudo env A=1 timeout 5 bash -c 'nice rm x'`,
			`sudo env A=1 timeout 5 bash -c nice rm x {env A=1 timeout 5 bash -c nice rm x {timeout 5 bash -c nice rm x {bash -c nice rm x {nice rm x {rm x}}}}}`},
		{"cmd", `cmd.exe /c del x`, `cmd.exe /c del x {del x}`},

		{"no bash: an open quote", "ls\nrm -rf \"x", `ls`},
		{"no bash: an open if", `if true; rm x`, ``},
		{"no bash: wrappers", `a[b c]=d; sudo rm x`, `a[b c]=d ; sudo rm x {rm x}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, show(Parse(tc.source)))
		})
	}
}

// Source comes from a model: it may be long, deep or senseless, and must cost neither the stack nor the day.
func TestParseIsBounded(t *testing.T) {
	t.Parallel()
	lengths := []int{1_000, 10_000, maxSource - 20} // in bytes
	if testing.Short() {
		lengths = lengths[:2]
	}
	for _, unit := range []string{"(", "$(", "((", "{ ", "if ", "while ", "! ", "a|", "a&&", "a;", "`", "\"$(", "${a:-", "$((-", "-", "[[ ! ", "case a in a) ",
		"eval ", "sudo ", "bash -c ", "echo a | ", "<(", "a=b ", "f() ", "time ", "coproc ", "$((a?b:", "[[ a && ", "<<A ", "function f ", "a=(", "[", "@(", "!("} {
		t.Run(fmt.Sprintf("%q", unit), func(t *testing.T) {
			for _, n := range lengths {
				n /= len(unit)
				start := time.Now()
				Parse(strings.Repeat(unit, n))
				Parse("bash -c '" + strings.Repeat(unit, n) + "'")
				Parse("$((" + strings.Repeat(unit, n))
				if took := time.Since(start); took > 20*time.Second {
					t.Errorf("%d times: %v", n, took)
				} else if took > time.Second {
					t.Logf("%d times: %v", n, took)
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, source := range []string{
		`a && bash -c "b $(c)" | xargs -n1 d`, `R=rm; ${R:-x} "$@" <(echo y) <<<z`, "m[a b]=c; case x in a) b;; esac; $(cat <<A\nb\nA)", `bash -c '"$0" "$@"' a $'\0000\0'`,
		`printf '\0%b' a | xargs -0 -I{} sh -c {}`, `f() { $SUDO -n rm; }; trap f EXIT`, `docker run --entrypoint a b; kubectl exec p -- c; env -S 'a b'`,
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		var check func([]Command)
		check = func(cs []Command) {
			for _, c := range cs {
				if len(c.Words) == 0 {
					t.Errorf("a command without words in %q", source)
				}
				check(c.Inner)
			}
		}
		start := time.Now()
		check(Parse(source))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%v for %d bytes", took, len(source))
		}
	})
}

func TestProgram(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"rm": "rm", "/bin/rm": "rm", `C:\bin\Git.EXE`: "Git", "./x.sh": "x.sh", ".exe": ".exe"} {
		assert.Equal(t, want, Program(word), word)
	}
}
