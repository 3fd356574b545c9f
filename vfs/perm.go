package vfs

import "syscall"

// Permits reports whether c may use an inode in every way that mask asks for
// (MayRead, MayWrite, MayExec). acl is the inode's access ACL, nil when it has
// none beyond its mode.
func Permits(a *Attr, acl ACL, c *Cred, mask uint32) bool {
	if c.UID == 0 && a.UID != 0 {
		// Root's privileges cost less to find out than its groups.
		return overrides(a, c, mask) || grants(a, acl, c, mask)
	}
	return grants(a, acl, c, mask) || overrides(a, c, mask)
}

// grants is Permits for one without privileges.
func grants(a *Attr, acl ACL, c *Cred, mask uint32) bool {
	switch {
	case c.UID == a.UID:
		return mask&^(a.Mode>>6&7) == 0
	case acl != nil && a.Mode&0o070 != 0:
		// With an empty mask the ACL grants nothing, and Linux does not even
		// look at it.
		return acl.permits(a, c, mask)
	case c.InGroup(a.GID):
		return mask&^(a.Mode>>3&7) == 0
	}
	return mask&^(a.Mode&7) == 0
}

// CheckLink refuses with EPERM to give another name to somebody else's file,
// unless it is an ordinary one that c may read and write: what Linux does with
// fs.protected_hardlinks, as it is set everywhere.
func CheckLink(a *Attr, acl ACL, c *Cred) error {
	if c.UID == a.UID {
		return nil
	}
	runsAs := a.Mode&ModeSetuid != 0 || a.Mode&(ModeSetgid|0o010) == ModeSetgid|0o010
	if a.IsRegular() && !runsAs && Permits(a, acl, c, MayRead|MayWrite) || c.Capable(CapFowner, a) {
		return nil
	}
	return syscall.EPERM
}

// CheckSticky refuses with EPERM to remove or rename what is not the caller's
// out of a sticky directory that is not the caller's either.
func CheckSticky(dir, victim *Attr, c *Cred) error {
	if dir.Mode&ModeSticky == 0 || c.UID == dir.UID || c.Owns(victim) {
		return nil
	}
	return syscall.EPERM
}

// NewOwner returns mode, uid and gid of an inode that c makes in dir: a
// setgid directory hands on its group, and to directories its bit.
func NewOwner(dir *Attr, c *Cred, mode uint32) (newMode, uid, gid uint32) {
	if dir.Mode&ModeSetgid == 0 {
		return mode, c.UID, c.GID
	}
	switch {
	case mode&ModeTypeMask == ModeDir:
		mode |= ModeSetgid
	case mode&(ModeSetgid|0o010) == ModeSetgid|0o010 && !keepsSetgid(dir, c):
		// A file that its maker could not have given this group to must not
		// run as it.
		mode &^= ModeSetgid
	}
	return mode, c.UID, dir.GID
}

// keepsSetgid reports whether c may set the setgid bit for the group of a.
func keepsSetgid(a *Attr, c *Cred) bool {
	if c.UID == 0 && c.Capable(CapFsetid, a) {
		return true // costs less to find out than groups
	}
	return c.InGroup(a.GID) || c.UID != 0 && c.Capable(CapFsetid, a)
}

// KillPriv returns a file's mode without what a change of owner by c takes
// away: setuid always, setgid where it means "run as" (group execute is set) or
// where c could not have set it.
func KillPriv(a *Attr, c *Cred) uint32 {
	mode := a.Mode &^ ModeSetuid
	if mode&ModeSetgid != 0 && (mode&0o010 != 0 || !keepsSetgid(a, c)) {
		mode &^= ModeSetgid
	}
	return mode
}

// WrittenMode returns a file's mode after a write or a truncation by c, which
// takes the same away unless c is privileged.
func WrittenMode(a *Attr, c *Cred) uint32 {
	mode := KillPriv(a, c)
	if mode != a.Mode && c.Capable(CapFsetid, nil) {
		return a.Mode
	}
	return mode
}

// SettableMode returns mode without the setgid bit if c may not give it to an
// inode of a's group.
func SettableMode(mode uint32, a *Attr, c *Cred) uint32 {
	if mode&ModeSetgid != 0 && !keepsSetgid(a, c) {
		mode &^= ModeSetgid
	}
	return mode
}

// ApplySetattr checks that c may make the change and applies all of it but the
// size to a, ctime included; now is the time of the call. A change of mode must
// reach an access ACL too: see ACL.Chmod. EPERM and EACCES leave a untouched.
//
// The rules are Linux's: only the owner changes mode and explicit times, a
// writer may set times to now, the owner may give a file to a group of his,
// only root to another user; chown clears set-id bits; chmod by one outside
// the group clears setgid.
func ApplySetattr(a *Attr, acl ACL, c *Cred, set *SetAttr, now int64) error {
	if err := checkSetattr(a, acl, c, set); err != nil {
		return err
	}
	// A change of nothing is chown(-1, -1), which counts as one of the owner.
	if set.Mask&(SetUID|SetGID) != 0 || set.Mask&^(SetCtime|SetKillPriv) == 0 {
		applyOwner(a, c, set)
	}
	if set.Mask&SetMode != 0 {
		a.Mode = a.Mode&ModeTypeMask | SettableMode(set.Mode&ModePerm, a, c)
	}
	if set.Mask&(SetSize|SetKillPriv) != 0 && a.IsRegular() {
		a.Mode = WrittenMode(a, c)
	}
	applyTimes(a, set, now)
	return nil
}

func checkSetattr(a *Attr, acl ACL, c *Cred, set *SetAttr) error {
	switch {
	case set.Mask&SetMode != 0 && a.IsSymlink():
		return syscall.EOPNOTSUPP
	case set.Mask&SetMode != 0 && !c.Owns(a):
		return syscall.EPERM
	case set.Mask&(SetUID|SetGID) != 0 && !mayChown(a, c, set) && !c.Capable(CapChown, a):
		return syscall.EPERM
	case set.Mask&(SetAtime|SetMtime) != 0 && !c.Owns(a):
		return syscall.EPERM
	}
	// To touch both times a writer is enough, to touch one is the owner's.
	switch now := set.Mask & (SetAtimeNow | SetMtimeNow); {
	case now == 0 || c.UID == a.UID:
	case now != SetAtimeNow|SetMtimeNow && !c.Owns(a):
		return syscall.EPERM
	case !Permits(a, acl, c, MayWrite) && !c.Owns(a):
		return syscall.EACCES
	}
	if set.Mask&SetSize == 0 {
		return nil
	}
	switch {
	case a.IsDir():
		return syscall.EISDIR
	case !a.IsRegular():
		return syscall.EINVAL
	case set.Size > MaxFileSize:
		return syscall.EFBIG
	case set.Handle == nil && !Permits(a, acl, c, MayWrite):
		return syscall.EACCES
	}
	return nil
}

// mayChown reports whether c may make the change of owner without privilege.
func mayChown(a *Attr, c *Cred, set *SetAttr) bool {
	switch {
	case c.UID != a.UID, set.Mask&SetUID != 0 && set.UID != a.UID:
		return false
	}
	return set.Mask&SetGID == 0 || set.GID == a.GID || c.InGroup(set.GID)
}

func applyOwner(a *Attr, c *Cred, set *SetAttr) {
	// Linux clears the bits for root too; a directory's setgid bit means
	// inheritance, not privilege, and stays.
	if !a.IsDir() {
		a.Mode = KillPriv(a, c)
	}
	if set.Mask&SetUID != 0 {
		a.UID = set.UID
	}
	if set.Mask&SetGID != 0 {
		a.GID = set.GID
	}
}

func applyTimes(a *Attr, set *SetAttr, now int64) {
	switch {
	case set.Mask&SetAtimeNow != 0:
		a.Atime = now
	case set.Mask&SetAtime != 0:
		a.Atime = set.Atime
	}
	switch {
	case set.Mask&SetMtimeNow != 0:
		a.Mtime = now
	case set.Mask&SetMtime != 0:
		a.Mtime = set.Mtime
	case set.Mask&SetSize != 0:
		// truncate(2) to the same size moves it as well.
		a.Mtime = now
	}
	a.Ctime = now
	if set.Mask&SetCtime != 0 {
		a.Ctime = set.Ctime
	}
}
