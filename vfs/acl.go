package vfs

import (
	"encoding/binary"
	"sort"
	"syscall"
)

// The extended attributes that carry POSIX ACLs.
const (
	XattrACLAccess  = "system.posix_acl_access"
	XattrACLDefault = "system.posix_acl_default"
)

// ACLTag says whom an ACL entry is about; the values are the kernel's.
type ACLTag uint16

// The tags of ACL entries.
const (
	ACLUserOwner  ACLTag = 0x01
	ACLUser       ACLTag = 0x02
	ACLGroupOwner ACLTag = 0x04
	ACLGroup      ACLTag = 0x08
	ACLMask       ACLTag = 0x10
	ACLOther      ACLTag = 0x20
)

// ACLEntry grants Perm (MayRead, MayWrite, MayExec) to whom Tag and ID name.
type ACLEntry struct {
	Tag  ACLTag
	Perm uint16
	ID   uint32 // of ACLUser and ACLGroup; else 0xffffffff
}

// ACL is a valid POSIX ACL, its entries in the kernel's order.
type ACL []ACLEntry

const (
	aclVersion    = 2
	aclHeaderSize = 4
	aclEntrySize  = 8
	aclNoID       = 1<<32 - 1
)

// ParseACL decodes the xattr form: a version and little-endian entries of tag,
// permissions and id. EINVAL when it is malformed or no valid ACL, and an
// empty ACL (no entries) is nil: it means "remove".
func ParseACL(b []byte) (ACL, error) {
	if len(b) < aclHeaderSize || (len(b)-aclHeaderSize)%aclEntrySize != 0 || len(b) > MaxXattrValue {
		return nil, syscall.EINVAL
	}
	if binary.LittleEndian.Uint32(b) != aclVersion {
		return nil, syscall.EOPNOTSUPP
	}
	b = b[aclHeaderSize:]
	acl := make(ACL, 0, len(b)/aclEntrySize)
	for ; len(b) > 0; b = b[aclEntrySize:] {
		acl = append(acl, ACLEntry{
			Tag:  ACLTag(binary.LittleEndian.Uint16(b)),
			Perm: binary.LittleEndian.Uint16(b[2:]),
			ID:   binary.LittleEndian.Uint32(b[4:]),
		})
	}
	if len(acl) == 0 {
		return nil, nil
	}
	return acl, acl.normalise()
}

// normalise sorts the entries and checks that there is one of each tag that
// every ACL needs, no second of any, and a mask where a name is.
func (l ACL) normalise() error {
	count := map[ACLTag]int{}
	for i := range l {
		e := &l[i]
		if e.Perm > 7 {
			return syscall.EINVAL
		}
		switch e.Tag {
		case ACLUser, ACLGroup:
			if e.ID == aclNoID {
				return syscall.EINVAL
			}
		case ACLUserOwner, ACLGroupOwner, ACLMask, ACLOther:
			e.ID = aclNoID
		default:
			return syscall.EINVAL
		}
		count[e.Tag]++
	}
	named := count[ACLUser]+count[ACLGroup] > 0
	if count[ACLUserOwner] != 1 || count[ACLGroupOwner] != 1 || count[ACLOther] != 1 ||
		count[ACLMask] > 1 || named && count[ACLMask] == 0 {
		return syscall.EINVAL
	}
	sort.Slice(l, func(i, j int) bool {
		return l[i].Tag < l[j].Tag || l[i].Tag == l[j].Tag && l[i].ID < l[j].ID
	})
	for i := 1; i < len(l); i++ {
		if l[i].Tag == l[i-1].Tag && l[i].ID == l[i-1].ID {
			return syscall.EINVAL
		}
	}
	return nil
}

// Encode returns the xattr form.
func (l ACL) Encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, aclVersion)
	for _, e := range l {
		b = binary.LittleEndian.AppendUint16(b, uint16(e.Tag))
		b = binary.LittleEndian.AppendUint16(b, e.Perm)
		b = binary.LittleEndian.AppendUint32(b, e.ID)
	}
	return b
}

// Mode returns the nine permission bits that stand for the ACL, and whether
// they say all of it, so that it need not be kept.
func (l ACL) Mode() (perm uint32, exact bool) {
	exact = true
	group, mask := uint32(0), uint32(0)
	hasMask := false
	for _, e := range l {
		switch e.Tag {
		case ACLUserOwner:
			perm |= uint32(e.Perm) << 6
		case ACLGroupOwner:
			group = uint32(e.Perm)
		case ACLOther:
			perm |= uint32(e.Perm)
		case ACLMask:
			mask, hasMask, exact = uint32(e.Perm), true, false
		default:
			exact = false
		}
	}
	if hasMask {
		group = mask
	}
	return perm | group<<3, exact
}

// Chmod returns the ACL after chmod(2) to perm: owner and other take their
// bits, and the group bits go to the mask when there is one.
func (l ACL) Chmod(perm uint32) ACL {
	out := append(ACL(nil), l...)
	groupTag := ACLGroupOwner
	for _, e := range out {
		if e.Tag == ACLMask {
			groupTag = ACLMask
		}
	}
	for i := range out {
		switch out[i].Tag {
		case ACLUserOwner:
			out[i].Perm = uint16(perm >> 6 & 7)
		case ACLOther:
			out[i].Perm = uint16(perm & 7)
		case groupTag:
			out[i].Perm = uint16(perm >> 3 & 7)
		}
	}
	return out
}

// Inherit returns the mode and the access ACL of what is made in a directory
// with the default ACL l by a call that asked for mode: no umask applies. The
// ACL is nil when the mode says all of it.
func (l ACL) Inherit(mode uint32) (uint32, ACL) {
	out := append(ACL(nil), l...)
	hasMask := false
	for _, e := range out {
		hasMask = hasMask || e.Tag == ACLMask
	}
	for i := range out {
		switch e := &out[i]; e.Tag {
		case ACLUserOwner:
			e.Perm &= uint16(mode >> 6 & 7)
		case ACLOther:
			e.Perm &= uint16(mode & 7)
		case ACLMask:
			e.Perm &= uint16(mode >> 3 & 7)
		case ACLGroupOwner:
			if !hasMask {
				e.Perm &= uint16(mode >> 3 & 7)
			}
		}
	}
	perm, exact := out.Mode()
	mode = mode&^0o777 | perm
	if exact {
		return mode, nil
	}
	return mode, out
}

// permits is the access check of acl(5) for one who is not the owner.
func (l ACL) permits(a *Attr, c *Cred, want uint32) bool {
	mask := uint32(7)
	for _, e := range l {
		if e.Tag == ACLMask {
			mask = uint32(e.Perm)
		}
	}
	inGroup := false
	for _, e := range l {
		perm := uint32(e.Perm)
		switch e.Tag {
		case ACLUser:
			if e.ID == c.UID {
				return want&^(perm&mask) == 0
			}
		case ACLGroupOwner, ACLGroup:
			gid := e.ID
			if e.Tag == ACLGroupOwner {
				gid = a.GID
			}
			if !c.InGroup(gid) {
				continue
			}
			inGroup = true
			// One entry must grant all of it; two that each grant a part do not.
			if want&^perm == 0 {
				return want&^mask == 0
			}
		}
	}
	return !inGroup && want&^(a.Mode&7) == 0
}
