package shell

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// runsRM counts the commands whose program is rm, those within others included.
func runsRM(cs []Command) int {
	n := 0
	for _, c := range cs {
		if Program(c.Words[0]) == "rm" {
			n++
		}
		n += runsRM(c.Inner)
	}
	return n
}

// What runs is seen, once; what does not run is not seen.
func TestParseSees(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		// What stands before a command.
		`$SUDO rm x`, `$SUDO -n rm x`, `${SUDO} -n -u root A=1 rm x`, `${SUDO:-} rm x`, `${SUDO:-sudo} rm x`, `$MAYBE_SUDO env A=1 rm x`,
		`SUDO=; if [ $(id -u) != 0 ]; then SUDO="sudo -n"; fi; $SUDO rm x`, `"${RM:-rm}" x`, `${RM-rm} x`, `: ${A:=b}; ${RM:=rm} x`,
		`env - rm`, `env -vS 'rm x'`, `env -iS 'rm x'`, `env -S 'A=1 rm x'`, `eval -- rm`, `trap -- 'rm' EXIT`, `trap 'rm' INT EXIT`, `trap 'rm' 0`,
		`sudo -k rm x`, `unshare --propagation private rm`, `setpriv --reuid 1 rm x`, `chrt -f 10 rm x`, `prlimit --nofile=5 rm x`, `fakeroot rm x`,
		`valgrind --tool=none rm x`, `dbus-run-session -- rm x`, `mapfile -C 'rm' -c 1 x`, `fd -x rm`, `git submodule foreach 'rm x'`,
		`git submodule --quiet foreach --recursive rm x`, `runuser -u root -- rm x`, `chroot --userspec root / rm x`, `busybox rm x`, `toybox rm x`,
		`busybox sh -c 'rm x'`, `parallel --halt now,fail=1 rm ::: x`, `parallel ::: 'rm x'`,
		// What the source gives a variable.
		`R=rm; $R x`, `R='rm -f'; $R x`, `R=rm && $R x`, `R="rm x"; bash -c "$R"`, `R=rm; f() { ${R} x; }; f`, `{ R=rm; }; $R x`, `R=sudo; $R rm x`,
		`$(which rm) x`, `$(command -v rm) x`, `$(echo rm) x`,
		// Functions that something names.
		`f() { rm x; }; f`, `function f { rm x; }; xargs f`, `f() { rm x; }; trap f EXIT`, `f() { rm x; }; if a; then f; fi`,
		// What a shell reads.
		`echo -e 'cd .\nrm x' | bash`, `{ echo rm x; } | bash`, `{ echo cd y; echo rm x; } | bash`, `{ printf 'rm '; echo x; } | bash`, `echo rm x | (bash)`,
		"(bash) <<EOF\nrm x\nEOF", `echo rm x | time bash`, `echo rm x | (cd y && bash)`, `echo rm x | { cd y; exec bash; }`,
		`echo rm x | tee log | sh`, `echo rm x 2>/dev/null | sh`, `printf '%s\n' 'cd .' 'rm x' | sh`, `bash <(echo rm x)`, `bash < <(echo rm x)`, `source <(echo rm x)`,
		`echo rm x | . /dev/stdin`, `bash /dev/stdin <<<'rm x'`, "bash -c \"$(cat <<'EOF'\nrm x\nEOF\n)\"", `sh -c '"$0" "$@"' rm x`,
		`sh -c '"$@"' _ rm x`, `for f in *; do echo "rm $f"; done | sh`, `while read f; do echo "rm $f"; done < list | bash`, "sudo bash <<EOF\nrm x\nEOF",
		"sudo -i <<EOF\nrm x\nEOF", "su <<EOF\nrm x\nEOF", `echo rm x && false | bash; echo rm y | bash`,
		// What xargs makes of what it reads.
		`printf 'rm x' | xargs -0 bash -c`, `echo x | xargs -0 bash -c 'rm x'`, `echo 'rm x' | xargs -I{} sh -c '{}'`, `ls | xargs -n1 rm`, `echo a | xargs rm`,
		`echo "rm" | xargs env`, `printf 'rm\0x' | xargs -0 env`,
		// Elsewhere.
		`ssh h rm x`, `ssh -p 22 -o A=b u@h 'cd x && rm y'`, "ssh h <<EOF\nrm x\nEOF", `ssh h 'bash -s' <<<'rm x'`, `echo rm x | ssh h`, `ssh h sudo rm x`,
		`docker exec c rm x`, `docker exec -it -u root c sh -c 'rm x'`, `docker -H tcp://h exec c rm x`, `docker compose -f a.yml exec -T c rm x`, `podman exec c rm x`,
		`docker run --rm -v a:b img sh -c 'rm x'`, `docker run --entrypoint rm img x`, `docker run --entrypoint '' img rm x`, `echo rm x | docker exec -i c sh`,
		`kubectl exec p -- rm x`, `kubectl exec p rm x`, `kubectl -n s exec -it p -c c -- sh -c 'rm x'`, `kubectl run p --image=i --command -- rm x`,
		// No bash, or such as its parser here does not take.
		"bash <<EOF\nrm x\n", `m[a b]=c; rm x`, "m[a b]=c\nbash -c 'rm x'", "m[a b]=c\nbash <<EOF\nrm x\nEOF",
		"m[a b]=c; x=$(cat <<EOF\ntext\nEOF)\nrm x", `m[a b]=c; 'rm' "x y"`, `m[a b]=c; case $x in a|b) rm x;; *) ls;; esac`, "m[a b]=c; case $x in\na) ls;;\nb) rm x\nesac",
		`m[a b]=c; for f in a b; do rm $f; done`, `m[a b]=c; f() { rm x; }`, "rm x\necho \"open", "rm x\nls )", `m[a b]=c; if a; then { rm x; }; fi`, `m[a b]=c; echo $(rm x)`,
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, 1, runsRM(Parse(source)), show(Parse(source)))
		})
	}
}

func TestParseDoesNotSee(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		// Text.
		"cat > README.md <<'EOF'\nfirst\nrm -rf build\n  EOF\n", "cat > README.md <<'EOF'\nrm -rf build", "cat <<A <<B\nrm x\nA\nrm y",
		`[[ $a =~ ; ]] && echo "a; rm x"`, "[[ $a =~ ; ]]\ncat <<EOF\nrm x\nEOF", `m[a b]=c; echo 'a; rm x'`, `echo ${a~~} "x; rm y"`,
		`m[a b]=c; echo $((1 << 2)) "x; rm y"`, `m[a b]=c; (( a < b )); echo "x; rm y"`, "m[a b]=c # it's; rm x", "m[a b]=c; cat <<-'E'\n\trm x\n\tE\n",
		`m[a b]=c; a=(rm x)`, `m[a b]=c; echo ${a:-; rm x}`, `m[a b]=c; case $x in rm) ls;; esac`, "m[a b]=c; case $x in\na|rm) ls;;\nesac", `a=(rm x)`, `echo rm x`,
		`git rm x`, `fd rm`, `find . -name rm`, `for rm in x; do ls; done`,
		// What no shell runs.
		`rm -rf "x`, `rm x; echo 'y`, `if true; rm x`, `if rm x; fi; then`, `sudo rm x; )`, `rm x; echo $(ls`, "ls\nrm x; )\nrm y", `{ rm x`, `for f in x; do rm $f`,
		// What is looked up, listed or checked.
		`command -pv rm`, `command -v rm`, `command -V rm`, `sudo -l rm`, `sudo --list rm`, `bash -n -c 'rm x'`, `bash -o noexec -c 'rm x'`, `parallel --dry-run rm ::: x`,
		`ssh -V rm`, `ssh -G h rm`, `trap - rm`, `trap -p rm`, `type rm`, `which rm`, `find . -ok rm {} \;`,
		// What comes before is not known.
		`$ECHO rm x`, `"$SUDO" rm x`, `R='rm -f'; "$R" x`, `$A $B rm x`, `$RM -rf x`, `${GO:-go} rm`, `${DRYRUN:+echo} rm x`, `${DRY:-} rm x`, `"$@" rm x`, `$(cat f) rm x`, `$(which echo) rm x`,
		`SUDO=echo; $SUDO rm x`, `SUDO=sudo; [ "$DRY" ] && SUDO=echo; $SUDO rm x`, `read SUDO; $SUDO rm x`, `. ./env; $SUDO rm x`, `SUDO=$(f); $SUDO rm x`,
		`RM=echo; ${RM:-rm} x`, `read RM; ${RM:-rm} x`, `R=rm; R=echo; $R x`, `a && R=rm; $R x`, `(R=rm); $R x`, `R=rm | cat; $R x`, `$R x; R=rm`,
		`R=rm $R x`, `for R in rm ls; do $R x; done`, `R=rm; read R; $R x`, `R=rm; R+=x; $R y`, `R=rm; eval "$s"; $R x`, `f() { R=rm; }; f; $R x`,
		"bash <<EOF\nR=rm\n$R x\nEOF", `bash -c "$1" _ rm`, `bash -c '$1 x' _ echo rm`,
		// What a function that nothing calls does, or a trap that may not come.
		`f() { rm x; }`, `f() { rm x; f; }`, `function f { rm x; }; g`, `trap 'rm x' INT TERM`, `trap 'rm' rm`,
		// What a shell does not read, or not for certain.
		`echo rm x | cat`, `bash run.sh <<<'rm x'`, `bash -c ls <<<'rm x'`, `bash 3<<<'rm x'`, `{ bash < f; } <<<'rm x'`, `echo rm x > f | bash`, `{ echo rm x >&2; } | bash`,
		`{ printf 'echo '; echo rm x; } | bash`, `{ echo -n 'echo '; echo rm x; } | bash`, `{ cat f; echo rm x; } | bash`, `{ cat f || echo rm x; } | bash`, `{ echo a || echo rm x; } | bash`,
		`echo rm x | grep -v rm | bash`, `echo rm x | sed s/rm/ls/ | sh`, `echo rm x | { cat; bash; }`, `echo rm x | { read l; bash; }`, `{ if a; then echo rm x; fi; } | bash`,
		`printf '%.1s' 'rm x' | bash`, `printf 'echo %q\n' '; rm x' | bash`, `echo rm x | bash < f`, `bash <<<'rm x' < f`, `bash <(cat f; echo rm x)`, `cat f <(echo rm x) | sh`,
		// What xargs does not make of it.
		`echo "echo 'rm x'" | xargs -I{} sh -c '{}'`, `echo rm | xargs -p env`, `echo rm x | xargs -a f env`, `echo 'a;rm' | xargs -d ';' env`, `echo a rm | xargs -L1 env`,
		// An image's own program may take these words for its own.
		`docker run img rm x`, `docker run --rm -v a:b img rm x`, `kubectl run p --image=i -- rm x`, `docker build rm`, `kubectl get exec rm`, `docker logs exec rm x`,
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			assert.Zero(t, runsRM(Parse(source)), show(Parse(source)))
		})
	}
}

// What a script hands to many commands is looked at for so long only.
func TestParseIsBoundedWithinScripts(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("rm x; ", 15_000)
	for name, source := range map[string]string{
		"one script for many shells": "{ " + strings.Repeat("bash; ", 15_000) + "} <<EOF\n" + many + "\nEOF",
		"parameters":                 "bash -c '" + strings.Repeat(`"$@" `, 15_000) + "' _ " + strings.Repeat("a ", 15_000),
		"unknown words":              strings.Repeat("${a:+sudo} ", 20_000) + "rm",
		"a long pipe":                "echo rm" + strings.Repeat(" | cat", 30_000) + " | sh",
		"items":                      "printf '" + strings.Repeat(`a\n`, 30_000) + "' | xargs -I{} " + strings.Repeat("{} ", 15_000),
		"documents without end":      "bash -c '" + strings.Repeat("cat <<A\n", 20_000) + "'",
		"groups":                     strings.Repeat("{ ", 400) + strings.Repeat("a; ", 20_000) + strings.Repeat("} <<<x; ", 400),
		"no bash":                    "m[a b]=c; " + strings.Repeat("bash -c 'm[a b]=c; rm' ", 9_000),
		"arithmetic that is none":    "m[a b]=c; " + strings.Repeat("((", 60_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			Parse(source)
			took := time.Since(start)
			t.Log(took)
			assert.Less(t, took, 20*time.Second)
		})
	}
}
