package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/internal/control"
)

// terminal opens a pseudo terminal: what is written to user is typed, what is
// written to program appears there.
func terminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { user.Close() })
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return user, program
}

// readUntil reads until text has appeared.
func readUntil(t *testing.T, f *os.File, text string) string {
	t.Helper()
	var seen []byte
	b := make([]byte, 4096)
	for !bytes.Contains(seen, []byte(text)) {
		n, err := f.Read(b)
		if err != nil {
			t.Fatalf("%v after %q", err, seen)
		}
		seen = append(seen, b[:n]...)
	}
	return string(seen)
}

func TestProgressOnTerminal(t *testing.T) {
	user, program := terminal(t)
	bar := newProgress(streams{Err: program}, "scrub", countBytes)
	bar.update(control.Progress{Done: 3 << 20, Total: 12 << 20})
	readUntil(t, user, "3.0 MiB / 12.0 MiB")
	bar.end(true)
	bar = newProgress(streams{Err: program}, "check", countEntries)
	bar.update(control.Progress{Done: 4096})
	readUntil(t, user, "4096 entries")
	bar.end(false)

	var plain strings.Builder
	bar = newProgress(streams{Err: &plain}, "scrub", countBytes)
	bar.update(control.Progress{Done: 1, Total: 2})
	bar.end(true)
	if plain.Len() != 0 {
		t.Errorf("progress where no terminal is: %q", plain.String())
	}
}

func TestColour(t *testing.T) {
	_, program := terminal(t)
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	if got := (streams{Out: program}).colour(red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("on a terminal: %q", got)
	}
	if got := (streams{Out: &strings.Builder{}}).colour(red, "x"); got != "x" {
		t.Errorf("elsewhere: %q", got)
	}
	t.Setenv("NO_COLOR", "1")
	if got := (streams{Out: program}).colour(red, "x"); got != "x" {
		t.Errorf("with NO_COLOR: %q", got)
	}
}

func TestRemoveAsks(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	user, program := terminal(t)
	ask := func(answer string) int {
		done := make(chan int, 1)
		go func() {
			done <- run(t.Context(), []string{"remove", "ws", "--data", r.data}, streams{In: program, Out: program, Err: program})
		}()
		readUntil(t, user, "[y/N] ")
		if _, err := user.WriteString(answer + "\n"); err != nil {
			t.Error(err)
		}
		return <-done
	}
	for _, no := range []string{"", "n", "what?"} {
		if code := ask(no); code != exitError {
			t.Errorf("the answer %q: exit code %d", no, code)
		}
		r.ok("check", "ws")
	}
	if code := ask("y"); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	r.fails(exitError, []string{"no such workspace"}, "check", "ws")
}
