package mount

import (
	"encoding/binary"
	"errors"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// kernel writes notifications to one FUSE connection. It has a descriptor of
// its own, so that drivers need not know of notifications.
//
// A notification is one write:
//
//	0  u32 length   4  i32 code   8  u64 zero   16 ...
//	INVAL_INODE  16 u64 ino     24 i64 offset (< 0: attributes alone)  32 i64 length (<= 0: to the end)
//	INVAL_ENTRY  16 u64 parent  24 u32 length of the name  28 u32 flags  32 name, NUL
//	INC_EPOCH    nothing
type kernel struct {
	file *os.File
	conn syscall.RawConn
	sent atomic.Uint64
	// epochs is whether the kernel (Linux 6.16) can expire every entry at once.
	epochs atomic.Bool
}

const (
	notifyInvalInode = 2
	notifyInvalEntry = 3
	notifyIncEpoch   = 8

	notifyHeader = 16

	entryExpireOnly = 1 << 0
)

// newKernel takes over fd, a duplicate of the connection's descriptor.
func newKernel(fd int) (*kernel, error) {
	k := &kernel{file: os.NewFile(uintptr(fd), "/dev/fuse")}
	conn, err := k.file.SyscallConn()
	if err != nil {
		k.file.Close()
		return nil, err
	}
	k.conn = conn
	return k, nil
}

func (k *kernel) close() { k.file.Close() }

// probe finds out what the kernel understands. INIT must be over.
func (k *kernel) probe() { k.epochs.Store(k.incEpoch() == nil) }

func message(code int32, size int) []byte {
	b := make([]byte, notifyHeader, notifyHeader+size)
	binary.NativeEndian.PutUint32(b, uint32(notifyHeader+size))
	binary.NativeEndian.PutUint32(b[4:], uint32(code))
	return b
}

// invalInode drops cached attributes, and the pages (of a directory: the
// listing) from off to off+n, n <= 0 meaning to the end; off < 0 spares them.
// It may wait for requests in flight that hold a page.
func (k *kernel) invalInode(ino vfs.Ino, off, n int64) error {
	b := message(notifyInvalInode, 24)
	b = binary.NativeEndian.AppendUint64(b, uint64(ino))
	b = binary.NativeEndian.AppendUint64(b, uint64(off))
	b = binary.NativeEndian.AppendUint64(b, uint64(n))
	return k.send(b)
}

// invalEntry drops a cached entry, positive or negative. It waits for every
// operation in flight in that directory.
func (k *kernel) invalEntry(parent vfs.Ino, name string) error {
	return k.entry(parent, name, 0)
}

// expireEntry makes the kernel ask again for a cached entry before it next uses
// it, and waits like invalEntry. What is mounted on the entry or below it stays,
// if the answer is the same; before Linux 6.2 it does not.
func (k *kernel) expireEntry(parent vfs.Ino, name string) error {
	return k.entry(parent, name, entryExpireOnly)
}

func (k *kernel) entry(parent vfs.Ino, name string, flags uint32) error {
	b := message(notifyInvalEntry, 16+len(name)+1)
	b = binary.NativeEndian.AppendUint64(b, uint64(parent))
	b = binary.NativeEndian.AppendUint32(b, uint32(len(name)))
	b = binary.NativeEndian.AppendUint32(b, flags)
	b = append(append(b, name...), 0)
	return k.send(b)
}

// barrierName is bound in no directory.
const barrierName = "/"

// barrier returns when no operation is in flight in dir any more that began
// before: what the kernel learnt by them, it has taken in.
func (k *kernel) barrier(dir vfs.Ino) error { return k.invalEntry(dir, barrierName) }

// incEpoch makes the kernel ask again for every entry before it next uses it.
// It waits for nothing. But it drops the entries, and whatever is mounted on one
// or below it, in any namespace, goes with it.
func (k *kernel) incEpoch() error { return k.send(message(notifyIncEpoch, 0)) }

// send writes one notification. What the kernel does not hold (ENOENT) needed
// none, and a connection that ended holds nothing.
func (k *kernel) send(b []byte) error {
	var err error
	if closed := k.conn.Control(func(fd uintptr) {
		for {
			if _, err = syscall.Write(int(fd), b); err != syscall.EINTR {
				return
			}
		}
	}); closed != nil {
		return nil
	}
	k.sent.Add(1)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENODEV),
		errors.Is(err, syscall.ENOTCONN), errors.Is(err, syscall.EPERM),
		errors.Is(err, syscall.ENOTDIR):
		return nil
	}
	return err
}
