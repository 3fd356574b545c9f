//go:build linux

package mount

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/vfs"
)

// portable is a tree in memory that hands its handles over within this process:
// a state is the number of the handle.
type portable struct {
	*memfs.FS
	mu    sync.Mutex
	files []vfs.Handle    // guarded by mu
	dirs  []vfs.DirHandle // guarded by mu
}

func (p *portable) ExportView() []byte { return []byte("view") }

func (p *portable) ImportView(state []byte) error {
	if string(state) != "view" {
		return errors.New("another view")
	}
	return nil
}

func (p *portable) ExportHandle(h vfs.Handle) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = append(p.files, h)
	return []byte{byte(len(p.files))}, nil
}

func (p *portable) ImportHandle(state []byte) (vfs.Handle, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(state) != 1 || int(state[0]) > len(p.files) || state[0] == 0 {
		return nil, errors.New("no such handle")
	}
	return p.files[state[0]-1], nil
}

func (p *portable) ExportDir(d vfs.DirHandle) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirs = append(p.dirs, d)
	return []byte{byte(len(p.dirs))}, nil
}

func (p *portable) ImportDir(state []byte) (vfs.DirHandle, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(state) != 1 || int(state[0]) > len(p.dirs) || state[0] == 0 {
		return nil, errors.New("no such directory")
	}
	return p.dirs[state[0]-1], nil
}

// usedServer is a server with something of everything in its state.
func usedServer(t testing.TB) (*Server, *portable) {
	t.Helper()
	fs := &portable{FS: memfs.New()}
	k, err := newKernel(devNull(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.close)
	s := newServer(&Options{FS: fs, Origin: 1, AllowOther: true, Log: slog.New(slog.DiscardHandler)}, k)
	c := s.Begin(OpLookup, 0, 0, 0, nil)
	defer c.End()
	var e Entry
	var o Opened
	for _, name := range []string{"a", "b", "c"} {
		if errno := s.Create(c, vfs.RootIno, name, 0o644, 0, syscall.O_RDWR|syscall.O_APPEND, &e, &o); errno != 0 {
			t.Fatal(errno)
		}
	}
	s.Release(c, 2)
	if errno := s.OpenDir(c, vfs.RootIno, &o); errno != 0 {
		t.Fatal(errno)
	}
	s.setattrs.add(e.Attr.Ino)
	return s, fs
}

func devNull(t testing.TB) int {
	fd, err := syscall.Open("/dev/null", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// stateOf is what export has to say, behind options as a mount writes them.
func stateOf(t testing.TB, s *Server, fs HandoverFS) []byte {
	t.Helper()
	s.SetInit(Init{[]byte("request"), []byte("reply")})
	m := &mounted{o: &Options{MountPoint: "/mnt", Name: "w", MaxRequest: 1 << 20}, s: s, d: nameOnly{}, at: &attachment{}}
	w := &stateWriter{b: []byte(stateMagic)}
	w.options(m)
	if err := s.export(w, fs); err != nil {
		t.Fatal(err)
	}
	return w.seal()
}

type nameOnly struct{ Driver }

func (nameOnly) Name() string { return DefaultDriver }

// TestStateRoundTrip: what is exported arrives, number for number.
func TestStateRoundTrip(t *testing.T) {
	s, fs := usedServer(t)
	state := stateOf(t, s, fs)
	k, err := newKernel(devNull(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.close)
	to := newServer(&Options{FS: fs, Origin: 2, AllowOther: true, Log: slog.New(slog.DiscardHandler)}, k)
	r, err := openState(state)
	if err != nil {
		t.Fatal(err)
	}
	o, saved := r.options()
	if o.MountPoint != "/mnt" || o.Name != "w" || o.MaxRequest != 1<<20 || saved.driver != DefaultDriver || string(saved.init.Reply) != "reply" {
		t.Errorf("options %+v, %+v", o, saved)
	}
	if err := to.restore(r, fs); err != nil {
		t.Fatal(err)
	}
	a, b := s.Stats(), to.Stats()
	if a.Inodes != b.Inodes || a.Handles != b.Handles || a.Requests["LOOKUP"] != b.Requests["LOOKUP"] {
		t.Errorf("from %+v became %+v", a, b)
	}
	for ino := range 10 {
		was, is := s.inodes.shard(vfs.Ino(ino)).m[vfs.Ino(ino)], to.inodes.shard(vfs.Ino(ino)).m[vfs.Ino(ino)]
		if was != is {
			t.Errorf("inode %d: %+v became %+v", ino, was, is)
		}
	}
	for _, fh := range []uint64{1, 2, 3, 4} {
		f, ok := s.files.get(fh)
		g, ok2 := to.files.get(fh)
		if ok != ok2 || ok && (f.h != g.h || !g.append) {
			t.Errorf("handle %d: %v %v became %v %v", fh, f, ok, g, ok2)
		}
	}
	if next := to.files.add(&openFile{}); next != 2 {
		t.Errorf("the next handle is %d, not the one that is free", next)
	}
	if len(to.setattrs.all()) != 1 {
		t.Error("the recent SETATTR is forgotten")
	}
}

// TestStateRefused: a state that is not what was written is refused.
func TestStateRefused(t *testing.T) {
	s, fs := usedServer(t)
	state := stateOf(t, s, fs)
	for i := range state {
		bad := append([]byte(nil), state...)
		bad[i] ^= 0x41
		if _, err := openState(bad); !errors.Is(err, ErrBadState) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	for n := range len(state) {
		if _, err := openState(state[:n]); !errors.Is(err, ErrBadState) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TakeOver(state[:10], f, fs, 1, slog.Default()); !errors.Is(err, ErrBadState) {
		t.Errorf("%v", err)
	}
}

func FuzzState(f *testing.F) {
	s, fs := usedServer(f)
	state := stateOf(f, s, fs)
	f.Add(state[len(stateMagic) : len(state)-4])
	k, err := newKernel(devNull(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &stateReader{b: b}
		r.options()
		to := newServer(&Options{FS: fs, Origin: 2, Log: slog.New(slog.DiscardHandler)}, k)
		if err := to.restore(r, fs); err != nil {
			return
		}
		w := &stateWriter{}
		if err := to.export(w, fs); err != nil {
			t.Fatal(err)
		}
	})
}

// TestBackgroundWait: waiting ends when nothing runs, and at once then.
func TestBackgroundWait(t *testing.T) {
	var b background
	<-b.wait()
	step := make(chan struct{})
	for range 3 {
		b.run(func() { <-step })
	}
	idle := b.wait()
	step <- struct{}{}
	step <- struct{}{}
	select {
	case <-idle:
		t.Fatal("one runs still")
	default:
	}
	step <- struct{}{}
	<-idle
	<-b.wait()
	b.finish()
	if b.run(func() {}) {
		t.Error("something runs after the end")
	}
}

// TestPauseRefused: a pause of what cannot pause says so.
func TestPauseRefused(t *testing.T) {
	m := &mounted{o: &Options{MountPoint: "/mnt"}, d: cannot{}}
	if err := m.Pause(context.Background()); !errors.Is(err, ErrNoHandover) {
		t.Errorf("%v", err)
	}
}

type cannot struct{ nameOnly }

func (cannot) Capabilities() Capabilities { return Capabilities{} }
