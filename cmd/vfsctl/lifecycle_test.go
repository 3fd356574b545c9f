package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/internal/control"
)

func TestUpDown(t *testing.T) {
	needMount(t)
	r := newRig(t)
	out := r.ok("up", "./ws")
	if !strings.Contains(out, "new workspace ws is mounted at "+r.path("ws")) {
		t.Errorf("up says %q", out)
	}
	r.write("ws/a", "hello")
	r.reads("ws/a", "hello")
	if st := r.status(); !st.Daemon || len(st.Mounts) != 1 || st.Mounts[0].MountPoint != r.path("ws") ||
		st.Mounts[0].State != control.Mounted || !st.Mounts[0].AllowOther {
		t.Errorf("status: %+v", st)
	}
	if res := report[control.MountResult](r, "up", "ws"); !res.Already || res.Created {
		t.Errorf("a second up: %+v", res)
	}
	if ops := report[control.Ops](r, "status", "--ops", "ws"); ops.Requests["WRITE"] == 0 {
		t.Errorf("ops: %+v", ops)
	}
	r.ok("down", "ws")
	if r.mounted("ws") {
		t.Error("still mounted")
	}
	r.ok("up", "ws", "elsewhere")
	r.reads("elsewhere/a", "hello")
	pid := r.pid()
	r.ok("down", "--all")
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
		t.Error("down --all returned before the daemon's end")
	}
	if _, err := os.Stat(filepath.Join(r.data, "vfsd.sock")); err == nil {
		t.Error("the socket stayed behind")
	}
	if r.mounted("elsewhere") {
		t.Error("still mounted")
	}
}

// TestUpReadOnlyAndDrivers: the options of up reach the mount, and an up that
// fails leaves nothing.
func TestUpReadOnlyAndDrivers(t *testing.T) {
	needMount(t)
	for _, driver := range []string{"go-fuse", "bazil"} {
		t.Run(driver, func(t *testing.T) {
			r := newRig(t)
			r.ok("up", "ws", "--driver", driver)
			r.write("ws/a", "1")
			r.ok("down", "ws")
			r.ok("up", "ws", "--driver", driver, "--read-only")
			r.reads("ws/a", "1")
			if err := os.WriteFile(r.path("ws/b"), nil, 0o644); err == nil {
				t.Error("a read-only mount was written to")
			}
			r.fails(exitError, []string{"with other options", "vfsctl down"}, "up", "ws", "--driver", driver)
			m := r.status().Mounts[0]
			if m.Driver != driver || !m.ReadOnly {
				t.Errorf("status: %+v", m)
			}
		})
	}
	r := newRig(t)
	r.fails(exitUsage, []string{`--driver "none"`, "bazil or go-fuse"}, "up", "ws", "--driver", "none")
	if _, err := os.Stat(r.path("ws")); err == nil {
		t.Error("up failed and left the directory that it had made")
	}
	if _, err := os.Stat(r.data); err == nil {
		t.Error("up failed and left the data directory that it had made")
	}
}

// TestKillAndUp: P1 through the whole of it. What was acknowledged is there
// after kill -9, and everything is mounted as before.
func TestKillAndUp(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	r.ok("up", "other")
	r.write("ws/a", "acknowledged")
	r.write("other/b", "this too")
	f, err := os.Open(r.path("ws/a")) // keeps the dead mount busy
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 2 {
		r.kill()
		if _, err := os.ReadFile(r.path("ws/a")); err == nil {
			t.Fatal("the daemon was killed and still answers")
		}
		st := r.status()
		if st.Daemon || len(st.Mounts) != 2 || st.Mounts[0].State != control.Dead || st.Mounts[1].State != control.Dead {
			t.Errorf("status after the kill: %+v", st)
		}
		if res := r.run("doctor"); res.code != exitProblems || !strings.Contains(res.out, "mend: vfsctl up ws "+r.path("ws")) {
			t.Errorf("doctor: %+v", res)
		}
		res := r.run("up", "ws")
		if res.code != 0 || !strings.Contains(res.err, "cleared the dead mount at "+r.path("ws")) {
			t.Errorf("up: %+v", res)
		}
		r.reads("ws/a", "acknowledged")
		r.reads("other/b", "this too")
		if n := len(mountsBelow(r.dir)); n != 2 {
			t.Errorf("%d mounts", n)
		}
	}
	r.ok("check", "ws")
	r.ok("check", "other")
	r.kill()
	r.ok("down", "other")
	r.ok("down", "--all")
	if m := mountsBelow(r.dir); len(m) != 0 {
		t.Errorf("mounts stayed behind: %q", m)
	}
}

// TestTakeUpWhatCannotBeMounted: a mount point that has gone, or a workspace
// that is damaged, is noted and keeps nothing else from working.
func TestTakeUpWhatCannotBeMounted(t *testing.T) {
	needMount(t)
	r := newRig(t)
	for _, ws := range []string{"gone", "damaged", "fine"} {
		r.ok("up", ws)
		r.write(ws+"/a", ws)
	}
	r.kill()
	for _, p := range []string{"gone", "damaged"} {
		if out, err := exec.Command("umount", "-l", r.path(p)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.Remove(r.path("gone")); err != nil {
		t.Fatal(err)
	}
	flip(t, filepath.Join(r.data, "workspaces/damaged/head"), 40)
	res := r.run("up", "fine")
	if res.code != 0 || !strings.Contains(res.err, "workspace gone was mounted") || !strings.Contains(res.err, "workspace damaged was mounted") {
		t.Errorf("up: %+v", res)
	}
	r.reads("fine/a", "fine")
	r.ok("up", "gone")
	r.reads("gone/a", "gone")
}

func TestTwoDaemons(t *testing.T) {
	r := newRig(t)
	first := r.startVfsd()
	res := finish(t, r.command(vfsd))
	want := fmt.Sprintf("pid %d", first.Process.Pid)
	if res.code != exitError || !strings.Contains(res.err, want) {
		t.Errorf("a second daemon: %+v, want %q", res, want)
	}
	r.ok("create", "ws")
	first.Process.Signal(syscall.SIGTERM)
	if err := first.Wait(); err != nil {
		t.Errorf("the first: %v", err)
	}
}

// startVfsd starts the daemon in the foreground and waits until it is ready.
func (r *rig) startVfsd(args ...string) *exec.Cmd {
	r.t.Helper()
	cmd := r.command(vfsd, args...)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	ready := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "msg=ready") {
				ready <- true
			}
		}
		close(ready)
	}()
	if !<-ready {
		r.t.Fatalf("vfsd did not become ready: %v", cmd.Wait())
	}
	return cmd
}

func TestSIGTERM(t *testing.T) {
	needMount(t)
	r := newRig(t)
	cmd := r.startVfsd("--stop-wait", "200ms")
	r.ok("up", "idle")
	r.ok("up", "busy")
	r.write("idle/a", "1")
	r.write("busy/b", "2")
	f, err := os.Open(r.path("busy/b"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("vfsd: %v", err)
	}
	if m := mountsBelow(r.dir); len(m) != 0 {
		t.Errorf("mounts stayed behind: %q", m)
	}
	st := r.status()
	if st.Daemon || len(st.Mounts) != 0 {
		t.Errorf("status: %+v", st)
	}
	for _, w := range report[control.List](r, "list").Workspaces {
		if w.Dirty || w.StagedBytes != 0 {
			t.Errorf("%s was not checkpointed: %+v", w.Name, w)
		}
	}
	r.ok("up", "busy")
	r.reads("busy/b", "2")
}

func TestDownBusy(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	sleep := exec.Command("sleep", "1000")
	sleep.Dir = r.path("ws")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		sleep.Process.Kill()
		sleep.Wait()
	}()
	who := fmt.Sprintf("sleep (pid %d, cwd)", sleep.Process.Pid)
	r.fails(exitError, []string{who, "--force"}, "down", "ws")
	r.fails(exitError, []string{who, "--force"}, "down", "--all")
	r.write("ws/a", "it goes on")
	r.ok("down", "ws", "--force")
	if r.mounted("ws") {
		t.Error("still mounted")
	}
	r.ok("up", "ws")
	r.reads("ws/a", "it goes on")
	r.ok("down", "--all", "--force")
}

// TestUnmountedFromOutside: umount(8) is as good as down.
func TestUnmountedFromOutside(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.ok("up", "ws")
	for range 3 {
		r.write("ws/a", "1")
		if out, err := exec.Command("umount", r.path("ws")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if res := report[control.MountResult](r, "up", "ws"); res.Already {
			t.Fatal("up takes an unmounted workspace for mounted")
		}
		r.reads("ws/a", "1")
	}
}

// TestUpsAtOnce: of several that find no daemon one starts it, and all mount.
func TestUpsAtOnce(t *testing.T) {
	needMount(t)
	r := newRig(t)
	var wg sync.WaitGroup
	results := make([]result, 5)
	for i := range results {
		wg.Go(func() { results[i] = finish(t, r.command(vfsctl, "up", fmt.Sprintf("w%d", i))) })
	}
	wg.Wait()
	for i, res := range results {
		if res.code != 0 {
			t.Errorf("up w%d: %+v", i, res)
		}
	}
	if st := r.status(); len(st.Mounts) != len(results) {
		t.Errorf("status: %+v", st)
	}
}

// TestCommandsAtOnce: commands without a daemon wait for each other.
func TestCommandsAtOnce(t *testing.T) {
	r := newRig(t)
	r.ok("create", "first")
	var wg sync.WaitGroup
	results := make([]result, 8)
	for i := range results {
		wg.Go(func() { results[i] = finish(t, r.command(vfsctl, "create", fmt.Sprintf("w%d", i))) })
	}
	wg.Wait()
	for i, res := range results {
		if res.code != 0 {
			t.Errorf("create w%d: %+v", i, res)
		}
	}
}

// TestLongDataDir: a socket's address has room for 107 bytes.
func TestLongDataDir(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.data = filepath.Join(r.dir, strings.Repeat("a-long-directory-name/", 10), "data")
	r.mkdir(strings.Repeat("a-long-directory-name/", 10))
	r.ok("up", "ws")
	r.write("ws/a", "1")
	if !r.status().Daemon {
		t.Error("the daemon is not found")
	}
	r.ok("down", "--all")
}

// TestVfsdBeside: a vfsd beside vfsctl is the daemon.
func TestVfsdBeside(t *testing.T) {
	needMount(t)
	r := newRig(t)
	r.mkdir("bin")
	for _, p := range []string{vfsctl, vfsd} {
		if err := os.Link(p, filepath.Join(r.dir, "bin", filepath.Base(p))); err != nil {
			t.Fatal(err)
		}
	}
	r.bin = r.path("bin/vfsctl")
	r.ok("up", "ws")
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", r.pid()))
	if err != nil || exe != r.path("bin/vfsd") {
		t.Errorf("the daemon is %s, %v", exe, err)
	}
}

// TestGoRun: the README's first command. The daemon goes on when the program
// that go run has built, and may delete, has returned.
func TestGoRun(t *testing.T) {
	needMount(t)
	r := newRig(t)
	cmd := r.command("go", "run", "github.com/vfsd/vfsd/cmd/vfsctl", "up", r.path("ws"))
	cmd.Dir = ""
	if res := finish(t, cmd); res.code != 0 {
		t.Fatalf("go run: %+v", res)
	}
	r.write("ws/a", "1")
	r.ok("down", "--all")
}

// TestInterrupted: Ctrl-C while a command waits for the data directory.
func TestInterrupted(t *testing.T) {
	r := newRig(t)
	r.ok("create", "ws")
	lock, err := os.OpenFile(filepath.Join(r.data, "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	cmd := r.command(vfsctl, "list")
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitLog(t, filepath.Join(r.data, "vfsd.log"))
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait() // its error is the exit code
	if code := cmd.ProcessState.ExitCode(); code != exitError || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
}

// awaitLog waits until a command has opened the data directory's log, which it
// does after it listens for signals.
func awaitLog(t *testing.T, name string) {
	t.Helper()
	before := time.Now()
	for time.Since(before) < time.Minute {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("%s does not appear", name)
}

// flip changes a byte of a file.
func flip(t *testing.T, name string, offset int64) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], offset); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x40
	if _, err := f.WriteAt(b[:], offset); err != nil {
		t.Fatal(err)
	}
}
