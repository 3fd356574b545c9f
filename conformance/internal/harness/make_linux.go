package harness

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"golang.org/x/sys/unix"
)

// Kind is a type of file, as Make makes it.
type Kind string

// The kinds; the name is what case names call them.
const (
	File    Kind = "file"
	Dir     Kind = "directory"
	Symlink Kind = "symlink"
	FIFO    Kind = "fifo"
	Socket  Kind = "socket"
	Char    Kind = "char-device"
	Device  Kind = "block-device"
)

// Kinds is every kind; NotDirs and Specials are parts of it.
var (
	Kinds    = []Kind{File, Dir, Symlink, FIFO, Socket, Char, Device}
	NotDirs  = []Kind{File, Symlink, FIFO, Socket, Char, Device}
	Specials = []Kind{FIFO, Socket, Char, Device}
)

// Type returns the kind's st_mode bits.
func (k Kind) Type() uint32 {
	return map[Kind]uint32{File: unix.S_IFREG, Dir: unix.S_IFDIR, Symlink: unix.S_IFLNK, FIFO: unix.S_IFIFO,
		Socket: unix.S_IFSOCK, Char: unix.S_IFCHR, Device: unix.S_IFBLK}[k]
}

// Dirent returns the kind's d_type.
func (k Kind) Dirent() byte { return byte(k.Type() >> 12) }

// CharDev and BlockDev are the numbers of the devices that Make makes: the
// null device, and a disk that nobody has.
var (
	CharDev  = unix.Mkdev(1, 3)
	BlockDev = unix.Mkdev(240, 77)
)

// Make makes a file of the kind: mode 0755 for a directory and 0644 for the
// rest; a symlink leads to "nowhere".
func (t *T) Make(k Kind, name string) {
	if k == Dir {
		t.Dir(name, 0o755)
		return
	}
	t.MakeMode(k, name, 0o644)
}

// MakeMode is Make with given permission bits.
func (t *T) MakeMode(k Kind, name string, mode uint32) {
	var err error
	switch k {
	case File:
		t.File(name, mode)
	case Dir:
		t.Dir(name, mode)
	case Symlink:
		t.Symlink("nowhere", name)
	case Char, Device:
		t.NeedRoot()
		dev := CharDev
		if k == Device {
			dev = BlockDev
		}
		err = unix.Mknod(name, k.Type()|mode, int(dev))
	default:
		err = unix.Mknod(name, k.Type()|mode, 0)
	}
	if err != nil {
		t.Must(fmt.Errorf("mknod %q: %w", name, err))
	}
}

// File makes an empty file with the mode (less the thread's umask).
func (t *T) File(name string, mode uint32) {
	fd, err := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, mode)
	if err != nil {
		t.Must(fmt.Errorf("create %q: %w", name, err))
	}
	t.Must(unix.Close(fd))
}

// Write makes or overwrites a file with the content.
func (t *T) Write(name, content string) {
	fd, err := unix.Open(name, unix.O_CREAT|unix.O_TRUNC|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		t.Must(fmt.Errorf("write %q: %w", name, err))
	}
	t.Must(WriteAll(fd, []byte(content)))
	t.Must(unix.Close(fd))
}

// WriteAll writes all of p at the descriptor's position.
func WriteAll(fd int, p []byte) error {
	for len(p) > 0 {
		n, err := unix.Write(fd, p)
		if err != nil {
			return fmt.Errorf("write: %w", err)
		}
		p = p[n:]
	}
	return nil
}

// Dir makes a directory.
func (t *T) Dir(name string, mode uint32) {
	if err := unix.Mkdir(name, mode); err != nil {
		t.Must(fmt.Errorf("mkdir %q: %w", name, err))
	}
}

// Symlink makes a symbolic link.
func (t *T) Symlink(target, name string) {
	if err := unix.Symlink(target, name); err != nil {
		t.Must(fmt.Errorf("symlink %q: %w", name, err))
	}
}

// Link gives a file a second name.
func (t *T) Link(name, second string) {
	if err := unix.Link(name, second); err != nil {
		t.Must(fmt.Errorf("link %q: %w", second, err))
	}
}

// Chmod sets permission bits.
func (t *T) Chmod(name string, mode uint32) {
	if err := unix.Chmod(name, mode); err != nil {
		t.Must(fmt.Errorf("chmod %q: %w", name, err))
	}
}

// Chown sets user and group, of a link itself too.
func (t *T) Chown(name string, uid, gid int) {
	if err := unix.Lchown(name, uid, gid); err != nil {
		t.Must(fmt.Errorf("chown %q: %w", name, err))
	}
}

// Open opens a file; it is closed when the case ends.
func (t *T) Open(name string, flags int, mode ...uint32) int {
	var m uint32
	if len(mode) > 0 {
		m = mode[0]
	}
	fd, err := unix.Open(name, flags|unix.O_CLOEXEC, m)
	if err != nil {
		t.Must(fmt.Errorf("open %q: %w", name, err))
	}
	t.closeLater(fd)
	return fd
}

// Try opens a file and closes it again; it returns the error of the open.
func (t *T) Try(name string, flags int, mode uint32) error {
	fd, err := unix.Open(name, flags|unix.O_CLOEXEC, mode)
	if err == nil {
		t.Must(unix.Close(fd))
	}
	return err
}

// Close closes a descriptor of Open, which must work.
func (t *T) Close(fd int) {
	t.mu.Lock()
	delete(t.open, fd)
	t.mu.Unlock()
	t.Must(unix.Close(fd))
}

func (t *T) closeLater(fd int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = make(map[int]bool)
	}
	t.open[fd] = true
}

// Adopt has a descriptor that the case got elsewhere closed when it ends.
func (t *T) Adopt(fd int) int {
	t.closeLater(fd)
	return fd
}

// closeAll closes what the case left open.
func (t *T) closeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for fd := range t.open {
		_ = unix.Close(fd) // EIO of a deferred write is none of the case's
	}
	t.open = nil
}

// Read returns a file's bytes.
func (t *T) Read(name string) []byte {
	b, err := ReadFile(name)
	t.Must(err)
	return b
}

// ReadFile returns a file's bytes, relative to the thread's directory.
func ReadFile(name string) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", name, err)
	}
	defer unix.Close(fd)
	b, err := ReadFrom(fd, 0, 1<<30)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	return b, nil
}

// ReadFrom reads up to n bytes at an offset, less only at the end of file.
func ReadFrom(fd int, off int64, n int) ([]byte, error) {
	var all []byte
	buf := make([]byte, min(n, 256<<10))
	for len(all) < n {
		k, err := unix.Pread(fd, buf[:min(len(buf), n-len(all))], off+int64(len(all)))
		if err != nil {
			return all, err
		}
		if k == 0 {
			break
		}
		all = append(all, buf[:k]...)
	}
	return all, nil
}

// Content asserts a file's bytes.
func (t *T) Content(name, want string) bool {
	b, err := ReadFile(name)
	if err != nil {
		return t.Check(false, "%s, want %d bytes", describe(err), len(want))
	}
	return Equal(t, "content of "+name, string(b), want)
}

// Dirent is one entry as getdents64 gives it.
type Dirent struct {
	Ino  uint64
	Off  int64 // where the next entry is
	Type byte
	Name string
}

// ErrDirent is a directory listing that does not parse.
var ErrDirent = errors.New("malformed directory entry")

// Getdents reads entries of an open directory into a buffer of size bytes;
// none at the end.
func Getdents(fd, size int) ([]Dirent, error) {
	buf := make([]byte, size)
	n, err := unix.Getdents(fd, buf)
	if err != nil {
		return nil, err
	}
	return ParseDirents(buf[:n])
}

// Entries lists an open directory from where it stands, "." and ".." too.
func Entries(fd, size int) ([]Dirent, error) {
	var all []Dirent
	for {
		some, err := Getdents(fd, size)
		if err != nil || len(some) == 0 {
			return all, err
		}
		all = append(all, some...)
	}
}

// Names lists a directory, sorted, without "." and "..".
func (t *T) Names(dir string) []string {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Must(fmt.Errorf("open %q: %w", dir, err))
	}
	defer unix.Close(fd)
	all, err := Entries(fd, 32<<10)
	t.Must(err)
	names := make([]string, 0, len(all))
	for _, e := range all {
		if e.Name != "." && e.Name != ".." {
			names = append(names, e.Name)
		}
	}
	sort.Strings(names)
	return names
}

// Pipe returns the two ends of a pipe, closed when the case ends.
func (t *T) Pipe() (r, w int) {
	var p [2]int
	t.Must(unix.Pipe2(p[:], unix.O_CLOEXEC))
	t.closeLater(p[0])
	t.closeLater(p[1])
	return p[0], p[1]
}

// EOF reports whether reading fd gives end of file.
func EOF(fd int) error {
	var b [1]byte
	n, err := unix.Read(fd, b[:])
	if err != nil {
		return err
	}
	if n == 0 {
		return io.EOF
	}
	return nil
}

// Must1 is Must for a call that also yields a number.
func (t *T) Must1(n int64, err error) int64 {
	t.Must(err)
	return n
}
