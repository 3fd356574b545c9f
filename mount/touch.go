package mount

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

// Whoever watches files (inotify) hears from the kernel what goes through the
// mount, and nothing of what comes by another way in: FUSE has no request that
// makes the kernel tell. So a process of our own touches what has changed,
// through the mount: it sets the times of the file, which the kernel tells of,
// and the Server, which knows the process, answers without doing it. A change of
// bytes or names shows as IN_MODIFY, of attributes as IN_ATTRIB; of a name that
// went, its directory's IN_MODIFY tells.
//
// It is a process because this one must not wait for its own mount: were it
// killed meanwhile, the kernel could not end it. Nothing waits for the touches
// but the goroutine that asks for them.
//
// Touching all that changes would make each change elsewhere some times dearer,
// for nothing where nobody watches. So changes gather for a moment, then the
// watches are looked up in /proc, which this user must be able to read, and only
// what is watched, or is in a directory that is, is touched. A file that was
// renamed through this mount to another directory, or was never looked up by
// anybody, is not found then; its directory is, when names in it change.
type touches struct {
	s          *Server
	mountPoint string // "" for a Server without a mount

	mu      sync.Mutex
	files   map[vfs.Ino]touchKind // whose attributes or bytes changed; guarded by mu
	names   map[entry]struct{}    // that were bound; guarded by mu
	all     bool                  // too much changed to say what; guarded by mu
	running bool                  // run has been started and goes on; guarded by mu
	over    bool                  // nothing is to be touched any more; guarded by mu
	ended   chan struct{}         // closed when over
	wg      sync.WaitGroup        // of run

	// suspended ends the batch under way; busy is held during one.
	suspended atomic.Bool
	busy      sync.Mutex
	hand      toucher // guarded by busy
	pid       atomic.Uint32
}

// touchKind is what a touch makes the kernel tell.
type touchKind byte

const (
	touchAttr touchKind = 'a'
	touchData touchKind = 'd'
)

const (
	// touchDelay is how long changes gather. With the search for watches it
	// stays well under a second.
	touchDelay    = 100 * time.Millisecond
	maxTouchDelay = 600 * time.Millisecond
	// touchShare is the part of a processor's time that the search may take.
	touchShare = 20
	// touchIdle is how many empty rounds end the process that touches.
	touchIdle = 50
	// maxTouches bounds what is remembered one by one.
	maxTouches = 4096
)

// note takes changes down. It waits for nothing.
func (t *touches) note(cs []vfs.Change) {
	if t.mountPoint == "" {
		return
	}
	for i := range cs {
		switch c := &cs[i]; c.Kind {
		case vfs.ChangeEntry:
			if t.s.inodes.held(c.Parent) {
				t.add(c.Parent, touchData, c)
			}
		case vfs.ChangeAttr:
			if t.s.inodes.held(c.Ino) {
				t.add(c.Ino, touchAttr, nil)
			}
		case vfs.ChangeData:
			if t.s.inodes.held(c.Ino) {
				t.add(c.Ino, touchData, nil)
			}
		case vfs.ChangeAll:
			t.add(0, 0, nil)
		}
	}
}

// add takes one inode down, 0 standing for all, and a name that was bound in it.
func (t *touches) add(ino vfs.Ino, kind touchKind, name *vfs.Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	if t.files == nil {
		t.files, t.names = map[vfs.Ino]touchKind{}, map[entry]struct{}{}
	}
	switch {
	case ino == 0, len(t.files)+len(t.names) >= maxTouches:
		t.all = true
	default:
		t.files[ino] = max(kind, t.files[ino])
		if name != nil && !name.Gone {
			t.names[entry{name.Parent, name.Name}] = struct{}{}
		}
	}
	if !t.running {
		t.running = true
		t.wg.Go(t.run)
	}
}

// batch is what has gathered.
type batch struct {
	files map[vfs.Ino]touchKind
	names map[entry]struct{}
	all   bool
}

// take returns what has gathered; with last, run is over when that is nothing.
func (t *touches) take(last bool) (b batch, some bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b = batch{t.files, t.names, t.all}
	t.files, t.names, t.all = nil, nil, false
	some = b.all || len(b.files) > 0
	t.running = some || !last
	return b, some
}

// run touches in rounds until nothing has changed for a while.
func (t *touches) run() {
	defer t.release()
	for wait, idle := touchDelay, 0; ; {
		select {
		case <-t.ended:
			return
		case <-time.After(wait):
		}
		wait = touchDelay
		if idle == touchIdle {
			t.release() // before the next run, which take allows for, may begin
		}
		b, some := t.take(idle == touchIdle)
		switch {
		case some:
			idle = 0
			began := time.Now()
			watched := watchedInodes(t.s.device)
			wait = min(max(wait, touchShare*time.Since(began)), maxTouchDelay)
			t.round(b, watched)
		case idle == touchIdle:
			return
		default:
			idle++
		}
	}
}

// round touches what of b is watched.
func (t *touches) round(b batch, watched map[vfs.Ino]bool) {
	if len(watched) == 0 {
		return
	}
	t.busy.Lock()
	defer t.busy.Unlock()
	p := newPaths(t.s)
	if b.all {
		b.files = t.everything(p, watched)
	}
	for e := range b.names {
		if !watched[e.parent] {
			continue
		}
		if dir, ok := p.of(e.parent); ok {
			t.touch(touchData, join(dir, e.name))
		}
	}
	for ino, kind := range b.files {
		if !watched[ino] && !watched[p.parent(ino)] {
			continue
		}
		if path, ok := p.of(ino); ok {
			t.touch(kind, path)
		}
	}
}

// everything returns what is watched, and what the kernel holds in a watched
// directory.
func (t *touches) everything(p *paths, watched map[vfs.Ino]bool) map[vfs.Ino]touchKind {
	files := map[vfs.Ino]touchKind{}
	for _, ino := range t.s.inodes.all() {
		if watched[ino] || watched[p.parent(ino)] {
			files[ino] = touchData
		}
	}
	return files
}

// touch has one path touched. busy is held.
func (t *touches) touch(kind touchKind, path string) {
	if t.suspended.Load() {
		return
	}
	if err := t.hand.touch(t, kind, path); err != nil {
		t.s.log.Debug("telling watchers of a change", "path", path, "err", err)
	}
}

// suspend ends the round under way, so that nobody of ours is in the mount,
// until the function that it returns is called.
func (t *touches) suspend() (goOn func()) {
	t.suspended.Store(true)
	t.hand.kill()
	t.busy.Lock()
	return func() {
		t.suspended.Store(false)
		t.busy.Unlock()
	}
}

// end ends touching for good and waits for that.
func (t *touches) end() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	close(t.ended)
	t.hand.kill()
	t.wg.Wait()
}

func (t *touches) release() {
	t.busy.Lock()
	defer t.busy.Unlock()
	t.hand.stop(t)
}

// paths finds names of inodes, as of now, from what the kernel holds and what
// the FS lists.
type paths struct {
	s  *Server
	op vfs.Op
	// names are those in a directory, by inode.
	names map[vfs.Ino]map[vfs.Ino]string
}

// newPaths lists in nobody's name: access times stay.
func newPaths(s *Server) *paths {
	return &paths{s: s, op: vfs.Op{Origin: s.origin, NoAtime: true}, names: map[vfs.Ino]map[vfs.Ino]string{}}
}

// parent returns the directory by which the kernel knows ino; 0 is unknown.
func (p *paths) parent(ino vfs.Ino) vfs.Ino {
	dir, err := p.s.fs.Parent(&p.op, ino)
	if err != nil { // no directory
		return p.s.inodes.from(ino)
	}
	return dir
}

// of returns the path of ino from the root.
func (p *paths) of(ino vfs.Ino) (path string, ok bool) {
	for depth := 0; ino != vfs.RootIno; depth++ {
		dir := p.parent(ino)
		name, bound := p.in(dir)[ino]
		if !bound || len(path) > vfs.MaxPath || depth > vfs.MaxPath {
			return "", false
		}
		path, ino = join(name, path), dir
	}
	return path, true
}

func join(dir, name string) string {
	if dir == "" || name == "" {
		return dir + name
	}
	return dir + "/" + name
}

// in returns the names in dir.
func (p *paths) in(dir vfs.Ino) map[vfs.Ino]string {
	if names, known := p.names[dir]; known {
		return names
	}
	names := map[vfs.Ino]string{}
	p.names[dir] = names
	h, err := p.s.fs.OpenDir(&p.op, dir)
	if err != nil {
		return names // no directory, or one that is gone
	}
	defer h.Release(&p.op)
	if err := h.ReadDir(&p.op, 0, false, func(e *vfs.DirEntry) bool {
		names[e.Ino] = e.Name
		return true
	}); err != nil {
		p.s.log.Debug("listing a directory for watchers", "ino", uint64(dir), "err", err)
	}
	return names
}
