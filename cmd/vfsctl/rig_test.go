package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/internal/control"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The programs under test, built once, and the directory that everything a
// test leaves behind lies in.
var (
	scratch string
	vfsctl  string // without vfsd beside it, so that it is its own daemon
	vfsd    string
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(reaperEnv); dir != "" {
		reap(dir)
		return
	}
	if len(os.Args) > 2 && os.Args[1] == heirArg {
		beHeir(os.Args[2:])
		return
	}
	flag.Parse()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "vfsctl-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Not t.TempDir: other users run these programs too.
	if err := os.Chmod(scratch, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stop, err := startReaper(scratch)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	vfsctl, vfsd = filepath.Join(scratch, "a", "vfsctl"), filepath.Join(scratch, "b", "vfsd")
	for _, b := range []struct{ out, pkg string }{{vfsctl, "."}, {vfsd, "../vfsd"}} {
		build := exec.Command("go", "build", "-o", b.out, b.pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // one file that runs in any container
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build %s: %v\n%s", b.pkg, err, out)
			return 1
		}
	}
	os.Unsetenv("VFSD_DATA")
	return m.Run()
}

const reaperEnv = "VFSD_TEST_REAPER"

// startReaper starts a process that outlives this one, however it ends, and
// then takes away all that was mounted, run and written below dir.
func startReaper(dir string) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), reaperEnv+"="+dir)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is not for it
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		pipe.Close()
		if err := cmd.Wait(); err != nil {
			fmt.Fprintln(os.Stderr, "reaper:", err)
		}
	}, nil
}

func reap(dir string) {
	_, _ = io.Copy(io.Discard, os.Stdin) // ends with the tests' process
	killBelow(dir)
	unmountBelow(dir)
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, "reaper:", err)
		os.Exit(1)
	}
}

// killBelow kills the programs under test whose data directory lies below dir.
func killBelow(dir string) {
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range procs {
		var pid int
		if _, err := fmt.Sscanf(proc, "/proc/%d", &pid); err == nil && isOurs(pid, dir+"/") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			awaitGone(pid)
		}
	}
}

// isOurs reports whether a process has the environment that rig.command gives.
func isOurs(pid int, dataPrefix string) bool {
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return bytes.Contains(append([]byte{0}, env...), []byte("\x00VFSD_DATA="+dataPrefix))
}

// awaitGone waits until a process has ended with all its threads: the mounts
// are dead then. Nobody may be there to take a zombie away.
func awaitGone(pid int) {
	for range 1000 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) && len(threads) <= 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// mountsBelow returns the mount points below dir.
func mountsBelow(dir string) []string {
	b, _ := os.ReadFile("/proc/self/mounts")
	var all []string
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], dir+"/") {
			all = append(all, strings.ReplaceAll(f[1], `\040`, " "))
		}
	}
	return all
}

func unmountBelow(dir string) {
	points := mountsBelow(dir)
	for i := len(points) - 1; i >= 0; i-- {
		_ = exec.Command("umount", "-l", points[i]).Run()
	}
}

// rig is a directory with a data directory, and programs to run there.
type rig struct {
	t    *testing.T
	dir  string // where commands run
	data string
	bin  string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	t.Parallel() // most of the time goes into fsync
	return newRigAlone(t)
}

// newRigAlone is newRig for a test that must not run beside others: those that make
// mount namespaces hold on to every mount that is there when they do.
func newRigAlone(t *testing.T) *rig {
	t.Helper()
	dir, err := os.MkdirTemp(scratch, "rig-")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir, data: filepath.Join(dir, "data"), bin: vfsctl}
	t.Cleanup(func() {
		if t.Failed() {
			if b, err := os.ReadFile(filepath.Join(r.data, "vfsd.log")); err == nil {
				t.Logf("the daemon's log:\n%s", b)
			}
		}
		r.kill()
		unmountBelow(dir)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return r
}

// result is what a command did.
type result struct {
	out, err string
	code     int
}

func (r *rig) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "VFSD_DATA="+r.data, "TZ=UTC")
	return cmd
}

func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// run runs vfsctl.
func (r *rig) run(args ...string) result {
	r.t.Helper()
	return finish(r.t, r.command(r.bin, args...))
}

// ok runs vfsctl, which must succeed, and returns its output.
func (r *rig) ok(args ...string) string {
	r.t.Helper()
	res := r.run(args...)
	if res.code != 0 {
		r.t.Fatalf("vfsctl %s: exit code %d: %s%s", strings.Join(args, " "), res.code, res.out, res.err)
	}
	return res.out
}

// fails runs vfsctl, which must fail with code and one line that has all the
// words.
func (r *rig) fails(code int, words []string, args ...string) {
	r.t.Helper()
	r.judge(r.run(args...), code, words, args)
}

func (r *rig) judge(res result, code int, words, args []string) {
	r.t.Helper()
	if res.code != code || strings.Count(res.err, "\n") != 1 || !strings.HasPrefix(res.err, "vfsctl: ") {
		r.t.Errorf("vfsctl %s: exit code %d, want %d and one line: %q %q", strings.Join(args, " "), res.code, code, res.out, res.err)
	}
	for _, w := range words {
		if !strings.Contains(res.err, w) {
			r.t.Errorf("vfsctl %s: %q does not say %q", strings.Join(args, " "), res.err, w)
		}
	}
}

// report runs vfsctl with --json and decodes what it prints.
func report[T any](r *rig, args ...string) (v T) {
	r.t.Helper()
	if err := decodeStrict(r.ok(append(args, "--json")...), &v); err != nil {
		r.t.Fatal(err)
	}
	return v
}

func (r *rig) status() control.Status {
	r.t.Helper()
	return report[control.Status](r, "status")
}

// pid returns the daemon's.
func (r *rig) pid() int {
	r.t.Helper()
	pid := r.status().PID
	if pid == 0 {
		r.t.Fatal("no daemon runs")
	}
	return pid
}

// kill ends the data directory's daemon as a power cut would, if there is one.
func (r *rig) kill() {
	if pid := r.holder(); pid != 0 && isOurs(pid, r.data+"\x00") {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		awaitGone(pid)
	}
}

// holder returns the pid in the lock of the data directory, 0 for none.
func (r *rig) holder() (pid int) {
	b, _ := os.ReadFile(filepath.Join(r.data, "lock"))
	_, _ = fmt.Sscan(string(b), &pid)
	return pid
}

func (r *rig) path(rel string) string { return filepath.Join(r.dir, rel) }

func (r *rig) write(rel, content string) {
	r.t.Helper()
	if err := os.WriteFile(r.path(rel), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) reads(rel, want string) {
	r.t.Helper()
	if b, err := os.ReadFile(r.path(rel)); err != nil || string(b) != want {
		r.t.Errorf("%s: %q, %v; want %q", rel, b, err, want)
	}
}

func (r *rig) mkdir(rel string) string {
	r.t.Helper()
	if err := os.MkdirAll(r.path(rel), 0o755); err != nil {
		r.t.Fatal(err)
	}
	return r.path(rel)
}

func (r *rig) mounted(rel string) bool {
	for _, p := range mountsBelow(r.dir) {
		if p == r.path(rel) {
			return true
		}
	}
	return false
}

// needMount skips where nothing can be mounted.
func needMount(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if os.Geteuid() != 0 || err != nil {
		t.Skipf("real mounts take root and /dev/fuse (uid %d, %v)", os.Geteuid(), err)
	}
	f.Close()
}

// decodeStrict takes JSON that has no field which v lacks.
func decodeStrict(text string, v any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v)
}
