package main

import (
	"os"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/internal/control"
)

// TestDiffLines: a name forges no line and steers no terminal.
func TestDiffLines(t *testing.T) {
	s := streams{Out: &strings.Builder{}}
	for _, tt := range []struct {
		x    control.Difference
		want string
	}{
		{control.Difference{Kind: "added", Path: "a b"}, "+ a b"},
		{control.Difference{Kind: "added", Path: "d", Type: "directory"}, "+ d/"},
		{control.Difference{Kind: "removed", Path: "x\n- everything"}, `- $'x\n- everything'`},
		{control.Difference{Kind: "modified", Path: "\x1b[2J"}, `~ $'\033[2J'`},
		{control.Difference{Kind: "metadata", Path: "\ufffd", PathBytes: []byte("\xff")}, `m $'\377'`},
		{control.Difference{Kind: "renamed", From: "a\r", Path: "b"}, `> $'a\015' -> b`},
	} {
		if got := diffLine(s, tt.x); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.x, got, tt.want)
		}
	}
}

// TestNamesOfAnyBytes: they come out of diff and go into restore.
func TestNamesOfAnyBytes(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	r.ok("snapshot", "ws", "empty")
	const odd = "a\xff\n\x1b[31m"
	r.write("ws/"+odd, "1")
	if out := r.ok("diff", "ws@empty"); out != `+ $'a\377\n\033[31m'`+"\n" {
		t.Errorf("diff: %q", out)
	}
	point := r.path("a mount")
	res := r.ok("up", "second", point)
	if !strings.Contains(res, "vfsctl down '"+point+"'") {
		t.Errorf("up: %q", res)
	}
	if out := r.ok("__complete", "down", r.dir); !strings.Contains(out, point+"\n") {
		t.Errorf("mounts are not completed: %q", out)
	}
	r.fails(exitError, []string{"vfsctl down '" + point + "' first"}, "remove", "second", "--yes")
	r.fails(exitError, []string{"vfsctl down '" + point + "' first"}, "up", "third", point)
	d := report[control.Diff](r, "diff", "ws@empty").Differences
	r.write("ws/file", "a file")
	r.mkdir("ws/d")
	r.write("ws/d/x", "1")
	r.ok("snapshot", "ws", "deep")
	if err := os.RemoveAll(r.path("ws/d")); err != nil {
		t.Fatal(err)
	}
	r.write("ws/d", "now a file")
	r.fails(exitError, []string{"not a directory"}, "restore", "ws@deep", "d/x")
	r.ok("restore", "ws@deep", "./d/../file")
	if len(d) != 1 || string(d[0].PathBytes) != odd {
		t.Errorf("diff --json: %+v", d)
	}
}

// TestMountPointOfAnyBytes: it travels to the daemon and back, and through the
// list of mounts when the daemon dies.
func TestMountPointOfAnyBytes(t *testing.T) {
	needMount(t)
	r := newRig(t)
	const odd = "point\xff"
	out := r.ok("up", "ws", odd)
	if !r.mounted(odd) || !strings.Contains(out, `vfsctl down $'point\377'`) {
		t.Errorf("up: %q", out)
	}
	r.write(odd+"/a", "1")
	r.kill()
	r.ok("up", "ws", odd)
	r.reads(odd+"/a", "1")
	if m := r.status().Mounts; len(m) != 1 || m[0].Point() != r.path(odd) {
		t.Errorf("status: %+v", m)
	}
	if out := r.ok("status"); !strings.Contains(out, `/point\377'`) {
		t.Errorf("status: %q", out)
	}
	r.ok("status", "--ops", odd)
	r.ok("down", odd)
	if r.mounted(odd) {
		t.Error("down has not unmounted it")
	}
}
