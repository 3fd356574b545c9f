package broken

import (
	"sync"

	"github.com/vfsd/vfsd/vfs"
)

// asRoot returns op made by root.
func asRoot(op *vfs.Op) *vfs.Op {
	o := *op
	o.Cred = vfs.Cred{PID: op.PID}
	return &o
}

// lies are changes of the attributes of some inodes on their way out.
type lies struct {
	mu sync.Mutex
	of map[vfs.Ino]func(*vfs.Attr) // guarded by mu
}

// tell has every Attr of ino pass f from now on; nil ends that.
func (l *lies) tell(ino vfs.Ino, f func(*vfs.Attr)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = make(map[vfs.Ino]func(*vfs.Attr))
	}
	l.of[ino] = f
}

// attr is a breach's attr.
func (l *lies) attr(a *vfs.Attr) {
	l.mu.Lock()
	f := l.of[a.Ino]
	l.mu.Unlock()
	if f != nil {
		f(a)
	}
}

// times returns a change that puts the times of then in the place of any
// others.
func times(then vfs.Attr) func(*vfs.Attr) {
	return func(a *vfs.Attr) { a.Atime, a.Mtime, a.Ctime = then.Atime, then.Mtime, then.Ctime }
}

// ctime is times for the ctime alone.
func ctime(then vfs.Attr) func(*vfs.Attr) {
	return func(a *vfs.Attr) { a.Ctime = then.Ctime }
}

// attrBreach makes a rule of nothing but a change of attributes.
func attrBreach(f func(a *vfs.Attr)) func() breach {
	return func() breach { return breach{attr: f} }
}

// opened remembers which files were ever opened.
type opened struct{ inos sync.Map }

// open is a breach's open.
func (o *opened) open(fs vfs.FS, op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
	o.inos.Store(ino, true)
	return fs.Open(op, ino, flags)
}

// has reports whether a name leads to a file that was opened.
func (o *opened) has(fs vfs.FS, op *vfs.Op, parent vfs.Ino, name string) bool {
	a, err := fs.Lookup(asRoot(op), parent, name)
	if err != nil {
		return false
	}
	_, ok := o.inos.Load(a.Ino)
	return ok
}
