package checkout

import (
	"errors"
	"os"
	"path"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watcher hears of changes in a directory and all below it, by inotify. It says
// where to look, never what happened: a pass finds that out.
type watcher struct {
	h    *host
	f    *os.File // the inotify descriptor
	wake chan struct{}
	done chan struct{}

	mu      sync.Mutex
	paths   map[int32]string // by watch descriptor
	watches map[string]int32
	dirty   map[string]bool
	all     bool // events were lost: look at everything
	limited bool // no more watches could be had: look regularly
	open    map[string]*openFile
}

// openFile is a file that is being written.
type openFile struct{ first, last time.Time }

const watchMask = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_MODIFY |
	unix.IN_ATTRIB | unix.IN_CLOSE_WRITE | unix.IN_ONLYDIR | unix.IN_EXCL_UNLINK

func newWatcher(h *host) (*watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	w := &watcher{h: h, f: os.NewFile(uintptr(fd), "inotify"), wake: make(chan struct{}, 1), done: make(chan struct{}),
		paths: map[int32]string{}, watches: map[string]int32{}, dirty: map[string]bool{}, all: true,
		open: map[string]*openFile{}}
	go w.read()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(int32(fd), "")
	return w, nil
}

// close ends the reader and waits for it.
func (w *watcher) close() {
	w.f.Close()
	<-w.done
}

// add watches a directory and all below it.
func (w *watcher) add(fd int32, p string) {
	dir, err := w.h.open(p, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return // gone, or not a directory of ours: what holds it is looked at
	}
	wd, err := unix.InotifyAddWatch(int(fd), procPath(dir), watchMask)
	unix.Close(dir)
	if err != nil {
		w.limited = w.limited || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.ENOMEM)
		return
	}
	w.paths[int32(wd)], w.watches[p] = p, int32(wd)
	w.dirty[p] = true
	names, err := w.h.readNames(p)
	if err != nil {
		return
	}
	for _, name := range names {
		q := path.Join(p, name)
		if s, err := w.h.lstat(q); err == nil && s.Mode&unix.S_IFMT == unix.S_IFDIR && !reserved(name) {
			w.add(fd, q)
		}
	}
}

// forget ends the watches of a directory and all below it.
func (w *watcher) forget(p string) {
	for q, wd := range w.watches {
		if q == p || strings.HasPrefix(q, p+"/") {
			// It fails when the directory is gone, and so is its watch.
			_, _ = unix.InotifyRmWatch(int(w.f.Fd()), uint32(wd))
			delete(w.watches, q)
			delete(w.paths, wd)
		}
	}
}

func (w *watcher) read() {
	defer close(w.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := w.f.Read(buf)
		if err != nil {
			return
		}
		w.mu.Lock()
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&b[0]))
			end := unix.SizeofInotifyEvent + int(e.Len)
			if end > len(b) {
				break
			}
			name := strings.TrimRight(string(b[unix.SizeofInotifyEvent:end]), "\x00")
			w.event(e, name)
			b = b[end:]
		}
		w.mu.Unlock()
		w.signal()
	}
}

func (w *watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) event(e *unix.InotifyEvent, name string) {
	if e.Mask&unix.IN_Q_OVERFLOW != 0 {
		w.all = true
		return
	}
	dir, ok := w.paths[e.Wd]
	if !ok || reserved(name) {
		return
	}
	if e.Mask&unix.IN_IGNORED != 0 {
		delete(w.paths, e.Wd)
		if w.watches[dir] == e.Wd {
			delete(w.watches, dir)
		}
		return
	}
	p := path.Join(dir, name)
	w.dirty[dir] = true
	switch {
	case e.Mask&unix.IN_MODIFY != 0:
		now := time.Now()
		if w.open[p] == nil {
			w.open[p] = &openFile{first: now}
		}
		w.open[p].last = now
	case e.Mask&(unix.IN_CLOSE_WRITE|unix.IN_DELETE|unix.IN_MOVED_FROM) != 0:
		delete(w.open, p)
	}
	if e.Mask&unix.IN_ISDIR == 0 {
		return
	}
	if e.Mask&(unix.IN_MOVED_FROM|unix.IN_DELETE) != 0 {
		w.forget(p)
	}
	if e.Mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0 {
		w.add(int32(w.f.Fd()), p)
	}
}

// take returns the directories to look at, nil for all of them, and whether
// there is anything to look at.
func (w *watcher) take() (map[string]bool, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	dirty, all := w.dirty, w.all
	w.dirty, w.all = map[string]bool{}, false
	if all {
		return nil, true
	}
	return dirty, len(dirty) > 0
}

// putBack has directories looked at again.
func (w *watcher) putBack(dirty map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = w.all || dirty == nil
	for p := range dirty {
		w.dirty[p] = true
	}
}

// busy reports whether a file is in the middle of being written.
func (w *watcher) busy(p string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := w.open[p]
	return o != nil && time.Since(o.last) < settleTime && time.Since(o.first) < settleLimit
}

// isLimited reports whether some directory could not be watched.
func (w *watcher) isLimited() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limited
}
