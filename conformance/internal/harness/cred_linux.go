package harness

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Cred is somebody to act as.
type Cred struct {
	UID, GID int
	Groups   []int // supplementary
}

// String names a credential in failures and case names.
func (c Cred) String() string {
	if len(c.Groups) == 0 {
		return fmt.Sprintf("%d:%d", c.UID, c.GID)
	}
	return fmt.Sprintf("%d:%d%v", c.UID, c.GID, c.Groups)
}

// Root is the superuser.
var Root = Cred{}

// As runs fn with the credentials c: real and effective ids, and nothing but
// c's groups. The thread's effective capabilities are those of the uid: none
// but for root. Nesting is not for As.
//
// The system calls are made raw, because the library's versions change every
// thread of the process. The saved uid stays 0: it is the way back, and
// nothing that a file system asks looks at it.
func (t *T) As(c Cred, fn func()) {
	if t.Env.Root {
		t.Must(assume(c))
		defer func() {
			if err := resume(); err != nil {
				// A thread that cannot come back must not clean up, least of
				// all silently.
				panic(fmt.Sprintf("credentials of a thread are lost: %v", err))
			}
		}()
	} else if c.UID != os.Getuid() {
		t.Skip("needs root, to act as %v", c)
	}
	fn()
}

// assume gives the calling thread the credentials c; the uid comes last, for
// it takes away the right to set the others.
func assume(c Cred) error {
	if err := setgroups(c.Groups); err != nil {
		return fmt.Errorf("setgroups: %w", err)
	}
	if err := setres(unix.SYS_SETRESGID, c.GID, c.GID, c.GID); err != nil {
		return fmt.Errorf("setresgid: %w", err)
	}
	if err := setres(unix.SYS_SETRESUID, c.UID, c.UID, 0); err != nil {
		return fmt.Errorf("setresuid: %w", err)
	}
	return nil
}

// resume makes the calling thread root again; going back to uid 0 gives the
// permitted capabilities back as effective ones.
func resume() error {
	if err := setres(unix.SYS_SETRESUID, 0, 0, 0); err != nil {
		return fmt.Errorf("setresuid: %w", err)
	}
	if err := setres(unix.SYS_SETRESGID, 0, 0, 0); err != nil {
		return fmt.Errorf("setresgid: %w", err)
	}
	if err := setgroups(nil); err != nil {
		return fmt.Errorf("setgroups: %w", err)
	}
	return nil
}

func setres(call uintptr, real, effective, saved int) error {
	_, _, e := unix.RawSyscall(call, uintptr(real), uintptr(effective), uintptr(saved))
	if e != 0 {
		return e
	}
	return nil
}

func setgroups(gids []int) error {
	list := make([]uint32, len(gids)+1) // never empty: its address is taken
	for i, g := range gids {
		list[i] = uint32(g)
	}
	_, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(gids)), uintptr(unsafe.Pointer(&list[0])), 0)
	if e != 0 {
		return e
	}
	return nil
}

// SetFsuid makes the thread act on files as uid without changing who it is,
// as file servers do; it lasts until the case ends.
func (t *T) SetFsuid(uid int) {
	_, _, _ = unix.RawSyscall(unix.SYS_SETFSUID, uintptr(uid), 0, 0)
	got, _, _ := unix.RawSyscall(unix.SYS_SETFSUID, uintptr(uid), 0, 0)
	if int(got) != uid {
		t.Fatalf("setfsuid(%d) left %d", uid, got)
	}
}
