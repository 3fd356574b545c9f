package mount

import (
	"context"
	"log/slog"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

// How long the maker of a change waits for the kernel to take an invalidation
// in. The kernel takes some only when the requests in flight in a directory or
// on a page are answered. Those can wait for each other in one case: two mounts
// of one FS in this process, a request in each that changes the same directory,
// each announced to the other's kernel. While another mount's kernel is waited for
// because of the same directory, a maker waits but shortly; either way the
// invalidation arrives when the requests have ended.
const (
	patience        = 2 * time.Second
	crossedPatience = 100 * time.Millisecond // more than a busy machine takes
	crossedPause    = 10 * time.Millisecond  // between looks
)

var _ vfs.Watcher = (*Server)(nil)

// Origin implements vfs.Watcher.
func (s *Server) Origin() vfs.Origin { return s.origin }

// Changed implements vfs.Watcher: it returns when the kernel has forgotten
// what is not true any more.
func (s *Server) Changed(cs []vfs.Change) {
	s.changes.Add(1) // before the plan looks at what the kernel holds; see give
	p := s.plan(cs)
	s.touches.note(cs)
	s.again(p)
	if p.waits() {
		done := make(chan struct{})
		if !s.background.run(func() { defer close(done); s.carryOut(p) }) {
			return
		}
		s.await(done, p)
		return
	}
	s.carryOut(p)
}

// answerTime is more than a client takes from the moment when its request is
// answered until it has taken the answer in.
const answerTime = 50 * time.Millisecond

// again tells of the attributes a second time where a SETATTR through this
// mount may cross the change. The kernel takes the attributes in its answer for
// the newest without asking whether it was told to forget them since, and there
// is no lock of a file's to wait for as there is of a directory's.
func (s *Server) again(p *plan) {
	var inos []vfs.Ino
	for ino := range p.inodes {
		if s.setattrs.has(ino) {
			inos = append(inos, ino)
		}
	}
	if len(inos) == 0 {
		return
	}
	s.background.run(func() {
		select {
		case <-time.After(answerTime):
		case <-s.ended:
			return
		}
		for _, ino := range inos {
			s.nodes(ino, func(node vfs.Ino) { s.note(s.kernel.invalInode(node, noPages.off, 0)) })
		}
	})
}

func (s *Server) await(done <-chan struct{}, p *plan) {
	serving.await(s, p)
	defer serving.arrived(p)
	timer := time.NewTimer(crossedPause)
	defer timer.Stop()
	crossed := time.Duration(0) // for how long
	for waited := crossedPause; ; waited += crossedPause {
		select {
		case <-done:
			return
		case <-timer.C:
		}
		if crossed += crossedPause; !serving.crossed(s, p) {
			crossed = 0
		}
		if crossed >= crossedPatience || waited >= patience {
			level := slog.LevelWarn
			if crossed > 0 {
				level = slog.LevelDebug
			}
			s.log.Log(context.Background(), level, "the kernel has not taken an invalidation in yet", "after", waited)
			return
		}
		timer.Reset(crossedPause)
	}
}

// plan is what the kernel is to be told.
type plan struct {
	// barriers are directories through which the kernel is coming to know an
	// inode of the plan: an operation in flight there could bring what is to
	// be forgotten after it was forgotten.
	barriers map[vfs.Ino]bool
	entries  []entry
	inodes   map[vfs.Ino]span
	rights   []vfs.Ino // whose entries must perhaps be revoked
	all      []vfs.Ino // everything the kernel holds, all of whose entries may be wrong
}

type entry struct {
	parent vfs.Ino
	name   string
}

// span is a range of cached pages, [off, end): off < 0 is none, end < 0 is
// without end.
type span struct{ off, end int64 }

var (
	noPages  = span{-1, 0}
	allPages = span{0, -1}
)

func (a span) union(b span) span {
	switch {
	case a.off < 0:
		return b
	case b.off < 0:
		return a
	}
	out := span{min(a.off, b.off), max(a.end, b.end)}
	if a.end < 0 || b.end < 0 {
		out.end = -1
	}
	return out
}

// waits reports whether carrying p out may wait for requests in flight.
func (p *plan) waits() bool {
	if len(p.barriers) > 0 || len(p.entries) > 0 || len(p.rights) > 0 {
		return true
	}
	for _, pages := range p.inodes {
		if pages.off >= 0 {
			return true
		}
	}
	return false
}

// inos calls yield with the inodes that carrying p out may wait for, some twice,
// until it returns false.
func (p *plan) inos(yield func(vfs.Ino) bool) {
	for ino := range p.barriers {
		if !yield(ino) {
			return
		}
	}
	for ino := range p.inodes {
		if !yield(ino) {
			return
		}
	}
	for _, e := range p.entries {
		if !yield(e.parent) {
			return
		}
	}
	for _, ino := range p.rights {
		if !yield(ino) {
			return
		}
	}
}

// meets reports whether two plans concern an inode in common. Neither changes
// any more.
func (p *plan) meets(other *plan) bool {
	for a := range p.inos {
		for b := range other.inos {
			if a == b {
				return true
			}
		}
	}
	return false
}

// add plans for ino if the kernel holds it.
func (p *plan) add(s *Server, ino vfs.Ino, pages span) {
	if old, planned := p.inodes[ino]; planned {
		p.inodes[ino] = old.union(pages)
		return
	}
	from, held := s.inodes.settle(ino)
	if !held {
		return
	}
	if from != 0 {
		p.barriers[from] = true
	}
	p.inodes[ino] = pages
}

func (s *Server) plan(cs []vfs.Change) *plan {
	p := &plan{barriers: map[vfs.Ino]bool{}, inodes: map[vfs.Ino]span{}}
	for i := range cs {
		switch c := &cs[i]; c.Kind {
		case vfs.ChangeEntry:
			if s.inodes.held(c.Parent) {
				p.entries = append(p.entries, entry{c.Parent, c.Name})
				p.add(s, c.Parent, allPages) // the listing
			}
			p.add(s, c.Ino, noPages)
		case vfs.ChangeAttr:
			p.add(s, c.Ino, noPages)
			if c.Rights && s.undecided(c.Ino)&(flagGranted|flagNamed) != 0 {
				p.rights = append(p.rights, c.Ino)
			}
		case vfs.ChangeData:
			end := c.Off + c.Len
			if c.Len < 0 || end < 0 {
				end = -1
			}
			p.add(s, c.Ino, span{c.Off, end})
		case vfs.ChangeAll:
			s.planAll(p)
		}
	}
	return p
}

func (s *Server) planAll(p *plan) {
	p.all = s.inodes.all()
	for _, ino := range p.all {
		p.add(s, ino, allPages)
		s.undecided(ino)
	}
}

func (s *Server) carryOut(p *plan) {
	if len(p.all) > 0 && !s.expireAll() {
		s.background.run(func() {
			for _, ino := range p.all {
				s.expireEntries(ino)
			}
		})
	}
	for _, ino := range p.rights {
		s.rightsChangedElsewhere(ino)
	}
	for dir := range p.barriers {
		s.note(s.kernel.barrier(dir))
	}
	// Entries before listings: telling of an entry waits until no listing of
	// the directory is under way, which could bring the old one back.
	for _, e := range p.entries {
		s.note(s.kernel.invalEntry(e.parent, e.name))
	}
	for ino, pages := range p.inodes {
		n := int64(0)
		if pages.off >= 0 && pages.end >= 0 {
			n = pages.end - pages.off
		}
		s.nodes(ino, func(node vfs.Ino) { s.note(s.kernel.invalInode(node, pages.off, n)) })
	}
}

// note logs a notification that the kernel refused; it is a fault of this
// package or of the kernel.
func (s *Server) note(err error) {
	if err != nil {
		s.log.Error("notification refused", "err", err)
	}
}

// expireEntries makes the kernel ask again for every present name in dir, one by
// one.
func (s *Server) expireEntries(dir vfs.Ino) {
	op := &vfs.Op{Origin: s.origin, NoAtime: true}
	h, err := s.fs.OpenDir(op, dir)
	if err != nil {
		return // no directory, or one that is gone
	}
	defer h.Release(op)
	var names []string
	if err := h.ReadDir(op, 0, false, func(e *vfs.DirEntry) bool {
		names = append(names, e.Name)
		return true
	}); err != nil {
		s.log.Error("listing a directory to expire its entries", "ino", uint64(dir), "err", err)
	}
	for _, name := range names {
		s.note(s.kernel.expireEntry(dir, name))
	}
}
