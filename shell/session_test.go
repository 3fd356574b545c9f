package shell_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

var crashCommand = &command.Command{
	Info: command.Info{Name: "crash"},
	Run: func(context.Context, *command.Context, []string) int {
		var m map[string]int
		m["x"] = 1
		return 0
	},
}

// countingFS counts open handles of both kinds.
type countingFS struct {
	vfs.FS
	open atomic.Int64
}

type countedHandle struct {
	vfs.Handle
	fs *countingFS
}

type countedDir struct {
	vfs.DirHandle
	fs *countingFS
}

func (h *countedHandle) Release(op *vfs.Op) { h.fs.open.Add(-1); h.Handle.Release(op) }
func (h *countedDir) Release(op *vfs.Op)    { h.fs.open.Add(-1); h.DirHandle.Release(op) }

func (fs *countingFS) Open(op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
	h, err := fs.FS.Open(op, ino, flags)
	if err != nil {
		return nil, err
	}
	fs.open.Add(1)
	return &countedHandle{h, fs}, nil
}

func (fs *countingFS) Create(op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	a, h, err := fs.FS.Create(op, parent, name, mode, flags)
	if err != nil {
		return a, nil, err
	}
	fs.open.Add(1)
	return a, &countedHandle{h, fs}, nil
}

func (fs *countingFS) OpenDir(op *vfs.Op, ino vfs.Ino) (vfs.DirHandle, error) {
	h, err := fs.FS.OpenDir(op, ino)
	if err != nil {
		return nil, err
	}
	fs.open.Add(1)
	return &countedDir{h, fs}, nil
}

// run runs a script and returns its output, "[status]" appended when it failed.
func run(t *testing.T, ses *shell.Session, e shell.Execution) string {
	t.Helper()
	var out bytes.Buffer
	e.Stdout, e.Stderr = &out, &out
	res := ses.Exec(context.Background(), e)
	if res.Internal != nil {
		t.Errorf("panic: %v", res.Internal)
	}
	if res.Status != 0 {
		fmt.Fprintf(&out, "[%d]", res.Status)
	}
	return out.String()
}

// TestSessionKeeps: variables, functions, options, aliases, directory and umask
// live from one execution to the next; descriptors, jobs and EXIT traps do not.
func TestSessionKeeps(t *testing.T) {
	ses := newSession(t)
	run(t, ses, shell.Execution{Script: `x=1; a=(p q); f() { echo "f $1"; }; shopt -s extglob expand_aliases; set -o noglob
alias al='echo alias'; mkdir -p d/e; cd d; umask 077; export E=env; trap 'echo usr' USR1; trap 'echo EXIT' EXIT
exec 3>fd; sleep 1000 & cd e; pushd .. >/dev/null; false`, Grace: -1})
	got := run(t, ses, shell.Execution{Script: `echo $x ${a[1]} $PWD $(umask) $-; f 1; shopt -q extglob && echo extglob
al
env | sort | while read l; do case $l in E=*) echo $l;; esac; done; kill -USR1 $$; echo x >&3; echo ${DIRSTACK[1]}; jobs; echo end`})
	want := "1 q /d 0077 fhBc\nf 1\nextglob\nalias\nE=env\nusr\nbash: line 3: 3: Bad file descriptor\n/d/e\nend\n"
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestExecutionArguments(t *testing.T) {
	ses := newSession(t)
	for _, c := range []struct {
		e    shell.Execution
		want string
	}{
		{shell.Execution{Script: `echo $# "$2" $0`, Params: []string{"a", "b c"}}, "2 b c bash\n"},
		{shell.Execution{Args: []string{"echo", "a  b", "$x", "*"}}, "a  b $x *\n"},
		{shell.Execution{Args: []string{"nosuch"}}, "bash: nosuch: command not found\n[127]"},
		{shell.Execution{Script: "cat; read x; echo $?", Stdin: strings.NewReader("in\x00\xff")}, "in\x00\xff1\n"},
		{shell.Execution{Script: "cat"}, ""},
		{shell.Execution{Script: "echo $V; bash -c 'echo $V'", Env: command.Environ{"V=set"}}, "set\nset\n"},
		{shell.Execution{Script: "pwd", Dir: "/nope"}, "bash: cd: /nope: No such file or directory\n[1]"},
		{shell.Execution{Script: "exit 300"}, "[44]"},
		{shell.Execution{Script: ""}, ""},
		{shell.Execution{Script: "printf '\\377\\000x'"}, "\xff\x00x"},
	} {
		if got := run(t, ses, c.e); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.e, got, c.want)
		}
	}
}

// TestSessionsSideBySide: sessions of one workspace run at the same time and
// share its files and FIFOs, and nothing else.
func TestSessionsSideBySide(t *testing.T) {
	sh := shell.New(shell.Config{FS: memfs.New(), Lookup: lookupTestCommand})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ses := sh.NewSession(shell.SessionOptions{})
			defer ses.Close()
			for n := range 20 {
				script := fmt.Sprintf("x=$((x+1)); echo $x > s%d; (x=99; f() { :; }) | cat; read y < s%d; [ $x = $y ] && [ $x = %d ]", i, i, n+1)
				if got := run(t, ses, shell.Execution{Script: script}); got != "" {
					t.Errorf("session %d, execution %d: %q", i, n, got)
				}
			}
		}()
	}
	wg.Wait()
	a, b := sh.NewSession(shell.SessionOptions{}), sh.NewSession(shell.SessionOptions{})
	defer a.Close()
	defer b.Close()
	run(t, a, shell.Execution{Script: "mkfifo p"})
	wg.Add(1)
	go func() {
		defer wg.Done()
		run(t, a, shell.Execution{Script: "echo through > p"})
	}()
	if got := run(t, b, shell.Execution{Script: "cat p"}); got != "through\n" {
		t.Errorf("got %q", got)
	}
	wg.Wait()
}

// TestSubshellsShareUntilWritten: a change on either side is seen on neither
// other one, also while both run.
func TestSubshellsShareUntilWritten(t *testing.T) {
	ses := newSession(t)
	got := run(t, ses, shell.Execution{Script: `
x=1 a=(1 2 3); declare -A m=([k]=v); f() { echo f; }
for i in {1..50}; do
  { x=bg$i; a[1]=bg; m[k]=bg; unset -f f; for j in 1 2 3; do x+=$j; a+=($j); done; [ ${#a[@]} = 6 ] || echo bad; } &
  x=main$i; a[0]=main; m[n]=$i
  (x=sub; a=(); m=(); f() { echo g; }; $(x=cs; a[2]=cs))
  [ $x = main$i ] && [ "${a[*]}" = "main 2 3" ] && [ ${m[k]} = v ] && [ $(f) = f ] || echo "changed: $x ${a[*]} ${m[k]}"
done
wait; echo done`})
	if got != "done\n" {
		t.Errorf("got %q", got)
	}
}

// TestBackend: what the shell cannot run is offered to the backend, with its
// streams and the file that PATH led to.
func TestBackend(t *testing.T) {
	var seen []string
	sh := shell.New(shell.Config{FS: memfs.New(), Lookup: lookupTestCommand,
		Backend: func(ctx context.Context, c *command.Context, path string, args []string) (int, bool) {
			seen = append(seen, path+" "+strings.Join(args, ","))
			if args[0] == "python3" {
				fmt.Fprintf(c.Stdout, "py %s in %s\n", args[1], c.Dir)
				return 5, true
			}
			return 0, false
		}})
	ses := sh.NewSession(shell.SessionOptions{Env: command.Environ{"PATH=/bin"}})
	defer ses.Close()
	got := run(t, ses, shell.Execution{Script: `python3 x.py | cat; python3 y; echo $?; other; env python3 z
mkdir -p /bin; printf '\177ELF\0' > /bin/native; chmod 755 /bin/native; native a; echo $?`})
	want := "py x.py in /\npy y in /\n5\nbash: line 1: other: command not found\npy z in /\nbash: line 2: /bin/native: cannot execute binary file: Exec format error\n126\n"
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if want := []string{" python3,x.py", " python3,y", " other", " python3,z", "/bin/native native,a"}; fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("offered %q, want %q", seen, want)
	}
}

// TestUsersOfTheWorkspace: accounts come from the workspace's own files.
func TestUsersOfTheWorkspace(t *testing.T) {
	ses := newSession(t)
	got := run(t, ses, shell.Execution{Script: `echo ~root ~ann; mkdir -p /etc; printf 'ann:x:7:7:Ann:/h/ann:/bin/sh\nbad\n' > /etc/passwd; echo ~root ~ann ~bob`})
	if want := "/root ~ann\n/root /h/ann ~bob\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func BenchmarkEchoInNewSession(b *testing.B) {
	sh := shell.New(shell.Config{FS: memfs.New(), Lookup: lookupTestCommand})
	for b.Loop() {
		ses := sh.NewSession(shell.SessionOptions{})
		ses.Exec(context.Background(), shell.Execution{Script: "echo hi"})
		ses.Close()
	}
}

func BenchmarkLoop10k(b *testing.B) {
	ses := newSession(b)
	for b.Loop() {
		ses.Exec(context.Background(), shell.Execution{Script: "for ((i=0; i<10000; i++)); do x=$((x+i)); done"})
	}
}

func BenchmarkSubstitution(b *testing.B) {
	ses := newSession(b)
	for b.Loop() {
		ses.Exec(context.Background(), shell.Execution{Script: "for i in {1..1000}; do x=$(echo $i); done"})
	}
}

func BenchmarkPipeline(b *testing.B) {
	ses := newSession(b)
	for b.Loop() {
		ses.Exec(context.Background(), shell.Execution{Script: "for i in {1..1000}; do echo $i | cat; done"})
	}
}
