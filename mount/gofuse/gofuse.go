//go:build linux

// Package gofuse serves a mount with github.com/hanwen/go-fuse/v2, by its raw
// interface: no tree of nodes stands between the kernel's inode numbers and
// the FS's, which are the same. Import it for its effect:
//
//	import _ "github.com/vfsd/vfsd/mount/gofuse"
//
// Requests are read by a loop of its own (loop.go) and handed to the library's
// ProtocolServer, which decodes and encodes. That type is marked experimental
// by the library, whose version is pinned; its Server, which is not, takes half
// as long again for a request.
package gofuse

import (
	"errors"
	"log/slog"
	"runtime/debug"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/vfsd/vfsd/mount"
)

// Name is the driver's name.
const Name = "go-fuse"

func init() { mount.Register(driver{}) }

type driver struct{}

func (driver) Name() string { return Name }

func (driver) Capabilities() mount.Capabilities {
	return mount.Capabilities{
		RenameFlags: true, Seek: true, CopyRange: true, ReadDirPlus: true, Tmpfile: true,
		Statx: true, Umask: true, AtomicTruncate: true, ZeroRange: true, SubsecondBefore1970: true, Sticky: true, Handover: true,
		MaxRequest: 1 << 20,
	}
}

// maxBackground is how many requests that nobody waits for (read-ahead,
// write-back of mappings, releases) the kernel may have under way.
const maxBackground = 64

// wanted are protocol features beyond the library's own choice. Locks are not
// among them, so that the kernel keeps them; POSIX_ACL is not, because it
// implies default_permissions.
const wanted = fuse.CAP_ATOMIC_O_TRUNC | fuse.CAP_DONT_MASK | fuse.CAP_HANDLE_KILLPRIV_V2 |
	fuse.CAP_SETXATTR_EXT | fuse.CAP_ASYNC_DIO

func (driver) Serve(c mount.Conn, s *mount.Server, ready func()) error {
	err := newLoop(c, newProtocolServer(c, s)).run(c, s, ready)
	if !errors.Is(err, mount.ErrPaused) {
		err = errors.Join(err, syscall.Close(c.FD))
	}
	return err
}

func newProtocolServer(c mount.Conn, s *mount.Server) *fuse.ProtocolServer {
	raw := &rawFS{RawFileSystem: fuse.NewDefaultRawFileSystem(), s: s}
	return fuse.NewProtocolServer(raw, &fuse.MountOptions{
		Name:                     "vfsd",
		MaxWrite:                 c.MaxRequest,
		MaxBackground:            maxBackground,
		EnableSymlinkCaching:     true,
		ExplicitDataCacheControl: true,
		ExtraCapabilities:        wanted,
		Debug:                    c.Debug,
		Logger:                   slog.NewLogLogger(c.Log.Handler(), logLevel(c.Debug)),
		PanicHandler:             func(r any) fuse.Status { return fuse.Status(s.Recovered(r, debug.Stack())) },
	})
}

func logLevel(debug bool) slog.Level {
	if debug {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}
