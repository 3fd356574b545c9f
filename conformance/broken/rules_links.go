package broken

import (
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

var linkRules = []Rule{
	{
		Name: "link-counts-one-too-many", Text: "A second name makes the link count 3.",
		Cases:  []string{"unlink/link/file/is-one-inode-with-two-links-at-once", "unlink/link/fifo/is-one-inode-with-two-links-at-once", "unlink/link/size-and-count-by-both-names/*"},
		breach: attrBreach(func(a *vfs.Attr) { a.Nlink += uint32(b2u(!a.IsDir() && a.Nlink == 2)) }),
	},
	{
		Name: "unlink-leaves-the-count", Text: "Removing one of two names leaves the link count at 2.",
		Cases: []string{"unlink/unlink/file/one-of-two-names/*", "unlink/unlink/symlink/one-of-two-names/*", "unlink/crowd/1000-links-by-8-threads/*"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, unlink: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
				a, _ := fs.Lookup(asRoot(op), parent, name)
				err := fs.Unlink(op, parent, name)
				if err == nil && a.Nlink > 1 {
					l.tell(a.Ino, func(x *vfs.Attr) { x.Nlink++ })
				}
				return err
			}}
		},
	},
	{
		Name: "unlink-leaves-ctime", Text: "Removing one of two names does not move the ctime.",
		Cases: []string{"unlink/unlink/file/one-of-two-names/*", "unlink/unlink/socket/one-of-two-names/*"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, unlink: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
				a, _ := fs.Lookup(asRoot(op), parent, name)
				l.tell(a.Ino, ctime(a))
				return fs.Unlink(op, parent, name)
			}}
		},
	},
	{
		Name: "link-leaves-ctime", Text: "A second name does not move the ctime.",
		Cases: []string{"unlink/link/file/is-one-inode-with-two-links-at-once", "attributes/times/link"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, link: func(fs vfs.FS, op *vfs.Op, ino, parent vfs.Ino, name string) (vfs.Attr, error) {
				a, err := fs.Getattr(op, ino)
				if err == nil {
					l.tell(ino, ctime(a))
				}
				return fs.Link(op, ino, parent, name)
			}}
		},
	},
	{
		Name: "link-is-an-empty-copy", Text: "link makes a new empty file.",
		Cases: []string{"unlink/link/data-through-one-name/*", "unlink/link/file/is-one-inode-with-two-links-at-once"},
		breach: func() breach {
			return breach{link: func(fs vfs.FS, op *vfs.Op, ino, parent vfs.Ino, name string) (vfs.Attr, error) {
				a, err := fs.Getattr(op, ino)
				if err != nil {
					return a, err
				}
				return fs.Mknod(op, parent, name, a.Mode, a.Rdev)
			}}
		},
	},
	{
		Name: "a-hundred-links-are-the-most", Text: "The hundredth link of a file is EMLINK.",
		Cases: []string{"unlink/crowd/1000-links-by-8-threads/*"},
		breach: func() breach {
			return breach{link: func(fs vfs.FS, op *vfs.Op, ino, parent vfs.Ino, name string) (vfs.Attr, error) {
				if a, err := fs.Getattr(op, ino); err == nil && a.Nlink >= 100 {
					return vfs.Attr{}, syscall.EMLINK
				}
				return fs.Link(op, ino, parent, name)
			}}
		},
	},
	{
		Name: "opened-files-cannot-be-unlinked", Text: "Unlinking a file that somebody opened is EBUSY.",
		Cases: []string{"unlink/open-unlinked/read/*", "unlink/open-unlinked/fstat/*", "durability/call/fsync/of-an-unlinked-file/*"},
		breach: func() breach {
			var seen opened
			return breach{open: seen.open, unlink: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
				if seen.has(fs, op, parent, name) {
					return syscall.EBUSY
				}
				return fs.Unlink(op, parent, name)
			}}
		},
	},
	{
		Name: "unlinked-files-lose-their-bytes", Text: "An open file that loses its last name is emptied.",
		Cases: []string{"unlink/open-unlinked/read/*", "rename/replaced/open-file/*"},
		breach: func() breach {
			empty := func(fs vfs.FS, op *vfs.Op, a vfs.Attr) {
				if a.IsRegular() && a.Nlink == 1 {
					fs.Pin(a.Ino)
					// A file that is not there any more had nobody to notice.
					_, _ = fs.Setattr(asRoot(op), a.Ino, &vfs.SetAttr{Mask: vfs.SetSize})
					fs.Unpin(a.Ino)
				}
			}
			return breach{
				unlink: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
					if a, err := fs.Lookup(asRoot(op), parent, name); err == nil {
						empty(fs, op, a)
					}
					return fs.Unlink(op, parent, name)
				},
				rename: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
					if a, err := fs.Lookup(asRoot(op), to, newName); err == nil && flags == 0 {
						empty(fs, op, a)
					}
					return fs.Rename(op, parent, name, to, newName, flags)
				},
			}
		},
	},
	{
		Name: "unlink-removes-nothing", Text: "unlink says that it worked and leaves the name.",
		Cases: []string{"unlink/unlink/file/only-name/*", "directories/fresh/after-every-kind-of-change/*", "durability/power-cut/unlink-and-fsync-of-the-directory/*"},
		breach: func() breach {
			return breach{unlink: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
				_, err := fs.Lookup(op, parent, name)
				return err
			}}
		},
	},
	{
		Name: "rmdir-takes-what-is-inside", Text: "rmdir of a directory with names in it removes these too.",
		Cases: []string{"unlink/rmdir/with-a-file-inside/*", "unlink/rmdir/with-a-hidden-name-inside/*", "unlink/rmdir/with-a-symlink-inside/*"},
		breach: func() breach {
			return breach{rmdir: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
				err := fs.Rmdir(op, parent, name)
				if err == syscall.ENOTEMPTY {
					if err = emptied(fs, op, parent, name); err == nil {
						err = fs.Rmdir(op, parent, name)
					}
				}
				return err
			}}
		},
	},
	{
		Name: "a-full-directory-is-EEXIST", Text: "rmdir of a directory with names in it is EEXIST.",
		Cases: []string{"unlink/rmdir/with-a-file-inside/*", "unlink/rmdir/with-a-directory-inside/*"},
		breach: func() breach {
			return breach{rmdir: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
				err := fs.Rmdir(op, parent, name)
				if err == syscall.ENOTEMPTY {
					err = syscall.EEXIST
				}
				return err
			}}
		},
	},
}

// emptied removes the files (not the directories) in a directory.
func emptied(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
	a, err := fs.Lookup(op, parent, name)
	if err != nil {
		return err
	}
	d, err := fs.OpenDir(op, a.Ino)
	if err != nil {
		return err
	}
	defer d.Release(op)
	var names []string
	err = d.ReadDir(op, 0, false, func(e *vfs.DirEntry) bool {
		names = append(names, e.Name)
		return true
	})
	for _, n := range names {
		if err == nil {
			err = fs.Unlink(op, a.Ino, n)
		}
	}
	return err
}
