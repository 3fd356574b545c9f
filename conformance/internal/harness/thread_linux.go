package harness

import (
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// processState is what cases share because the process has one of it.
type processState struct{}

func newProcessState() *processState { return &processState{} }

// onThread runs fn on a thread that ends with it, and then closes done.
//
// The process's first thread is left out: the Go runtime cannot end it, and
// /proc/self shows its directory, credentials and namespaces as the process's.
func onThread(done chan<- struct{}, fn func()) {
	// Never unlocked: the runtime then discards the thread with everything
	// that fn did to it.
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		// While this goroutine holds the first thread, another gets another.
		inner := make(chan struct{})
		go onThread(inner, fn)
		<-inner
		runtime.UnlockOSThread()
		close(done)
		return
	}
	defer close(done)
	fn()
	// The thread ends some time after this: by then it must not keep a mount
	// busy. A thread that shares its directory was never in the case's.
	if unix.Unshare(unix.CLONE_FS) == nil {
		_ = unix.Chdir("/")
	}
}

// enter gives the calling thread a directory and a umask of its own: the
// case's directory and 0.
func (t *T) enter() error {
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("give a thread its own working directory: %w", err)
	}
	unix.Umask(0)
	return unix.Chdir(t.dir)
}

// Parallel runs fn on n threads at once, each set up like the case's own, and
// returns when all are done.
func (t *T) Parallel(n int, fn func(i int)) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		wg.Add(1)
		done := make(chan struct{})
		go func() { <-done; wg.Done() }()
		go onThread(done, func() {
			defer t.recoverCase()
			t.Must(t.enter())
			<-gate
			fn(i)
		})
	}
	close(gate)
	wg.Wait()
}

// Start runs fn on a thread set up like the case's own and returns a channel
// that is closed when fn is done.
func (t *T) Start(fn func()) <-chan struct{} {
	done := make(chan struct{})
	go onThread(done, func() {
		defer t.recoverCase()
		t.Must(t.enter())
		fn()
	})
	return done
}

// Umask sets the thread's umask for the rest of the case.
func (t *T) Umask(mask int) { unix.Umask(mask) }

// Private gives the thread a mount namespace of its own, in which the case
// may mount what it likes: all of it is gone when the thread ends.
func (t *T) Private() {
	t.NeedRoot()
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		t.Skip("no private mount namespace: %v", err)
	}
	t.Must(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
}

// Bind mounts the directory from on the directory to (Private comes first)
// with mount flags such as MS_RDONLY.
func (t *T) Bind(from, to string, flags uintptr) {
	t.Must(unix.Mount(from, to, "", unix.MS_BIND, ""))
	if flags != 0 {
		// Flags take effect in a remount only, which must repeat those that
		// the mount has.
		keep := t.Env.MountFlags & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
		t.Must(unix.Mount("", to, "", unix.MS_BIND|unix.MS_REMOUNT|keep|flags, ""))
	}
}

// PowerCut cuts the power of the file system and comes back to the case's
// directory when it is up again. Every descriptor of the case is closed first.
// Only cases that run alone may do this.
func (t *T) PowerCut() {
	t.closeAll()
	// A working directory would keep the file system busy.
	t.Must(unix.Chdir("/"))
	if err := t.cfg.PowerCut(); err != nil {
		t.Fatalf("power cut: %v", err)
	}
	if err := unix.Chdir(t.dir); err != nil {
		t.Fatalf("the case's directory is lost, though it was synced: %v", err)
	}
}

// NeedPowerCut skips the case where the power cannot be cut; where it can, it
// makes everything of the case up to now durable: file by file, because the
// kernel does not tell every file system of a syncfs.
func (t *T) NeedPowerCut() {
	if t.cfg.PowerCut == nil {
		t.Skip("nobody can cut the power of this file system")
	}
	t.syncTree(".")
	for dir := ".."; ; dir += "/.." {
		t.syncOne(dir, unix.O_DIRECTORY)
		// Up to the mount point's own parent, which is another's.
		if t.Stat(dir+"/..").Dev != t.Stat(dir).Dev || t.Stat(dir+"/..").Ino == t.Stat(dir).Ino {
			return
		}
	}
}

func (t *T) syncTree(path string) {
	switch s := t.Lstat(path); s.Type() {
	case unix.S_IFREG:
		t.syncOne(path, unix.O_NOFOLLOW)
	case unix.S_IFDIR:
		for _, name := range t.Names(path) {
			t.syncTree(path + "/" + name)
		}
		t.syncOne(path, unix.O_DIRECTORY|unix.O_NOFOLLOW)
	}
}

func (t *T) syncOne(path string, flags int) {
	fd := t.Open(path, unix.O_RDONLY|flags)
	t.Must(unix.Fsync(fd))
	t.Close(fd)
}
