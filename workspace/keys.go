package workspace

import (
	"encoding/binary"

	"github.com/vfsd/vfsd/vfs"
)

// The first byte of a key says what it binds; numbers are big-endian, so that
// keys sort by inode, then by name or offset.
//
//	'd' parent:8 name    dentry
//	'e' ino:8 offset:8   extent
//	'i' ino:8            inode
//	'x' ino:8 name       extended attribute
const (
	keyDentry = 'd'
	keyExtent = 'e'
	keyInode  = 'i'
	keyXattr  = 'x'
)

func inoKey(kind byte, ino vfs.Ino, suffix int) []byte {
	k := make([]byte, 9, 9+suffix)
	k[0] = kind
	binary.BigEndian.PutUint64(k[1:], uint64(ino))
	return k
}

func inodeKey(ino vfs.Ino) []byte { return inoKey(keyInode, ino, 0) }

func dentryKey(parent vfs.Ino, name string) []byte {
	return append(inoKey(keyDentry, parent, len(name)), name...)
}

func xattrKey(ino vfs.Ino, name string) []byte {
	return append(inoKey(keyXattr, ino, len(name)), name...)
}

func extentKey(ino vfs.Ino, off int64) []byte {
	return binary.BigEndian.AppendUint64(inoKey(keyExtent, ino, 8), uint64(off))
}

// inoRange returns the bounds [lo, hi) of all keys of one kind and inode.
func inoRange(kind byte, ino vfs.Ino) (lo, hi []byte) {
	return inoKey(kind, ino, 0), inoKey(kind, ino+1, 0)
}

// keyIno returns the inode number in a key of any kind.
func keyIno(k []byte) vfs.Ino { return vfs.Ino(binary.BigEndian.Uint64(k[1:9])) }

// keySuffix returns what follows the inode number: a name or an offset.
func keySuffix(k []byte) []byte { return k[9:] }

func keyOffset(k []byte) int64 { return int64(binary.BigEndian.Uint64(k[9:17])) }

// validKey reports whether k has the shape of a key of its kind.
func validKey(k []byte) bool {
	if len(k) < 9 || keyIno(k) == 0 {
		return false
	}
	switch k[0] {
	case keyInode:
		return len(k) == 9
	case keyExtent:
		return len(k) == 17 && keyOffset(k) >= 0
	case keyDentry:
		return vfs.ValidName(string(k[9:])) == nil
	case keyXattr:
		return len(k) > 9 && len(k) <= 9+vfs.MaxXattrName
	}
	return false
}

// An inode number is replica:20 | counter:36 with the top eight bits clear;
// those tell the read-only views of snapshots from the live files (see view.go).
const (
	counterBits = 36
	replicaBits = 20
	counterMask = 1<<counterBits - 1
)

func makeIno(replica uint32, counter uint64) vfs.Ino {
	return vfs.Ino(uint64(replica)<<counterBits | counter)
}

func inoReplica(ino vfs.Ino) uint32 { return uint32(uint64(ino) >> counterBits) }

func inoCounter(ino vfs.Ino) uint64 { return uint64(ino) & counterMask }
