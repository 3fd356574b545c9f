package workspace

import (
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// Every change goes through here: what lies below .vfsd cannot be changed.

// Symlink implements vfs.FS.
func (b *browser) Symlink(op *vfs.Op, parent vfs.Ino, name, target string) (vfs.Attr, error) {
	if err := refuseName(parent, name, syscall.EEXIST); err != nil {
		return vfs.Attr{}, err
	}
	return b.Workspace.Symlink(op, parent, name, target)
}

// Mknod implements vfs.FS.
func (b *browser) Mknod(op *vfs.Op, parent vfs.Ino, name string, mode, rdev uint32) (vfs.Attr, error) {
	if err := refuseName(parent, name, syscall.EEXIST); err != nil {
		return vfs.Attr{}, err
	}
	return b.Workspace.Mknod(op, parent, name, mode, rdev)
}

// Mkdir implements vfs.FS.
func (b *browser) Mkdir(op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error) {
	if err := refuseName(parent, name, syscall.EEXIST); err != nil {
		return vfs.Attr{}, err
	}
	return b.Workspace.Mkdir(op, parent, name, mode)
}

// Create implements vfs.FS.
func (b *browser) Create(op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	if err := refuseName(parent, name, syscall.EEXIST); err != nil {
		return vfs.Attr{}, nil, err
	}
	return b.Workspace.Create(op, parent, name, mode, flags)
}

// Tmpfile implements vfs.FS.
func (b *browser) Tmpfile(op *vfs.Op, parent vfs.Ino, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	if err := refuse(parent); err != nil {
		return vfs.Attr{}, nil, err
	}
	return b.Workspace.Tmpfile(op, parent, mode, flags)
}

// Link implements vfs.FS.
func (b *browser) Link(op *vfs.Op, ino, newParent vfs.Ino, newName string) (vfs.Attr, error) {
	if err := refuseName(newParent, newName, syscall.EEXIST); err != nil {
		return vfs.Attr{}, err
	}
	if slotOf(ino) != 0 {
		return vfs.Attr{}, syscall.EXDEV
	}
	return b.Workspace.Link(op, ino, newParent, newName)
}

// Unlink implements vfs.FS.
func (b *browser) Unlink(op *vfs.Op, parent vfs.Ino, name string) error {
	if err := refuseName(parent, name, syscall.EPERM); err != nil {
		return err
	}
	return b.Workspace.Unlink(op, parent, name)
}

// Rmdir implements vfs.FS.
func (b *browser) Rmdir(op *vfs.Op, parent vfs.Ino, name string) error {
	if err := refuseName(parent, name, syscall.EPERM); err != nil {
		return err
	}
	return b.Workspace.Rmdir(op, parent, name)
}

// Rename implements vfs.FS.
func (b *browser) Rename(op *vfs.Op, parent vfs.Ino, name string, newParent vfs.Ino, newName string, flags uint32) error {
	if err := refuseName(parent, name, syscall.EPERM); err != nil {
		return err
	}
	if err := refuseName(newParent, newName, syscall.EPERM); err != nil {
		return err
	}
	return b.Workspace.Rename(op, parent, name, newParent, newName, flags)
}

// Setattr implements vfs.FS.
func (b *browser) Setattr(op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
	if err := refuse(ino); err != nil {
		return vfs.Attr{}, err
	}
	return b.Workspace.Setattr(op, ino, set)
}

// Setxattr implements vfs.FS.
func (b *browser) Setxattr(op *vfs.Op, ino vfs.Ino, name string, value []byte, flags uint32) error {
	if err := refuse(ino); err != nil {
		return err
	}
	return b.Workspace.Setxattr(op, ino, name, value, flags)
}

// Removexattr implements vfs.FS.
func (b *browser) Removexattr(op *vfs.Op, ino vfs.Ino, name string) error {
	if err := refuse(ino); err != nil {
		return err
	}
	return b.Workspace.Removexattr(op, ino, name)
}
