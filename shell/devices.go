package shell

import (
	"context"
	"crypto/rand"
	"io"
	"strconv"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// devices serves one process what is in no FS: /dev/null and its kin, the
// process's own descriptors, FIFOs, and the registered commands as files of
// /usr/bin and /bin.
type devices struct {
	x   *execution
	ctx context.Context
	// file returns a descriptor of the process, nil when it is not open.
	file func(fd int) *openFile
}

// virtualIno is the inode number of what exists only for the shell.
const virtualIno = ^vfs.Ino(0)

// charDevices are the character devices by name, with their numbers.
var charDevices = map[string]struct{ major, minor uint32 }{
	"null": {1, 3}, "zero": {1, 5}, "full": {1, 7}, "random": {1, 8}, "urandom": {1, 9}, "tty": {5, 0},
}

// commandFile reports whether path is one of a registered command:
// /usr/bin/NAME or /bin/NAME.
func (x *execution) commandFile(path string) (name string, ok bool) {
	switch {
	case strings.HasPrefix(path, "/usr/bin/"):
		name = path[len("/usr/bin/"):]
	case strings.HasPrefix(path, "/bin/"):
		name = path[len("/bin/"):]
	default:
		return "", false
	}
	if name == "" || strings.IndexByte(name, '/') >= 0 {
		return "", false
	}
	return name, x.sh.lookup(name) != nil || name == "bash" || name == "sh"
}

// descriptorOf parses "/dev/fd/3" and what else names a descriptor.
func descriptorOf(path string) (int, bool) {
	switch path {
	case "/dev/stdin":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	for _, prefix := range [...]string{"/dev/fd/", "/proc/self/fd/"} {
		if strings.HasPrefix(path, prefix) {
			n, err := strconv.Atoi(path[len(prefix):])
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}

// Lookup implements vfs.Special.
func (d *devices) Lookup(path string, missing bool) (vfs.Attr, bool) {
	if missing {
		if _, ok := d.x.commandFile(path); ok {
			return vfs.Attr{Ino: virtualIno, Mode: vfs.ModeRegular | 0o755, Nlink: 1, Mtime: d.x.start, Atime: d.x.start, Ctime: d.x.start}, true
		}
		return vfs.Attr{}, false
	}
	if !strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/proc/self/fd/") {
		return vfs.Attr{}, false
	}
	if fd, ok := descriptorOf(path); ok {
		f := d.file(fd)
		if f == nil {
			return vfs.Attr{}, false
		}
		a, err := f.stat()
		return a, err == nil
	}
	if c, ok := charDevices[path[len("/dev/"):]]; ok {
		return vfs.Attr{Ino: virtualIno, Mode: vfs.ModeChar | 0o666, Nlink: 1, Rdev: c.major<<8 | c.minor, Mtime: d.x.start, Atime: d.x.start, Ctime: d.x.start}, true
	}
	return vfs.Attr{}, false
}

// Open implements vfs.Special.
func (d *devices) Open(op *vfs.Op, path string, a *vfs.Attr, flags int) (vfs.File, error) {
	f, err := d.openStream(path, a, flags)
	if err != nil {
		return nil, err
	}
	return &owned{descriptor{f: f, ctx: d.ctx}}, nil
}

// openStream opens a device, a descriptor, a FIFO or a command's file.
func (d *devices) openStream(path string, a *vfs.Attr, flags int) (*openFile, error) {
	mode := flags & syscall.O_ACCMODE
	read, write := mode != syscall.O_WRONLY, mode != syscall.O_RDONLY
	if fd, ok := descriptorOf(path); ok {
		f := d.file(fd)
		if f == nil {
			return nil, syscall.ENOENT
		}
		return f.retain(), nil
	}
	switch {
	case a.Mode&vfs.ModeTypeMask == vfs.ModeFIFO:
		return d.x.openFIFO(d.ctx, a, read, write)
	case a.Rdev>>8 == 1 && strings.HasPrefix(path, "/dev/"):
		return newOpenFile(&device{minor: a.Rdev & 0xff, attr: *a}, path, read, write), nil
	case a.Mode&vfs.ModeTypeMask == vfs.ModeRegular && !write:
		return newOpenFile(&text{s: "\x7fELF"}, path, true, false), nil
	case a.IsRegular():
		return nil, syscall.EACCES
	}
	return nil, syscall.ENXIO
}

// owned is a descriptor whose Close gives up the openFile.
type owned struct{ descriptor }

// Close drops the reference.
func (o *owned) Close() error { return o.f.release() }

// device is one of the memory devices.
type device struct {
	minor uint32
	attr  vfs.Attr
}

func (d *device) close() error            { return nil }
func (d *device) stat() (vfs.Attr, error) { return d.attr, nil }

func (d *device) readAt(ctx context.Context, p []byte) (int, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	switch d.minor {
	case 3:
		return 0, io.EOF
	case 8, 9:
		return rand.Read(p)
	}
	clear(p)
	return len(p), nil
}

func (d *device) writeTo(ctx context.Context, p []byte) (int, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if d.minor == 7 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

// openFIFO opens a named pipe and, for one direction, waits for the other.
func (x *execution) openFIFO(ctx context.Context, a *vfs.Attr, read, write bool) (*openFile, error) {
	x.sh.mu.Lock()
	p := x.sh.fifos[a.Ino]
	if p == nil {
		p = &fifo{pipe: newPipe()}
		x.sh.fifos[a.Ino] = p
	}
	p.users++
	x.sh.mu.Unlock()
	p.open(read, write)
	f := newOpenFile(&fifoEnd{pipeEnd: pipeEnd{p: p.pipe, reads: read, writes: write, attr: *a}, sh: x.sh, ino: a.Ino}, "fifo", read, write)
	if read != write {
		if err := p.meet(ctx, read); err != nil {
			f.release()
			return nil, err
		}
	}
	return f, nil
}

// fifo is a named pipe that is open somewhere.
type fifo struct {
	*pipe
	users int // guarded by Shell.mu
}

// fifoEnd is an open end of a named pipe.
type fifoEnd struct {
	pipeEnd
	sh  *Shell
	ino vfs.Ino
}

func (e *fifoEnd) close() error {
	e.pipeEnd.close()
	e.sh.mu.Lock()
	defer e.sh.mu.Unlock()
	if p := e.sh.fifos[e.ino]; p != nil {
		if p.users--; p.users == 0 {
			delete(e.sh.fifos, e.ino)
		}
	}
	return nil
}
