package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// other is a second data directory beside r's, as another machine has it.
func (r *rig) other(name string) *rig {
	r.t.Helper()
	o := *r
	o.dir = r.mkdir(name)
	o.data = filepath.Join(o.dir, "data")
	r.t.Cleanup(func() {
		o.kill()
		unmountBelow(o.dir)
	})
	return &o
}

// freePort returns a port that nobody listens on just now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// listen starts a vfsd that peers can reach and returns its address.
func (r *rig) listen() string {
	r.t.Helper()
	port := freePort(r.t)
	r.startVfsd("--listen", fmt.Sprintf("127.0.0.1:%d", port))
	return fmt.Sprintf("127.0.0.1:%d", port)
}

func TestSyncOverTLS(t *testing.T) {
	r := newRig(t)
	needMount(t)
	addr := r.listen()
	r.ok("up", "ws")
	r.write("ws/f", "one")
	token := strings.TrimSpace(r.ok("share", "ws", "--write", "--expires", "1h"))

	o := r.other("other")
	o.fails(exitError, []string{"no right"}, "clone", "vfs://"+addr+"/ws")
	o.fails(exitError, []string{"no right"}, "clone", "vfs://"+addr+"/ws", "--token", token+"x")
	o.ok("clone", "vfs://"+addr+"/ws", "--token", token)
	o.ok("up", "ws")
	o.reads("ws/f", "one")
	if err := os.Rename(o.path("ws/f"), o.path("ws/g")); err != nil {
		t.Fatal(err)
	}
	r.write("ws/f", "edited while it is renamed")
	o.ok("sync", "ws")
	o.reads("ws/g", "edited while it is renamed")
	r.reads("ws/g", "edited while it is renamed")

	read := strings.TrimSpace(r.ok("share", "ws"))
	third := r.other("third")
	third.ok("clone", "vfs://"+addr+"/ws", "--token", read)
	third.ok("exec", "ws", "-c", "echo x > new")
	third.fails(exitError, []string{"no right"}, "push", "ws")
	id := r.ok("share", "--list", "--json")
	if !strings.Contains(id, `"write": true`) || strings.Contains(id, token) {
		t.Errorf("the list of tokens:\n%s", id)
	}
}

func TestSyncConflict(t *testing.T) {
	r := newRig(t)
	o := r.other("other")
	r.ok("create", "ws")
	r.ok("exec", "ws", "-c", "echo base > f")
	r.startVfsd()
	o.ok("clone", "unix:"+filepath.Join(r.data, "vfsd.sock")+"#ws")
	r.ok("exec", "ws", "-c", "echo one > f")
	o.ok("exec", "ws", "-c", "echo two > f")
	o.fails(exitError, []string{"pull or sync first"}, "push", "ws")
	if out := o.ok("sync", "ws"); !strings.Contains(out, "1 conflict") {
		t.Errorf("sync: %s", out)
	}
	r.ok("conflicts", "ws")
	for _, x := range []*rig{r, o} {
		if got := x.ok("exec", "ws", "-c", "cat f f.conflict-* | sort"); got != "one\ntwo\n" {
			t.Errorf("both versions are %q", got)
		}
		x.ok("check", "ws")
	}
	if out := o.ok("resolve", "ws", "--all", "--keep", "this"); !strings.Contains(out, "no conflicts") {
		t.Errorf("resolve: %s", out)
	}
	o.ok("sync", "ws")
	if got := r.ok("exec", "ws", "-c", "ls"); got != "f\n" {
		t.Errorf("after resolving: %q", got)
	}
}

// Two mounted machines converge while a watch runs.
func TestWatch(t *testing.T) {
	r := newRig(t)
	needMount(t)
	r.ok("up", "ws")
	r.write("ws/f", "one")
	o := r.other("other")
	o.ok("clone", "unix:"+filepath.Join(r.data, "vfsd.sock")+"#ws")
	o.ok("up", "ws")
	watch := o.command(o.bin, "watch", "ws")
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = watch.Process.Signal(os.Interrupt) // it may have ended, which the test has told
		_ = watch.Wait()
	})
	await := func(x *rig, rel, want string) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			b, err := os.ReadFile(x.path(rel))
			if err == nil && string(b) == want {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s is %q %v, want %q", x.path(rel), b, err, want)
			}
		}
	}
	await(o, "ws/f", "one")
	r.write("ws/f", "two")
	await(o, "ws/f", "two")
	o.write("ws/g", "back")
	await(r, "ws/g", "back")
}

// A token that is revoked, or that expires, takes its sessions along.
func TestTokenEndsItsSessions(t *testing.T) {
	r := newRig(t)
	addr := r.listen()
	r.ok("create", "ws")
	for _, way := range []string{"revoke", "expire"} {
		args := []string{"share", "ws", "--write", "--json"}
		if way == "expire" {
			args = append(args, "--expires", "3s")
		}
		var shared struct {
			Token string
			Share struct{ ID string }
		}
		if err := json.Unmarshal([]byte(r.ok(args...)), &shared); err != nil {
			t.Fatal(err)
		}
		o := r.other(way)
		o.ok("clone", "vfs://"+addr+"/ws", "--token", shared.Token)
		watch := o.command(o.bin, "watch", "ws")
		ended := make(chan result, 1)
		go func() { ended <- finish(t, watch) }()
		if way == "revoke" {
			r.ok("share", "--revoke", shared.Share.ID)
		}
		select {
		case res := <-ended:
			if res.code != exitError || !strings.Contains(res.err, "no right") {
				t.Errorf("%s: the watch ended with %d: %s", way, res.code, res.err)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("%s: the watch goes on", way)
		}
	}
}

func TestCloneLazy(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	r.ok("exec", "ws", "-c", "mkdir d; head -c 300000 /dev/zero | tr '\\0' x > d/big; echo small > small")
	r.startVfsd()
	o := r.other("other")
	o.ok("clone", "--lazy", "unix:"+filepath.Join(r.data, "vfsd.sock")+"#ws")
	if got := o.ok("exec", "ws", "-c", "stat -c %s d/big"); got != "300000\n" {
		t.Errorf("size %q", got)
	}
	if got := o.ok("exec", "ws", "-c", "wc -c < d/big; cat small"); got != "300000\nsmall\n" {
		t.Errorf("read %q", got)
	}
}

// ssh is played by a program that runs the remote command here.
func TestSyncOverStdio(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	r.ok("exec", "ws", "-c", "echo one > f")
	o := r.other("other")
	script := "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift 2\nshift\nexec " + vfsd + " --data " + r.data + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(o.dir, "ssh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	clone := o.command(o.bin, "clone", "ssh://host/ws")
	clone.Env = append(clone.Env, "VFSD_SSH="+filepath.Join(o.dir, "ssh"))
	if out, err := clone.CombinedOutput(); err != nil {
		t.Fatalf("clone: %v: %s", err, out)
	}
	if got := o.ok("exec", "ws", "-c", "cat f"); got != "one\n" {
		t.Errorf("read %q", got)
	}
}

func TestCheckout(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	r.ok("exec", "ws", "-c", "mkdir d; echo one > d/f")
	r.mkdir("out")
	r.write("out/mine", "mine")
	r.ok("checkout", "ws", "out")
	r.reads("out/d/f", "one\n")
	if got := r.ok("exec", "ws", "-c", "cat mine"); got != "mine" {
		t.Errorf("read %q", got)
	}
	r.fails(exitUsage, []string{"overlaps"}, "checkout", "ws", "out/d")
	r.fails(exitUsage, []string{"data directory"}, "checkout", "ws", "data")
	if err := os.RemoveAll(r.path("out/d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(r.path("out/mine")); err != nil {
		t.Fatal(err)
	}
	r.fails(exitError, []string{"everything in it is gone"}, "checkout", "ws", "out")
	// A checkout is none of a later workspace of the same name.
	r.ok("remove", "ws", "--yes")
	if got := r.ok("checkout", "--list") + r.ok("list"); strings.Contains(got, "checkout-") || strings.Contains(got, "out") {
		t.Errorf("after the workspace was removed: %s", got)
	}
	r.ok("create", "ws")
	r.write("out/later", "later")
	r.ok("checkout", "ws", "out")
	if got := r.ok("exec", "ws", "-c", "ls"); got != "later\n" {
		t.Errorf("the new workspace has %q", got)
	}
	r.ok("checkout", "--remove", "out")
	if got := r.ok("checkout", "--list"); strings.Contains(got, "out") {
		t.Errorf("after removing it: %s", got)
	}
}

// A policy travels with the workspace and decides for files that both have edited.
func TestPolicy(t *testing.T) {
	r := newRig(t)
	o := r.other("other")
	r.ok("create", "ws")
	r.ok("exec", "ws", "-c", "printf '1\\n2\\n3\\n4\\n5\\n' > f.txt")
	r.write("policy", "*.txt text\n")
	r.ok("policy", "ws", "--set", r.path("policy"))
	r.write("bad", "*.txt nonsense\n")
	r.fails(exitUsage, []string{"nonsense"}, "policy", "ws", "--set", r.path("bad"))
	r.startVfsd()
	o.ok("clone", "unix:"+filepath.Join(r.data, "vfsd.sock")+"#ws")
	if got := o.ok("policy", "ws"); got != "*.txt text\n" {
		t.Errorf("the policy is %q", got)
	}
	r.ok("exec", "ws", "-c", "sed -i 's/1/one/' f.txt")
	o.ok("exec", "ws", "-c", "sed -i 's/5/five/' f.txt")
	o.ok("sync", "ws")
	for _, x := range []*rig{r, o} {
		if got := x.ok("exec", "ws", "-c", "cat f.txt; ls"); got != "one\n2\n3\n4\nfive\nf.txt\n" {
			t.Errorf("merged by lines it is %q", got)
		}
	}
}

func TestRemotes(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	r.fails(exitError, []string{"no remote", "remote add"}, "sync", "ws")
	r.fails(exitUsage, []string{"no such scheme"}, "remote", "add", "ws", "hub", "http://x/ws")
	r.ok("remote", "add", "ws", "hub", "vfs://hub.example/ws", "--token", "t")
	if out := r.ok("remote", "list", "ws"); !strings.Contains(out, "not met yet") {
		t.Errorf("%s", out)
	}
	r.fails(exitError, []string{"hub.example"}, "sync", "ws")
	r.ok("remote", "remove", "ws", "hub")
	r.fails(exitError, []string{"has no remote hub"}, "remote", "remove", "ws", "hub")
	r.fails(exitUsage, []string{"is itself"}, "clone", "unix:"+filepath.Join(r.data, "vfsd.sock")+"#ws")
}
