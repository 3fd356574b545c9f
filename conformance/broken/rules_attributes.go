package broken

import (
	"github.com/vfsd/vfsd/vfs"
)

// sets makes a breach of setattr alone.
func sets(f func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error)) func() breach {
	return func() breach { return breach{setattr: f} }
}

// masked makes a breach under which new files are made with changed modes and
// umasks.
func masked(f func(op *vfs.Op, mode uint32) uint32) func() breach {
	return func() breach {
		return breach{
			create: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
				o := *op
				mode = f(&o, mode)
				return fs.Create(&o, parent, name, mode, flags)
			},
			mkdir: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error) {
				o := *op
				mode = f(&o, mode)
				return fs.Mkdir(&o, parent, name, mode)
			},
			mknod: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode, rdev uint32) (vfs.Attr, error) {
				o := *op
				mode = f(&o, mode)
				return fs.Mknod(&o, parent, name, mode, rdev)
			},
		}
	}
}

var attributeRules = []Rule{
	{
		Name: "umask-is-ignored", Text: "New files have the mode that was asked for, whatever the umask.",
		Cases:  []string{"open/creation-mode/open/umask-022", "open/creation-mode/mkdir/umask-077", "open/creation-mode/mkfifo/umask-777"},
		breach: masked(func(op *vfs.Op, mode uint32) uint32 { op.Umask = 0; return mode }),
	},
	{
		Name: "new-files-are-not-executable", Text: "Execute bits are dropped when a file is made.",
		Cases:  []string{"open/creation-mode/open/umask-000", "open/creation-mode/mkfifo/umask-002"},
		breach: masked(func(_ *vfs.Op, mode uint32) uint32 { return mode &^ 0o111 }),
	},
	{
		Name: "new-files-lose-set-id-bits", Text: "Set-id and sticky bits are dropped when a file is made.",
		Cases:  []string{"open/creation-mode/open/umask-000", "open/creation-mode/mknod/umask-022"},
		breach: masked(func(_ *vfs.Op, mode uint32) uint32 { return mode &^ 0o7000 }),
	},
	{
		Name: "new-files-are-root's", Text: "Whoever makes a file, it is root's.",
		Cases: []string{"identity/owner/user/makes-a-file", "identity/owner/user/makes-a-directory", "identity/owner/nobody/makes-a-fifo", "attributes/setgid-directory/plain/file/made-by-stranger"},
		breach: masked(func(op *vfs.Op, mode uint32) uint32 {
			op.Cred = vfs.Cred{PID: op.PID}
			return mode
		}),
	},
	{
		Name: "setgid-directories-give-no-group", Text: "New files in a setgid directory are of their maker's group.",
		Cases: []string{"attributes/setgid-directory/setgid/directory/made-by-member", "attributes/setgid-directory/setgid/directory/made-by-stranger"},
		breach: func() breach {
			return breach{mkdir: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error) {
				a, err := fs.Mkdir(op, parent, name, mode)
				if err != nil {
					return a, err
				}
				return fs.Setattr(asRoot(op), a.Ino, &vfs.SetAttr{Mask: vfs.SetGID, GID: op.GID})
			}}
		},
	},
	{
		Name: "setgid-directories-do-not-spread", Text: "A directory in a setgid directory is not setgid.",
		Cases: []string{"attributes/setgid-directory/setgid/directory/made-by-root"},
		breach: func() breach {
			return breach{mkdir: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error) {
				a, err := fs.Mkdir(op, parent, name, mode)
				if err != nil {
					return a, err
				}
				return fs.Setattr(asRoot(op), a.Ino, &vfs.SetAttr{Mask: vfs.SetMode, Mode: a.Mode & 0o777})
			}}
		},
	},
	{
		Name: "chmod-drops-special-bits", Text: "chmod sets the nine permission bits only.",
		Cases: []string{"attributes/chmod/file/every-mode-by-path/*", "attributes/chmod/directory/every-mode-by-descriptor/*", "special/attributes/fifo/*"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			s := *set
			s.Mode &= 0o777
			return fs.Setattr(op, ino, &s)
		}),
	},
	{
		Name: "chmod-changes-nothing", Text: "chmod says that it worked and leaves the mode.",
		Cases: []string{"attributes/chmod/socket/every-mode-by-path/*", "attributes/chmod/takes-effect-at-once-for-everyone", "attributes/chmod/another-name/*"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			s := *set
			s.Mask &^= vfs.SetMode
			return fs.Setattr(op, ino, &s)
		}),
	},
	{
		Name: "chmod-leaves-ctime", Text: "chmod does not move the ctime.",
		Cases: []string{"attributes/times/chmod", "attributes/times/fchmod", "attributes/times/chmod-of-a-directory"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, setattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
				if a, err := fs.Getattr(op, ino); err == nil && set.Mask&vfs.SetMode != 0 {
					l.tell(ino, ctime(a))
				}
				return fs.Setattr(op, ino, set)
			}}
		},
	},
	{
		Name: "chown-leaves-ctime", Text: "chown does not move the ctime.",
		Cases: []string{"attributes/chown/root/user-other-group-stranger/*", "attributes/times/chown-to-the-same"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, setattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
				if a, err := fs.Getattr(op, ino); err == nil && set.Mask&(vfs.SetUID|vfs.SetGID) != 0 {
					l.tell(ino, ctime(a))
				}
				return fs.Setattr(op, ino, set)
			}}
		},
	},
	{
		Name: "chown-keeps-set-id-bits", Text: "chown leaves setuid and setgid.",
		Cases: []string{"attributes/chown-set-id/root/4755-by-group", "attributes/chown-set-id/owner/6777-by-group", "identity/set-id-program/chown-takes-setuid/*"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			was, err := fs.Getattr(op, ino)
			if err != nil {
				return was, err
			}
			a, err := fs.Setattr(op, ino, set)
			if err == nil && set.Mask&(vfs.SetUID|vfs.SetGID) != 0 {
				a, err = fs.Setattr(asRoot(op), ino, &vfs.SetAttr{Mask: vfs.SetMode, Mode: was.Mode & vfs.ModePerm})
			}
			return a, err
		}),
	},
	{
		Name: "owners-have-16-bits", Text: "User and group ids above 65535 are cut.",
		Cases: []string{"attributes/chown/id-65536/*", "attributes/chown/id-4294967294/*"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			s := *set
			s.UID, s.GID = s.UID&0xffff, s.GID&0xffff
			return fs.Setattr(op, ino, &s)
		}),
	},
	{
		Name: "writing-keeps-set-id-bits", Text: "A write by who is not root leaves setuid.",
		Cases: []string{"attributes/write-set-id/owner/write", "attributes/write-set-id/writer/pwrite"},
		breach: func() breach {
			return breach{
				write: func(h vfs.Handle, op *vfs.Op, p []byte, off int64) (int, error) { return h.Write(asRoot(op), p, off) },
				// The kernel also asks for it by a change of nothing.
				setattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
					if set.Mask&^(vfs.SetKillPriv|vfs.SetCtime) == 0 {
						return fs.Getattr(op, ino)
					}
					return fs.Setattr(op, ino, set)
				},
			}
		},
	},
	{
		Name: "truncating-keeps-set-id-bits", Text: "A truncate by who is not root leaves setuid.",
		Cases: []string{"attributes/write-set-id/owner/truncate", "attributes/write-set-id/owner/ftruncate"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			if set.Mask&vfs.SetSize == 0 {
				return fs.Setattr(op, ino, set)
			}
			s := *set
			s.Mask &^= vfs.SetKillPriv
			return fs.Setattr(asRoot(op), ino, &s)
		}),
	},
	{
		Name: "birth-is-unknown", Text: "The birth time is 1970.",
		Cases:  []string{"attributes/stat/file/*", "attributes/stat/directory/*"},
		breach: attrBreach(func(a *vfs.Attr) { a.Btime = 0 }),
	},
	{
		Name: "sizes-are-rounded-up", Text: "The size of a file is a multiple of 512.",
		Cases:  []string{"unlink/link/size-and-count-by-both-names/*", "data/truncate/511-to-1"},
		breach: attrBreach(func(a *vfs.Attr) { a.Size = (a.Size + 511) &^ 511 }),
	},
	{
		Name: "sizes-have-32-bits", Text: "The size of a file is reported modulo 4 GiB.",
		Cases:  []string{"data/big/write-at-4-GiB/*", "data/big/write-at-5-GiB/*"},
		breach: attrBreach(func(a *vfs.Attr) { a.Size &= 1<<32 - 1 }),
	},
	{
		Name: "holes-are-counted", Text: "The blocks of a file are its size, holes and all.",
		Cases:  []string{"data/big/write-at-2-GiB/*", "data/holes/reads-as-zero-and-costs-nothing", "data/holes/only-a-hole/*"},
		breach: attrBreach(func(a *vfs.Attr) { a.Blocks = (a.Size + 511) / 512 }),
	},
	{
		Name: "nothing-takes-space", Text: "The blocks of every file are 0.",
		Cases:  []string{"attributes/stat/size-and-blocks/*", "data/holes/reads-as-zero-and-costs-nothing"},
		breach: attrBreach(func(a *vfs.Attr) { a.Blocks = 0 }),
	},
	{
		Name: "sizes-lag-behind", Text: "A file has the size that it had before the last write.",
		Cases: []string{"data/rw/two-descriptors/*", "rename/open-file/dirty-when-renamed/*"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, write: func(h vfs.Handle, op *vfs.Op, p []byte, off int64) (int, error) {
				l.tell(h.Ino(), func(a *vfs.Attr) { a.Size -= min(a.Size, uint64(len(p))) })
				return h.Write(op, p, off)
			}}
		},
	},
	{
		Name: "statfs-is-a-constant", Text: "The free space is always the same.",
		Cases: []string{"unlink/open-unlinked/space/*", "attributes/statfs/free-inodes/*"},
		breach: func() breach {
			return breach{statfs: func(vfs.FS, *vfs.Op) (vfs.Statfs, error) {
				return vfs.Statfs{BlockSize: 4096, Blocks: 1 << 30, BlocksFree: 1 << 29, BlocksAvail: 1 << 29, Files: 1 << 30, FilesFree: 1 << 29, NameMax: 255}, nil
			}}
		},
	},
	{
		Name: "statfs-does-not-add-up", Text: "More is free than there is.",
		Cases: []string{"attributes/statfs/numbers/*"},
		breach: func() breach {
			return breach{statfs: func(fs vfs.FS, op *vfs.Op) (vfs.Statfs, error) {
				st, err := fs.Statfs(op)
				st.BlocksFree, st.FilesFree = st.Blocks+1, st.Files+1
				return st, err
			}}
		},
	},
	{
		Name: "names-have-no-longest", Text: "statfs does not say how long names may be.",
		Cases: []string{"names/statfs/says-names-have-255-bytes", "attributes/statfs/numbers/*"},
		breach: func() breach {
			return breach{statfs: func(fs vfs.FS, op *vfs.Op) (vfs.Statfs, error) {
				st, err := fs.Statfs(op)
				st.NameMax = 0
				return st, err
			}}
		},
	},
}
