package vfs_test

import (
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/vfs"
)

// world is a small tree:
//
//	/a/b/f        a file, "hello"
//	/a/l          -> b
//	/a/abs        -> /a/b/f
//	/a/up         -> ../a/b
//	/a/dangling   -> nowhere
//	/a/loop1      -> loop2 -> loop1
//	/p            a FIFO
//	/secret       a directory of mode 0700 with a file f
func world(t *testing.T) *vfs.Walker {
	t.Helper()
	w := vfs.NewWalker(memfs.New(), &vfs.Op{Umask: 0o022})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.MkdirAll("/a/b", 0o755))
	must(w.WriteFile("/a/b/f", []byte("hello"), 0o644))
	for name, target := range map[string]string{"l": "b", "abs": "/a/b/f", "up": "../a/b", "dangling": "nowhere", "loop1": "loop2", "loop2": "loop1"} {
		must(w.Symlink(target, "/a/"+name))
	}
	must(w.Mknod("/p", vfs.ModeFIFO|0o644, 0))
	must(w.Mkdir("/secret", 0o700))
	must(w.WriteFile("/secret/f", nil, 0o644))
	return w
}

// errno is what an error says, "" for none.
func errno(err error) string {
	if err == nil {
		return ""
	}
	return vfs.ToErrno(err).Error()
}

func TestStat(t *testing.T) {
	w := world(t)
	dir, err := w.Stat("/a")
	if err != nil {
		t.Fatal(err)
	}
	in := w.At(dir.Ino)
	long := strings.Repeat("x", 256)
	for _, c := range []struct {
		path  string
		lstat bool
		err   syscall.Errno
		typ   uint32
	}{
		{path: "b/f", typ: vfs.ModeRegular},
		{path: "b//f", typ: vfs.ModeRegular},
		{path: "./b/./f", typ: vfs.ModeRegular},
		{path: "../a/b/../b/f", typ: vfs.ModeRegular},
		{path: "/../../a", typ: vfs.ModeDir},
		{path: "/", typ: vfs.ModeDir},
		{path: "//a/", typ: vfs.ModeDir},
		{path: ".", typ: vfs.ModeDir},
		{path: "..", typ: vfs.ModeDir},
		{path: "l", typ: vfs.ModeDir},
		{path: "l", lstat: true, typ: vfs.ModeSymlink},
		{path: "l/", lstat: true, typ: vfs.ModeDir},
		{path: "l/.", lstat: true, typ: vfs.ModeDir},
		{path: "l/f", typ: vfs.ModeRegular},
		{path: "l/../b/f", typ: vfs.ModeRegular},
		{path: "up/f", typ: vfs.ModeRegular},
		{path: "abs", typ: vfs.ModeRegular},
		{path: "/p", typ: vfs.ModeFIFO},
		{path: "", err: syscall.ENOENT},
		{path: "nope", err: syscall.ENOENT},
		{path: "nope/x", err: syscall.ENOENT},
		{path: "dangling", err: syscall.ENOENT},
		{path: "dangling", lstat: true, typ: vfs.ModeSymlink},
		{path: "dangling/", lstat: true, err: syscall.ENOENT},
		{path: "b/f/", err: syscall.ENOTDIR},
		{path: "b/f/.", err: syscall.ENOTDIR},
		{path: "b/f/..", err: syscall.ENOTDIR},
		{path: "b/f/x", err: syscall.ENOTDIR},
		{path: "abs/", err: syscall.ENOTDIR},
		{path: "loop1", err: syscall.ELOOP},
		{path: "loop1/x", err: syscall.ELOOP},
		{path: "loop1", lstat: true, typ: vfs.ModeSymlink},
		{path: long, err: syscall.ENAMETOOLONG},
		{path: "b/" + long + "/x", err: syscall.ENAMETOOLONG},
		{path: strings.Repeat("./", 2100), err: syscall.ENAMETOOLONG},
		{path: strings.Repeat("./", 2000) + "b", typ: vfs.ModeDir},
		{path: "b\x00f", err: syscall.EINVAL},
	} {
		stat := in.Stat
		if c.lstat {
			stat = in.Lstat
		}
		a, err := stat(c.path)
		want := ""
		if c.err != 0 {
			want = c.err.Error()
		}
		if got := errno(err); got != want {
			t.Errorf("%.20q lstat=%v: error %q, want %q", c.path, c.lstat, got, want)
		} else if err == nil && a.Mode&vfs.ModeTypeMask != c.typ {
			t.Errorf("%.20q lstat=%v: type %o, want %o", c.path, c.lstat, a.Mode, c.typ)
		}
	}
}

// TestSymlinkLimit: 40 links are followed, 41 are not.
func TestSymlinkLimit(t *testing.T) {
	w := world(t)
	prev := "/a/b/f"
	for i := 1; i <= vfs.MaxSymlinks+1; i++ {
		name := "/chain" + strings.Repeat("x", i)
		if err := w.Symlink(prev, name); err != nil {
			t.Fatal(err)
		}
		prev = name
		want := ""
		if i > vfs.MaxSymlinks {
			want = syscall.ELOOP.Error()
		}
		if _, err := w.Stat(name); errno(err) != want {
			t.Errorf("%d links: %v", i, err)
		}
	}
}

func TestSearchPermission(t *testing.T) {
	w := world(t)
	user := w.With(&vfs.Op{Cred: vfs.Cred{UID: 1000, GID: 1000}})
	for _, path := range []string{"/secret/f", "/secret/.", "/secret/..", "/secret/nope"} {
		if _, err := user.Stat(path); errno(err) != syscall.EACCES.Error() {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := w.Stat(path); path != "/secret/nope" && err != nil {
			t.Errorf("root, %s: %v", path, err)
		}
	}
	if err := user.Access("/a/b/f", vfs.MayWrite); errno(err) != syscall.EACCES.Error() {
		t.Errorf("write: %v", err)
	}
	if err := user.Access("/a/b/f", vfs.MayRead); err != nil {
		t.Errorf("read: %v", err)
	}
}

// TestCalls holds the errors of the calls that bind and unbind names to those
// of Linux.
func TestCalls(t *testing.T) {
	for _, c := range []struct {
		name string
		call func(w *vfs.Walker) error
		want syscall.Errno
	}{
		{"mkdir over a directory", func(w *vfs.Walker) error { return w.Mkdir("/a", 0o755) }, syscall.EEXIST},
		{"mkdir .", func(w *vfs.Walker) error { return w.Mkdir("/a/.", 0o755) }, syscall.EEXIST},
		{"mkdir with a slash", func(w *vfs.Walker) error { return w.Mkdir("/n/", 0o755) }, 0},
		{"mkdir over a dangling link", func(w *vfs.Walker) error { return w.Mkdir("/a/dangling", 0o755) }, syscall.EEXIST},
		{"mkdir below nothing", func(w *vfs.Walker) error { return w.Mkdir("/x/y", 0o755) }, syscall.ENOENT},
		{"mkdir below a file", func(w *vfs.Walker) error { return w.Mkdir("/a/b/f/y", 0o755) }, syscall.ENOTDIR},
		{"unlink a directory", func(w *vfs.Walker) error { return w.Unlink("/a/b") }, syscall.EISDIR},
		{"unlink ..", func(w *vfs.Walker) error { return w.Unlink("/a/..") }, syscall.EISDIR},
		{"unlink a file with a slash", func(w *vfs.Walker) error { return w.Unlink("/a/b/f/") }, syscall.ENOTDIR},
		{"unlink a link", func(w *vfs.Walker) error { return w.Unlink("/a/l") }, 0},
		{"unlink nothing", func(w *vfs.Walker) error { return w.Unlink("/nope") }, syscall.ENOENT},
		{"rmdir .", func(w *vfs.Walker) error { return w.Rmdir("/a/.") }, syscall.EINVAL},
		{"rmdir ..", func(w *vfs.Walker) error { return w.Rmdir("/a/b/..") }, syscall.ENOTEMPTY},
		{"rmdir the root", func(w *vfs.Walker) error { return w.Rmdir("/") }, syscall.EBUSY},
		{"rmdir what is not empty", func(w *vfs.Walker) error { return w.Rmdir("/a") }, syscall.ENOTEMPTY},
		{"rmdir a file", func(w *vfs.Walker) error { return w.Rmdir("/a/b/f") }, syscall.ENOTDIR},
		{"rmdir a link with a slash", func(w *vfs.Walker) error { return w.Rmdir("/a/l/") }, syscall.ENOTEMPTY},
		{"rename .", func(w *vfs.Walker) error { return w.Rename("/a/.", "/x", 0) }, syscall.EBUSY},
		{"rename onto ..", func(w *vfs.Walker) error { return w.Rename("/a", "/a/..", 0) }, syscall.EBUSY},
		{"rename nothing", func(w *vfs.Walker) error { return w.Rename("/nope", "/x", 0) }, syscall.ENOENT},
		{"rename a file to a name with a slash", func(w *vfs.Walker) error { return w.Rename("/a/b/f", "/x/", 0) }, syscall.ENOTDIR},
		{"rename a directory to a name with a slash", func(w *vfs.Walker) error { return w.Rename("/a/b", "/x/", 0) }, 0},
		{"rename into itself", func(w *vfs.Walker) error { return w.Rename("/a", "/a/b/x", 0) }, syscall.EINVAL},
		{"symlink over a file", func(w *vfs.Walker) error { return w.Symlink("t", "/a/b/f") }, syscall.EEXIST},
		{"symlink to nothing", func(w *vfs.Walker) error { return w.Symlink("", "/x") }, syscall.ENOENT},
		{"symlink with a slash", func(w *vfs.Walker) error { return w.Symlink("t", "/x/") }, syscall.ENOENT},
		{"link a directory", func(w *vfs.Walker) error { return w.Link("/a", "/x", false) }, syscall.EPERM},
		{"link over a file", func(w *vfs.Walker) error { return w.Link("/a/b/f", "/a/l", false) }, syscall.EEXIST},
		{"link", func(w *vfs.Walker) error { return w.Link("/a/abs", "/x", true) }, 0},
		{"truncate a directory", func(w *vfs.Walker) error { return w.Truncate("/a", 0) }, syscall.EISDIR},
		{"truncate below zero", func(w *vfs.Walker) error { return w.Truncate("/a/b/f", -1) }, syscall.EINVAL},
		{"readlink a file", func(w *vfs.Walker) error { _, err := w.Readlink("/a/b/f"); return err }, syscall.EINVAL},
		{"list a file", func(w *vfs.Walker) error { _, err := w.ReadDir("/a/b/f"); return err }, syscall.ENOTDIR},
		{"chmod nothing", func(w *vfs.Walker) error { return w.Chmod("/nope", 0) }, syscall.ENOENT},
		{"mkdirall over a file", func(w *vfs.Walker) error { return w.MkdirAll("/a/b/f/g", 0o755) }, syscall.ENOTDIR},
		{"mkdirall", func(w *vfs.Walker) error { return w.MkdirAll("/m/n//o/", 0o755) }, 0},
	} {
		want := ""
		if c.want != 0 {
			want = c.want.Error()
		}
		if got := errno(c.call(world(t))); got != want {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}

func TestOpenFlags(t *testing.T) {
	const (
		rd, wr, creat, excl = syscall.O_RDONLY, syscall.O_WRONLY, syscall.O_CREAT, syscall.O_EXCL
	)
	for _, c := range []struct {
		path  string
		flags int
		want  syscall.Errno
	}{
		{"/a/b/f", rd, 0},
		{"/a/abs", rd, 0},
		{"/a/abs", rd | syscall.O_NOFOLLOW, syscall.ELOOP},
		{"/a/l/f", rd | syscall.O_NOFOLLOW, 0},
		{"/a", rd, 0},
		{"/a", wr, syscall.EISDIR},
		{"/a", rd | creat, syscall.EISDIR},
		{"/a/b/f", rd | syscall.O_DIRECTORY, syscall.ENOTDIR},
		{"/a/b/f", wr | creat | excl, syscall.EEXIST},
		{"/a/dangling", wr | creat | excl, syscall.EEXIST},
		{"/a/dangling", wr | creat, 0}, // makes /a/nowhere
		{"/new", wr, syscall.ENOENT},
		{"/new", wr | creat, 0},
		{"/new/", wr | creat, syscall.EISDIR},
		{"/x/new", wr | creat, syscall.ENOENT},
		{"/p", rd, syscall.ENXIO}, // nobody serves FIFOs here
	} {
		f, err := world(t).OpenFile(c.path, c.flags, 0o644)
		want := ""
		if c.want != 0 {
			want = c.want.Error()
		}
		if got := errno(err); got != want {
			t.Errorf("open %s %#x: %q, want %q", c.path, c.flags, got, want)
		}
		if err == nil {
			if err := f.Close(); err != nil {
				t.Errorf("close %s: %v", c.path, err)
			}
		}
	}
}

func TestFilePosition(t *testing.T) {
	w := world(t)
	f, err := w.OpenFile("/a/b/f", syscall.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 3)
	if n, err := io.ReadFull(f, buf); n != 3 || err != nil || string(buf) != "hel" {
		t.Errorf("read %q, %v", buf[:n], err)
	}
	if _, err := f.Write([]byte("XY!")); err != nil {
		t.Error(err)
	}
	if pos, err := f.Seek(-2, io.SeekEnd); pos != 4 || err != nil {
		t.Errorf("seek: %d, %v", pos, err)
	}
	rest, err := io.ReadAll(f)
	if string(rest) != "Y!" || err != nil {
		t.Errorf("rest %q, %v", rest, err)
	}
	if _, err := f.Seek(-9, io.SeekCurrent); errno(err) != syscall.EINVAL.Error() {
		t.Errorf("seek before the start: %v", err)
	}
	if err := f.Truncate(2); err != nil {
		t.Error(err)
	}
	if a, err := f.Stat(); a.Size != 2 || err != nil {
		t.Errorf("size %d, %v", a.Size, err)
	}
	b, err := w.ReadFile("/a/b/f", 1)
	if errno(err) != syscall.EFBIG.Error() {
		t.Errorf("ReadFile past its limit: %q, %v", b, err)
	}
}

// TestAppendPosition: after a write the position is where the file ends, not
// where it would have been.
func TestAppendPosition(t *testing.T) {
	w := world(t)
	f, err := w.OpenFile("/a/b/f", syscall.O_RDWR|syscall.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write([]byte("!")); err != nil {
		t.Fatal(err)
	}
	if pos, err := f.Seek(0, io.SeekCurrent); pos != 6 || err != nil {
		t.Errorf("position %d, %v", pos, err)
	}
}

func TestPath(t *testing.T) {
	w := world(t)
	a, err := w.Stat("/a/l")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := w.Path(a.Ino); p != "/a/b" || err != nil {
		t.Errorf("path %q, %v", p, err)
	}
	if p, err := w.Path(vfs.RootIno); p != "/" || err != nil {
		t.Errorf("root %q, %v", p, err)
	}
}

// special serves one device and one command that no FS holds.
type special struct{ opened string }

func (s *special) Lookup(path string, missing bool) (vfs.Attr, bool) {
	switch {
	case path == "/dev/null" && !missing:
		return vfs.Attr{Mode: vfs.ModeChar | 0o666}, true
	case path == "/usr/bin/cat" && missing:
		return vfs.Attr{Mode: vfs.ModeRegular | 0o755}, true
	}
	return vfs.Attr{}, false
}

func (s *special) Open(_ *vfs.Op, path string, _ *vfs.Attr, _ int) (vfs.File, error) {
	s.opened = path
	return nil, syscall.ENODEV
}

// TestSpecial: what Special adds comes before the tree or after it, as it says,
// and FIFOs of the tree are opened by it.
func TestSpecial(t *testing.T) {
	w := world(t)
	sp := &special{}
	w.Special = sp
	for _, path := range []string{"/dev/null", "/usr/bin/cat"} {
		if _, err := w.Stat(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := w.Access("/usr/bin/cat", vfs.MayExec); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"/dev/null", "/p"} {
		if _, err := w.Open(path); errno(err) != syscall.ENODEV.Error() || sp.opened != path {
			t.Errorf("%s: opened %q, %v", path, sp.opened, err)
		}
	}
	if err := w.Unlink("/dev/null"); errno(err) != syscall.EPERM.Error() {
		t.Errorf("unlink: %v", err)
	}
	if err := w.MkdirAll("/usr/bin", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteFile("/usr/bin/cat", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := w.Stat("/usr/bin/cat"); err != nil || a.Size != 4 {
		t.Errorf("the tree's own file is hidden: %+v, %v", a, err)
	}
}
