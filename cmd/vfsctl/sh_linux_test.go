package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// typist is somebody at a terminal with an interactive shell.
type typist struct {
	t    *testing.T
	tty  *os.File
	cmd  *exec.Cmd
	seen string // and not yet looked at
	got  chan string
}

// sits starts vfsctl sh at a terminal.
func (r *rig) sits(args ...string) *typist {
	r.t.Helper()
	user, program := terminal(r.t)
	cmd := r.command(r.bin, append([]string{"sh"}, args...)...)
	cmd.Env = append(cmd.Env, "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	program.Close()
	r.t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
	y := &typist{t: r.t, tty: user, cmd: cmd, got: make(chan string, 100)}
	go func() {
		defer close(y.got)
		b := make([]byte, 4096)
		for {
			n, err := user.Read(b)
			if err != nil {
				return
			}
			y.got <- string(b[:n])
		}
	}()
	return y
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r|\a|\x08`)

// sees waits until text has appeared, and forgets it and what was before.
func (y *typist) sees(text string) {
	y.t.Helper()
	deadline := time.After(20 * time.Second)
	for !strings.Contains(y.seen, text) {
		select {
		case more, ok := <-y.got:
			if !ok {
				y.t.Fatalf("the shell has ended; %q did not come after %q", text, y.seen)
			}
			y.seen += escapes.ReplaceAllString(more, "")
		case <-deadline:
			y.t.Fatalf("%q does not come after %q", text, y.seen)
		}
	}
	_, y.seen, _ = strings.Cut(y.seen, text)
}

func (y *typist) types(text string) {
	y.t.Helper()
	if _, err := y.tty.WriteString(text); err != nil {
		y.t.Fatal(err)
	}
}

// ends waits for the end of the shell and returns its exit code.
func (y *typist) ends() int {
	y.t.Helper()
	done := make(chan struct{})
	go func() {
		_ = y.cmd.Wait() // its code is looked at
		close(done)
	}()
	for {
		select {
		case more, ok := <-y.got:
			if y.seen += more; !ok {
				y.got = nil
			}
		case <-done:
			return y.cmd.ProcessState.ExitCode()
		case <-time.After(time.Minute):
			y.t.Fatalf("the shell does not end; seen: %q", y.seen)
		}
	}
}

// TestSh is a session at a terminal.
func TestSh(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	r.ok("exec", "ws", "-c", "mkdir -p some/directory; echo content > some/file-of-mine")
	y := r.sits("ws")
	y.sees("ws:/# ")
	y.types("echo $((40+2))\r")
	y.sees("\n42\n")
	y.sees("ws:/# ")
	// Variables, functions and the directory stay; the prompt follows.
	y.types("cd some; x=kept\r")
	y.sees("ws:/some# ")
	y.types("echo [$x]\r")
	y.sees("\n[kept]\n")
	// More than one line.
	y.types("for i in 1 2\r")
	y.sees("> ")
	y.types("do echo turn$i; done\r")
	y.sees("\nturn1\nturn2\n")
	y.types("cat <<E\r")
	y.sees("> ")
	y.types("document\rE\r")
	y.sees("\ndocument\n")
	// Completion of a file, a command, a variable.
	y.sees("ws:/some# ")
	y.types("cat fi\t\r")
	y.sees("\ncontent\n")
	y.types("basena\t/a/b\r")
	y.sees("\nb\n")
	y.types("hello_there=v''ar\r")
	y.sees("\n")
	y.types("echo $hello_th\t\r")
	y.sees("\nvar")
	// History.
	y.types("echo first-$((1+1))\r")
	y.sees("\nfirst-2\n")
	y.types("\x1b[A\x1b[A\x1b[B\r")
	y.sees("\nfirst-2\n")
	// Interrupts: of a line that is typed, and of what runs.
	y.sees("ws:/some# ")
	y.types("half a line\x03")
	y.sees("^C")
	y.types("echo st''art; sleep 1000\r")
	y.sees("\nstart")
	y.types("\x03")
	y.sees("ws:/some# ")
	y.types("echo $?\r")
	y.sees("\n130\n")
	// A command that reads what is typed.
	y.types("echo g''o; cat; echo en''d\r")
	y.sees("\ngo\n")
	y.types("typed line\r")
	y.sees("typed line\ntyped line\n")
	y.types("\x04")
	y.sees("end")
	y.sees("ws:/some# ")
	y.types("echo g''o; read a; echo \"[$a]\"\r")
	y.sees("\ngo\n")
	y.types("answer\r")
	y.sees("\n[answer]\n")
	y.sees("ws:/some# ")
	y.types("PS1='\\u> '\r")
	y.sees("root> ")
	y.types("nosuch\r")
	y.sees("nosuch: command not found")
	y.types("exit 7\r")
	if code := y.ends(); code != 7 {
		t.Errorf("exit code %d", code)
	}
	// Its session is gone with it; the history stays.
	y = r.sits("ws", "--session", "s")
	y.sees("ws:/# ")
	y.types("echo [$x]\r")
	y.sees("\n[]\n")
	y.types("\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A")
	y.sees("read a; echo \"[$a]\"")
	y.types("\x15y=2; echo d''one\r")
	y.sees("\ndone\n") // the prompt alone is drawn again with each key
	y.sees("ws:/# ")
	y.types("\x04")
	if code := y.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if out := r.ok("exec", "ws", "--session", "s", "-c", "echo $y"); out != "2\n" {
		t.Errorf("a session with a name was lost: %q", out)
	}
	r.ok("down", "--all")
}

// TestShWithoutTerminal: what is piped into it is a script.
func TestShWithoutTerminal(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	cmd := r.command(r.bin, "sh", "ws")
	cmd.Stdin = strings.NewReader("x=1\necho $x\nexit 3\n")
	if res := finish(t, cmd); res.out != "1\n" || res.code != 3 || res.err != "" {
		t.Errorf("%+v", res)
	}
	cmd = r.command(r.bin, "sh", "wss")
	cmd.Stdin = strings.NewReader(":")
	r.judge(finish(t, cmd), exitExec, []string{`did you mean "ws"`}, []string{"sh", "wss"})
}
