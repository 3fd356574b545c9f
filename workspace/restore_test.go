package workspace

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/vfs"
)

// TestRestoreKeepsReservation restores a file that has space reserved past its
// end, whose path a diff then calls modified though its inode is another.
func TestRestoreKeepsReservation(t *testing.T) {
	ctx := context.Background()
	x := newReplicas(t, 1, nil)
	a := x.on(0)
	a.write("f", strings.Repeat("x", 10000))
	h, err := a.w.Open(rootOp, a.ino("f"), syscall.O_RDWR)
	must(t, err)
	must(t, h.Fallocate(rootOp, fallocKeepSize, 0, 1<<20))
	h.Release(rootOp)
	was, err := a.w.Getattr(rootOp, a.ino("f"))
	must(t, err)
	s, err := a.w.Snapshot(ctx, "s")
	must(t, err)
	a.rm("f")
	_, err = a.w.Restore(ctx, s.Commit, "f")
	must(t, err)
	is, err := a.w.Getattr(rootOp, a.ino("f"))
	must(t, err)
	if is.Size != was.Size || is.Blocks != was.Blocks || is.Ino == was.Ino {
		t.Errorf("restored: %+v, it was %+v", is, was)
	}
	checkClean(t, a.w)
	d, err := a.w.Diff(ctx, s.Commit, syncHead(t, a.w))
	must(t, err)
	for _, x := range d {
		if x.Path == "f" && x.Kind != Modified {
			t.Errorf("diff: %+v", d)
		}
	}
}

// TestCapabilityGoes drops the capabilities of a program that changes, as Linux
// does.
func TestCapabilityGoes(t *testing.T) {
	x := newReplicas(t, 1, nil)
	a := x.on(0)
	for what, change := range map[string]func(h vfs.Handle) error{
		"write": func(h vfs.Handle) error { _, err := h.Write(rootOp, []byte("y"), 0); return err },
		"truncate": func(h vfs.Handle) error {
			_, err := a.w.Setattr(rootOp, h.Ino(), &vfs.SetAttr{Mask: vfs.SetSize, Size: 1, Handle: h})
			return err
		},
		"punch": func(h vfs.Handle) error { return h.Fallocate(rootOp, fallocKeepSize|fallocPunchHole, 0, 1) },
		"chown": func(h vfs.Handle) error {
			_, err := a.w.Setattr(rootOp, h.Ino(), &vfs.SetAttr{Mask: vfs.SetUID, UID: 5})
			return err
		},
		"open": func(h vfs.Handle) error {
			again, err := a.w.Open(rootOp, h.Ino(), syscall.O_WRONLY|syscall.O_TRUNC)
			if err == nil {
				again.Release(rootOp)
			}
			return err
		},
	} {
		a.write("f", "xx")
		a.setxattr("f", xattrCapability, "caps")
		a.setxattr("f", "user.a", "kept")
		h, err := a.w.Open(rootOp, a.ino("f"), syscall.O_RDWR)
		must(t, err)
		must(t, change(h))
		h.Release(rootOp)
		if names, err := a.w.Listxattr(rootOp, a.ino("f")); err != nil || strings.Join(names, " ") != "user.a" {
			t.Errorf("after %s it has %v, %v", what, names, err)
		}
		a.rm("f")
	}
	a.write("f", "xx")
	a.setxattr("f", xattrCapability, "caps")
	a.chmod("f", 0o700)
	if names, err := a.w.Listxattr(rootOp, a.ino("f")); err != nil || len(names) != 1 {
		t.Errorf("after chmod it has %v, %v", names, err)
	}
	checkClean(t, a.w)
}

// TestMoveHeadQuota refuses a head that exceeds the quota.
func TestMoveHeadQuota(t *testing.T) {
	x := newReplicas(t, 2, nil)
	a, b := x.on(0), x.on(1)
	b.w.SetQuota(Quota{Inodes: 3})
	old := syncHead(t, b.w)
	for _, f := range []string{"1", "2", "3", "4"} {
		a.write(f, f)
	}
	r, err := a.w.Merge(context.Background(), old, MergeOptions{})
	must(t, err)
	if err := b.w.MoveHead(context.Background(), old, r.Head); vfs.ToErrno(err) != syscall.EDQUOT {
		t.Errorf("the head moves past the quota: %v", err)
	}
	must(t, a.w.MoveHead(context.Background(), syncHead(t, a.w), r.Head))
}
