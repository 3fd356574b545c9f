package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/internal/control"
)

// TestExec: exit status, streams, input, parameters and limits of a script, with
// no daemon.
func TestExec(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	r.ok("exec", "ws", "-c", "mkdir d; echo inner > d/f")
	for _, tt := range []struct {
		args      []string
		in        string
		out, errs string
		code      int
	}{
		{args: []string{"-c", "echo out; echo err >&2; exit 7"}, out: "out\n", errs: "err\n", code: 7},
		{args: []string{"-c", `echo "$0 $1 $#"`, "zero", "one", "two"}, out: "zero one 2\n"},
		{args: []string{"--", "cat", "d/f"}, out: "inner\n"},
		{args: []string{"--cwd", "d", "--", "cat", "f"}, out: "inner\n"},
		{args: []string{"--", "printf", "%s|", "a b", "$HOME", "-n", "\xff"}, out: "a b|$HOME|-n|\xff|"},
		{args: []string{"--env", "A=1", "--env", "B=x y", "-c", `echo "$A $B"; env | grep -c ^A=`}, out: "1 x y\n1\n"},
		{args: []string{"--stdin", "--", "tr", "a-z", "A-Z"}, in: "typed", out: "TYPED"},
		{args: []string{"-c", "cat; echo $?"}, in: "ignored", out: "0\n"},
		{args: []string{"-c", "nosuchcommand"}, errs: "bash: line 1: nosuchcommand: command not found\n", code: 127},
		{args: []string{"-c", "if"}, errs: "bash: -c: line 2: syntax error: unexpected end of file\n", code: 2},
		{args: []string{"-c", "kill -9 $$"}, code: 137},
		{args: []string{"--timeout", "50ms", "-c", "sleep 100"}, errs: "bash: time limit exceeded (50ms)\n", code: 124},
		{args: []string{"--limit", "steps=1e4", "-c", "while :; do :; done"}, errs: "bash: steps limit exceeded (10000)\n", code: 2},
		{args: []string{"--limit", "memory=1M", "-c", "x=a; while :; do x=$x$x; done"}, errs: "bash: memory limit exceeded (1048576 bytes)\n", code: 2},
	} {
		cmd := r.command(r.bin, append([]string{"exec", "ws"}, tt.args...)...)
		cmd.Stdin = strings.NewReader(tt.in)
		if res := finish(t, cmd); res.out != tt.out || res.err != tt.errs || res.code != tt.code {
			t.Errorf("exec %q: %+v; want %q, %q, %d", tt.args, res, tt.out, tt.errs, tt.code)
		}
	}
}

func TestExecErrors(t *testing.T) {
	r := newRig(t)
	r.fails(exitExec, []string{"there is none yet"}, "exec", "ws", "-c", ":")
	r.ok("create", "project")
	for _, tt := range []struct {
		code  int
		words []string
		args  []string
	}{
		{exitUsage, []string{"takes a workspace"}, nil},
		{exitUsage, []string{"-c SCRIPT"}, []string{"project"}},
		{exitUsage, []string{"empty script"}, []string{"project", "-c", ""}},
		{exitUsage, []string{"before the --"}, []string{"--", "ls"}},
		{exitUsage, []string{"--env X", "NAME=VALUE"}, []string{"project", "--env", "X", "-c", ":"}},
		{exitUsage, []string{"no limit stepps", "steps"}, []string{"project", "--limit", "stepps=1", "-c", ":"}},
		{exitUsage, []string{"a number above 0"}, []string{"project", "--limit", "steps=0", "-c", ":"}},
		{exitUsage, []string{"a time"}, []string{"project", "--limit", "time=5", "-c", ":"}},
		{exitUsage, []string{"--timeout"}, []string{"project", "--timeout", "soon", "-c", ":"}},
		{exitUsage, []string{"stand alone"}, []string{"project", "--attach", "x"}},
		{exitExec, []string{`did you mean "project"`}, []string{"projct", "-c", ":"}},
		{exitExec, []string{"no such execution", "vfsctl execs"}, []string{"--attach", "0123456789"}},
		{exitExec, []string{"no such execution"}, []string{"--attach", "../../etc/passwd"}},
		{exitError, []string{"no such execution"}, []string{"--kill", "0123456789"}},
	} {
		r.fails(tt.code, tt.words, append([]string{"exec"}, tt.args...)...)
	}
}

// TestH18 checks that output which is no text comes byte for byte, to a pipe and
// through JSON, and that input goes the same way.
func TestH18(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	want := "\xff\x00x"
	if res := r.run("exec", "ws", "-c", `printf '\377\000x'`); res.out != want || res.code != 0 || res.err != "" {
		t.Errorf("%+v", res)
	}
	first, _, _ := strings.Cut(strings.SplitN(r.ok("exec", "ws", "--json", "-c", `printf '\377\000x'`), "\n", 2)[1], "\n")
	var ev control.ExecEvent
	if err := json.Unmarshal([]byte(first), &ev); err != nil || string(ev.Data) != want || ev.Kind != control.ExecStdout {
		t.Errorf("%s: %+v, %v", first, ev, err)
	}
	noise := make([]byte, 3<<20)
	rand.New(rand.NewSource(1)).Read(noise)
	cmd := r.command(r.bin, "exec", "ws", "-i", "-c", "tee f")
	cmd.Stdin = bytes.NewReader(noise)
	if res := finish(t, cmd); res.out != string(noise) || res.code != 0 {
		t.Errorf("%d of %d bytes came back, exit code %d, %q", len(res.out), len(noise), res.code, res.err)
	}
	if res := r.run("exec", "ws", "--", "cat", "f"); res.out != string(noise) {
		t.Errorf("%d of %d bytes were kept", len(res.out), len(noise))
	}
}

// TestExecWhileMounted: what the shell writes, the mount shows with the next
// system call, and the reverse.
func TestExecWhileMounted(t *testing.T) {
	needMount(t)
	for _, driver := range []string{"go-fuse", "bazil"} {
		t.Run(driver, func(t *testing.T) {
			r := newRig(t)
			r.ok("up", "ws", "--driver", driver)
			r.write("ws/f", "from the mount")
			if out := r.ok("exec", "ws", "--", "cat", "f"); out != "from the mount" {
				t.Errorf("the shell reads %q", out)
			}
			open, err := os.OpenFile(r.path("ws/f"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer open.Close()
			for i := range 20 {
				text := strings.Repeat("shell ", i+1)
				r.ok("exec", "ws", "-c", "printf %s '"+text+"' > f; mkdir d"+strconv.Itoa(i)+"; rm -rf d"+strconv.Itoa(i-1))
				r.reads("ws/f", text)
				b := make([]byte, 1000)
				if n, err := open.ReadAt(b, 0); err != io.EOF || string(b[:n]) != text {
					t.Errorf("an open descriptor reads %q, %v", b[:n], err)
				}
				if _, err := os.Stat(r.path("ws/d" + strconv.Itoa(i))); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(r.path("ws/d" + strconv.Itoa(i-1))); !os.IsNotExist(err) {
					t.Errorf("a directory that the shell removed: %v", err)
				}
				text = strings.Repeat("mount ", i+1)
				if _, err := open.WriteAt([]byte(text), 0); err != nil {
					t.Fatal(err)
				}
				if out := r.ok("exec", "ws", "--", "cat", "f"); out != text {
					t.Errorf("the shell reads %q, want %q", out, text)
				}
			}
			r.ok("exec", "ws", "-c", "mv f g; ln -s g l; chmod 600 g")
			if fi, err := os.Stat(r.path("ws/l")); err != nil || fi.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", fi, err)
			}
			open.Close()
			r.ok("down", "ws")
			r.ok("check", "ws")
		})
	}
}

// TestExecDetached: an execution goes on without its client, is followed by
// several, listed, signalled and killed.
func TestExecDetached(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	id := strings.TrimSpace(r.ok("exec", "ws", "--detach", "-c", "echo one; until [ -e go ]; do sleep 0.01; done; echo two >&2; exit 4"))
	live := make(chan result)
	for range 2 {
		go func() { live <- finish(t, r.command(r.bin, "exec", "--attach", id)) }()
	}
	if out := r.ok("execs", "ws"); !strings.Contains(out, id) || !strings.Contains(out, "running") {
		t.Errorf("%s", out)
	}
	r.ok("exec", "ws", "--", "touch", "go")
	for range 2 {
		if res := <-live; res.out != "one\n" || res.err != "two\n" || res.code != 4 {
			t.Errorf("%+v", res)
		}
	}
	if res := r.run("exec", "--attach", id, "--from", "4"); res.out != "" || res.err != "two\n" || res.code != 4 {
		t.Errorf("from a position: %+v", res)
	}
	trap := strings.TrimSpace(r.ok("exec", "ws", "--detach", "-c", "trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.01; done"))
	for !strings.Contains(r.ok("exec", "ws", "--", "true")+r.ok("execs", "--json"), `"output": 6`) {
		time.Sleep(10 * time.Millisecond)
	}
	r.ok("exec", "--kill", trap, "--signal", "TERM")
	if res := r.run("exec", "--attach", trap); res.out != "ready\nbye\n" || res.code != 9 {
		t.Errorf("%+v", res)
	}
	endless := strings.TrimSpace(r.ok("exec", "ws", "--detach", "-c", "while :; do :; done"))
	r.fails(exitError, []string{"running", endless}, "remove", "ws", "--yes")
	r.ok("exec", "--kill", endless)
	if res := r.run("exec", "--attach", endless); res.code != 143 && res.code != 137 {
		t.Errorf("%+v", res)
	}
	// A daemon that is killed loses what ran, and says so.
	lost := strings.TrimSpace(r.ok("exec", "ws", "--detach", "-c", "sleep 1000"))
	r.kill()
	if res := r.run("exec", "--attach", lost); res.code != exitExec || !strings.Contains(res.err, "the daemon died") {
		t.Errorf("%+v", res)
	}
	if out := r.ok("execs", "ws"); !strings.Contains(out, "lost") {
		t.Errorf("%s", out)
	}
}

func TestExecSession(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	r.ok("exec", "ws", "--session", "s", "-c", "mkdir -p a/b; cd a/b; x=1; f() { echo f $x; }; set -u")
	if out := r.ok("exec", "ws", "--session", "s", "-c", "pwd; f; echo $-"); out != "/a/b\nf 1\nhuBc\n" {
		t.Errorf("%q", out)
	}
	if out := r.ok("exec", "ws", "-c", "pwd; type f >/dev/null 2>&1 || echo none"); out != "/\nnone\n" {
		t.Errorf("%q", out)
	}
	r.ok("down", "--all")
}

// TestExecInterrupted: Ctrl-C reaches the script, and a client that dies takes
// its execution along.
func TestExecInterrupted(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	r.ok("exec", "ws", "--session", "starts-the-daemon", "-c", ":")
	interrupt := func(script string, sig syscall.Signal) result {
		cmd := r.command(r.bin, "exec", "ws", "-c", script)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 6)
		if _, err := io.ReadFull(out, first); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(out)
		_ = cmd.Wait() // its code is looked at
		return result{out: string(rest), code: cmd.ProcessState.ExitCode()}
	}
	if res := interrupt("echo ready; sleep 1000", syscall.SIGINT); res.code != 130 {
		t.Errorf("%+v", res)
	}
	if res := interrupt("trap 'echo caught; exit 3' INT; echo ready; sleep 1000", syscall.SIGINT); res.code != 3 || res.out != "caught\n" {
		t.Errorf("%+v", res)
	}
	interrupt("echo ready; while :; do :; done", syscall.SIGKILL)
	deadline := time.Now().Add(time.Minute)
	for strings.Contains(r.ok("execs"), "running") {
		if time.Now().After(deadline) {
			t.Fatal("it goes on without its client")
		}
		time.Sleep(10 * time.Millisecond)
	}
	// A reader that went away ends an endless script.
	cmd := r.command("sh", "-c", r.bin+" exec ws -c yes | head -1")
	if res := finish(t, cmd); res.out != "y\n" {
		t.Errorf("%+v", res)
	}
	r.ok("down", "--all")
}
