package mount

import (
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// openDir is an open directory.
type openDir struct {
	h vfs.DirHandle
}

// A directory's position on the wire: 0 is before ".", 1 before "..", and from
// 2 on it is the FS's cookie plus 2. Cookies must stay below 1<<63 - 2, since
// the kernel keeps positions in a signed number.
const (
	posDotDot = 1
	posNames  = 2
)

// DirEntry is one item of a listing as the kernel gets it.
type DirEntry struct {
	Name string
	Ino  vfs.Ino
	Mode uint32 // type bits
	Pos  uint64 // of the next entry
	// Entry is what READDIRPLUS adds: nil in a plain listing, and for "." and
	// "..", which the kernel does not take attributes of.
	Entry *Entry
}

// OpenDir answers OPENDIR. The kernel may cache the listing: every change is
// told to it.
func (s *Server) OpenDir(c *Call, ino vfs.Ino, out *Opened) syscall.Errno {
	h, err := s.fs.OpenDir(&c.Op, ino)
	if err != nil {
		return c.errno(OpOpendir, ino, err)
	}
	*out = Opened{FH: s.dirs.add(&openDir{h: h}), KeepCache: true}
	return 0
}

// ReadDir answers READDIR, or READDIRPLUS when plus is set. emit encodes an
// entry and reports whether there was room for it; it must not call the Server.
func (s *Server) ReadDir(c *Call, fh uint64, pos uint64, plus bool, emit func(*DirEntry) bool) syscall.Errno {
	op := OpReaddir
	if plus {
		op = OpReaddirplus
	}
	d, ok := s.dirs.get(fh)
	if !ok {
		return syscall.EBADF
	}
	if pos < posNames {
		full, err := s.readDots(c, d, pos, emit)
		if full || err != nil {
			return c.errno(op, d.h.Ino(), err)
		}
		pos = posNames
	}
	l := listing{emit: emit}
	if plus {
		l.entry = &Entry{EntryValid: s.entryValid(c, d.h.Ino()), AttrValid: Forever}
	}
	err := d.h.ReadDir(&c.Op, pos-posNames, plus, l.add)
	for _, ino := range l.given {
		s.inodes.introduce(ino, d.h.Ino())
	}
	if err != nil && l.any {
		// The kernel gets what there is, and the error when it comes again.
		return 0
	}
	return c.errno(op, d.h.Ino(), err)
}

// listing translates the FS's entries to the kernel's.
type listing struct {
	emit  func(*DirEntry) bool
	entry *Entry    // reused for each; nil without attributes
	given []vfs.Ino // what the kernel holds once more when it gets the reply
	any   bool
}

func (l *listing) add(e *vfs.DirEntry) bool {
	d := DirEntry{Name: e.Name, Ino: e.Ino, Mode: e.Mode, Pos: e.Cookie + posNames}
	if l.entry != nil && e.Attr != nil {
		l.entry.Attr = *e.Attr
		d.Entry = l.entry
	}
	if !l.emit(&d) {
		return false
	}
	l.any = true
	if d.Entry != nil {
		// Counted later: the FS must not be called from here.
		l.given = append(l.given, e.Ino)
	}
	return true
}

// readDots yields "." and "..", which the FS does not.
func (s *Server) readDots(c *Call, d *openDir, pos uint64, emit func(*DirEntry) bool) (full bool, err error) {
	ino := d.h.Ino()
	if pos == 0 && !emit(&DirEntry{Name: ".", Ino: ino, Mode: vfs.ModeDir, Pos: posDotDot}) {
		return true, nil
	}
	parent, err := s.fs.Parent(&c.Op, ino)
	if isNoEntry(err) {
		parent, err = ino, nil // removed: its ".." leads nowhere
	}
	if err != nil {
		return false, err
	}
	return !emit(&DirEntry{Name: "..", Ino: parent, Mode: vfs.ModeDir, Pos: posNames}), nil
}

// FsyncDir answers FSYNCDIR.
func (s *Server) FsyncDir(c *Call, fh uint64, dataOnly bool) syscall.Errno {
	d, ok := s.dirs.get(fh)
	if !ok {
		return syscall.EBADF
	}
	return c.errno(OpFsyncdir, d.h.Ino(), d.h.Fsync(&c.Op, dataOnly))
}

// ReleaseDir answers RELEASEDIR.
func (s *Server) ReleaseDir(c *Call, fh uint64) {
	if d, ok := s.dirs.remove(fh); ok {
		d.h.Release(&c.Op)
	}
}
