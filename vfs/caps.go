package vfs

// Cap is a privilege, numbered as in capabilities(7).
type Cap uint8

// The privileges that decide something about files.
const (
	CapChown         Cap = 0  // change owners at will
	CapDACOverride   Cap = 1  // pass permission checks
	CapDACReadSearch Cap = 2  // pass those for reading, and for searching directories
	CapFowner        Cap = 3  // do what is the owner's
	CapFsetid        Cap = 4  // keep set-id bits
	CapSysAdmin      Cap = 21 // use trusted and security attributes
	CapMknod         Cap = 27 // make devices
	CapSetfcap       Cap = 31 // set file capabilities
)

// Capable reports whether the caller has a privilege over an inode, or, with
// a == nil, over the whole host.
func (c *Cred) Capable(p Cap, a *Attr) bool {
	if c.Privileged == nil {
		return c.UID == 0
	}
	return c.Privileged(p, a)
}

// Owns reports whether the caller may do with an inode what is its owner's.
func (c *Cred) Owns(a *Attr) bool { return c.UID == a.UID || c.Capable(CapFowner, a) }

// overrides reports whether the caller's privileges allow what permissions do
// not: everything but executing what nobody may execute.
func overrides(a *Attr, c *Cred, mask uint32) bool {
	readOnly := mask == MayRead || a.IsDir() && mask&MayWrite == 0
	if readOnly && c.Capable(CapDACReadSearch, a) {
		return true
	}
	executable := mask&MayExec == 0 || a.IsDir() || a.Mode&0o111 != 0
	return executable && c.Capable(CapDACOverride, a)
}
