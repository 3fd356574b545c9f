package workspace

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// The first byte of an xattr key's value tells where the attribute's value is;
// part of the format.
const (
	xattrInline = 0 // it follows
	xattrChunk  = 1 // a digest follows: one chunk holds it
)

// xattrInlineMax is the longest value that stays in the tree.
const xattrInlineMax = 2 << 10

// Getxattr implements vfs.FS.
func (w *Workspace) Getxattr(op *vfs.Op, ino vfs.Ino, name string) ([]byte, error) {
	if err := w.prepareXattrs(op, ino); err != nil {
		return nil, fmt.Errorf("xattr %q of inode %d: %w", name, ino, err)
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	n, err := w.load(ino)
	if err != nil {
		return nil, err
	}
	if err := w.mayXattr(op, n, name, vfs.MayRead); err != nil {
		return nil, err
	}
	v, ok, err := w.xattr(n, name)
	if err == nil && !ok {
		err = syscall.ENODATA
	}
	return v, err
}

// xattr returns a copy of an attribute's value.
func (w *Workspace) xattr(n *inode, name string) ([]byte, bool, error) {
	if n.orphan {
		v, ok := n.v.orphanXattrs[name]
		return append([]byte{}, v...), ok, nil
	}
	if n.v.flags&flagXattr == 0 {
		return nil, false, nil
	}
	b, ok, err := w.layers.get(xattrKey(n.ino, name))
	if err != nil || !ok {
		return nil, false, err
	}
	v, err := w.decodeXattr(b)
	if err != nil {
		return nil, false, fmt.Errorf("xattr %q of inode %d: %w", name, n.ino, err)
	}
	return v, true, nil
}

func (w *Workspace) decodeXattr(b []byte) ([]byte, error) {
	switch {
	case len(b) > 0 && b[0] == xattrInline:
		return append([]byte{}, b[1:]...), nil
	case len(b) == 33 && b[0] == xattrChunk:
		v, err := w.chunks.Get(context.Background(), chunk.ID(b[1:]))
		return append([]byte{}, v...), err
	}
	return nil, fmt.Errorf("bad value: %w", vfs.ErrCorrupt)
}

// mayXattr applies the rules of xattr(7): which namespaces there are, who may
// use them, and on what.
func (w *Workspace) mayXattr(op *vfs.Op, n *inode, name string, mask uint32) error {
	if name == "" || len(name) > vfs.MaxXattrName {
		return syscall.ERANGE
	}
	switch {
	case name == "user." || name == "trusted." || name == "security.":
		return syscall.EINVAL
	case strings.HasPrefix(name, "user."):
		if !n.v.IsRegular() && !n.v.IsDir() {
			if mask == vfs.MayRead {
				return syscall.ENODATA
			}
			return syscall.EPERM
		}
		if mask == vfs.MayWrite && n.v.IsDir() && n.v.Mode&vfs.ModeSticky != 0 && !op.Owns(&n.v.Attr) {
			return syscall.EPERM
		}
		return w.permit(op, n, mask)
	case strings.HasPrefix(name, "trusted."):
		if !op.Capable(vfs.CapSysAdmin, nil) {
			if mask == vfs.MayRead {
				return syscall.ENODATA
			}
			return syscall.EPERM
		}
		return nil
	case strings.HasPrefix(name, "security."):
		if mask == vfs.MayWrite && !maySetSecurity(op, n, name) {
			return syscall.EPERM
		}
		return nil
	case name == vfs.XattrACLAccess || name == vfs.XattrACLDefault:
		if n.v.IsSymlink() {
			return syscall.EOPNOTSUPP
		}
		if mask == vfs.MayWrite && !op.Owns(&n.v.Attr) {
			return syscall.EPERM
		}
		return nil
	}
	return syscall.EOPNOTSUPP
}

// Setxattr implements vfs.FS.
func (w *Workspace) Setxattr(op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
	if flags&^(vfs.XattrCreate|vfs.XattrReplace) != 0 {
		return syscall.EINVAL
	}
	if len(value) > vfs.MaxXattrValue {
		return syscall.E2BIG
	}
	return w.mutate(op, func(b *batch) error {
		n, err := w.load(ino)
		if err != nil {
			return err
		}
		if err := w.mayXattr(op, n, name, vfs.MayWrite); err != nil {
			return err
		}
		_, exists, err := w.xattr(n, name)
		switch {
		case err != nil:
			return err
		case exists && flags&vfs.XattrCreate != 0:
			return syscall.EEXIST
		case !exists && flags&vfs.XattrReplace != 0:
			return syscall.ENODATA
		}
		v := n.v
		v.Ctime = now()
		b.set(n, v)
		b.change(vfs.Change{Kind: vfs.ChangeAttr, Ino: ino, Rights: name == vfs.XattrACLAccess})
		if name == vfs.XattrACLAccess || name == vfs.XattrACLDefault {
			return w.setACL(op, b, n, name, value)
		}
		if !exists {
			if err := w.roomForXattr(n, name); err != nil {
				return err
			}
		}
		w.putXattr(b, n, name, value)
		return nil
	})
}

// putXattr stores a value and marks the inode as having some.
func (w *Workspace) putXattr(b *batch, n *inode, name string, value []byte) {
	v := b.value(n)
	v.flags |= flagXattr
	if n.orphan {
		v.orphanXattrs = withXattr(v.orphanXattrs, name, value)
	} else {
		b.put(xattrKey(n.ino, name), append([]byte{xattrInline}, value...))
	}
	b.set(n, v)
}

func withXattr(old map[string][]byte, name string, value []byte) map[string][]byte {
	m := make(map[string][]byte, len(old)+1)
	for k, v := range old {
		m[k] = v
	}
	delete(m, name)
	if value != nil {
		m[name] = append([]byte{}, value...)
	}
	return m
}

// roomForXattr keeps the names of all attributes within what listxattr may
// return.
func (w *Workspace) roomForXattr(n *inode, name string) error {
	names, err := w.xattrNames(n)
	if err != nil {
		return err
	}
	total := len(name) + 1
	for _, s := range names {
		if !isPrivate(s) {
			total += len(s) + 1
		}
	}
	if total > vfs.MaxXattrList {
		return syscall.ENOSPC
	}
	return nil
}

func maySetSecurity(op *vfs.Op, n *inode, name string) bool {
	if name == xattrCapability {
		return op.Capable(vfs.CapSetfcap, &n.v.Attr)
	}
	return op.Capable(vfs.CapSysAdmin, nil)
}

// Listxattr implements vfs.FS.
func (w *Workspace) Listxattr(op *vfs.Op, ino vfs.Ino) ([]string, error) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	n, err := w.load(ino)
	if err != nil {
		return nil, err
	}
	names, err := w.xattrNames(n)
	if err != nil {
		return nil, err
	}
	privileged := op.Capable(vfs.CapSysAdmin, nil)
	visible := names[:0]
	for _, s := range names {
		if !isPrivate(s) && (privileged || !strings.HasPrefix(s, "trusted.")) {
			visible = append(visible, s)
		}
	}
	return visible, err
}

// xattrNames lists an inode's attributes in order.
func (w *Workspace) xattrNames(n *inode) ([]string, error) {
	if n.orphan {
		return sortedKeys(n.v.orphanXattrs), nil
	}
	if n.v.flags&flagXattr == 0 {
		return nil, nil
	}
	var names []string
	lo, hi := inoRange(keyXattr, n.ino)
	err := w.layers.scan(context.Background(), lo, hi, func(k, _ []byte) (bool, error) {
		names = append(names, string(keySuffix(k)))
		return true, nil
	})
	return names, err
}

// Removexattr implements vfs.FS.
func (w *Workspace) Removexattr(op *vfs.Op, ino vfs.Ino, name string) error {
	return w.mutate(op, func(b *batch) error {
		n, err := w.load(ino)
		if err != nil {
			return err
		}
		if err := w.mayXattr(op, n, name, vfs.MayWrite); err != nil {
			return err
		}
		_, exists, err := w.xattr(n, name)
		if err != nil {
			return err
		}
		if !exists {
			// To be without an ACL is what was asked for.
			if name == vfs.XattrACLAccess || name == vfs.XattrACLDefault {
				return nil
			}
			return syscall.ENODATA
		}
		v := n.v
		v.Ctime = now()
		b.set(n, v)
		b.change(vfs.Change{Kind: vfs.ChangeAttr, Ino: ino, Rights: name == vfs.XattrACLAccess})
		return w.deleteXattr(b, n, name)
	})
}

// deleteXattr forgets one attribute, and the inode's flag with the last.
func (w *Workspace) deleteXattr(b *batch, n *inode, name string) error {
	v := b.value(n)
	if n.orphan {
		v.orphanXattrs = withXattr(v.orphanXattrs, name, nil)
	} else {
		names, err := w.xattrNames(n)
		if err != nil {
			return err
		}
		if len(names) == 1 && names[0] == name {
			v.flags &^= flagXattr
		}
		b.delete(xattrKey(n.ino, name))
	}
	switch name {
	case vfs.XattrACLAccess:
		v.flags &^= flagACL
	case vfs.XattrACLDefault:
		v.flags &^= flagDefaultACL
	}
	b.set(n, v)
	return nil
}

// removeXattrs takes the attributes of an inode that loses its last name out
// of the map, into memory.
func (w *Workspace) removeXattrs(b *batch, n *inode) error {
	names, err := w.xattrNames(n)
	if err != nil || n.orphan {
		return err
	}
	kept := map[string][]byte{}
	for _, name := range names {
		if kept[name], _, err = w.xattr(n, name); err != nil && !w.promisedHere(err) {
			return err
		}
		b.delete(xattrKey(n.ino, name))
	}
	n.v.orphanXattrs = kept
	return nil
}

// xattrCapability holds what a program may do beyond what its caller may. It
// goes when the program changes, whoever changes it, as on Linux.
const xattrCapability = "security.capability"

// dropCapability forgets the capabilities of a file that is written to or given
// away. b has n's new attributes already.
func (w *Workspace) dropCapability(b *batch, n *inode) error {
	if n.v.flags&flagXattr == 0 && len(n.v.orphanXattrs) == 0 {
		return nil
	}
	_, there, err := w.xattr(n, xattrCapability)
	if err != nil || !there {
		return err
	}
	return w.deleteXattr(b, n, xattrCapability)
}

// accessACL returns the ACL that decides who may use n, nil when its mode does.
func (w *Workspace) accessACL(n *inode) (vfs.ACL, error) {
	return w.acl(n, flagACL, vfs.XattrACLAccess)
}

func (w *Workspace) acl(n *inode, flag uint8, name string) (vfs.ACL, error) {
	if n.v.flags&flag == 0 {
		return nil, nil
	}
	b, ok, err := w.xattr(n, name)
	if err != nil || !ok {
		return nil, err
	}
	return vfs.ParseACL(b)
}

// setACL stores an ACL; an access ACL is the mode's other face.
func (w *Workspace) setACL(op *vfs.Op, b *batch, n *inode, name string, value []byte) error {
	acl, err := vfs.ParseACL(value)
	if err != nil {
		return err
	}
	if name == vfs.XattrACLDefault {
		if !n.v.IsDir() {
			return syscall.EACCES
		}
		if acl == nil {
			return w.dropACL(b, n, flagDefaultACL, name)
		}
		w.putACL(b, n, flagDefaultACL, name, acl)
		return nil
	}
	if acl == nil {
		return w.dropACL(b, n, flagACL, name)
	}
	perm, exact := acl.Mode()
	v := b.value(n)
	v.Mode = v.Mode&^0o777 | perm
	v.Mode = vfs.SettableMode(v.Mode, &v.Attr, &op.Cred)
	b.set(n, v)
	if exact {
		return w.dropACL(b, n, flagACL, name)
	}
	w.putACL(b, n, flagACL, name, acl)
	return nil
}

func (w *Workspace) putACL(b *batch, n *inode, flag uint8, name string, acl vfs.ACL) {
	w.putXattr(b, n, name, acl.Encode())
	v := b.value(n)
	v.flags |= flag
	b.set(n, v)
}

func (w *Workspace) dropACL(b *batch, n *inode, flag uint8, name string) error {
	if b.value(n).flags&flag == 0 {
		return nil
	}
	return w.deleteXattr(b, n, name)
}

// inheritACL gives a new inode the ACLs that its directory hands down, or
// applies the umask where it hands down none.
func (w *Workspace) inheritACL(op *vfs.Op, b *batch, dir, n *inode, v *inodeValue) error {
	if v.IsSymlink() {
		return nil
	}
	def, err := w.acl(dir, flagDefaultACL, vfs.XattrACLDefault)
	if err != nil {
		return err
	}
	if def == nil {
		v.Mode &^= op.Umask & 0o777
		return nil
	}
	mode, acl := def.Inherit(v.Mode)
	v.Mode = mode
	put := func(name string, flag uint8, l vfs.ACL) {
		v.flags |= flag | flagXattr
		if n.orphan {
			v.orphanXattrs = withXattr(v.orphanXattrs, name, l.Encode())
			return
		}
		b.put(xattrKey(n.ino, name), append([]byte{xattrInline}, l.Encode()...))
	}
	if acl != nil {
		put(vfs.XattrACLAccess, flagACL, acl)
	}
	if v.IsDir() {
		put(vfs.XattrACLDefault, flagDefaultACL, def)
	}
	return nil
}
