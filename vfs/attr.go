package vfs

import "syscall"

// Ino is an inode number: a file's identity in its workspace. The high bits
// name the replica that made it, the low bits count; it is never reused. The
// highest bit is 0, for ways in that need a second number for an inode.
type Ino uint64

// RootIno is the inode number of every workspace's root directory.
const RootIno Ino = 1

// Limits of names, targets and attributes, as Linux has them.
const (
	MaxName       = 255       // bytes in one path component
	MaxPath       = 4096      // bytes in a path, its final NUL included
	MaxSymlink    = 4095      // bytes in a symlink's target
	MaxSymlinks   = 40        // symlinks followed in one walk
	MaxXattrName  = 255       // bytes in an extended attribute's name
	MaxXattrValue = 64 << 10  // bytes in an extended attribute's value
	MaxXattrList  = 64 << 10  // bytes in all its names, their NULs included
	MaxLinks      = 65000     // hard links to one file, as on ext4
	MaxFileSize   = 1<<63 - 1 // bytes in one file
)

// Mode bits, as in st_mode.
const (
	ModeTypeMask = 0o170000
	ModeFIFO     = 0o010000
	ModeChar     = 0o020000
	ModeDir      = 0o040000
	ModeBlock    = 0o060000
	ModeRegular  = 0o100000
	ModeSymlink  = 0o120000
	ModeSocket   = 0o140000

	ModeSetuid = 0o4000
	ModeSetgid = 0o2000
	ModeSticky = 0o1000
	ModePerm   = 0o7777 // every bit that chmod may set
)

// Attr is what stat reports of an inode.
type Attr struct {
	Ino   Ino
	Mode  uint32 // type and permission bits
	Nlink uint32
	UID   uint32
	GID   uint32
	Rdev  uint32 // Linux's 32-bit encoding of major and minor
	Size  uint64 // bytes
	// Blocks counts the 512-byte units that hold data: holes are not in it.
	Blocks uint64
	Atime  int64 // ns since 1970
	Mtime  int64
	Ctime  int64
	Btime  int64
}

// IsDir reports whether the inode is a directory.
func (a *Attr) IsDir() bool { return a.Mode&ModeTypeMask == ModeDir }

// IsRegular reports whether the inode is a regular file.
func (a *Attr) IsRegular() bool { return a.Mode&ModeTypeMask == ModeRegular }

// IsSymlink reports whether the inode is a symbolic link.
func (a *Attr) IsSymlink() bool { return a.Mode&ModeTypeMask == ModeSymlink }

// SetMask says which fields of a SetAttr count.
type SetMask uint32

// The fields of a SetAttr.
const (
	SetMode     SetMask = 1 << 0
	SetUID      SetMask = 1 << 1
	SetGID      SetMask = 1 << 2
	SetSize     SetMask = 1 << 3
	SetAtime    SetMask = 1 << 4 // to SetAttr.Atime
	SetMtime    SetMask = 1 << 5 // to SetAttr.Mtime
	SetAtimeNow SetMask = 1 << 6 // to the time of the call
	SetMtimeNow SetMask = 1 << 7
	// SetCtime moves ctime to SetAttr.Ctime: only a mount whose kernel keeps
	// ctime itself may send it.
	SetCtime SetMask = 1 << 8
	// SetKillPriv asks that set-id bits go, as a truncate by an unprivileged
	// caller demands.
	SetKillPriv SetMask = 1 << 9
)

// SetAttr is a change of attributes: the fields in Mask, all or none of them.
type SetAttr struct {
	Mask  SetMask
	Mode  uint32 // permission bits only
	UID   uint32
	GID   uint32
	Size  uint64
	Atime int64
	Mtime int64
	Ctime int64
	// Handle is the open file through which a size change came (ftruncate),
	// which needs no write permission any more; nil for truncate(2).
	Handle Handle
}

// DirEntry is one name that a directory listing yields.
type DirEntry struct {
	Name string
	Ino  Ino
	// Mode has at least the type bits.
	Mode uint32
	// Cookie is the position after this entry: hand it back to go on from here.
	// It stays valid for the life of the DirHandle, whatever is deleted.
	Cookie uint64
	// Attr is filled when the listing was asked for attributes, else nil. It
	// points to memory that the next entry overwrites.
	Attr *Attr
}

// Statfs is what statfs(2) reports. Counts of blocks are in units of BlockSize.
type Statfs struct {
	BlockSize   uint32
	Blocks      uint64
	BlocksFree  uint64 // to root
	BlocksAvail uint64 // to everyone else
	Files       uint64 // inodes in all
	FilesFree   uint64
	NameMax     uint32
}

// TypeName names the type bits of a mode for people: "directory", "symlink".
func TypeName(mode uint32) string {
	switch mode & ModeTypeMask {
	case ModeRegular:
		return "file"
	case ModeDir:
		return "directory"
	case ModeSymlink:
		return "symlink"
	case ModeFIFO:
		return "fifo"
	case ModeSocket:
		return "socket"
	case ModeChar:
		return "character device"
	case ModeBlock:
		return "block device"
	}
	return "unknown"
}

// ValidName reports why a name cannot be bound in a directory: ENAMETOOLONG
// past 255 bytes, EINVAL for an empty name, one with a slash or a NUL, or one
// of the two that every directory has already.
func ValidName(name string) error {
	if len(name) > MaxName {
		return syscall.ENAMETOOLONG
	}
	if name == "" || name == "." || name == ".." {
		return syscall.EINVAL
	}
	for i := 0; i < len(name); i++ {
		if name[i] == '/' || name[i] == 0 {
			return syscall.EINVAL
		}
	}
	return nil
}
