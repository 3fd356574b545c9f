package broken

import (
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

var rightRules = []Rule{
	{
		Name: "open-asks-nobody", Text: "Whoever opens a file gets it.",
		Cases: []string{"open/permission/file/other/mode-0770", "open/permission/file/group/mode-0707", "attributes/chmod/takes-effect-at-once-for-everyone"},
		breach: func() breach {
			return breach{open: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
				return fs.Open(asRoot(op), ino, flags)
			}}
		},
	},
	{
		Name: "access-says-yes", Text: "access(2) allows everything.",
		Cases:  []string{"open/permission/file/other/mode-0770", "open/permission/file/owner/mode-0077"},
		breach: func() breach { return breach{access: func(vfs.FS, *vfs.Op, vfs.Ino, uint32) error { return nil }} },
	},
	{
		Name: "the-other-bits-count-for-all", Text: "Who is not let in by the owner's bits is let in by the others'.",
		Cases: []string{"open/permission/file/owner/mode-0077", "open/permission/file/group/mode-0707"},
		breach: func() breach {
			return breach{open: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
				h, err := fs.Open(op, ino, flags)
				if a, e := fs.Getattr(op, ino); err == syscall.EACCES && e == nil && a.Mode&7 >= 6 {
					return fs.Open(asRoot(op), ino, flags)
				}
				return h, err
			}}
		},
	},
	{
		Name: "further-groups-do-not-count", Text: "Supplementary groups are ignored when a file is opened.",
		Cases: []string{"identity/groups/last-of-1/counts", "identity/groups/last-of-100/counts", "open/permission/file/supplementary-group/mode-0707"},
		breach: func() breach {
			return breach{open: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
				o := *op
				o.Groups = nil
				return fs.Open(&o, ino, flags)
			}}
		},
	},
	{
		Name: "thirty-two-groups-are-the-most", Text: "Only the first 32 supplementary groups count.",
		Cases: []string{"identity/groups/last-of-33/counts", "identity/groups/last-of-1000/counts"},
		breach: func() breach {
			return breach{open: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
				o := *op
				o.Groups = func() []uint32 {
					if op.Groups == nil {
						return nil
					}
					all := op.Groups()
					return all[:min(len(all), 32)]
				}
				return fs.Open(&o, ino, flags)
			}}
		},
	},
	{
		Name: "root-is-like-anyone", Text: "Root needs the permission bits of a file.",
		Cases: []string{"open/permission/file/root/mode-0000", "open/permission/file/root/mode-0111"},
		breach: func() breach {
			return breach{open: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
				o := *op
				if o.UID == 0 {
					o.Cred = vfs.Cred{UID: 65534, GID: 65534}
				}
				return fs.Open(&o, ino, flags)
			}}
		},
	},
	{
		Name: "searching-asks-nobody", Text: "Names are looked up without search permission.",
		Cases: []string{"names/stat/below-unsearchable-directory/*", "open/permission/directory/other/mode-0116"},
		breach: func() breach {
			return breach{lookup: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) (vfs.Attr, error) {
				return fs.Lookup(asRoot(op), parent, name)
			}}
		},
	},
	{
		Name: "unlinking-asks-nobody", Text: "Names are removed without permission to write the directory.",
		Cases: []string{"open/permission/directory/other/mode-0661", "unlink/sticky/bob-removes-alice's-file-from-alice's-directory/*"},
		breach: func() breach {
			return breach{unlink: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
				return fs.Unlink(asRoot(op), parent, name)
			}}
		},
	},
	{
		Name: "sticky-directories-are-not", Text: "The sticky bit of a directory protects nothing.",
		Cases: []string{"unlink/sticky/bob-removes-alice's-file-from-root's-directory/*", "rename/permission/EXCHANGE/another's-source-in-a-sticky-directory/*"},
		breach: func() breach {
			again := func(err error, op *vfs.Op, call func(op *vfs.Op) error) error {
				if err == syscall.EPERM {
					err = call(asRoot(op))
				}
				return err
			}
			return breach{
				unlink: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
					call := func(op *vfs.Op) error { return fs.Unlink(op, parent, name) }
					return again(call(op), op, call)
				},
				rmdir: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
					call := func(op *vfs.Op) error { return fs.Rmdir(op, parent, name) }
					return again(call(op), op, call)
				},
				rename: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
					call := func(op *vfs.Op) error { return fs.Rename(op, parent, name, to, newName, flags) }
					return again(call(op), op, call)
				},
			}
		},
	},
	{
		Name: "moving-asks-not-the-moved", Text: "A directory that may not be written moves to another parent.",
		Cases: []string{"rename/permission/directory-to-another-parent/not-writable/*"},
		breach: renames(func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
			err := fs.Rename(op, parent, name, to, newName, flags)
			if err == syscall.EACCES {
				err = fs.Rename(asRoot(op), parent, name, to, newName, flags)
			}
			return err
		}),
	},
	{
		Name: "chmod-is-for-everyone", Text: "Who does not own a file may set its mode.",
		Cases: []string{"attributes/chmod-permission/file/other/0777/*", "attributes/chmod-permission/directory/member-of-the-file's-group/0640/*"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			if set.Mask&vfs.SetMode != 0 {
				op = asRoot(op)
			}
			return fs.Setattr(op, ino, set)
		}),
	},
	{
		Name: "chmod-gives-setgid-to-strangers", Text: "An owner outside a file's group may make it setgid.",
		Cases: []string{"attributes/chmod-permission/file/owner/2755/*", "attributes/chmod-permission/file/owner/6777/*"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			if a, err := fs.Getattr(op, ino); err == nil && set.Mask&vfs.SetMode != 0 && a.UID == op.UID {
				op = asRoot(op)
			}
			return fs.Setattr(op, ino, set)
		}),
	},
	{
		Name: "chown-is-for-owners", Text: "An owner may give a file away.",
		Cases: []string{"attributes/chown/owner/user-other-group-keep/*", "attributes/chown/owner/user-keep-group-stranger/*"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			if a, err := fs.Getattr(op, ino); err == nil && set.Mask&(vfs.SetUID|vfs.SetGID) != 0 && a.UID == op.UID {
				op = asRoot(op)
			}
			return fs.Setattr(op, ino, set)
		}),
	},
	{
		Name: "chgrp-is-for-root", Text: "An owner may not give a file to another group of theirs.",
		Cases: []string{"attributes/chown/owner/user-keep-group-member/*", "identity/groups/chgrp-to-one's-own/*"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			if op.UID != 0 && set.Mask&vfs.SetGID != 0 {
				return vfs.Attr{}, syscall.EPERM
			}
			return fs.Setattr(op, ino, set)
		}),
	},
	{
		Name: "read-only-new-files-stay-shut", Text: "A file made with a mode that forbids writing cannot be written by who made it.",
		Cases: []string{"open/create-read-only-mode-for-writing/*", "open/mode-0000-then-write-through-that-descriptor/*"},
		breach: func() breach {
			return breach{create: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
				if mode&0o200 == 0 && op.UID != 0 {
					return vfs.Attr{}, nil, syscall.EACCES
				}
				return fs.Create(op, parent, name, mode, flags)
			}}
		},
	},
}
