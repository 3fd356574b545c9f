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
