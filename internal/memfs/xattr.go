package memfs

import (
	"sort"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

const (
	xattrCapability = "security.capability"
	prefixUser      = "user."
	prefixTrusted   = "trusted."
	prefixSecurity  = "security."
)

// xattrMay checks that the caller may read (or write) the attribute name.
func xattrMay(op *vfs.Op, n *inode, name string, write bool) error {
	switch {
	case len(name) > vfs.MaxXattrName:
		return syscall.ERANGE
	case name == prefixUser, name == prefixTrusted, name == prefixSecurity:
		return syscall.EINVAL
	case strings.HasPrefix(name, prefixUser):
		return userXattrMay(op, n, write)
	case strings.HasPrefix(name, prefixTrusted):
		switch {
		case op.Capable(vfs.CapSysAdmin, nil):
			return nil
		case write:
			return syscall.EPERM
		}
		return syscall.ENODATA
	case strings.HasPrefix(name, prefixSecurity):
		if write && !maySetSecurity(op, n, name) {
			return syscall.EPERM
		}
		return nil
	case name == vfs.XattrACLAccess, name == vfs.XattrACLDefault:
		if write && !op.Owns(&n.attr) {
			return syscall.EPERM
		}
		if n.attr.IsSymlink() {
			return syscall.EOPNOTSUPP
		}
		return nil
	}
	return syscall.EOPNOTSUPP
}

func maySetSecurity(op *vfs.Op, n *inode, name string) bool {
	if name == xattrCapability {
		return op.Capable(vfs.CapSetfcap, &n.attr)
	}
	return op.Capable(vfs.CapSysAdmin, nil)
}

// userXattrMay is the rule of user attributes: they are data, so only what has
// data carries them, and its permission bits rule.
func userXattrMay(op *vfs.Op, n *inode, write bool) error {
	if !n.attr.IsRegular() && n.dir == nil {
		if write {
			return syscall.EPERM
		}
		return syscall.ENODATA
	}
	if !write {
		return n.may(op, vfs.MayRead)
	}
	if n.dir != nil && n.attr.Mode&vfs.ModeSticky != 0 && !op.Owns(&n.attr) {
		return syscall.EPERM
	}
	return n.may(op, vfs.MayWrite)
}

// xattr returns the value of name as it is kept, ACLs in their xattr form.
func (n *inode) xattr(name string) ([]byte, bool) {
	switch name {
	case vfs.XattrACLAccess:
		return n.acl.Encode(), n.acl != nil
	case vfs.XattrACLDefault:
		return n.dacl.Encode(), n.dacl != nil
	}
	v, ok := n.xattrs[name]
	return v, ok
}

// Getxattr returns a copy of the value.
func (fs *FS) Getxattr(op *vfs.Op, ino vfs.Ino, name string) ([]byte, error) {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	n, err := fs.get(ino)
	if err != nil {
		return nil, err
	}
	if err := xattrMay(op, n, name, false); err != nil {
		return nil, err
	}
	v, ok := n.xattr(name)
	if !ok {
		return nil, syscall.ENODATA
	}
	return append([]byte{}, v...), nil
}

// Setxattr sets an attribute; setting an ACL sets the mode it stands for.
func (fs *FS) Setxattr(op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
	fs.mu.Lock()
	err := fs.setxattr(op, ino, name, value, flags)
	fs.mu.Unlock()
	if err == nil {
		fs.announce(op, rightsOf(ino, name == vfs.XattrACLAccess))
	}
	return err
}

func (fs *FS) setxattr(op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
	n, err := fs.get(ino)
	if err != nil {
		return err
	}
	if err := xattrMay(op, n, name, true); err != nil {
		return err
	}
	if len(value) > vfs.MaxXattrValue {
		return syscall.E2BIG
	}
	_, exists := n.xattr(name)
	switch {
	case flags&^(vfs.XattrCreate|vfs.XattrReplace) != 0 || flags == vfs.XattrCreate|vfs.XattrReplace:
		return syscall.EINVAL
	case flags&vfs.XattrCreate != 0 && exists:
		return syscall.EEXIST
	case flags&vfs.XattrReplace != 0 && !exists:
		return syscall.ENODATA
	}
	switch name {
	case vfs.XattrACLAccess, vfs.XattrACLDefault:
		if err := n.setACL(op, name, value); err != nil {
			return err
		}
	default:
		if n.xattrs == nil {
			n.xattrs = map[string][]byte{}
		}
		n.xattrs[name] = append([]byte{}, value...)
	}
	n.attr.Ctime = now()
	return nil
}

func (n *inode) setACL(op *vfs.Op, name string, value []byte) error {
	acl, err := vfs.ParseACL(value)
	if err != nil {
		return err
	}
	if name == vfs.XattrACLDefault {
		if n.dir == nil && acl != nil {
			return syscall.EACCES
		}
		n.dacl = acl
		return nil
	}
	if acl == nil {
		n.acl = nil
		return nil
	}
	perm, exact := acl.Mode()
	n.attr.Mode = n.attr.Mode&^0o777 | perm
	n.attr.Mode = vfs.SettableMode(n.attr.Mode, &n.attr, &op.Cred)
	n.acl = acl
	if exact {
		n.acl = nil
	}
	return nil
}

// Listxattr returns the names, sorted; trusted ones to root only.
func (fs *FS) Listxattr(op *vfs.Op, ino vfs.Ino) ([]string, error) {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	n, err := fs.get(ino)
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range n.xattrs {
		if !strings.HasPrefix(name, prefixTrusted) || op.Capable(vfs.CapSysAdmin, nil) {
			names = append(names, name)
		}
	}
	if n.acl != nil {
		names = append(names, vfs.XattrACLAccess)
	}
	if n.dacl != nil {
		names = append(names, vfs.XattrACLDefault)
	}
	sort.Strings(names)
	return names, nil
}

// Removexattr removes an attribute; ENODATA when there is none.
func (fs *FS) Removexattr(op *vfs.Op, ino vfs.Ino, name string) error {
	fs.mu.Lock()
	err := fs.removexattr(op, ino, name)
	fs.mu.Unlock()
	if err == nil {
		fs.announce(op, rightsOf(ino, name == vfs.XattrACLAccess))
	}
	return err
}

func (fs *FS) removexattr(op *vfs.Op, ino vfs.Ino, name string) error {
	n, err := fs.get(ino)
	if err != nil {
		return err
	}
	if err := xattrMay(op, n, name, true); err != nil {
		return err
	}
	if _, ok := n.xattr(name); !ok {
		// To be without an ACL is what was asked for.
		if name == vfs.XattrACLAccess || name == vfs.XattrACLDefault {
			return nil
		}
		return syscall.ENODATA
	}
	switch name {
	case vfs.XattrACLAccess:
		n.acl = nil
	case vfs.XattrACLDefault:
		n.dacl = nil
	default:
		delete(n.xattrs, name)
	}
	n.attr.Ctime = now()
	return nil
}
