package mount

import (
	"errors"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

// negativeWithoutEpochs bounds negative entries where the kernel cannot expire
// everything at once: after a ChangeAll nobody knows their names.
const negativeWithoutEpochs = time.Second

// entryValid returns how long the kernel may keep an entry in dir.
func (s *Server) entryValid(c *Call, dir vfs.Ino) time.Duration {
	if !s.others {
		return Forever
	}
	// Granted is set before the rights are looked at, so that a change of
	// rights finds either the grant to revoke or the lookup still to be decided.
	flags := s.inodes.setFlags(dir, flagGranted, 0)
	if flags&flagSearch == 0 {
		flags = s.decideSearch(&c.Op, dir)
	}
	if flags&flagOpen == 0 {
		return 0
	}
	return Forever
}

// negativeValid returns how long the kernel may remember that a name in dir is
// not there.
func (s *Server) negativeValid(c *Call, dir vfs.Ino) time.Duration {
	d := s.entryValid(c, dir)
	if !s.kernel.epochs.Load() {
		d = min(d, negativeWithoutEpochs)
	}
	return d
}

// decideSearch finds out who may search dir and keeps the answer in its flags.
func (s *Server) decideSearch(op *vfs.Op, dir vfs.Ino) (flags uint64) {
	s.policyMu.Lock()
	gen := s.policyGen
	s.policyMu.Unlock()
	flags = flagSearch
	if s.allMaySearch(op, dir) {
		flags |= flagOpen
	}
	s.policyMu.Lock()
	defer s.policyMu.Unlock()
	if gen == s.policyGen {
		s.inodes.setFlags(dir, flags, flagOpen)
	}
	return flags
}

// allMaySearch reports whether everyone whom the kernel lets in may search
// dir. Without allow_other only the mount's own user gets in.
func (s *Server) allMaySearch(op *vfs.Op, dir vfs.Ino) bool {
	a, err := s.fs.Getattr(op, dir)
	if err != nil {
		return false
	}
	if a.UID == s.owner.UID && a.Mode&0o100 != 0 {
		return true
	}
	if a.Mode&0o111 != 0o111 {
		return false
	}
	// An ACL may shut out one whom the mode lets in.
	_, err = s.fs.Getxattr(op, dir, vfs.XattrACLAccess)
	return errors.Is(err, syscall.ENODATA) || errors.Is(err, syscall.EOPNOTSUPP)
}

// rightsChanged is called when mode, owner or ACL of ino changed through this
// mount, before the reply. It revokes entries that must not be walked blindly
// any more.
func (s *Server) rightsChanged(op *vfs.Op, ino vfs.Ino) {
	if s.undecided(ino)&flagGranted != 0 {
		s.recheck(op, ino)
	}
}

// rightsChangedElsewhere revokes the same for a change by another way in, and
// returns when it is done. It asks the FS, so it must not run in the goroutine
// of the one who made the change.
func (s *Server) rightsChangedElsewhere(ino vfs.Ino) {
	op := &vfs.Op{Origin: s.origin}
	if a, err := s.fs.Getattr(op, ino); err == nil && s.private(&a) {
		s.expireName(ino)
		return
	}
	if s.decideSearch(op, ino)&flagOpen != 0 {
		return
	}
	s.inodes.setFlags(ino, 0, flagGranted)
	if !s.expireAll() {
		s.expireEntries(ino)
	}
}

// undecided forgets who may search ino and returns the flags it had.
func (s *Server) undecided(ino vfs.Ino) (old uint64) {
	if !s.others {
		return 0
	}
	s.policyMu.Lock()
	defer s.policyMu.Unlock()
	s.policyGen++
	return s.inodes.setFlags(ino, 0, flagSearch)
}

func (s *Server) recheck(op *vfs.Op, ino vfs.Ino) {
	if s.decideSearch(op, ino)&flagOpen == 0 {
		s.revoke(ino)
	}
}

// revoke takes back the entries below a directory.
func (s *Server) revoke(dir vfs.Ino) {
	s.inodes.setFlags(dir, 0, flagGranted)
	if s.expireAll() {
		return
	}
	// The kernel holds the directory's lock until a chmod is answered, and
	// telling of an entry needs that lock. So the entries go right after, not
	// before.
	s.background.run(func() { s.expireEntries(dir) })
}

// expireAll makes the kernel ask again for every entry before it next uses it,
// at once. It reports whether that can be done, and without harm to what is
// mounted on directories of this mount.
func (s *Server) expireAll() bool {
	if !s.kernel.epochs.Load() || mountedOn(s.device) {
		return false
	}
	s.note(s.kernel.incEpoch())
	return true
}
