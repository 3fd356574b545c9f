package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/internal/control"
)

func TestBadNames(t *testing.T) {
	r := newRig(t)
	r.ok("create", "project")
	r.ok("snapshot", "project", "before")
	long := strings.Repeat("n", 65)
	for _, tt := range []struct {
		code  int
		words []string
		args  []string
	}{
		{exitUsage, []string{`"a/b"`, "letters, digits"}, []string{"create", "a/b"}},
		{exitUsage, []string{long, "1 to 64"}, []string{"create", long}},
		{exitUsage, []string{`""`}, []string{"create", ""}},
		{exitUsage, []string{`".."`}, []string{"create", ".."}},
		{exitUsage, []string{`"x/y"`}, []string{"snapshot", "project", "x/y"}},
		{exitUsage, []string{long}, []string{"fork", "project", long}},
		{exitError, []string{"project", "exists"}, []string{"create", "project"}},
		{exitError, []string{"before", "exists"}, []string{"snapshot", "project", "before"}},
		{exitError, []string{`"projct"`, "no such workspace", `did you mean "project"`}, []string{"snapshot", "projct", "a"}},
		{exitError, []string{`did you mean "project"`}, []string{"check", "projec"}},
		{exitError, []string{`did you mean "project"`}, []string{"remove", "--yes", "projec"}},
		{exitError, []string{`did you mean "project"`}, []string{"quota", "projec"}},
		{exitError, []string{"project", `"befor"`, `did you mean "before"`}, []string{"diff", "project@befor"}},
		{exitError, []string{`did you mean "before"`}, []string{"restore", "project@befor"}},
		{exitError, []string{`did you mean "before"`}, []string{"fork", "project@befor", "new"}},
		{exitError, []string{`did you mean "before"`}, []string{"snapshots", "project", "--remove", "befor"}},
		{exitError, []string{`"no/such"`, "no such path"}, []string{"restore", "project@before", "no/such"}},
		{exitUsage, []string{"which state", "project@SNAPSHOT"}, []string{"restore", "project"}},
		{exitUsage, []string{"WORKSPACE@SNAPSHOT"}, []string{"diff", "project"}},
		{exitUsage, []string{"--bytes", "10GiB"}, []string{"quota", "project", "--bytes", "much"}},
		{exitUsage, []string{"--limit"}, []string{"log", "project", "--limit", "-1"}},
		{exitUsage, []string{"--yes"}, []string{"remove", "project"}},
		{exitUsage, []string{`"crate"`, "did you mean create"}, []string{"crate", "x"}},
		{exitUsage, []string{"--nonsense", "vfsctl list --help"}, []string{"list", "--nonsense"}},
		{exitUsage, []string{"usage: vfsctl fork"}, []string{"fork", "project"}},
		{exitUsage, []string{"one mount point, or --all"}, []string{"down"}},
	} {
		r.fails(tt.code, tt.words, tt.args...)
	}
	if l := report[control.List](r, "list"); len(l.Workspaces) != 1 || l.Workspaces[0].Snapshots != 1 {
		t.Errorf("something was changed: %+v", l)
	}
}

func TestBadDataDir(t *testing.T) {
	r := newRig(t)
	r.fails(exitError, []string{r.data, "there is none yet", "vfsctl up"}, "list")

	r.mkdir("foreign")
	r.write("foreign/file", "precious")
	for _, args := range [][]string{{"list"}, {"create", "x"}, {"up", "ws"}, {"check", "x"}} {
		r.fails(exitError, []string{r.path("foreign"), `"file"`, "not a vfsd data directory", "--data"}, append(args, "--data", "foreign")...)
	}
	if entries, err := os.ReadDir(r.path("foreign")); err != nil || len(entries) != 1 {
		t.Errorf("a foreign directory was changed: %v, %v", entries, err)
	}
	r.write("foreign/format", "something else\n")
	r.fails(exitError, []string{"says nothing of vfsd", "--data"}, "list", "--data", "foreign")

	r.write("plain", "a file")
	r.fails(exitError, []string{r.path("plain"), "no directory", "--data"}, "list", "--data", "plain")

	r.ok("create", "ws")
	r.write("data/format", "vfsd data directory\nversion 9\n")
	for _, args := range [][]string{{"list"}, {"create", "x"}, {"up", "ws"}, {"down", "--all"}} {
		r.fails(exitError, []string{r.data, "version 9", "newer vfsd"}, args...)
	}
	if res := r.run("doctor"); res.code != exitProblems || !strings.Contains(res.out, "version 9") {
		t.Errorf("doctor: %+v", res)
	}
	res := finish(t, r.command(vfsd))
	if res.code != exitError || !strings.Contains(res.err, "version 9") {
		t.Errorf("vfsd: %+v", res)
	}
}

func TestDataDirOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving a directory away takes root")
	}
	r := newRig(t)
	r.ok("create", "ws")
	if err := os.Chmod(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(r.data, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	r.fails(exitError, []string{r.data, "uid 12345", "uid 0", "--data"}, "list")
	r.fails(exitError, []string{"uid 12345"}, "up", "ws")
	if err := os.Chown(r.data, 0, 0); err != nil {
		t.Fatal(err)
	}
	cmd := r.command(vfsctl, "list")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}}
	r.judge(finish(t, cmd), exitError, []string{r.data, "belongs to root"}, cmd.Args[1:])
	r.ok("list")
}

// inNamespace runs vfsctl after a script, both in a mount namespace that goes
// with them. The script may set AS to a command that changes the user.
func (r *rig) inNamespace(script string, args ...string) result {
	r.t.Helper()
	sh := []string{"-m", "sh", "-ec", script + "\n" + `exec $AS "$0" "$@"`, vfsctl}
	return finish(r.t, r.command("unshare", append(sh, args...)...))
}

func needNamespace(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("unshare", "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("a mount namespace takes root and unshare: %v: %s", err, out)
	}
}

func TestReadOnlyDataDir(t *testing.T) {
	needNamespace(t)
	r := newRig(t)
	r.ok("create", "ws")
	script := fmt.Sprintf("mount --bind %[1]s %[1]s && mount -o remount,bind,ro %[1]s", r.data)
	for _, args := range [][]string{{"list"}, {"create", "x"}, {"up", "ws"}} {
		r.judge(r.inNamespace(script, args...), exitError, []string{r.data, "read-only", "--data"}, args)
	}
	if res := r.inNamespace(script, "doctor"); res.code != exitProblems || !strings.Contains(res.out, "read-only") {
		t.Errorf("doctor: %+v", res)
	}
	r.ok("check", "ws")
}

func TestFullDataDir(t *testing.T) {
	needNamespace(t)
	r := newRig(t)
	r.mkdir("data")
	script := fmt.Sprintf("mount -t tmpfs -o size=64k none %[1]s\n"+
		"head -c 1M /dev/zero >%[1]s/lost+found 2>/dev/null || true", r.data)
	for _, args := range [][]string{{"create", "x"}, {"up", "ws"}} {
		r.judge(r.inNamespace(script, args...), exitError, []string{"no space left", "--data"}, args)
	}
	if _, err := os.Stat(r.path("ws")); err == nil {
		t.Error("up failed and left the directory that it had made")
	}
}

func TestNoFUSE(t *testing.T) {
	needMount(t)
	needNamespace(t)
	r := newRig(t)
	hide := "mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3"
	r.judge(r.inNamespace(hide, "up", "ws"), exitError, []string{"/dev/fuse", "modprobe fuse"}, []string{"up", "ws"})
	r.ok("down", "--all")
	res := r.inNamespace(hide, "doctor")
	if res.code != exitProblems || !strings.Contains(res.out, "mend: modprobe fuse") {
		t.Errorf("doctor: %+v", res)
	}
	if l := report[control.List](r, "list"); len(l.Workspaces) != 0 {
		t.Errorf("a workspace was made that could not be mounted: %+v", l)
	}
}

// asNobody runs vfsctl as a user without rights, with a /dev/fuse of that mode
// and that PATH.
func (r *rig) asNobody(mode, path string, args ...string) result {
	return r.inNamespace("mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && mknod -m "+mode+" /dev/fuse c 10 229\n"+
		`AS="setpriv --reuid=65534 --regid=65534 --clear-groups env PATH=`+path+`"`, args...)
}

func TestNeitherRootNorFusermount(t *testing.T) {
	needMount(t)
	needNamespace(t)
	r := newRig(t)
	if err := os.Chmod(r.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r.judge(r.asNobody("666", "/nonexistent", "up", "ws"), exitError, []string{"root or fusermount3", "install fuse3"}, []string{"up", "ws"})
	if res := r.asNobody("666", "/nonexistent", "doctor"); res.code != exitProblems || !strings.Contains(res.out, "mend: install fuse3") {
		t.Errorf("doctor: %+v", res)
	}
	// All else works without.
	for _, args := range [][]string{{"create", "ws"}, {"snapshot", "ws", "s"}, {"check", "ws"}, {"down", "--all"}} {
		if res := r.asNobody("666", "/nonexistent", args...); res.code != 0 {
			t.Errorf("vfsctl %q: %+v", args, res)
		}
	}
}

func TestDeviceOfRoot(t *testing.T) {
	needMount(t)
	needNamespace(t)
	r := newRig(t)
	if err := os.Chmod(r.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	bin := r.mkdir("bin")
	if err := os.WriteFile(filepath.Join(bin, "fusermount3"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.judge(r.asNobody("600", bin, "up", "ws"), exitError, []string{"/dev/fuse", "permission denied", "chmod 666"}, []string{"up", "ws"})
	if res := r.asNobody("600", bin, "doctor"); res.code != exitProblems || !strings.Contains(res.out, "mend: chmod 666 /dev/fuse") {
		t.Errorf("doctor: %+v", res)
	}
}

func TestBadMountPoints(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("create", "ws")
	r.write("file", "x")
	r.mkdir("full")
	r.write("full/precious", "x")
	r.ok("up", "taken", "taken")
	if err := os.Symlink("target", r.path("link")); err != nil {
		t.Fatal(err)
	}
	r.mkdir("tmpfs")
	if out, err := exec.Command("mount", "-t", "tmpfs", "none", r.path("tmpfs")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, tt := range []struct {
		code  int
		words []string
		args  []string
	}{
		{exitError, []string{r.path("no"), "no such file", "make it first"}, []string{"up", "no/parent"}},
		{exitError, []string{r.path("file"), "not a directory"}, []string{"up", "ws", "file"}},
		{exitError, []string{r.path("full"), "not empty", "empty directory"}, []string{"up", "ws", "full"}},
		{exitError, []string{r.path("taken"), "workspace taken is mounted there", "vfsctl down"}, []string{"up", "ws", "taken"}},
		{exitError, []string{r.path("tmpfs"), "tmpfs", "unmount it"}, []string{"up", "ws", "tmpfs"}},
		{exitError, []string{"workspace taken is mounted at " + r.path("taken")}, []string{"up", "taken", "second"}},
		{exitUsage, []string{"inside the data directory"}, []string{"up", "ws", "data/ws"}},
		{exitUsage, []string{r.path("taken")}, []string{"up", "ws", "taken/inner"}},
		{exitUsage, []string{"data directory", "is inside it"}, []string{"up", "ws", r.dir}},
		{exitUsage, []string{`"a/b"`}, []string{"up", "a/b", "point"}},
		{exitUsage, []string{"no path"}, []string{"up", ""}},
		{exitUsage, []string{`--driver "foo"`, "go-fuse"}, []string{"up", "--driver", "foo", "ws", "new"}},
		{exitError, []string{r.path("link"), "symlink", r.path("target"), "make that first"}, []string{"up", "ws", r.path("link")}},
		{exitError, []string{r.path("full"), "no workspace is mounted there", "mounted are " + r.path("taken")}, []string{"down", "full"}},
		{exitError, []string{r.path("full"), "vfsctl status"}, []string{"status", "--ops", "full"}},
	} {
		r.fails(tt.code, tt.words, tt.args...)
	}
	for _, left := range []string{"second", "taken/inner", "data/ws", "point", "no", "new", "target"} {
		if _, err := os.Lstat(r.path(left)); err == nil {
			t.Errorf("up failed and left %s", left)
		}
	}
	r.reads("full/precious", "x")
	if l := report[control.List](r, "list"); len(l.Workspaces) != 2 {
		t.Errorf("up failed and left a workspace: %+v", l)
	}
	other := filepath.Join(r.dir, "other-data")
	r.fails(exitError, []string{"daemon of another data directory", "--data"}, "down", "taken", "--data", mustCreate(r, other))
	r.fails(exitError, []string{"vfsd#taken", "unmount it or take another"}, "up", "ws", "taken", "--data", other)
}

func mustCreate(r *rig, data string) string {
	r.t.Helper()
	r.ok("create", "ws", "--data", data)
	return data
}

// TestDeadMount: what another data directory's daemon left is cleared by up.
func TestDeadMount(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	r.kill()
	other := filepath.Join(r.dir, "other-data")
	r.ok("up", "other", "ws", "--data", other)
	r.write("ws/a", "1")
	// The first data directory's daemon finds its mount point taken, and says so.
	res := r.run("up", "more")
	if res.code != 0 || !strings.Contains(res.err, "workspace ws was mounted at "+r.path("ws")) {
		t.Errorf("up: %+v", res)
	}
	r.reads("ws/a", "1")
	r.ok("down", "--all", "--data", other)
}

// TestBrokenMountTable: the list of mounts is for comfort; nothing hangs on it.
func TestBrokenMountTable(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	r.write("ws/a", "1")
	r.kill()
	r.write("data/mounts.json", "{")
	res := r.run("up", "ws")
	if res.code != 0 || !strings.Contains(res.err, "list of mounts cannot be read") {
		t.Errorf("up: %+v", res)
	}
	r.reads("ws/a", "1")
}

// TestInterruptedBefore: Ctrl-C before a command has done anything leaves
// everything as it was.
func TestInterruptedBefore(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	r.ok("snapshot", "ws", "s")
	before := r.ok("list", "--json") + r.ok("snapshots", "ws", "--json") + r.ok("log", "ws", "--json")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"create", "x"}, {"remove", "ws", "--yes"}, {"snapshot", "ws", "t"}, {"fork", "ws", "y"},
		{"restore", "ws@s"}, {"check", "ws"}, {"scrub"}, {"gc"}, {"doctor"}, {"quota", "ws", "--bytes", "1GiB"},
	} {
		var errs strings.Builder
		code := run(ctx, append(args, "--data", r.data), streams{In: strings.NewReader(""), Out: &errs, Err: &errs})
		if code != exitError || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("vfsctl %q: exit code %d, %q", args, code, errs.String())
		}
	}
	if after := r.ok("list", "--json") + r.ok("snapshots", "ws", "--json") + r.ok("log", "ws", "--json"); after != before {
		t.Errorf("interrupted commands changed\n%s\nto\n%s", before, after)
	}
}
