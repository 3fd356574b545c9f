//go:build linux

package bazil

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"bazil.org/fuse"
)

// The library gets its connection in one way only: it runs the first
// fusermount3 of the PATH and takes the descriptor that this sends. But the
// connection is attached already, as every driver's is, and fusermount3 may not
// be installed. So while the library mounts, the first fusermount3 of the PATH
// is this very program, which fetches the descriptor from its parent over a
// socket beside it and sends it on.

const (
	helperName = "fusermount3"
	socketName = "connection"
	commVar    = "_FUSE_COMMFD"
)

// lendMu serialises lend, which changes the PATH for the moment.
var lendMu sync.Mutex

// lend runs mount so that the library takes fd as its connection, and closes
// fd: the library has a duplicate then.
func lend(fd int, mount func() (*fuse.Conn, error)) (*fuse.Conn, error) {
	defer syscall.Close(fd)
	lendMu.Lock()
	defer lendMu.Unlock()
	dir, err := os.MkdirTemp("", "vfsd-mount-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.Symlink(self, filepath.Join(dir, helperName)); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, socketName), Net: "unix"})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	go handOver(l, fd)
	path := os.Getenv("PATH")
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+path); err != nil {
		return nil, err
	}
	defer os.Setenv("PATH", path)
	return mount()
}

// handOver sends fd to the first who connects. The socket lies in a directory
// that only this user can enter.
func handOver(l *net.UnixListener, fd int) {
	conn, err := l.AcceptUnix()
	if err != nil {
		return // nobody came: mount says why
	}
	defer conn.Close()
	_, _, _ = conn.WriteMsgUnix([]byte{0}, syscall.UnixRights(fd), nil)
}

// lentDescriptor is the other side: when this program runs as the fusermount3
// of lend, it does what that is for and exits.
func lentDescriptor() {
	comm := os.Getenv(commVar)
	if filepath.Base(os.Args[0]) != helperName || comm == "" {
		return
	}
	path, err := exec.LookPath(helperName)
	if err != nil {
		return
	}
	socket := filepath.Join(filepath.Dir(path), socketName)
	if _, err := os.Stat(socket); err != nil {
		return
	}
	if err := passOn(socket, comm); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// passOn copies the message with the descriptor from the socket to the
// descriptor whose number is comm.
func passOn(socket, comm string) error {
	to, err := strconv.Atoi(comm)
	if err != nil {
		return fmt.Errorf("%s: %w", commVar, err)
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return err
	}
	defer conn.Close()
	data, oob := make([]byte, 1), make([]byte, syscall.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(data, oob)
	if err != nil {
		return err
	}
	messages, err := syscall.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return fmt.Errorf("%d control messages instead of a descriptor: %v", len(messages), err)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	return syscall.Sendmsg(to, data, syscall.UnixRights(fds...), nil, 0)
}
