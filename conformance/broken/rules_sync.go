package broken

import (
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

var syncRules = []Rule{
	{
		Name: "fsync-fails", Text: "fsync is EIO.",
		Cases:  []string{"durability/call/fsync/file-for-both/*", "durability/call/fdatasync/file-for-reading/*", "mmap/msync/MS_SYNC/*"},
		breach: func() breach { return breach{fsync: func(vfs.Handle, *vfs.Op, bool) error { return syscall.EIO }} },
	},
	{
		Name: "fsync-lies", Text: "fsync of a file says that it worked and makes nothing durable.",
		Cases: []string{
			"durability/power-cut/write-and-fsync/*", "durability/power-cut/write-and-fdatasync/*", "durability/power-cut/overwrite-and-fsync/*",
			"durability/power-cut/write-with-O_SYNC/*", "durability/power-cut/store-and-msync/*", "durability/power-cut/truncate-and-fsync/*",
		},
		breach: func() breach { return breach{fsync: func(vfs.Handle, *vfs.Op, bool) error { return nil }} },
	},
	{
		Name: "fsync-of-a-directory-fails", Text: "fsync of a directory is EINVAL.",
		Cases: []string{"durability/call/fsync/directory/*", "directories/call/fsync-of-a-directory/*"},
		breach: func() breach {
			return breach{dirFsync: func(vfs.DirHandle, *vfs.Op, bool) error { return syscall.EINVAL }}
		},
	},
	{
		Name: "fsync-of-a-directory-lies", Text: "fsync of a directory makes nothing durable.",
		Cases: []string{
			"durability/power-cut/mkdir-and-fsync-of-the-directory/*", "durability/power-cut/rename-and-fsync-of-the-directory/*",
			"durability/power-cut/unlink-and-fsync-of-the-directory/*", "durability/power-cut/write-temporary-fsync-rename-fsync-directory/*",
		},
		breach: func() breach { return breach{dirFsync: func(vfs.DirHandle, *vfs.Op, bool) error { return nil }} },
	},
	{
		Name: "fsync-changes-mtime", Text: "fsync rewrites the file's last byte and so moves its mtime.",
		Cases: []string{"attributes/mtime/written-then-set-then-fsynced/*", "durability/keeps/attributes/*"},
		breach: func() breach {
			return breach{fsync: func(h vfs.Handle, op *vfs.Op, dataOnly bool) error {
				var b [1]byte
				if n, err := h.Read(asRoot(op), b[:], 0); err == nil && n == 1 {
					if _, err := h.Write(asRoot(op), b[:], 0); err != nil {
						return err
					}
				}
				return h.Fsync(op, dataOnly)
			}}
		},
	},
	{
		Name: "closing-fails", Text: "close of a file that was opened is EIO.",
		Cases:  []string{"data/rw/4096-bytes/*", "open/matrix/file/RDWR", "rename/open-file/dirty-when-renamed/*"},
		breach: func() breach { return breach{flush: func(vfs.Handle, *vfs.Op) error { return syscall.EIO }} },
	},
}
