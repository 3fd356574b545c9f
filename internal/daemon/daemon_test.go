package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

func TestTable(t *testing.T) {
	dir := t.TempDir()
	if got, err := readTable(dir); err != nil || len(got) != 0 {
		t.Errorf("no table: %v, %v", got, err)
	}
	want := []tableEntry{
		{Workspace: "a", MountPoint: "/mnt/a", Driver: "go-fuse", AllowOther: true},
		{Workspace: "b", MountPoint: "/mnt/b \"quoted\"\n", Driver: "bazil", ReadOnly: true},
	}
	if err := writeTable(hostfs.OS{}, dir, []tableEntry{want[1], want[0]}); err != nil {
		t.Fatal(err)
	}
	if got, err := readTable(dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if err := writeTable(hostfs.OS{}, dir, nil); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("an empty table leaves %v, %v", entries, err)
	}
	if err := os.WriteFile(filepath.Join(dir, tableName), make([]byte, tableLimit+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readTable(dir); err == nil {
		t.Error("a table of any size is read")
	}
}

// TestTableIsReplacedWhole: whichever step fails, the file is the old table or
// the new one.
func TestTableIsReplacedWhole(t *testing.T) {
	before := []tableEntry{{Workspace: "a", MountPoint: "/a"}}
	after := []tableEntry{{Workspace: "b", MountPoint: "/b"}}
	for fail := 0; ; fail++ {
		dir := t.TempDir()
		if err := writeTable(hostfs.OS{}, dir, before); err != nil {
			t.Fatal(err)
		}
		calls := 0
		disk := hostfs.NewFault(hostfs.OS{}, func(hostfs.Op, string) error {
			if calls++; calls-1 == fail {
				return syscall.EIO
			}
			return nil
		})
		werr := writeTable(disk, dir, after)
		got, err := readTable(dir)
		if err != nil || !slices.Equal(got, before) && !slices.Equal(got, after) {
			t.Errorf("failing call %d leaves %v, %v", fail, got, err)
		}
		if werr == nil {
			if fail < 4 {
				t.Errorf("only %d calls were failed", fail)
			}
			return
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte(`{"version":1,"mounts":[{"workspace":"a","mount_point":"/a","driver":"go-fuse"}]}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`{"version":1,"mounts":[{"mount_point":"../a"}]}`))
	f.Add([]byte(`{"version":1,"mounts":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tab, err := decodeTable(b)
		if err != nil {
			return
		}
		for _, e := range tab.Mounts {
			if !filepath.IsAbs(e.MountPoint) || strings.Contains(e.MountPoint, "/../") {
				t.Errorf("mount point %q got through", e.MountPoint)
			}
		}
	})
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		path, dir string
		want      bool
	}{
		{"/a/b", "/a", true}, {"/a", "/a", true}, {"/a/", "/a", true}, {"/ab", "/a", false},
		{"/a", "/a/b", false}, {"/a/b/../c", "/a/b", false}, {"/x", "/", true},
	} {
		if got := within(tt.path, tt.dir); got != tt.want {
			t.Errorf("within(%q, %q) = %v", tt.path, tt.dir, got)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		err  error
		kind control.Kind
	}{
		{workspace.ErrNoSuch, control.KindNotFound},
		{workspace.ErrInUse, control.KindInUse},
		{workspace.ErrNewer, control.KindNewer},
		{vfs.ErrCorrupt, control.KindCorrupt},
		{syscall.ENOSPC, control.KindNoSpace},
		{syscall.EROFS, control.KindReadOnly},
		{syscall.EACCES, control.KindPermission},
		{fs.ErrNotExist, control.KindNotFound},
		{context.Canceled, control.KindInterrupted},
		{errors.New("what else"), control.KindInternal},
		{control.Errorf(control.KindBusy, "x"), control.KindBusy},
	} {
		e := Classify(fmt.Errorf("around: %w", tt.err))
		if e.Kind != tt.kind || !strings.HasPrefix(e.Message, "around: ") || !errors.Is(e, tt.err) {
			t.Errorf("%v: %s %q", tt.err, e.Kind, e.Message)
		}
	}
	if e := Classify(errors.Join(syscall.ENOSPC, syscall.EIO)); strings.Contains(e.Message, "\n") {
		t.Errorf("more than a line: %q", e.Message)
	}
}

// TestRun: a daemon's life without a mount: ready, asked, stopped by a client.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	ready := make(chan error, 1)
	done := make(chan error, 1)
	go func() {
		done <- Run(t.Context(), RunOptions{
			Options: Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))},
			Ready:   func(err error) { ready <- err },
		})
	}()
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	c := control.Dial(dir)
	defer c.Close()
	if _, err := control.CreateCall.Do(t.Context(), c, control.CreateRequest{Workspace: "ws"}); err != nil {
		t.Error(err)
	}
	if st, err := control.StatusCall.Do(t.Context(), c, control.StatusRequest{}); err != nil || st.PID != os.Getpid() || !st.Daemon || st.Workspaces != 1 {
		t.Errorf("%+v, %v", st, err)
	}
	// A second is refused, and does not harm the first's socket.
	err := Run(t.Context(), RunOptions{Options: Options{Dir: dir}})
	if control.KindOf(err) != control.KindInUse || !strings.Contains(err.Error(), fmt.Sprintf("pid %d", os.Getpid())) {
		t.Errorf("a second daemon: %v", err)
	}
	if _, err := control.StopCall.Do(t.Context(), c, control.StopRequest{}); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "a client asked for it") {
		t.Errorf("log: %s", &log)
	}
	if err := control.Probe(t.Context(), dir); control.KindOf(err) != control.KindNoDaemon {
		t.Errorf("after the end: %v", err)
	}
}

// TestRunEndsWithContext: as a signal ends it.
func TestRunEndsWithContext(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan error, 1)
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, RunOptions{Options: Options{Dir: dir}, Ready: func(err error) { ready <- err }})
	}()
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, control.SocketName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket: %v", err)
	}
}

// TestLocalDoesNotMount: without a daemon, mounts are refused and the rest of
// the answers are the same.
func TestLocalDoesNotMount(t *testing.T) {
	d, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(t.Context())
	c := control.Local(d.Handler())
	_, err = control.MountCall.Do(t.Context(), c, control.MountRequest{Workspace: "ws", MountPoint: "/mnt", Create: true})
	if control.KindOf(err) != control.KindNoDaemon {
		t.Errorf("mount: %v", err)
	}
	_, err = control.StopCall.Do(t.Context(), c, control.StopRequest{})
	if control.KindOf(err) != control.KindNoDaemon {
		t.Errorf("stop: %v", err)
	}
	if w, err := control.CreateCall.Do(t.Context(), c, control.CreateRequest{Workspace: "ws"}); err != nil || w.Name != "ws" {
		t.Errorf("create: %+v, %v", w, err)
	}
}

// TestHostileNames: what no command line can say, a request can. Nothing of it
// gets out of the data directory.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	d, err := Open(t.Context(), Options{Dir: filepath.Join(dir, "data"), Serve: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(t.Context())
	c := control.Local(d.Handler())
	if _, err := control.CreateCall.Do(t.Context(), c, control.CreateRequest{Workspace: "ws"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "../x", "/etc", "a/b", "a\x00b", "a\nb", "-a", "\xff", strings.Repeat("x", 1<<10)} {
		_, err := control.CreateCall.Do(t.Context(), c, control.CreateRequest{Workspace: name})
		_, err2 := control.ForkCall.Do(t.Context(), c, control.ForkRequest{Workspace: "ws", Name: name})
		_, err3 := control.SnapshotCall.Do(t.Context(), c, control.SnapshotRequest{Workspace: "ws", Name: name})
		_, err4 := control.MountCall.Do(t.Context(), c, control.MountRequest{Workspace: name, MountPoint: dir, Create: true})
		_, err5 := control.RemoveCall.Do(t.Context(), c, control.RemoveRequest{Workspace: name})
		for i, err := range []error{err, err2, err3, err4, err5} {
			if control.KindOf(err) != control.KindUsage || strings.Contains(err.Error(), "\n") {
				t.Errorf("name %q, call %d: %s %q", name, i, control.KindOf(err), err)
			}
		}
	}
	for _, point := range []string{"", "relative", "/a\x00b", dir + "/data", dir + "/data/x", dir} {
		_, err := control.MountCall.Do(t.Context(), c, control.MountRequest{Workspace: "ws", MountPoint: point})
		if control.KindOf(err) != control.KindUsage {
			t.Errorf("mount point %q: %s %v", point, control.KindOf(err), err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("something got out: %v, %v", entries, err)
	}
}

// TestQuotaIsDurable: a quota holds from the call on, across a kill.
func TestQuotaIsDurable(t *testing.T) {
	dir := t.TempDir()
	d, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	c := control.Local(d.Handler())
	if _, err := control.CreateCall.Do(t.Context(), c, control.CreateRequest{Workspace: "ws"}); err != nil {
		t.Fatal(err)
	}
	inodes := uint64(3)
	if _, err := control.QuotaCall.Do(t.Context(), c, control.QuotaRequest{Workspace: "ws", Inodes: &inodes}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d, err = Open(t.Context(), Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer d.Close(t.Context())
	w, err := control.QuotaCall.Do(t.Context(), control.Local(d.Handler()), control.QuotaRequest{Workspace: "ws"})
	if err != nil || w.Quota.Inodes != 3 {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestLogRotates(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, LogName)
	if err := os.WriteFile(name, make([]byte, logLimit+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f, err := OpenLog(dir)
		if err != nil {
			t.Fatal(err)
		}
		NewLog(f, slog.LevelInfo).Info("line")
		f.Close()
	}
	old, err := os.Stat(name + ".1")
	b, rerr := os.ReadFile(name)
	if err != nil || rerr != nil || old.Size() != logLimit+1 || bytes.Count(b, []byte("msg=line")) != 2 {
		t.Errorf("%v, %v, %q", err, rerr, b)
	}
}

func TestReady(t *testing.T) {
	for _, want := range []error{nil, control.Errorf(control.KindInUse, "in use")} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := writeReady(w, want); err != nil {
			t.Fatal(err)
		}
		pid, err := ReadReady(r)
		if pid != os.Getpid() || control.KindOf(err) != control.KindOf(want) {
			t.Errorf("%d, %v", pid, err)
		}
		r.Close()
	}
	if _, err := ReadReady(strings.NewReader("")); !errors.Is(err, ErrSilent) {
		t.Errorf("a daemon that says nothing: %v", err)
	}
}

// TestTend: garbage is collected within the hour after something was removed,
// and not when nothing changed.
func TestTend(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		d, err := Open(t.Context(), Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			d.tend(ctx)
		}()
		collections := func() int { return strings.Count(log.String(), "collected garbage") }
		synctest.Wait()
		time.Sleep(3 * tendEvery)
		synctest.Wait()
		if n := collections(); n != 0 {
			t.Errorf("%d collections where nothing changed", n)
		}
		if _, err := d.create(ctx, control.CreateRequest{Workspace: "ws"}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.remove(ctx, control.RemoveRequest{Workspace: "ws"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(tendEvery)
		synctest.Wait()
		if n := collections(); n != 1 {
			t.Errorf("%d collections within the hour", n)
		}
		cancel()
		<-done
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestDefaultDir(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("VFSD_DATA", "")
	for _, tt := range []struct{ name, value, want string }{
		{"", "", "/home/x/.local/state/vfsd"},
		{"XDG_STATE_HOME", "/state", "/state/vfsd"},
		{"VFSD_DATA", "/data", "/data"},
	} {
		if tt.name != "" {
			t.Setenv(tt.name, tt.value)
		}
		if got := DefaultDir(); got != tt.want {
			t.Errorf("%s=%s: %s, want %s", tt.name, tt.value, got, tt.want)
		}
	}
}

// TestSystemd: a unit of Type=notify hears that the daemon is ready.
func TestSystemd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", name)
	Notify(slog.New(slog.DiscardHandler))(nil)
	b := make([]byte, 100)
	if n, err := l.Read(b); err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("%q, %v", b[:n], err)
	}
}
