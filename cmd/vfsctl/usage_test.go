package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/internal/control"
)

// TestUsage: what can never be right is refused with code 2 and changes
// nothing, above all where a shell's variable was empty.
func TestUsage(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	r.ok("snapshot", "ws", "s")
	before := r.ok("log", "ws", "--json") + r.ok("quota", "ws", "--json")
	for _, tt := range []struct {
		words []string
		args  []string
	}{
		{[]string{`path is ""`, "leave it out"}, []string{"restore", "ws@s", ""}},
		{[]string{"out of the workspace"}, []string{"restore", "ws@s", "../x"}},
		{[]string{"out of the workspace"}, []string{"restore", "ws@s", "/a/../.."}},
		{[]string{`--data ""`, "VFSD_DATA"}, []string{"list", "--data", ""}},
		{[]string{`--inodes "1.5"`, "a number"}, []string{"quota", "ws", "--inodes", "1.5"}},
		{[]string{`--inodes "10MiB"`, "a number"}, []string{"quota", "ws", "--inodes", "10MiB"}},
		{[]string{`--inodes ""`, "none"}, []string{"quota", "ws", "--inodes", ""}},
		{[]string{`--bytes ""`, "10GiB"}, []string{"quota", "ws", "--bytes", ""}},
		{[]string{`--bytes "1.5"`, "10GiB"}, []string{"quota", "ws", "--bytes", "1.5"}},
		{[]string{`--bytes "-1"`, "10GiB"}, []string{"quota", "ws", "--bytes", "-1"}},
		{[]string{"which state", "ws@SNAPSHOT"}, []string{"diff", "ws@"}},
		{[]string{"which state", "ws@SNAPSHOT"}, []string{"diff", "ws@s", "ws@"}},
		{[]string{"which state"}, []string{"check", "ws@"}},
		{[]string{"which state"}, []string{"fork", "ws@", "new"}},
		{[]string{"which state"}, []string{"restore", "ws@"}},
		{[]string{`"nope"`, "vfsctl --help"}, []string{"help", "nope"}},
		{[]string{`"creat"`, "did you mean create"}, []string{"help", "creat"}},
		{[]string{`"nope"`, "bash"}, []string{"completion", "nope"}},
		{[]string{"no arguments", "extra", "usage: vfsctl list"}, []string{"list", "extra"}},
		{[]string{`--limit "x"`, "a number", "vfsctl log --help"}, []string{"log", "ws", "-n", "x"}},
		{[]string{`--limit "1.5"`, "a number"}, []string{"log", "ws", "--limit=1.5"}},
		{[]string{`--dry-run "maybe"`, "true or false"}, []string{"gc", "--dry-run=maybe"}},
		{[]string{`--settle "1"`, "a duration"}, []string{"bench", ".", "--settle", "1"}},
	} {
		r.fails(exitUsage, tt.words, tt.args...)
	}
	if after := r.ok("log", "ws", "--json") + r.ok("quota", "ws", "--json"); after != before {
		t.Errorf("what was refused has changed\n%s\nto\n%s", before, after)
	}
	for _, args := range [][]string{{"help"}, {"help", "up"}, {"help", "bench", "scale"}, {"completion"}} {
		if out := r.ok(args...); !strings.Contains(out, "Usage:") {
			t.Errorf("vfsctl %q: %q", args, out)
		}
	}
}

func TestPathInside(t *testing.T) {
	for arg, want := range map[string]string{
		"f": "f", "./f": "f", "d/../f": "f", "/f/": "f", "//d//f": "d/f", "/": "", ".": "", "d/..": "", " ": " ", "..f": "..f",
	} {
		if got, err := pathInside(arg); got != want || err != nil {
			t.Errorf("pathInside(%q) is %q, %v; want %q", arg, got, err, want)
		}
	}
}

func TestQuotaTakesCommasAndUnits(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	q := report[control.Workspace](r, "quota", "ws", "--inodes", "1,000", "--bytes", "1.5GiB").Quota
	if q.Inodes != 1000 || q.Bytes != 3<<29 {
		t.Errorf("the quota is %+v", q)
	}
	if q := report[control.Workspace](r, "quota", "ws", "--inodes", "none").Quota; q.Inodes != 0 || q.Bytes != 3<<29 {
		t.Errorf("the quota is %+v", q)
	}
}

func TestListOfWorkloads(t *testing.T) {
	r := newRig(t)
	var all []workloadReport
	if err := json.Unmarshal([]byte(r.ok("bench", "--list", "--json")), &all); err != nil || len(all) == 0 || all[0].Title == "" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestReadingMakesNoDataDir: a directory that happens to be empty stays so.
func TestReadingMakesNoDataDir(t *testing.T) {
	r := newRig(t)
	r.mkdir("data")
	for _, args := range [][]string{
		{"list"}, {"status"}, {"log", "ws"}, {"snapshots", "ws"}, {"diff", "ws@s"}, {"check", "ws"}, {"scrub"}, {"gc"},
		{"restore", "ws@s"}, {"quota", "ws"}, {"snapshot", "ws", "s"}, {"down", "--all"},
	} {
		r.fails(exitError, []string{r.data, "there is none yet", "vfsctl up"}, args...)
	}
	// Its code is for the whole machine, with the dead mounts of other tests.
	if res := r.run("doctor"); !strings.Contains(res.out, "there is none yet") {
		t.Errorf("doctor: %+v", res)
	}
	if names, err := os.ReadDir(r.data); len(names) > 0 || err != nil {
		t.Errorf("the directory holds %v, %v", names, err)
	}
	r.ok("create", "ws")
}
