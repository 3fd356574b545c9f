package mount

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// toucher is the process that touches. The zero value has none yet.
type toucher struct {
	mu   sync.Mutex // for kill
	cmd  *exec.Cmd  // nil when there is none; changed under mu too
	in   io.WriteCloser
	out  *bufio.Reader
	done chan struct{}
}

// toucherName is the program's name by which it knows that it is one.
const toucherName = "vfsd-touch"

// touch has path touched and waits for that. The owner's lock is held.
func (h *toucher) touch(t *touches, kind touchKind, path string) error {
	if h.cmd == nil {
		if err := h.start(t); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(h.in, string(kind)+path+"\x00"); err != nil {
		h.stop(t)
		return err
	}
	answer, err := h.out.ReadString('\n')
	switch {
	case err != nil:
		h.stop(t)
		return err
	case answer != "\n":
		return errors.New(answer[:len(answer)-1])
	}
	return nil
}

// start starts the process. It ends at the latest with the mount.
func (h *toucher) start(t *touches) error {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{toucherName, t.mountPoint, strconv.FormatUint(t.s.device, 10)}
	cmd.Dir = "/"
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	h.mu.Lock()
	h.cmd, h.in, h.out, h.done = cmd, in, bufio.NewReader(out), make(chan struct{})
	h.mu.Unlock()
	t.pid.Store(uint32(cmd.Process.Pid))
	go func(done chan struct{}) {
		select {
		case <-done:
		case <-t.ended:
			h.kill()
		}
	}(h.done)
	return nil
}

// kill ends the process at once, from any goroutine.
func (h *toucher) kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cmd != nil {
		_ = h.cmd.Process.Kill() // it has ended by itself
	}
}

// stop ends the process and waits for that. The owner's lock is held.
func (h *toucher) stop(t *touches) {
	if h.cmd == nil {
		return
	}
	h.kill()
	_ = h.cmd.Wait()
	t.pid.Store(0) // nobody else can have the number before Wait
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.done)
	h.cmd = nil
}

func init() {
	if os.Args[0] == toucherName && len(os.Args) == 3 {
		// The kernel says which thread asks; the server knows the process, whose
		// number is that of its first thread, the one that init runs in.
		runtime.LockOSThread()
		os.Exit(beToucher(os.Args[1], os.Args[2]))
	}
}

// beToucher is the process: it reads kinds and paths, each ended by a NUL, and
// answers with a line each, empty for success. It keeps nothing of the mount
// open in between. It runs in the thread whose number the process has, as
// everything does that init calls.
func beToucher(mountPoint, device string) int {
	dev, err := strconv.ParseUint(device, 10, 64)
	if err != nil {
		return 2
	}
	in := bufio.NewReader(os.Stdin)
	for {
		message, err := in.ReadString(0)
		if err != nil || len(message) < 2 {
			return 0
		}
		answer := ""
		if err := touchPath(mountPoint, dev, touchKind(message[0]), message[1:len(message)-1]); err != nil {
			answer = err.Error()
		}
		if _, err := fmt.Println(answer); err != nil {
			return 1
		}
	}
}

// touchPath touches a path below the mount and nothing that is mounted over it.
func touchPath(mountPoint string, dev uint64, kind touchKind, path string) error {
	root, err := unix.Open(mountPoint, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	var st unix.Stat_t
	if err := unix.Fstat(root, &st); err != nil {
		return err
	}
	if kernelDevice(unix.Major(st.Dev), unix.Minor(st.Dev)) != dev {
		return errors.New("something else is mounted there")
	}
	fd := root
	if path != "" {
		fd, err = unix.Openat2(root, path, &unix.OpenHow{
			Flags:   unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV,
		})
		if err != nil {
			return err
		}
		defer unix.Close(fd)
	}
	// The kernel tells of both times as of attributes, of the second alone as
	// of a modification.
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Nsec: unix.UTIME_NOW}}
	if kind == touchAttr {
		times[0].Nsec = unix.UTIME_NOW
	}
	return unix.UtimesNanoAt(fd, "", times, unix.AT_EMPTY_PATH)
}

// kernelDevice is a device number as the kernel keeps it.
func kernelDevice(major, minor uint32) uint64 { return uint64(major)<<20 | uint64(minor) }

func (at *attachment) device() uint64 { return kernelDevice(at.id.major, at.id.minor) }
