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
	// Entry is what READDIRPLUS adds: nil in a plain listing, for "." and "..",
	// which the kernel does not take attributes of, and for what it must ask
	// for with the credentials of each who uses it.
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

// What an entry takes on the wire: a header and the name, in units of eight
// bytes; with attributes, those before it.
const (
	direntHeader = 24
	entrySize    = 128
)

func wireSize(name string, plus bool) int {
	n := (direntHeader + len(name) + 7) &^ 7
	if plus {
		n += entrySize
	}
	return n
}

// listed is an entry of a listing between the FS and the kernel.
type listed struct {
	name  string
	ino   vfs.Ino
	mode  uint32
	pos   uint64
	given bool // with attributes, so the kernel will hold the inode once more
	attr  vfs.Attr
}

// ReadDir answers READDIR, or READDIRPLUS when plus is set, with what fits into
// size bytes on the wire. emit encodes one entry, which is reused.
func (s *Server) ReadDir(c *Call, fh uint64, pos uint64, size int, plus bool, emit func(*DirEntry)) syscall.Errno {
	op := OpReaddir
	if plus {
		op = OpReaddirplus
	}
	d, ok := s.dirs.get(fh)
	if !ok {
		return syscall.EBADF
	}
	l := listing{s: s, list: c.list[:0], room: size, plus: plus}
	err := s.list(c, d.h, pos, &l)
	c.list = l.list
	if err != nil && len(l.list) == 0 {
		return c.errno(op, d.h.Ino(), err)
	}
	// With some entries at hand the kernel gets them, and the error when it
	// asks for the next.
	s.emitAll(c, d.h.Ino(), l.list, emit)
	return 0
}

// listing gathers entries while there is room. The FS must not be called while
// it lists, so nothing is introduced yet.
type listing struct {
	s    *Server
	list []listed
	room int
	plus bool
}

func (l *listing) fits(name string) bool {
	l.room -= wireSize(name, l.plus)
	return l.room >= 0
}

func (l *listing) add(e *vfs.DirEntry) bool {
	if !l.fits(e.Name) {
		return false
	}
	item := listed{name: e.Name, ino: e.Ino, mode: e.Mode, pos: e.Cookie + posNames}
	if l.plus && e.Attr != nil && !l.s.guarded(e.Attr.Mode) {
		item.given, item.attr = true, *e.Attr
	}
	l.list = append(l.list, item)
	return true
}

// list gathers from pos on: the two entries that the FS does not yield first.
func (s *Server) list(c *Call, h vfs.DirHandle, pos uint64, l *listing) error {
	if pos == 0 {
		if !l.fits(".") {
			return nil
		}
		l.list = append(l.list, listed{name: ".", ino: h.Ino(), mode: vfs.ModeDir, pos: posDotDot})
	}
	if pos <= posDotDot {
		parent, err := s.fs.Parent(&c.Op, h.Ino())
		if isNoEntry(err) {
			parent, err = h.Ino(), nil // removed: its ".." leads nowhere
		}
		if err != nil || !l.fits("..") {
			return err
		}
		l.list = append(l.list, listed{name: "..", ino: parent, mode: vfs.ModeDir, pos: posNames})
		pos = posNames
	}
	return h.ReadDir(&c.Op, pos-posNames, l.plus, l.add)
}

// emitAll introduces what is given and encodes the listing.
func (s *Server) emitAll(c *Call, dir vfs.Ino, list []listed, emit func(*DirEntry)) {
	valid := s.entryValid(c, dir)
	for i := range list {
		if list[i].given {
			var flags uint64
			if !s.private(&list[i].attr) {
				flags = named(&list[i].attr)
			}
			s.inodes.introduce(list[i].ino, dir, flags)
		}
	}
	stale := s.changes.Load() != c.changes // see give
	var d DirEntry
	var e Entry
	for i := range list {
		item := &list[i]
		d = DirEntry{Name: item.name, Ino: item.ino, Mode: item.mode, Pos: item.pos}
		if item.given {
			e = Entry{Node: item.ino, Attr: item.attr, EntryValid: valid, AttrValid: Forever}
			if s.private(&item.attr) {
				e.EntryValid = 0
			}
			if stale {
				s.refresh(c, &e)
			}
			d.Entry = &e
		}
		emit(&d)
	}
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
