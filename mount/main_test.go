//go:build linux

package mount_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/mount"
	_ "github.com/vfsd/vfsd/mount/bazil"
	_ "github.com/vfsd/vfsd/mount/gofuse"
	"github.com/vfsd/vfsd/vfs"
)

// The test process serves the mounts and so must not use them. Whatever uses
// them is a client: a function that runs in a child process of this binary.

const (
	envClient = "VFSD_MOUNT_TEST_CLIENT"
	envDir    = "VFSD_MOUNT_TEST_DIR"
	envDriver = "VFSD_MOUNT_TEST_DRIVER"
)

// clients by name; a file of tests adds its own.
var clients = map[string]func(*client){}

func TestMain(m *testing.M) {
	if name := os.Getenv(envClient); name != "" {
		runClient(name)
	}
	// Under the race detector a child would sleep for a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// client is the side of a test that uses the mount.
type client struct {
	dir    string
	driver string
	caps   mount.Capabilities
	root   bool // the client is root
	in     *bufio.Reader
	failed bool
}

func runClient(name string) {
	c := &client{dir: os.Getenv(envDir), driver: os.Getenv(envDriver), root: os.Geteuid() == 0, in: bufio.NewReader(os.Stdin)}
	var err error
	c.caps, err = mount.CapabilitiesOf(c.driver)
	c.ok(err)
	syscall.Umask(0)
	clients[name](c)
	if c.failed {
		os.Exit(1)
	}
	os.Exit(0)
}

func (c *client) path(name string) string { return filepath.Join(c.dir, name) }

// errorf reports a failure and goes on.
func (c *client) errorf(format string, args ...any) {
	_, file, line, _ := runtime.Caller(1)
	for i := 2; strings.HasSuffix(file, "/main_test.go"); i++ {
		_, file, line, _ = runtime.Caller(i)
	}
	fmt.Printf("FAIL %s:%d: %s\n", filepath.Base(file), line, fmt.Sprintf(format, args...))
	c.failed = true
}

// fatalf reports a failure and ends the client.
func (c *client) fatalf(format string, args ...any) {
	c.errorf(format, args...)
	os.Exit(1)
}

// ok ends the client if err is not nil.
func (c *client) ok(err error) {
	if err != nil {
		c.fatalf("%v", err)
	}
}

// want reports an errno other than e; 0 stands for success.
func (c *client) want(what string, err error, e syscall.Errno) {
	if got := vfs.ToErrno(err); got != e {
		c.errorf("%s: got %v, want %v", what, err, error(e))
	}
}

// step lets the server side run its step of that name, and waits for its end.
func (c *client) step(name string) {
	fmt.Printf("STEP %s\n", name)
	if line, err := c.in.ReadString('\n'); err != nil || line != "done\n" {
		c.fatalf("step %s: %q, %v", name, line, err)
	}
}

// served is a mount over a tree in memory.
type served struct {
	t      *testing.T
	driver string
	fs     vfs.FS
	dir    string
	m      mount.Mounted
}

const (
	mountOrigin vfs.Origin = 1
	otherOrigin vfs.Origin = 2
)

// other is an op of somebody who does not come through the mount.
func other() *vfs.Op { return &vfs.Op{Origin: otherOrigin} }

// eachDriver runs a test once for each driver.
func eachDriver(t *testing.T, test func(t *testing.T, driver string)) {
	t.Helper()
	needMounts(t)
	for _, driver := range mount.Drivers() {
		t.Run(driver, func(t *testing.T) { test(t, driver) })
	}
}

func needMounts(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("no /dev/fuse: load the fuse module to run this")
	}
	if os.Geteuid() != 0 {
		if _, err := exec.LookPath("fusermount3"); err != nil {
			t.Skip("neither root nor fusermount3: install fuse3 to run this")
		}
	}
}

// emptyTree is a tree in memory whose root belongs to whoever runs the tests.
func emptyTree() *memfs.FS {
	fs := memfs.New()
	own := vfs.SetAttr{Mask: vfs.SetUID | vfs.SetGID, UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}
	if _, err := fs.Setattr(other(), vfs.RootIno, &own); err != nil {
		panic(err)
	}
	return fs
}

// serve mounts fs, or an empty tree in memory. Whatever happens, the mount is
// gone at the end of the test.
func serve(t *testing.T, driver string, fs vfs.FS, change ...func(*mount.Options)) *served {
	t.Helper()
	if fs == nil {
		fs = emptyTree()
	}
	s := &served{t: t, driver: driver, fs: fs, dir: t.TempDir()}
	o := mount.Options{
		FS: fs, Origin: mountOrigin, MountPoint: s.dir, Name: t.Name(),
		AllowOther: os.Geteuid() == 0, Debug: os.Getenv("VFSD_MOUNT_DEBUG") != "",
	}
	for _, f := range change {
		f(&o)
	}
	m, err := mount.Mount(driver, o)
	if err != nil {
		t.Fatal(err)
	}
	s.m = m
	t.Cleanup(s.end)
	return s
}

func (s *served) end() {
	ended := make(chan error, 1)
	go func() { ended <- s.m.Wait() }()
	if err := s.m.Unmount(); err != nil {
		s.m.Abort()
		if strings.Contains(err.Error(), "gone here") {
			s.t.Logf("somebody took a copy of the mount along: %v", err)
			return // it ends with him, or with this process
		}
		s.t.Errorf("at the end: %v", err)
	}
	select {
	case err := <-ended:
		if err != nil {
			s.t.Errorf("the mount ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		s.t.Errorf("the mount does not end")
	}
}

// start begins a client. Its output is checked by wait.
func (s *served) start(name string, change ...func(*exec.Cmd)) *running {
	s.t.Helper()
	if clients[name] == nil {
		s.t.Fatalf("no client %q", name)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), envClient+"="+name, envDir+"="+s.dir, envDriver+"="+s.driver)
	cmd.Dir = "/"
	for _, f := range change {
		f(cmd)
	}
	r := &running{t: s.t, name: name, cmd: cmd}
	var err error
	if r.in, err = cmd.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	r.out = bufio.NewScanner(out)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cmd.Process.Kill() })
	return r
}

// run runs a client to its end; steps are what its steps make this side do.
func (s *served) run(name string, steps map[string]func(), change ...func(*exec.Cmd)) {
	s.t.Helper()
	s.start(name, change...).wait(steps)
}

// as runs a client as another user.
func as(uid uint32, groups ...uint32) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, Groups: groups}}
	}
}

type running struct {
	t    *testing.T
	name string
	cmd  *exec.Cmd
	in   interface{ Write([]byte) (int, error) }
	out  *bufio.Scanner
}

// await reads the client's output up to and without the step.
func (r *running) await(step string) {
	r.t.Helper()
	for r.out.Scan() {
		if r.out.Text() == "STEP "+step {
			return
		}
		r.t.Errorf("client %s: %s", r.name, r.out.Text())
	}
	r.t.Fatalf("client %s ended before step %s", r.name, step)
}

func (r *running) proceed() {
	if _, err := r.in.Write([]byte("done\n")); err != nil {
		r.t.Errorf("client %s: %v", r.name, err)
	}
}

func (r *running) wait(steps map[string]func()) {
	r.t.Helper()
	for r.out.Scan() {
		line := r.out.Text()
		name, isStep := strings.CutPrefix(line, "STEP ")
		if !isStep {
			r.t.Errorf("client %s: %s", r.name, line)
			continue
		}
		step, ok := steps[name]
		if !ok {
			r.t.Fatalf("client %s: unknown step %q", r.name, name)
		}
		step()
		r.proceed()
	}
	if err := r.cmd.Wait(); err != nil && !r.t.Failed() {
		r.t.Errorf("client %s: %v", r.name, err)
	}
}
