package mount

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/vfsd/vfsd/vfs"
)

// Handover is how a mount goes from one process to another while it is in use:
//
//	m.Pause(ctx)                 nobody takes requests from the kernel any more
//	state, err := m.Export()     what the kernel knows, and what is open
//	f, err := m.Descriptor()     goes to the other process, as the state does
//	...                          there: n, err := TakeOver(state, f, ...)
//	m.Leave()                    here, or m.Continue() if nothing came of it
//	...                          there: n.Continue()
//
// Requests wait in the kernel meanwhile; none is lost, and none is answered
// twice, because those that were taken are answered before Pause returns. The
// mount lives for as long as anybody has its descriptor open. Whoever orders
// these steps sees to it that not both processes continue.
type Handover interface {
	// Pause returns when no request is under way and none will be. It fails
	// when ctx ends before; then the mount is served as before.
	Pause(ctx context.Context) error
	// Continue serves a paused mount again.
	Continue()
	// Export describes a paused mount. Its FS must be a HandoverFS.
	Export() ([]byte, error)
	// Descriptor returns a duplicate of the connection's descriptor, which the
	// caller closes.
	Descriptor() (*os.File, error)
	// Leave gives a paused mount up without releasing anything of its FS: Wait
	// returns ErrLeft, and nothing else may be called any more.
	Leave()
}

// HandoverFS is an FS that can describe what it lent to a mount, so that an FS
// of another process, over the same files, goes on with it. What it exports is
// for the Import of the same name alone.
type HandoverFS interface {
	vfs.FS
	// ExportView describes what inode numbers mean beyond what is stored.
	ExportView() []byte
	ImportView(state []byte) error
	ExportHandle(h vfs.Handle) ([]byte, error)
	ImportHandle(state []byte) (vfs.Handle, error)
	ExportDir(d vfs.DirHandle) ([]byte, error)
	ImportDir(state []byte) (vfs.DirHandle, error)
}

// Resumer is a Driver with Capabilities.Handover.
type Resumer interface {
	Driver
	// Resumable reports why Serve could not go on with the connection of which
	// c.Init tells how it began. It does not use c.FD.
	Resumable(c Conn, s *Server) error
}

// Init is how a connection began, byte by byte.
type Init struct{ Request, Reply []byte }

// Errors of a handover.
var (
	// ErrPaused is what Driver.Serve returns after a pause.
	ErrPaused = errors.New("mount: paused")
	// ErrLeft is what Wait returns when another process serves the mount.
	ErrLeft = errors.New("mount: left to another process")
	// ErrNoHandover is a driver or an FS that cannot hand a mount over.
	ErrNoHandover = errors.New("mount: cannot be handed over")
)

// SetInit keeps how INIT went; a driver calls it before it calls ready.
func (s *Server) SetInit(i Init) { s.init = &i }

// Pause implements Handover.
func (m *mounted) Pause(ctx context.Context) error {
	if !m.d.Capabilities().Handover {
		return fmt.Errorf("%s: driver %s: %w", m.o.MountPoint, m.d.Name(), ErrNoHandover)
	}
	// A touch left in the kernel's queue would be taken for anybody's request
	// by the process that goes on.
	goOn := m.s.touches.suspend()
	if err := m.pauseDriver(ctx); err != nil {
		goOn()
		return err
	}
	m.touchOn = goOn
	// What is told to the kernel may have to wait for an answer to a request
	// that is now left in its queue.
	select {
	case <-m.s.background.wait():
		return nil
	case <-ctx.Done():
		m.Continue()
		return fmt.Errorf("%s: pause: the kernel has not taken in what changed: %w", m.o.MountPoint, ctx.Err())
	}
}

func (m *mounted) pauseDriver(ctx context.Context) error {
	ended := func() error { return fmt.Errorf("%s: pause: the mount has ended", m.o.MountPoint) }
	select {
	case m.pauses <- true:
	case <-m.done:
		return ended()
	}
	select {
	case <-m.paused:
		return nil
	case <-m.done:
		return ended()
	case <-ctx.Done():
	}
	err := fmt.Errorf("%s: pause: a request takes long: %w", m.o.MountPoint, ctx.Err())
	select {
	case m.pauses <- false:
	case <-m.paused:
		m.goOn <- true
	case <-m.done:
	}
	return err
}

// Continue implements Handover.
func (m *mounted) Continue() {
	m.goOn <- true
	if m.touchOn != nil {
		m.touchOn()
		m.touchOn = nil
	}
}

// Leave implements Handover.
func (m *mounted) Leave() {
	m.goOn <- false
	<-m.done
}

// left ends the mount for this process.
func (m *mounted) left() {
	if m.s.unwatch != nil {
		m.s.unwatch()
	}
	if m.touchOn != nil {
		m.s.touches.busy.Unlock() // and suspended it stays
	}
	m.s.touches.end()
	serving.remove(m.s)
	m.at.notify.close()
	m.err = errors.Join(ErrLeft, m.at.closeFD())
	owned.remove(m.o.MountPoint)
	close(m.done)
}

// Descriptor implements Handover.
func (m *mounted) Descriptor() (*os.File, error) {
	f, err := m.at.notify.duplicate()
	if err != nil {
		return nil, fmt.Errorf("%s: duplicate the connection's descriptor: %w", m.o.MountPoint, err)
	}
	return f, nil
}

// Export implements Handover.
func (m *mounted) Export() ([]byte, error) {
	fs, ok := m.o.FS.(HandoverFS)
	if !ok || m.s.init == nil {
		return nil, fmt.Errorf("%s: %T: %w", m.o.MountPoint, m.o.FS, ErrNoHandover)
	}
	w := &stateWriter{}
	w.b = append(w.b, stateMagic...)
	w.options(m)
	if err := m.s.export(w, fs); err != nil {
		return nil, fmt.Errorf("%s: export: %w", m.o.MountPoint, err)
	}
	return w.seal(), nil
}

// TakeOver goes on with a mount that another process, or this one, has paused
// and described. It takes f, the connection's descriptor, over. The mount stays
// paused until Continue; until then an error leaves no trace in fs but pins and
// handles, so fs must be done with after one.
func TakeOver(state []byte, f *os.File, fs HandoverFS, origin vfs.Origin, log *slog.Logger) (Mounted, error) {
	defer f.Close()
	r, err := openState(state)
	if err != nil {
		return nil, err
	}
	o, saved := r.options()
	o.FS, o.Origin, o.Log = fs, origin, log
	if r.err != nil {
		return nil, r.err
	}
	d, err := driver(saved.driver)
	if err != nil {
		return nil, err
	}
	resumer, ok := d.(Resumer)
	if !ok {
		return nil, fmt.Errorf("%s: driver %s: %w", o.MountPoint, saved.driver, ErrNoHandover)
	}
	at, err := adopt(f, o.MountPoint, saved)
	if err != nil {
		return nil, err
	}
	m := newMounted(d, o, at)
	m.s.SetInit(saved.init)
	if err = resumer.Resumable(m.conn(), m.s); err == nil {
		err = m.s.restore(r, fs)
	}
	if err != nil {
		at.notify.close()
		return nil, errors.Join(fmt.Errorf("take the mount at %s over: %w", o.MountPoint, err), at.closeFD())
	}
	owned.add(o.MountPoint)
	go func() {
		if !<-m.goOn {
			m.left()
			return
		}
		m.serve(sync.OnceFunc(m.s.resume))
	}()
	return m, nil
}
