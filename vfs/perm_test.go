package vfs

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

func user(uid, gid uint32, groups ...uint32) *Cred {
	return &Cred{UID: uid, GID: gid, Groups: func() []uint32 { return groups }}
}

func TestPermits(t *testing.T) {
	file := &Attr{Mode: ModeRegular | 0o640, UID: 1, GID: 10}
	dir := &Attr{Mode: ModeDir | 0o000, UID: 1, GID: 10}
	for _, c := range []struct {
		a    *Attr
		who  *Cred
		mask uint32
		want bool
	}{
		{file, user(1, 99), MayRead | MayWrite, true},
		{file, user(1, 99), MayExec, false},
		{file, user(2, 10), MayRead, true},
		{file, user(2, 10), MayWrite, false},
		{file, user(2, 99, 5, 10), MayRead, true}, // a supplementary group
		{file, user(2, 99, 5), MayRead, false},
		{file, user(0, 0), MayRead | MayWrite, true},
		{file, user(0, 0), MayExec, false}, // nobody may execute it
		{dir, user(0, 0), MayExec | MayWrite, true},
		{dir, user(1, 10), MayRead, false},
		{&Attr{Mode: ModeRegular | 0o070, UID: 1, GID: 10}, user(1, 10), MayRead, false}, // the owner's bits rule
	} {
		if got := Permits(c.a, nil, c.who, c.mask); got != c.want {
			t.Errorf("mode %o, uid %d gid %d, mask %d: %v", c.a.Mode, c.who.UID, c.who.GID, c.mask, got)
		}
	}
}

func TestApplySetattr(t *testing.T) {
	for _, c := range []struct {
		name string
		a    Attr
		who  *Cred
		set  SetAttr
		err  error
		mode uint32
	}{
		{"the owner changes the mode", Attr{Mode: ModeRegular | 0o644, UID: 1, GID: 1}, user(1, 1), SetAttr{Mask: SetMode, Mode: 0o4755}, nil, ModeRegular | 0o4755},
		{"another does not", Attr{Mode: ModeRegular | 0o666, UID: 1, GID: 1}, user(2, 1), SetAttr{Mask: SetMode}, syscall.EPERM, 0},
		{"setgid needs the group", Attr{Mode: ModeRegular | 0o644, UID: 1, GID: 7}, user(1, 1), SetAttr{Mask: SetMode, Mode: 0o2755}, nil, ModeRegular | 0o755},
		{"a symlink has no mode to change", Attr{Mode: ModeSymlink | 0o777, UID: 1}, user(1, 1), SetAttr{Mask: SetMode}, syscall.EOPNOTSUPP, 0},
		{"chown to another user", Attr{Mode: ModeRegular | 0o644, UID: 1, GID: 1}, user(1, 1), SetAttr{Mask: SetUID, UID: 2}, syscall.EPERM, 0},
		{"chown to oneself", Attr{Mode: ModeRegular | 0o4644, UID: 1, GID: 1}, user(1, 1), SetAttr{Mask: SetUID, UID: 1}, nil, ModeRegular | 0o644},
		{"chgrp to one's group", Attr{Mode: ModeRegular | 0o6755, UID: 1, GID: 1}, user(1, 1, 5), SetAttr{Mask: SetGID, GID: 5}, nil, ModeRegular | 0o755},
		{"chgrp to another", Attr{Mode: ModeRegular | 0o755, UID: 1, GID: 1}, user(1, 1), SetAttr{Mask: SetGID, GID: 5}, syscall.EPERM, 0},
		{"root's chown clears set-id bits", Attr{Mode: ModeRegular | 0o6755, UID: 1, GID: 1}, user(0, 0), SetAttr{Mask: SetUID, UID: 3}, nil, ModeRegular | 0o755},
		{"but not a directory's", Attr{Mode: ModeDir | 0o2755, UID: 1, GID: 1}, user(0, 0), SetAttr{Mask: SetUID, UID: 3}, nil, ModeDir | 0o2755},
		{"setgid without group execute stays", Attr{Mode: ModeRegular | 0o2644, UID: 1, GID: 1}, user(0, 0), SetAttr{Mask: SetUID, UID: 3}, nil, ModeRegular | 0o2644},
		{"a writer touches to now", Attr{Mode: ModeRegular | 0o666, UID: 1}, user(2, 2), SetAttr{Mask: SetMtimeNow | SetAtimeNow}, nil, ModeRegular | 0o666},
		{"but not to a time", Attr{Mode: ModeRegular | 0o666, UID: 1}, user(2, 2), SetAttr{Mask: SetMtime}, syscall.EPERM, 0},
		{"a reader touches nothing", Attr{Mode: ModeRegular | 0o644, UID: 1}, user(2, 2), SetAttr{Mask: SetMtimeNow | SetAtimeNow}, syscall.EACCES, 0},
		{"nor does a writer touch one of them", Attr{Mode: ModeRegular | 0o666, UID: 1}, user(2, 2), SetAttr{Mask: SetMtimeNow}, syscall.EPERM, 0},
		{"a change of nothing clears set-id bits", Attr{Mode: ModeRegular | 0o6755, UID: 1}, user(0, 0), SetAttr{}, nil, ModeRegular | 0o755},
		{"a stranger to the group loses setgid", Attr{Mode: ModeRegular | 0o2767, UID: 1, GID: 9}, user(2, 2), SetAttr{Mask: SetSize}, nil, ModeRegular | 0o767},
		{"truncate needs write", Attr{Mode: ModeRegular | 0o444, UID: 1}, user(1, 1), SetAttr{Mask: SetSize}, syscall.EACCES, 0},
		{"a directory has no size to set", Attr{Mode: ModeDir | 0o755, UID: 1}, user(1, 1), SetAttr{Mask: SetSize}, syscall.EISDIR, 0},
		{"truncate kills privileges", Attr{Mode: ModeRegular | 0o6777, UID: 1}, user(2, 2), SetAttr{Mask: SetSize}, nil, ModeRegular | 0o777},
		{"root's does not", Attr{Mode: ModeRegular | 0o6777, UID: 1}, user(0, 0), SetAttr{Mask: SetSize}, nil, ModeRegular | 0o6777},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := c.a
			err := ApplySetattr(&a, nil, c.who, &c.set, 42)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if err != nil {
				if a != c.a {
					t.Error("a refused change left a trace")
				}
				return
			}
			if a.Mode != c.mode || a.Ctime != 42 {
				t.Errorf("mode %o ctime %d, want %o and 42", a.Mode, a.Ctime, c.mode)
			}
		})
	}
}

func TestStickyAndOwner(t *testing.T) {
	sticky := &Attr{Mode: ModeDir | ModeSticky | 0o777, UID: 1}
	theirs := &Attr{UID: 2}
	for uid, want := range map[uint32]error{0: nil, 1: nil, 2: nil, 3: syscall.EPERM} {
		if err := CheckSticky(sticky, theirs, user(uid, 9)); err != want {
			t.Errorf("uid %d: %v", uid, err)
		}
	}
	setgid := &Attr{Mode: ModeDir | ModeSetgid | 0o777, GID: 50}
	if mode, uid, gid := NewOwner(setgid, user(3, 9), ModeDir|0o755); mode != ModeDir|ModeSetgid|0o755 || uid != 3 || gid != 50 {
		t.Errorf("directory in a setgid directory: %o %d %d", mode, uid, gid)
	}
	if mode, _, _ := NewOwner(setgid, user(3, 9), ModeRegular|0o2755); mode != ModeRegular|0o755 {
		t.Errorf("setgid file of a stranger to the group: %o", mode)
	}
}

func acl(entries ...ACLEntry) ACL { return entries }

func TestACL(t *testing.T) {
	l := acl(
		ACLEntry{Tag: ACLOther, Perm: 0}, ACLEntry{Tag: ACLUserOwner, Perm: 7},
		ACLEntry{Tag: ACLUser, Perm: 6, ID: 100}, ACLEntry{Tag: ACLGroupOwner, Perm: 5},
		ACLEntry{Tag: ACLGroup, Perm: 2, ID: 200}, ACLEntry{Tag: ACLMask, Perm: 6})
	parsed, err := ParseACL(l.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if perm, exact := parsed.Mode(); perm != 0o760 || exact {
		t.Errorf("mode %o, exact %v", perm, exact)
	}
	a := &Attr{Mode: ModeRegular | 0o760, UID: 1, GID: 10}
	for _, c := range []struct {
		who  *Cred
		mask uint32
		want bool
	}{
		{user(1, 1), MayExec, true},
		{user(100, 1), MayRead | MayWrite, true},
		{user(100, 1), MayExec, false},
		{user(5, 10), MayRead, true},
		{user(5, 10), MayExec, false},                 // granted, and masked
		{user(5, 200), MayWrite, true},                // a named group
		{user(5, 10, 200), MayRead | MayWrite, false}, // no entry grants both
		{user(5, 6), MayRead, false},
	} {
		if got := Permits(a, parsed, c.who, c.mask); got != c.want {
			t.Errorf("uid %d gid %d mask %d: %v", c.who.UID, c.who.GID, c.mask, got)
		}
	}
	masked := &Attr{Mode: ModeRegular | 0o706, UID: 1, GID: 10}
	if !Permits(masked, parsed.Chmod(0o706), user(100, 1), MayRead) {
		t.Error("with an empty mask the ACL must not be looked at")
	}
	if perm, _ := parsed.Chmod(0o644).Mode(); perm != 0o644 {
		t.Errorf("after chmod: %o", perm)
	}
	mode, access := parsed.Inherit(ModeRegular | 0o666)
	if mode != ModeRegular|0o660 || access == nil {
		t.Errorf("inherited mode %o, ACL %v", mode, access)
	}
	minimal := acl(ACLEntry{Tag: ACLUserOwner, Perm: 7}, ACLEntry{Tag: ACLGroupOwner, Perm: 5}, ACLEntry{Tag: ACLOther, Perm: 1})
	if mode, access := minimal.Inherit(ModeRegular | 0o777); mode != ModeRegular|0o751 || access != nil {
		t.Errorf("inherited from a minimal ACL: %o %v", mode, access)
	}
}

func TestBadACLs(t *testing.T) {
	base := []ACLEntry{{Tag: ACLUserOwner}, {Tag: ACLGroupOwner}, {Tag: ACLOther}}
	for _, l := range []ACL{
		base[:2],
		append(base[:3:3], ACLEntry{Tag: ACLUser, ID: 1}), // no mask
		append(base[:3:3], ACLEntry{Tag: ACLOther}),
		append(base[:3:3], ACLEntry{Tag: 0x40}),
		append(base[:3:3], ACLEntry{Tag: ACLMask, Perm: 8}),
		append(base[:3:3], ACLEntry{Tag: ACLMask}, ACLEntry{Tag: ACLUser, ID: 5}, ACLEntry{Tag: ACLUser, ID: 5}),
	} {
		if _, err := ParseACL(l.Encode()); err != syscall.EINVAL {
			t.Errorf("%v: %v", l, err)
		}
	}
	if _, err := ParseACL([]byte{1, 0, 0, 0}); err != syscall.EOPNOTSUPP {
		t.Errorf("another version: %v", err)
	}
	if l, err := ParseACL(ACL{}.Encode()); l != nil || err != nil {
		t.Errorf("an empty one: %v %v", l, err)
	}
}

func FuzzParseACL(f *testing.F) {
	f.Add(ACL{{Tag: ACLUserOwner, Perm: 7}, {Tag: ACLGroupOwner, Perm: 5}, {Tag: ACLOther, Perm: 1}}.Encode())
	f.Add([]byte{2, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ParseACL(b)
		if err != nil || l == nil {
			return
		}
		again, err := ParseACL(l.Encode())
		if err != nil || fmt.Sprint(again) != fmt.Sprint(l) {
			t.Fatalf("%v became %v, %v", l, again, err)
		}
		l.Mode()
		l.Inherit(0o777)
	})
}

func TestToErrno(t *testing.T) {
	for _, c := range []struct {
		err  error
		want syscall.Errno
	}{
		{nil, 0},
		{syscall.ENOENT, syscall.ENOENT},
		{&Error{Op: "x", Err: syscall.ENOSPC}, syscall.ENOSPC},
		{fmt.Errorf("damage: %w: %w", syscall.ENOENT, ErrCorrupt), syscall.EIO},
		{errors.New("anything"), syscall.EIO},
		{ErrNoRight, syscall.EACCES},
	} {
		if got := ToErrno(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

func TestValidName(t *testing.T) {
	long := make([]byte, 256)
	for i := range long {
		long[i] = 'a'
	}
	for name, want := range map[string]error{
		"a": nil, "\xff\xfe": nil, string(long[:255]): nil, string(long): syscall.ENAMETOOLONG,
		"": syscall.EINVAL, ".": syscall.EINVAL, "..": syscall.EINVAL, "a/b": syscall.EINVAL, "a\x00": syscall.EINVAL,
	} {
		if err := ValidName(name); err != want {
			t.Errorf("%.10q: %v, want %v", name, err, want)
		}
	}
}

// Privileges are asked for only where permissions refuse, so that finding them
// out costs nothing elsewhere, and what they allow is theirs alone.
func TestPrivileges(t *testing.T) {
	asked := 0
	with := func(uid uint32, caps ...Cap) *Cred {
		return &Cred{UID: uid, GID: uid, Privileged: func(p Cap, a *Attr) bool {
			asked++
			for _, have := range caps {
				if p == have {
					return true
				}
			}
			return false
		}}
	}
	file := Attr{Mode: ModeRegular | 0o600, UID: 1, GID: 1}
	dir := Attr{Mode: ModeDir, UID: 1, GID: 1}
	mode := func(a Attr, c *Cred, mode uint32) bool {
		return ApplySetattr(&a, nil, c, &SetAttr{Mask: SetMode, Mode: mode}, 1) == nil
	}
	for _, c := range []struct {
		name  string
		got   func() bool
		want  bool
		asked bool
	}{
		{"an owner", func() bool { return Permits(&file, nil, with(1), MayRead|MayWrite) }, true, false},
		{"root's own", func() bool { return Permits(&Attr{Mode: 0o700 | ModeDir}, nil, with(0), MayWrite|MayExec) }, true, false},
		{"uid 0 alone", func() bool { return Permits(&file, nil, with(0), MayRead) }, false, true},
		{"search reads", func() bool { return Permits(&file, nil, with(2, CapDACReadSearch), MayRead) }, true, true},
		{"search writes not", func() bool { return Permits(&file, nil, with(2, CapDACReadSearch), MayRead|MayWrite) }, false, true},
		{"search walks", func() bool { return Permits(&dir, nil, with(2, CapDACReadSearch), MayRead|MayExec) }, true, true},
		{"override writes", func() bool { return Permits(&dir, nil, with(2, CapDACOverride), MayWrite|MayExec) }, true, true},
		{"override executes not", func() bool { return Permits(&file, nil, with(2, CapDACOverride), MayExec) }, false, false},
		{"an owner's chmod", func() bool { return mode(file, with(1), 0o644) }, true, false},
		{"a stranger's", func() bool { return mode(file, with(2), 0o644) }, false, true},
		{"with the owner's rights", func() bool { return mode(file, with(2, CapFowner), 0o644) }, true, true},
		{"chown", func() bool {
			a := file
			return ApplySetattr(&a, nil, with(2, CapChown), &SetAttr{Mask: SetUID, UID: 9}, 1) == nil
		}, true, true},
		{"a write keeps no bits", func() bool { return WrittenMode(&Attr{Mode: 0o4755 | ModeRegular}, with(0)) == 0o755|ModeRegular }, true, true},
		{"but may", func() bool {
			return WrittenMode(&Attr{Mode: 0o4755 | ModeRegular}, with(2, CapFsetid)) == 0o4755|ModeRegular
		}, true, true},
		{"a plain write", func() bool { return WrittenMode(&file, with(2)) == file.Mode }, true, false},
	} {
		asked = 0
		if got := c.got(); got != c.want || (asked > 0) != c.asked {
			t.Errorf("%s: %v, want %v; asked %d times, want any: %v", c.name, got, c.want, asked, c.asked)
		}
	}
}
