package harness

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	ChildMain()
	os.Exit(m.Run())
}

// run runs one case in a fresh directory.
func run(t *testing.T, timeout time.Duration, fn func(t *T)) Outcome {
	t.Helper()
	dir := t.TempDir()
	env, err := NewEnv(dir)
	if err != nil {
		t.Fatal(err)
	}
	var s Suite
	s.Group("g").Case("case", fn)
	var out []Outcome
	Run(t.Context(), &Config{Dir: dir, Workers: 1, Timeout: timeout, Env: env}, s.Cases, func(o Outcome) { out = append(out, o) })
	if len(out) != 1 {
		t.Fatalf("%d outcomes of one case", len(out))
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 && timeout > time.Second {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return out[0]
}

// expect runs a case and compares what was counted.
func expect(t *testing.T, passed, failed int, skip string, fn func(t *T)) Outcome {
	t.Helper()
	o := run(t, time.Minute, fn)
	if o.Passed != passed || o.Failed != failed || o.Skip != skip {
		t.Errorf("passed %d, failed %d, skip %q; want %d, %d, %q: %q", o.Passed, o.Failed, o.Skip, passed, failed, skip, o.Failures)
	}
	return o
}

func TestCounting(t *testing.T) {
	expect(t, 5, 0, "", func(t *T) {
		t.OK(nil)
		t.Errno(unix.ENOENT, unix.EACCES, unix.ENOENT)
		t.Check(true, "")
		t.Result(unix.EPERM, unix.EPERM)
		Equal(t, "number", 5, 5)
	})
	o := expect(t, 0, 6, "", func(t *T) {
		t.OK(unix.ENOENT)
		t.Errno(nil, unix.ENOENT)
		t.Errno(unix.EACCES, unix.ENOENT)
		t.Check(false, "%d", 42)
		t.Result(nil, unix.EPERM)
		Equal(t, "number", 5, 6)
	})
	for i, want := range []string{"got ENOENT, want success", "got success, want ENOENT", "got EACCES, want ENOENT", "42", "want EPERM", "number is 5, want 6"} {
		if !strings.Contains(o.Failures[i], want) || !strings.HasPrefix(o.Failures[i], "harness_linux_test.go:") {
			t.Errorf("failure %d is %q, want a place in this file and %q", i, o.Failures[i], want)
		}
	}
}

func TestEndings(t *testing.T) {
	expect(t, 1, 0, "because", func(t *T) { t.Check(true, ""); t.Skip("because"); t.Check(false, "") })
	expect(t, 0, 1, "", func(t *T) { t.Must(unix.EIO); t.Check(false, "") })
	expect(t, 0, 1, "", func(t *T) { t.Fatalf("enough"); t.Check(false, "") })
	if o := expect(t, 0, 1, "", func(*T) { panic("oops") }); !strings.Contains(o.Failures[0], "panic: oops") {
		t.Errorf("a panic is reported as %q", o.Failures)
	}
	var order []int
	expect(t, 0, 1, "", func(t *T) {
		t.Cleanup(func() { order = append(order, 1) })
		t.Cleanup(func() { order = append(order, 2) })
		t.Fatalf("with cleanups")
	})
	if len(order) != 2 || order[0] != 2 {
		t.Errorf("cleanups ran as %v", order)
	}
}

func TestHanging(t *testing.T) {
	release := make(chan struct{})
	o := run(t, 50*time.Millisecond, func(*T) { <-release })
	if o.Failed != 1 || !strings.Contains(o.Failures[0], "hangs") {
		t.Errorf("failed %d: %q", o.Failed, o.Failures)
	}
	close(release)
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env, err := NewEnv(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var s Suite
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
		s.Group("g").Case(name, func(*T) {})
	}
	n := 0
	Run(ctx, &Config{Dir: t.TempDir(), Workers: 1, Timeout: time.Minute, Env: env}, s.Cases, func(Outcome) { n++ })
	if n == len(s.Cases) {
		t.Error("a cancelled run ran everything")
	}
}

// TestThreads: what a case does to its thread is nobody else's.
func TestThreads(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	expect(t, 8, 0, "", func(t *T) {
		t.Dir("d", 0o755)
		t.Must(unix.Chdir("d"))
		t.Umask(0o077)
		var n atomic.Int32
		t.Parallel(4, func(int) {
			// In the case's directory, with umask 0.
			t.Check(t.Exists("d"), "another directory")
			t.Check(unix.Umask(0) == 0, "another umask")
			n.Add(1)
		})
		if n.Load() != 4 {
			t.Fatalf("%d of 4 ran", n.Load())
		}
	})
	if now, err := os.Getwd(); err != nil || now != wd {
		t.Errorf("the working directory went from %s to %s, %v", wd, now, err)
	}
}

func TestCredentials(t *testing.T) {
	c := Cred{UID: 21001, GID: 22001, Groups: []int{22002, 22003}}
	o := run(t, time.Minute, func(t *T) {
		t.NeedRoot()
		t.Chmod(".", 0o777)
		t.File("private", 0o600)
		t.As(c, func() {
			Equal(t, "uid", unix.Geteuid(), c.UID)
			t.Errno(t.Try("private", unix.O_RDONLY, 0), unix.EACCES)
			t.File("made", 0o644)
			list, err := unix.Getgroups()
			t.OK(err)
			Equal(t, "groups", len(list), 2)
		})
		Equal(t, "uid afterwards", unix.Geteuid(), 0)
		t.OK(t.Try("private", unix.O_RDONLY, 0))
		t.Owner("made", c.UID, c.GID)
	})
	if o.Failed > 0 || o.Skip == "" && o.Passed != 7 {
		t.Errorf("passed %d, failed %d: %q", o.Passed, o.Failed, o.Failures)
	}
}

func TestMark(t *testing.T) {
	expect(t, 9, 0, "", func(t *T) {
		t.Write("f", "x")
		t.Write("g", "x")
		m := t.Mark("f", "g", ".")
		t.Must(unix.Chmod("f", 0o600))
		m.Moved("f", C)
		m.Still("g")
		m.Moved(".", 0)
	})
	o := expect(t, 4, 2, "", func(t *T) {
		t.Write("f", "x")
		t.Write("g", "x")
		m := t.Mark("f", "g")
		t.Must(unix.Chmod("f", 0o600))
		m.Moved("f", M|C) // mtime did not
		t.Must(unix.Chmod("g", 0o600))
		m.Still("g") // ctime did
	})
	if !strings.Contains(o.Failures[0], `mtime of "f" did not move`) || !strings.Contains(o.Failures[1], `ctime of "g" moved by`) {
		t.Errorf("failures: %q", o.Failures)
	}
}

func TestUnchanged(t *testing.T) {
	changes := map[string]func(t *T){
		"content":     func(t *T) { t.Write("d/f", "y") },
		"mode":        func(t *T) { t.Chmod("d/f", 0o600) },
		"a new name":  func(t *T) { t.File("d/n", 0o644) },
		"a lost name": func(t *T) { t.Must(unix.Unlink("d/f")) },
		"a link":      func(t *T) { t.Link("d/f", "g") },
		"a target":    func(t *T) { t.Must(unix.Unlink("l")); t.Symlink("y", "l") },
		"times": func(t *T) {
			t.Must(unix.UtimesNanoAt(unix.AT_FDCWD, "d/f", []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0))
		},
	}
	setup := func(t *T) {
		t.Dir("d", 0o755)
		t.Write("d/f", "x")
		t.Symlink("x", "l")
	}
	expect(t, 1, 0, "", func(t *T) { setup(t); t.Unchanged(func() { t.Stat("d/f"); t.Read("d/f") }) })
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			expect(t, 0, 1, "", func(t *T) { setup(t); t.Unchanged(func() { change(t) }) })
		})
	}
}

func init() {
	RegisterRole("echo", func(p *Peer) int {
		p.Say("%s", filepath.Base(p.Args[0]))
		for {
			w, ok := p.Next()
			if !ok {
				return 7
			}
			p.Say("%s", strings.Join(w, "+"))
		}
	})
}

func TestChild(t *testing.T) {
	expect(t, 3, 0, "", func(t *T) {
		c := t.Child("echo", "x/argument")
		Equal(t, "first line", c.Hear(), "argument")
		c.Expect("a+b", "a b")
		Equal(t, "exit code", c.Wait().ExitStatus(), 7)
	})
	o := expect(t, 0, 1, "", func(t *T) {
		c := t.Child("echo", "x")
		c.Hear()
		c.Kill()
		c.Hear()
	})
	if !strings.Contains(o.Failures[0], "ended without an answer") {
		t.Errorf("failures: %q", o.Failures)
	}
}

func TestDuplicateNames(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two cases of one name were taken")
		}
	}()
	var s Suite
	s.Group("g").Case("a", nil)
	s.Group("g").Case("a", nil)
}

func TestParseDirents(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "a-longer-name"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	all, err := Entries(fd, 4096)
	if err != nil || len(all) != 4 {
		t.Fatalf("%d entries, %v", len(all), err)
	}
	for _, e := range all {
		if e.Type != unix.DT_DIR || e.Ino == 0 || e.Name == "" {
			t.Errorf("entry %+v", e)
		}
	}
}

func FuzzParseDirents(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x18\x00\x04a\x00\x00\x00\x00"))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\xff\xff\x04a\x00\x00\x00\x00"))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x18\x00\x04aaaaa"))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04a\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := ParseDirents(b)
		size := 0
		for _, e := range all {
			if strings.ContainsRune(e.Name, 0) {
				t.Fatalf("a name with a NUL: %q", e.Name)
			}
			size += 20 + len(e.Name)
		}
		if size > len(b) || err == nil && len(b) > 0 && len(all) == 0 {
			t.Fatalf("%d entries, %v, of %d bytes", len(all), err, len(b))
		}
	})
}
