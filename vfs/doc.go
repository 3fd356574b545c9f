// Package vfs holds the nouns and contracts that every way into a workspace
// shares: inode numbers, attributes, handles, the FS interface, path walking
// and the mapping from errors to errno. It does no I/O and imports only the
// standard library.
//
// An FS is addressed by inode number, like the kernel addresses it:
//
//	op := &vfs.Op{Ctx: ctx, Cred: vfs.Cred{UID: 1000, GID: 1000}, Umask: 0o022}
//	a, h, err := fs.Create(op, vfs.RootIno, "hello", 0o644, os.O_WRONLY)
//	n, err := h.Write(op, []byte("hi\n"), 0)
//	err = h.Fsync(op, false)
//	h.Release(op)
//
// or, for programs that think in paths, through a Walker (see walk.go).
//
// # Units
//
// Sizes and offsets are bytes. Times are nanoseconds since 1970-01-01 UTC in
// an int64 (years 1678 to 2262). Modes are the 16-bit st_mode of Linux: type
// bits and permission bits together. Names are bytes, in a string, never
// decoded.
//
// # Errors
//
// A method returns nil or an error from which ToErrno finds the errno. The
// common outcomes are plain syscall.Errno values; anything with more to say is
// an *Error, and damaged data is ErrCorrupt somewhere in the chain.
package vfs
