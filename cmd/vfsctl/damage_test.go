package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/internal/control"
)

// damaged makes two workspaces, the second with a file of its own bytes, and
// lets the caller damage what is stored.
func damaged(t *testing.T, kill bool) *rig {
	t.Helper()
	needMount(t)
	r := newRig(t)
	for _, ws := range []string{"whole", "hurt"} {
		r.ok("up", ws)
		r.write(ws+"/small", ws)
		r.write(ws+"/large", strings.Repeat(ws+" has bytes of its own. ", 20000))
	}
	r.ok("snapshot", "whole", "s")
	if kill {
		r.write("hurt/late", strings.Repeat("only in the journal", 10))
		r.kill()
		return r
	}
	r.ok("down", "--all")
	return r
}

// only returns the one file that a pattern below the data directory matches.
func (r *rig) only(pattern string) string {
	r.t.Helper()
	names, err := filepath.Glob(filepath.Join(r.data, pattern))
	if err != nil || len(names) != 1 {
		r.t.Fatalf("%s: %q, %v", pattern, names, err)
	}
	return names[0]
}

// othersWork: one damaged workspace keeps neither the daemon nor the others
// from working.
func (r *rig) othersWork() {
	r.t.Helper()
	r.ok("up", "whole")
	r.reads("whole/small", "whole")
	r.write("whole/new", "1")
	r.ok("check", "whole")
	r.ok("snapshot", "whole", "t")
	for _, w := range report[control.List](r, "list").Workspaces {
		if (w.Damage != "") != (w.Name == "hurt") {
			r.t.Errorf("list says of %s: %q", w.Name, w.Damage)
		}
	}
	if res := r.run("doctor"); res.code != exitProblems || !strings.Contains(res.out, "workspace hurt") {
		r.t.Errorf("doctor: %+v", res)
	}
}

func TestDamagedHead(t *testing.T) {
	r := damaged(t, false)
	head := filepath.Join(r.data, "workspaces/hurt/head")
	flip(t, head, 40)
	for _, args := range [][]string{{"check", "hurt"}, {"snapshot", "hurt", "s"}, {"up", "hurt"}, {"log", "hurt"}} {
		r.fails(exitError, []string{head, "offset", "corrupt", "vfsctl doctor"}, args...)
	}
	r.othersWork()
	res := r.run("scrub")
	if res.code != exitProblems || !strings.Contains(res.out, head) {
		t.Errorf("scrub: %+v", res)
	}
	r.fails(exitError, []string{head}, "gc") // what it needs cannot be known
	r.ok("remove", "hurt", "--yes")
	r.ok("gc")
}

func TestDamagedJournal(t *testing.T) {
	r := damaged(t, true)
	journal := r.only("workspaces/hurt/journal/*")
	segment := r.only("workspaces/hurt/journal/*/*0001")
	flip(t, segment, 20)
	r.fails(exitError, []string{segment, "offset", "corrupt", "vfsctl doctor"}, "check", "hurt")
	r.othersWork()
	if res := r.run("scrub"); res.code != exitProblems || !strings.Contains(res.out, journal) {
		t.Errorf("scrub: %+v", res)
	}
}

// TestDamagedPack: P4. A chunk whose bytes changed is EIO, never wrong bytes,
// and everything else can be read.
func TestDamagedPack(t *testing.T) {
	r := damaged(t, false)
	pack, at := r.find("hurt has bytes")
	flip(t, pack, at)
	r.ok("up", "hurt")
	r.reads("hurt/small", "hurt")
	if b, err := os.ReadFile(r.path("hurt/large")); err == nil {
		t.Errorf("a damaged file was read: %d bytes", len(b))
	}
	r.ok("up", "whole")
	r.reads("whole/large", strings.Repeat("whole has bytes of its own. ", 20000))
	r.ok("check", "whole")
	res := r.run("scrub")
	if res.code != exitProblems || !strings.Contains(res.out, pack+" at offset ") {
		t.Errorf("scrub: %+v", res)
	}
	if s := mustReport[scrubReport](t, r.run("scrub", "--json")); s.Damages == 0 || len(s.Found) != s.Damages {
		t.Errorf("scrub: %+v", s)
	}
	r.ok("down", "--all")
	r.othersStillMount()
}

// TestDamagedTreeNode: names are as safe as bytes.
func TestDamagedTreeNode(t *testing.T) {
	r := damaged(t, false)
	pack, at := r.find("small") // the newest that has the dentry
	flip(t, pack, at)
	for _, args := range [][]string{{"check", "hurt"}, {"check", "whole"}} {
		res := r.run(args...)
		if res.code != 0 && (!strings.Contains(res.err+res.out, "corrupt") && !strings.Contains(res.err+res.out, "tree node")) {
			t.Errorf("vfsctl %q: %+v", args, res)
		}
	}
	if res := r.run("scrub"); res.code != exitProblems || !strings.Contains(res.out, pack) {
		t.Errorf("scrub: %+v", res)
	}
}

// othersStillMount mounts whole again.
func (r *rig) othersStillMount() {
	r.t.Helper()
	r.ok("up", "whole")
	r.reads("whole/small", "whole")
}

// find returns the last place in the packs that holds text, uncompressed.
func (r *rig) find(text string) (pack string, offset int64) {
	r.t.Helper()
	names, err := filepath.Glob(filepath.Join(r.data, "chunks", "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // a directory
		}
		if i := bytes.LastIndex(b, []byte(text)); i >= 0 {
			pack, offset = name, int64(i)
		}
	}
	if pack == "" {
		r.t.Fatalf("no pack holds %q", text)
	}
	return pack, offset
}

func mustReport[T any](t *testing.T, res result) (v T) {
	t.Helper()
	if err := decodeStrict(res.out, &v); err != nil {
		t.Fatalf("%v: %s", err, res.out)
	}
	return v
}
