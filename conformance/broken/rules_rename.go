package broken

import (
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// renames makes a breach of rename alone.
func renames(f func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error) func() breach {
	return func() breach { return breach{rename: f} }
}

var renameRules = []Rule{
	{
		Name: "exchange-replaces", Text: "RENAME_EXCHANGE drops what it should swap.",
		Cases: []string{"rename/EXCHANGE/file-over-fifo/*", "rename/flags/EXCHANGE/twice-is-as-before"},
		breach: renames(func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
			return fs.Rename(op, parent, name, to, newName, flags&^vfs.RenameExchange)
		}),
	},
	{
		Name: "exchange-is-EINVAL", Text: "RENAME_EXCHANGE is not supported.",
		Cases: []string{"rename/EXCHANGE/file-over-file/*", "rename/flags/EXCHANGE/twice-is-as-before"},
		breach: renames(func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
			if flags&vfs.RenameExchange != 0 {
				return syscall.EINVAL
			}
			return fs.Rename(op, parent, name, to, newName, flags)
		}),
	},
	{
		Name: "whiteout-leaves-nothing", Text: "RENAME_WHITEOUT leaves no whiteout.",
		Cases: []string{"rename/WHITEOUT/file-over-missing/*", "rename/WHITEOUT/directory-over-missing/*"},
		breach: renames(func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
			return fs.Rename(op, parent, name, to, newName, flags&^vfs.RenameWhiteout)
		}),
	},
	{
		Name: "rename-keeps-the-old-name", Text: "rename makes a second name.",
		Cases: []string{"rename/plain/file-over-missing/*", "rename/plain/symlink-over-file/*"},
		breach: renames(func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
			a, err := fs.Lookup(op, parent, name)
			if err != nil || a.IsDir() || flags != 0 {
				return fs.Rename(op, parent, name, to, newName, flags)
			}
			if err := fs.Unlink(op, to, newName); err != nil && err != syscall.ENOENT {
				return err
			}
			_, err = fs.Link(asRoot(op), a.Ino, to, newName)
			return err
		}),
	},
	{
		Name: "rename-empties-a-full-target", Text: "A directory replaces one that has names in it.",
		Cases: []string{"rename/plain/directory-over-nonempty-directory/*"},
		breach: renames(func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
			err := fs.Rename(op, parent, name, to, newName, flags)
			if err == syscall.ENOTEMPTY {
				if err = emptied(fs, op, to, newName); err == nil {
					err = fs.Rename(op, parent, name, to, newName, flags)
				}
			}
			return err
		}),
	},
	{
		Name: "rename-over-a-file-is-EEXIST", Text: "rename does not replace files.",
		Cases: []string{"rename/plain/file-over-file/*", "rename/replaced/write-temporary-and-rename-over/*", "open/create-with-mode-0000-then-fchmod-and-rename/*"},
		breach: renames(func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
			if a, err := fs.Lookup(asRoot(op), to, newName); err == nil && !a.IsDir() && flags == 0 {
				return syscall.EEXIST
			}
			return fs.Rename(op, parent, name, to, newName, flags)
		}),
	},
	{
		Name: "rename-leaves-a-stale-size", Text: "The size after a rename is the one that the replaced file had.",
		Cases: []string{"rename/replaced/write-temporary-and-rename-over/*"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, rename: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
				from, err := fs.Lookup(asRoot(op), parent, name)
				old, oldErr := fs.Lookup(asRoot(op), to, newName)
				if err == nil && oldErr == nil && old.IsRegular() && flags == 0 {
					l.tell(from.Ino, func(a *vfs.Attr) { a.Size = old.Size })
				}
				return fs.Rename(op, parent, name, to, newName, flags)
			}}
		},
	},
	{
		Name: "rename-leaves-parent-times", Text: "rename does not move the times of the directories.",
		Cases: []string{"rename/plain/file-over-missing/*", "rename/plain/directory-over-directory/*", "attributes/times/rename-within"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, rename: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
				for _, dir := range []vfs.Ino{parent, to} {
					if a, err := fs.Getattr(op, dir); err == nil {
						l.tell(dir, times(a))
					}
				}
				return fs.Rename(op, parent, name, to, newName, flags)
			}}
		},
	},
	{
		Name: "rename-leaves-ctime", Text: "rename does not move the ctime of what it moves.",
		Cases: []string{"rename/plain/file-over-missing/*", "rename/EXCHANGE/file-over-fifo/*", "attributes/times/rename-across"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, rename: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
				if a, err := fs.Lookup(asRoot(op), parent, name); err == nil {
					l.tell(a.Ino, ctime(a))
				}
				return fs.Rename(op, parent, name, to, newName, flags)
			}}
		},
	},
	{
		Name: "rename-keeps-the-replaced-count", Text: "A file replaced by rename keeps its link count.",
		Cases: []string{"rename/plain/file-over-file/*", "rename/replaced/file-with-another-name/*", "rename/replaced/name-linked-unlinked-and-linked-again/*"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, rename: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
				a, lookErr := fs.Lookup(asRoot(op), to, newName)
				err := fs.Rename(op, parent, name, to, newName, flags)
				if err == nil && lookErr == nil && flags == 0 && !a.IsDir() {
					l.tell(a.Ino, func(x *vfs.Attr) { x.Nlink++ })
				}
				return err
			}}
		},
	},
	{
		Name: "rename-moves-mtime", Text: "rename moves the mtime of what it moves.",
		Cases: []string{"rename/plain/file-over-missing/*", "rename/NOREPLACE/directory-over-missing/*"},
		breach: renames(func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
			a, lookErr := fs.Lookup(asRoot(op), parent, name)
			err := fs.Rename(op, parent, name, to, newName, flags)
			if err == nil && lookErr == nil {
				_, err = fs.Setattr(asRoot(op), a.Ino, &vfs.SetAttr{Mask: vfs.SetMtimeNow})
			}
			return err
		}),
	},
	{
		Name: "opened-files-cannot-be-replaced", Text: "rename over a file that somebody opened is EBUSY.",
		Cases: []string{"rename/replaced/open-file/*", "rename/replaced/over-a-file-that-is-being-written/*"},
		breach: func() breach {
			var seen opened
			return breach{
				open: seen.open,
				rename: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
					if seen.has(fs, op, to, newName) {
						return syscall.EBUSY
					}
					return fs.Rename(op, parent, name, to, newName, flags)
				},
			}
		},
	},
}
