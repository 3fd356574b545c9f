package commandtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// insideDir is the working directory of the run in the process.
const insideDir = "/work"

// Timeout ends a command that hangs, in either run.
const Timeout = 30 * time.Second

// World makes a memory filesystem with the case's files in its working
// directory, and returns a walker from there and the directory's path.
func World(t testing.TB, c *Case) (*vfs.Walker, string) {
	t.Helper()
	w := vfs.NewWalker(memfs.New(), &vfs.Op{Umask: 0o022})
	if err := w.Mkdir(insideDir, 0o755); err != nil {
		t.Fatal(err)
	}
	a, err := w.Stat(insideDir)
	if err != nil {
		t.Fatal(err)
	}
	w = w.At(a.Ino)
	for _, e := range c.entries() {
		if err := makeInside(w, e); err != nil {
			t.Fatalf("%s: %v", e.Path, err)
		}
	}
	return w, insideDir
}

// Tree lists the files that a run in the process left, as Result.Tree has them.
func Tree(t testing.TB, w *vfs.Walker, c *Case) []string {
	t.Helper()
	var lines []string
	treeInside(t, w, "", c.Times, &lines)
	sort.Strings(lines)
	return lines
}

// Expand replaces Dir in a string by the working directory of the run in the
// process; Collapse does the reverse.
func Expand(s string) string { return expandInside(s) }

// Collapse replaces the working directory of the run in the process by Dir.
func Collapse(s string) string { return strings.ReplaceAll(s, insideDir, Dir) }

// Inside runs the case in this process, over a memory filesystem.
func Inside(t testing.TB, c *Case) Result {
	t.Helper()
	w, dir := World(t, c)
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	res := Result{}
	env := command.Environ{"PATH=/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C", "TZ=UTC"}
	for _, kv := range c.Env {
		name, value, _ := strings.Cut(kv, "=")
		env = env.Set(name, expandInside(value))
	}
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		args[i] = expandInside(a)
	}
	cc := NewContext(w, dir, env)
	cc.Stdin = strings.NewReader(expandInside(c.Stdin))
	cc.Stderr = &stderr
	cc.Stdout = command.NewWriter(&stdout)
	var err error
	res.Status, err = cc.Exec(ctx, args...)
	if err != nil {
		t.Fatalf("%s: %v", args[0], err)
	}
	if err := ctx.Err(); err != nil {
		t.Fatalf("%s did not end: %v", args[0], err)
	}
	res.Stdout, res.Stderr = Collapse(stdout.String()), Collapse(stderr.String())
	res.Tree = Tree(t, w, c)
	return res
}

func expandInside(s string) string { return strings.ReplaceAll(s, Dir, insideDir) }

// NewContext returns a Context that runs registered commands, with empty
// streams. The caller sets those that matter.
func NewContext(w *vfs.Walker, dir string, env command.Environ) *command.Context {
	return &command.Context{
		FS:       w,
		Dir:      dir,
		Stdin:    strings.NewReader(""),
		Stdout:   command.NewWriter(io.Discard),
		Stderr:   io.Discard,
		File:     func(int) vfs.File { return nil },
		Env:      env,
		Memory:   command.NewMemory(256 << 20),
		Now:      time.Now,
		Location: time.UTC,
		System:   system{},
	}
}

func makeInside(w *vfs.Walker, e Entry) error {
	if i := strings.LastIndexByte(strings.TrimRight(e.Path, "/"), '/'); i > 0 {
		if err := w.MkdirAll(e.Path[:i], 0o755); err != nil {
			return err
		}
	}
	var err error
	switch {
	case strings.HasSuffix(e.Path, "/"):
		err = w.MkdirAll(e.Path, 0o755)
	case e.Link != "":
		return w.Symlink(expandInside(e.Link), e.Path)
	case e.Hard != "":
		err = w.Link(e.Hard, e.Path, false)
	case e.FIFO:
		err = w.Mknod(e.Path, vfs.ModeFIFO|0o644, 0)
	default:
		err = w.WriteFile(e.Path, []byte(expandInside(e.Content)), 0o644)
	}
	if err == nil && e.Mode != 0 {
		err = w.Chmod(e.Path, e.Mode)
	}
	if err == nil && !e.Time.IsZero() {
		ns := e.Time.UnixNano()
		err = w.Setattr(e.Path, true, &vfs.SetAttr{Mask: vfs.SetAtime | vfs.SetMtime, Atime: ns, Mtime: ns})
	}
	return err
}

// treeInside lists what is below a directory.
func treeInside(t testing.TB, w *vfs.Walker, rel string, times bool, lines *[]string) {
	t.Helper()
	dir := rel
	if dir == "" {
		dir = "."
	}
	es, err := w.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		path := e.Name
		if rel != "" {
			path = rel + "/" + e.Name
		}
		a, err := w.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		var body string
		switch {
		case a.IsRegular():
			b, err := w.ReadFile(path, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			body = string(b)
		case a.IsSymlink():
			if body, err = w.Readlink(path); err != nil {
				t.Fatal(err)
			}
		}
		body = strings.ReplaceAll(body, insideDir, Dir)
		*lines = append(*lines, treeLine(path, a.Mode, body, time.Unix(0, a.Mtime).Unix(), times))
		if a.IsDir() {
			treeInside(t, w, path, times, lines)
		}
	}
}

// system runs registered commands and knows one user: what a command's own
// tests need. The shell has the real one.
type system struct{}

var root = command.User{Name: "root", Home: "/root", Shell: "/bin/bash", Gecos: "root"}

func (system) Exec(ctx context.Context, c *command.Context, child *command.Child) (int, error) {
	cmd := command.Lookup(child.Args[0][strings.LastIndexByte(child.Args[0], '/')+1:])
	if cmd == nil {
		return 127, syscall.ENOENT
	}
	cc := *c
	cc.Command = cmd
	if child.Stdin != nil {
		cc.Stdin = child.Stdin
	}
	var out io.Writer = c.Stdout.Underlying()
	if child.Stdout != nil {
		out = child.Stdout
	}
	cc.Stdout = command.NewWriter(out)
	if child.Stderr != nil {
		cc.Stderr = child.Stderr
	}
	if child.Env != nil {
		cc.Env = child.Env
	}
	if child.Dir != "" {
		a, err := c.FS.Stat(child.Dir)
		if err != nil {
			return 126, err
		}
		cc.Dir, cc.FS = c.Abs(child.Dir), c.FS.At(a.Ino)
	}
	status := cmd.Run(ctx, &cc, child.Args)
	if err := cc.Stdout.Flush(); err != nil {
		if errors.Is(err, syscall.EPIPE) {
			return 128 + int(command.SIGPIPE), nil
		}
		cc.Errorf("write error: %s", command.Strerror(err))
		status = max(status, 1)
	}
	if sig, ok := command.KilledBy(ctx); ok {
		status = 128 + int(sig)
	}
	return status, nil
}

func (system) Self(*command.Context) int                { return 2 }
func (system) Processes() []command.Process             { return nil }
func (system) Signal(int, command.Signal) error         { return syscall.ESRCH }
func (system) UserByID(id uint32) (command.User, bool)  { return root, id == 0 }
func (system) UserByName(n string) (command.User, bool) { return root, n == root.Name }

func (system) GroupByID(id uint32) (command.Group, bool) {
	return command.Group{Name: "root"}, id == 0
}

func (system) GroupByName(n string) (command.Group, bool) {
	return command.Group{Name: "root"}, n == "root"
}

func (system) Host() command.Host {
	return command.Host{Name: "vfsd", System: "Linux", Release: "6.1.0", Version: "#1", Machine: "x86_64", CPUs: 1}
}
