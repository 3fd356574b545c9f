package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDaemonThatHangs: nobody waits for one for ever, and doctor says how to
// go on.
func TestDaemonThatHangs(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	pid := r.pid()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	res := r.run("doctor")
	if res.code != exitProblems || !strings.Contains(res.out, fmt.Sprintf("kill -CONT %d", pid)) || !strings.Contains(res.out, "does not answer") {
		t.Errorf("doctor: %+v", res)
	}
	r.fails(exitError, []string{r.data, "does not answer", "vfsctl doctor"}, "list")
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	r.ok("list")
}

// TestRemovedSocket: what is said of a daemon that nobody can reach is true.
func TestRemovedSocket(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	pid := r.pid()
	if err := os.Remove(filepath.Join(r.data, "vfsd.sock")); err != nil {
		t.Fatal(err)
	}
	r.fails(exitError, []string{fmt.Sprintf("pid %d", pid), "vfsd.sock was removed", "end it", "vfsctl doctor"}, "list")
	if res := r.run("doctor"); res.code != exitProblems || !strings.Contains(res.out, fmt.Sprintf("kill %d", pid)) {
		t.Errorf("doctor: %+v", res)
	}
}

// TestMissingPolynomial: doctor knows the way out, and it is one.
func TestMissingPolynomial(t *testing.T) {
	r := damaged(t, false)
	name := filepath.Join(r.data, "chunks", "polynomial")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	res := r.run("doctor")
	if res.code != exitProblems || !strings.Contains(res.out, name+" is missing") || !strings.Contains(res.out, "any other data directory") {
		t.Errorf("doctor: %+v", res)
	}
	r.ok("create", "ws", "--data", "other")
	b, err := os.ReadFile(r.path("other/chunks/polynomial"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r.ok("up", "hurt")
	r.reads("hurt/large", strings.Repeat("hurt has bytes of its own. ", 20000))
	r.ok("check", "whole")
}
