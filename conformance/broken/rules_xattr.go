package broken

import (
	"strings"
	"sync"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// setsXattr makes a breach of setxattr alone.
func setsXattr(f func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error) func() breach {
	return func() breach { return breach{setxattr: f} }
}

// acls are the attributes by which POSIX ACLs are set.
const (
	aclAccess  = "system.posix_acl_access"
	aclDefault = "system.posix_acl_default"
)

var xattrRules = []Rule{
	{
		Name: "rename-loses-xattrs", Text: "A file that is renamed loses its attributes.",
		Cases: []string{"xattr/life/rename-link-unlink/*", "xattr/namespace/trusted/fifo/*"},
		breach: renames(func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, to vfs.Ino, newName string, flags uint32) error {
			if a, err := fs.Lookup(asRoot(op), parent, name); err == nil {
				list, _ := fs.Listxattr(asRoot(op), a.Ino)
				for _, x := range list {
					_ = fs.Removexattr(asRoot(op), a.Ino, x)
				}
			}
			return fs.Rename(op, parent, name, to, newName, flags)
		}),
	},
	{
		Name: "chmod-loses-xattrs", Text: "A file whose mode changes loses its attributes.",
		Cases: []string{"xattr/life/writing-truncating-chmod/*"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			if set.Mask&vfs.SetMode != 0 {
				_ = fs.Removexattr(asRoot(op), ino, "user.a")
			}
			return fs.Setattr(op, ino, set)
		}),
	},
	{
		Name: "xattrs-are-not-listed", Text: "listxattr finds nothing.",
		Cases: []string{"xattr/basics/set-get-list-remove", "xattr/name/of-1-bytes-after-the-prefix/*"},
		breach: func() breach {
			return breach{listxattr: func(vfs.FS, *vfs.Op, vfs.Ino) ([]string, error) { return nil, nil }}
		},
	},
	{
		Name: "XATTR_CREATE-is-ignored", Text: "XATTR_CREATE replaces.",
		Cases: []string{"xattr/basics/file/CREATE-of-an-existing-one/*", "xattr/basics/empty-value/*"},
		breach: setsXattr(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
			return fs.Setxattr(op, ino, name, value, flags&^vfs.XattrCreate)
		}),
	},
	{
		Name: "XATTR_REPLACE-is-ignored", Text: "XATTR_REPLACE creates.",
		Cases: []string{"xattr/basics/file/REPLACE-of-a-new-one/*", "xattr/basics/directory/REPLACE-of-a-new-one/*"},
		breach: setsXattr(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
			return fs.Setxattr(op, ino, name, value, flags&^vfs.XattrReplace)
		}),
	},
	{
		Name: "xattrs-end-at-255-bytes", Text: "The value of an attribute is cut after 255 bytes.",
		Cases: []string{"xattr/size/value-of-256-bytes/*", "xattr/size/growing-and-shrinking/*"},
		breach: setsXattr(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
			return fs.Setxattr(op, ino, name, value[:min(len(value), 255)], flags)
		}),
	},
	{
		Name: "xattrs-end-at-4096-bytes", Text: "A value of more than 4096 bytes is ENOSPC.",
		Cases: []string{"xattr/size/value-of-5000-bytes/*", "xattr/size/value-of-65536-bytes/*"},
		breach: setsXattr(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
			if len(value) > 4096 {
				return syscall.ENOSPC
			}
			return fs.Setxattr(op, ino, name, value, flags)
		}),
	},
	{
		Name: "empty-xattrs-vanish", Text: "An attribute with an empty value is removed.",
		Cases: []string{"xattr/basics/empty-value/*"},
		breach: setsXattr(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
			if len(value) > 0 {
				return fs.Setxattr(op, ino, name, value, flags)
			}
			if err := fs.Removexattr(op, ino, name); err != syscall.ENODATA {
				return err
			}
			return nil
		}),
	},
	{
		Name: "xattr-names-fold-case", Text: "Names of attributes that differ in case only are one.",
		Cases: []string{"xattr/name/case-matters", "xattr/name/upper-case/*"},
		breach: setsXattr(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
			return fs.Setxattr(op, ino, strings.ToLower(name), value, flags)
		}),
	},
	{
		Name: "xattrs-leave-ctime", Text: "Setting an attribute does not move the ctime.",
		Cases: []string{"xattr/life/setting-one/*", "attributes/times/setxattr"},
		breach: func() breach {
			var l lies
			return breach{attr: l.attr, setxattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
				if a, err := fs.Getattr(op, ino); err == nil {
					l.tell(ino, ctime(a))
				}
				return fs.Setxattr(op, ino, name, value, flags)
			}}
		},
	},
	{
		Name: "trusted-xattrs-are-seen-by-all", Text: "Everybody lists trusted attributes.",
		Cases: []string{"xattr/permission/trusted/*"},
		breach: func() breach {
			return breach{listxattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino) ([]string, error) { return fs.Listxattr(asRoot(op), ino) }}
		},
	},
	{
		Name: "user-xattrs-ask-nobody", Text: "Attributes are read without permission to read the file.",
		Cases: []string{"xattr/permission/user/file/other/mode-0770", "xattr/permission/user/directory/group/mode-0707"},
		breach: func() breach {
			return breach{getxattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string) ([]byte, error) {
				return fs.Getxattr(asRoot(op), ino, name)
			}}
		},
	},
	{
		Name: "removexattr-removes-nothing", Text: "removexattr says that it worked and leaves the attribute.",
		Cases: []string{"xattr/basics/set-get-list-remove", "xattr/acl/removed/*"},
		breach: func() breach {
			return breach{removexattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string) error {
				_, err := fs.Getxattr(asRoot(op), ino, name)
				return err
			}}
		},
	},
	{
		Name: "acls-grant-nothing", Text: "An ACL is kept and shown, but does not decide who may what.",
		Cases: []string{"xattr/acl-access/all-by-name/named-user", "xattr/acl-access/all-by-name/named-group", "xattr/acl-chmod/list/*"},
		breach: func() breach {
			var mu sync.Mutex
			kept := make(map[vfs.Ino][]byte)
			return breach{
				setxattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
					if name != aclAccess {
						return fs.Setxattr(op, ino, name, value, flags)
					}
					mu.Lock()
					defer mu.Unlock()
					kept[ino] = append([]byte(nil), value...)
					return nil
				},
				getxattr: func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, name string) ([]byte, error) {
					mu.Lock()
					defer mu.Unlock()
					if v, ok := kept[ino]; ok && name == aclAccess {
						return v, nil
					}
					return fs.Getxattr(op, ino, name)
				},
			}
		},
	},
	{
		Name: "chmod-leaves-the-mask", Text: "chmod does not change the mask of an ACL.",
		Cases: []string{"xattr/acl-chmod/chmod-0700/*", "xattr/acl-chmod/chmod-0640/*"},
		breach: sets(func(fs vfs.FS, op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
			acl, aclErr := fs.Getxattr(op, ino, aclAccess)
			a, err := fs.Setattr(op, ino, set)
			if err == nil && aclErr == nil && set.Mask&vfs.SetMode != 0 {
				err = fs.Setxattr(asRoot(op), ino, aclAccess, acl, 0)
			}
			return a, err
		}),
	},
	{
		Name: "default-acls-are-not-inherited", Text: "A new file takes nothing from the default ACL of its directory.",
		Cases: []string{"xattr/acl-default/file-of-mode-0666/*", "xattr/acl-default/file-of-mode-0777/*"},
		breach: func() breach {
			return breach{create: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
				a, h, err := fs.Create(op, parent, name, mode, flags)
				if err == nil && fs.Removexattr(asRoot(op), a.Ino, aclAccess) == nil {
					a, err = fs.Setattr(asRoot(op), a.Ino, &vfs.SetAttr{Mask: vfs.SetMode, Mode: mode &^ op.Umask})
				}
				return a, h, err
			}}
		},
	},
	{
		Name: "default-acls-do-not-spread", Text: "A new directory does not take over the default ACL.",
		Cases: []string{"xattr/acl-default/directory-of-mode-0777/*"},
		breach: func() breach {
			return breach{mkdir: func(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error) {
				a, err := fs.Mkdir(op, parent, name, mode)
				if err == nil {
					_ = fs.Removexattr(asRoot(op), a.Ino, aclDefault)
				}
				return a, err
			}}
		},
	},
}
