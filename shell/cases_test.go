package shell_test

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell"
)

// fieldCase is a script that fails in comparable systems.
type fieldCase struct {
	script    string
	out, errs string
	status    int
}

// runCases runs each script here, and in the bash of this machine if that is a
// 5.2: all three must agree.
func runCases(t *testing.T, cases []fieldCase) {
	t.Helper()
	bash := ""
	if out, err := exec.Command("bash", "-c", "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}").Output(); err == nil && string(out) == "5.2\n" {
		bash, _ = exec.LookPath("bash")
	}
	for _, c := range cases {
		ses := shell.New(shell.Config{FS: memfs.New()}).NewSession(shell.SessionOptions{})
		var out, errs bytes.Buffer
		r := ses.Exec(context.Background(), shell.Execution{Script: c.script, Stdout: &out, Stderr: &errs, Limits: smallLimits})
		ses.Close()
		if out.String() != c.out || errs.String() != c.errs || r.Status != c.status || r.Internal != nil {
			t.Errorf("%s\ngives  %q, %q, %d (%v)\nwanted %q, %q, %d", c.script, out.String(), errs.String(), r.Status, r.Internal, c.out, c.errs, c.status)
		}
		if bash == "" {
			continue
		}
		out.Reset()
		errs.Reset()
		cmd := exec.Command(bash, "-c", c.script)
		cmd.Args[0] = "bash"
		cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &errs
		cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}
		_ = cmd.Run() // its status is looked at
		if out.String() != c.out || errs.String() != c.errs || cmd.ProcessState.ExitCode() != c.status {
			t.Errorf("%s\nbash gives %q, %q, %d\nwanted     %q, %q, %d", c.script, out.String(), errs.String(), cmd.ProcessState.ExitCode(), c.out, c.errs, c.status)
		}
	}
}

// TestH02: a command in a loop takes nothing of the loop's input that it does
// not read.
func TestH02(t *testing.T) {
	runCases(t, []fieldCase{
		{"while read a; do echo $a; cat /nope; done <<EOF\none\ntwo\nEOF\n", "one\ntwo\n", strings.Repeat("cat: /nope: No such file or directory\n", 2), 1},
		{"while read a; do echo $a; ls /nope; true; done <<< $'1\\n2\\n3'", "1\n2\n3\n", strings.Repeat("ls: cannot access '/nope': No such file or directory\n", 3), 0},
		{"printf '1\\n2\\n' > f; while read -r a; do grep -c x f; sed -n 1p f; head -c0 f; done < f", "0\n1\n0\n1\n", "", 0},
		{"while read a; do cat; done <<< $'1\\n2\\n3'", "2\n3\n", "", 0},
	})
}

// TestH04: forms of Bash that others lack.
func TestH04(t *testing.T) {
	runCases(t, []fieldCase{
		{"echo content > f; x=$(<f); echo \"[$x]\"; echo \"$(< nope)\"", "[content]\n\n", "bash: line 1: nope: No such file or directory\n", 0},
		{"touch .a b; echo *; shopt -s dotglob; echo *; shopt -u dotglob; echo *", "b\n.a b\nb\n", "", 0},
		{"f() { local x=1; echo $x; }; declare -f f; declare -F f; declare -f nope", "f () \n{ \n    local x=1;\n    echo $x\n}\nf\n", "", 1},
		{"x='a b'; declare -i n=5; declare -A m=([k]=v); declare -a l=(1 2); export e=1; readonly r=2; declare -p x n m l e r", "declare -- x=\"a b\"\ndeclare -i n=\"5\"\ndeclare -A m=([k]=\"v\" )\ndeclare -a l=([0]=\"1\" [1]=\"2\")\ndeclare -x e=\"1\"\ndeclare -r r=\"2\"\n", "", 0},
		{"declare -p nope", "", "bash: line 1: declare: nope: not found\n", 1},
		{"x=aXbXc; echo ${x//X/-} ${x^^} ${x,,} ${x@Q} ${x:1:2} ${x: -2} ${#x}; y=x; echo ${!y}", "a-b-c AXBXC axbxc 'aXbXc' Xb Xc 5\naXbXc\n", "", 0},
		{"shopt -s extglob globstar nullglob\nmkdir -p d/e; touch d/e/f.c d/g.c d/h.o; echo **/*.c; echo d/!(*.o); echo none*", "d/e/f.c d/g.c\nd/e d/g.c\n\n", "", 0},
		{"declare -n ref=v; v=1; ref=2; echo $v; mapfile -t a <<< $'1\\n2'; echo ${#a[@]}; printf -v z %03d 7; echo $z; [[ ab =~ (a)(b) ]]; echo ${BASH_REMATCH[2]}", "2\n2\n007\nb\n", "", 0},
		{"coproc cat; echo hi >&${COPROC[1]}; read x <&${COPROC[0]}; echo $x", "hi\n", "", 0},
	})
}

// TestH05: a pipeline in a loop leaves the loop's input alone.
func TestH05(t *testing.T) {
	runCases(t, []fieldCase{
		{`printf 'a\nb\n' | while read x; do echo $x | cat; done`, "a\nb\n", "", 0},
		{`printf 'a\nb\nc\n' | while read x; do echo $x | tr a-z A-Z | sed 's/^/>/'; done`, ">A\n>B\n>C\n", "", 0},
		{`printf 'a\nb\n' | while read x; do true | true; y=$(echo $x | cat); (echo $y | cat); done | cat -n`, "     1\ta\n     2\tb\n", "", 0},
		{`for i in 1 2; do echo $i | cat; done; printf '1\n2\n' | { while read a; do : | :; done; echo last $a; }`, "1\n2\nlast\n", "", 0},
	})
}

// TestH06: quotes in a here-document of a substitution, and << in arithmetic.
func TestH06(t *testing.T) {
	runCases(t, []fieldCase{
		{"x=$(cat <<'E'\nit's\nE\n)\necho \"$x\"", "it's\n", "", 0},
		{"x=$(cat <<E\nit's \"one) and `echo two`\nE\n)\necho \"$x\"", "it's \"one) and two\n", "", 0},
		{"echo $((1<<2))\necho $((1 <<\n3))\n(( x = 1 << 4 )); echo $x; let y=1\\<\\<5; echo $y", "4\n8\n16\n32\n", "", 0},
		{"echo $(( 1 << $(cat <<E\n2\nE\n) ))", "4\n", "", 0},
	})
}

// TestH08: head and tail -c count bytes and change none.
func TestH08(t *testing.T) {
	noise := `for i in {0..255}; do printf "\\x$(printf %02x $i)"; done > b; cat b b b b > c; `
	runCases(t, []fieldCase{
		{noise + "head -c 1000 c | wc -c; tail -c 1000 c | wc -c; head -c 200 b | tail -c 100 | od -An -tx1 | head -2", "1000\n1000\n 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70 71 72 73\n 74 75 76 77 78 79 7a 7b 7c 7d 7e 7f 80 81 82 83\n", "", 0},
		{noise + "{ head -c 300 c; tail -c +301 c; } | cmp - c && echo same; md5sum < c", "same\n" + "b2ea9f7fcea831a4a63b213f41a8855b  -\n", "", 0},
		{`printf '\303\251\303\251' | head -c 3 | od -An -tx1; printf '\377\000\376x' | tail -c 3 | od -An -tx1`, " c3 a9 c3\n 00 fe 78\n", "", 0},
	})
}

// TestH10: what is in a here-document or in quotes stays as it is.
func TestH10(t *testing.T) {
	runCases(t, []fieldCase{
		{"cat <<EOF\n{\"a\":1,\"b\":2}\n{a,b} {1..3}\nEOF\n", "{\"a\":1,\"b\":2}\n{a,b} {1..3}\n", "", 0},
		{"cat <<'EOF'\n{\"a\":[1,2]} $x `y` \\\\\nEOF\n", "{\"a\":[1,2]} $x `y` \\\\\n", "", 0},
		{"printf '%s\\n' '\nif x:\n    for y in z:\n        print(y)\n'", "\nif x:\n    for y in z:\n        print(y)\n\n", "", 0},
		{"x=\"\n  two\n\ttab\n\"; echo \"$x\"; echo \"{a,b}\" {a,b}", "\n  two\n\ttab\n\n{a,b} a b\n", "", 0},
		{"cat <<-E\n\t\tindented {x,y}\n\tE\n", "indented {x,y}\n", "", 0},
	})
}

// TestH11: the order of redirections, copies of descriptors, failures.
func TestH11(t *testing.T) {
	runCases(t, []fieldCase{
		{"{ echo o; echo e >&2; } 2>&1 >f; echo --; cat f", "e\n--\no\n", "", 0},
		{"{ echo o; echo e >&2; } >f 2>&1; cat f", "o\ne\n", "", 0},
		{"echo x >a >b; wc -c < a; cat b", "0\nx\n", "", 0},
		{"echo x >nodir/f; echo $?; echo y 2>nodir/g || echo failed", "1\nfailed\n", "bash: line 1: nodir/f: No such file or directory\nbash: line 1: nodir/g: No such file or directory\n", 0},
		{"printf '1\\n2\\n' > f; exec 3<f; read -u3 a; read b <&3; echo $a$b; exec 3<&-; read -u3 c", "12\n", "bash: line 1: read: 3: invalid file descriptor: Bad file descriptor\n", 1},
		{"exec 3>&1 4>f; { echo one >&3; echo two >&4; } >/dev/null; exec 4>&-; cat f; echo x >&4", "one\ntwo\n", "bash: line 1: 4: Bad file descriptor\n", 1},
		{"exec {fd}>f; echo n >&$fd; exec {fd}>&-; cat f; set -C; echo x > f; echo $?; echo y >| f; cat f", "n\n1\ny\n", "bash: line 1: f: cannot overwrite existing file\n", 0},
		{"x() { echo out; echo err >&2; }; x 2>&1 >/dev/null | sed 's/^/p:/'; x 3>&1 1>&2 2>&3 | tr a-z A-Z", "p:err\nERR\n", "out\n", 0},
	})
}

// TestH12: here-documents without an end, and joined lines around delimiters.
func TestH12(t *testing.T) {
	runCases(t, []fieldCase{
		{"cat <<EOF\nlast line", "last line\n", "bash: line 2: warning: here-document at line 1 delimited by end-of-file (wanted `EOF')\n", 0},
		{"cat <<EOF\none\ntwo\n", "one\ntwo\n", "bash: line 3: warning: here-document at line 1 delimited by end-of-file (wanted `EOF')\n", 0},
		{"cat <<E\\\nOF\nbody\nEOF\necho after", "body\nafter\n", "", 0},
		{"cat <<EOF\none\\\ntwo\nEO\\\nF\necho after", "onetwo\nafter\n", "", 0},
		{"cat <<'EOF'\none\\\ntwo\nEOF\necho after", "one\\\ntwo\nafter\n", "", 0},
	})
}

// TestH14: a pattern beside a quoted variable expands wherever it stands.
func TestH14(t *testing.T) {
	files := `touch t_1.x t_2.x other.x "sp ace_1.x"; p=t_; q='sp ace'; `
	want := "./t_1.x\n./t_2.x\n"
	runCases(t, []fieldCase{
		{files + `cat <(ls ./"$p"*.x)`, want, "", 0},
		{files + `ls ./"$p"*.x`, want, "", 0},
		{files + `echo "$(ls ./"$p"*.x)"`, want, "", 0},
		{files + `(ls ./"$p"*.x)`, want, "", 0},
		{files + `ls ./"$p"*.x | cat`, want, "", 0},
		{files + `for f in ./"$q"*.x; do echo "<$f>"; done; cat <(printf '%s\n' "$q"_?.x)`, "<./sp ace_1.x>\nsp ace_1.x\n", "", 0},
	})
}

// TestH16: options and patterns of the small tools, and scripts run by path.
func TestH16(t *testing.T) {
	runCases(t, []fieldCase{
		{`seq 5 | tail -n +3; seq 5 | tail -n 2; seq 5 | head -n -3`, "3\n4\n5\n4\n5\n1\n2\n", "", 0},
		{`echo 'abc XYZ 12' | tr '[:lower:]' '[:upper:]'; echo 'a1b2' | tr -d '[:digit:]'; echo aabb | tr -s a-b; echo ab | tr -c 'a\n' x`, "ABC XYZ 12\nab\nab\nax\n", "", 0},
		{`printf 'f(x)\nfx\n' | grep 'f('; printf 'aa\na{2}\n' | grep 'a{2}'; printf 'aa\na{2}\n' | grep 'a\{2\}'; printf 'f(x)\n' | grep -E 'f\('`, "f(x)\na{2}\naa\nf(x)\n", "", 0},
		{`printf '#!/bin/sh\necho "ran $1"\n' > s; ./s; chmod +x s && ./s arg; printf '#!/usr/bin/env bash\n[[ a == a ]] && echo yes; exit 4\n' > b; chmod 755 b; ./b`, "ran arg\nyes\n", "bash: line 1: ./s: Permission denied\n", 4},
		{`printf 'echo plain $0\n' > p; chmod +x p; ./p`, "plain ./p\n", "", 0},
	})
}
