package memfs

import (
	"bytes"
	"fmt"
	"math/rand"
	"sync"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/vfs"
)

var root = &vfs.Op{Origin: 1}

func user(uid uint32) *vfs.Op {
	return &vfs.Op{Cred: vfs.Cred{UID: uid, GID: uid}, Umask: 0o022, Origin: 1}
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, err error, e syscall.Errno) {
	t.Helper()
	if vfs.ToErrno(err) != e {
		t.Fatalf("got %v, want %v", err, e)
	}
}

func mkdir(t *testing.T, fs *FS, parent vfs.Ino, name string) vfs.Ino {
	t.Helper()
	return must[vfs.Attr](t)(fs.Mkdir(root, parent, name, 0o755)).Ino
}

func create(t *testing.T, fs *FS, parent vfs.Ino, name, data string) (vfs.Ino, vfs.Handle) {
	t.Helper()
	a, h, err := fs.Create(root, parent, name, 0o644, syscall.O_RDWR)
	ok(t, err)
	must[int](t)(h.Write(root, []byte(data), 0))
	return a.Ino, h
}

func getattr(t *testing.T, fs *FS, ino vfs.Ino) vfs.Attr {
	t.Helper()
	return must[vfs.Attr](t)(fs.Getattr(root, ino))
}

func TestNames(t *testing.T) {
	fs := New()
	d := mkdir(t, fs, vfs.RootIno, "d")
	ino, h := create(t, fs, d, "f", "hello")
	defer h.Release(root)

	want(t, func() error { _, err := fs.Mkdir(root, d, "f", 0o755); return err }(), syscall.EEXIST)
	want(t, fs.Rmdir(root, vfs.RootIno, "d"), syscall.ENOTEMPTY)
	want(t, fs.Rmdir(root, d, "f"), syscall.ENOTDIR)
	want(t, fs.Unlink(root, vfs.RootIno, "d"), syscall.EISDIR)
	want(t, fs.Unlink(root, d, "none"), syscall.ENOENT)
	want(t, func() error { _, err := fs.Link(root, d, vfs.RootIno, "l"); return err }(), syscall.EPERM)

	a := must[vfs.Attr](t)(fs.Link(root, ino, vfs.RootIno, "l"))
	if a.Nlink != 2 || a.Size != 5 || a.Ino != ino {
		t.Fatalf("after link: %+v", a)
	}
	if n := getattr(t, fs, vfs.RootIno).Nlink; n != 3 {
		t.Fatalf("root has %d links, want 3", n)
	}
	ok(t, fs.Unlink(root, d, "f"))
	ok(t, fs.Rmdir(root, vfs.RootIno, "d"))
	if n := getattr(t, fs, vfs.RootIno).Nlink; n != 2 {
		t.Fatalf("root has %d links after rmdir, want 2", n)
	}
}

func TestHandleOutlivesUnlink(t *testing.T) {
	fs := New()
	ino, h := create(t, fs, vfs.RootIno, "f", "hello")
	fs.Pin(ino)
	ok(t, fs.Unlink(root, vfs.RootIno, "f"))
	buf := make([]byte, 8)
	if n, err := h.Read(root, buf, 0); n != 5 || err != nil {
		t.Fatalf("read %d, %v", n, err)
	}
	want(t, func() error { _, err := fs.Link(root, ino, vfs.RootIno, "g"); return err }(), syscall.ENOENT)
	h.Release(root)
	if n := getattr(t, fs, ino).Nlink; n != 0 {
		t.Fatalf("pinned inode has %d links", n)
	}
	fs.Unpin(ino)
	_, err := fs.Getattr(root, ino)
	want(t, err, syscall.ENOENT)
	if st := must[vfs.Statfs](t)(fs.Statfs(root)); st.BlocksFree != st.Blocks {
		t.Fatalf("space did not return: %+v", st)
	}
}

func TestTmpfile(t *testing.T) {
	fs := New()
	a, h, err := fs.Tmpfile(root, vfs.RootIno, 0o600, syscall.O_RDWR)
	ok(t, err)
	if a.Nlink != 0 {
		t.Fatalf("%d links", a.Nlink)
	}
	if l := must[vfs.Attr](t)(fs.Link(root, a.Ino, vfs.RootIno, "t")); l.Nlink != 1 {
		t.Fatalf("%d links once named", l.Nlink)
	}
	h.Release(root)
	getattr(t, fs, a.Ino)

	a, h, err = fs.Tmpfile(root, vfs.RootIno, 0o600, syscall.O_RDWR|syscall.O_EXCL)
	ok(t, err)
	_, err = fs.Link(root, a.Ino, vfs.RootIno, "u")
	want(t, err, syscall.ENOENT)
	h.Release(root)
	_, err = fs.Getattr(root, a.Ino)
	want(t, err, syscall.ENOENT)
}

func TestRename(t *testing.T) {
	fs := New()
	a := mkdir(t, fs, vfs.RootIno, "a")
	b := mkdir(t, fs, a, "b")
	f, h := create(t, fs, vfs.RootIno, "f", "x")
	defer h.Release(root)
	g, h2 := create(t, fs, vfs.RootIno, "g", "y")
	h2.Release(root)

	want(t, fs.Rename(root, vfs.RootIno, "a", b, "c", 0), syscall.EINVAL)
	want(t, fs.Rename(root, vfs.RootIno, "a", a, "b", 0), syscall.EINVAL)
	want(t, fs.Rename(root, a, "b", vfs.RootIno, "a", 0), syscall.ENOTEMPTY)
	want(t, fs.Rename(root, vfs.RootIno, "f", vfs.RootIno, "a", 0), syscall.EISDIR)
	want(t, fs.Rename(root, vfs.RootIno, "a", vfs.RootIno, "f", 0), syscall.ENOTDIR)
	want(t, fs.Rename(root, vfs.RootIno, "f", vfs.RootIno, "g", vfs.RenameNoReplace), syscall.EEXIST)
	want(t, fs.Rename(root, vfs.RootIno, "f", vfs.RootIno, "z", vfs.RenameExchange), syscall.ENOENT)
	want(t, fs.Rename(root, vfs.RootIno, "f", vfs.RootIno, "g", vfs.RenameExchange|vfs.RenameNoReplace), syscall.EINVAL)

	ok(t, fs.Rename(root, vfs.RootIno, "f", a, "b", vfs.RenameExchange))
	if p := must[vfs.Ino](t)(fs.Parent(root, b)); p != vfs.RootIno {
		t.Fatalf("parent %d after exchange", p)
	}
	if n := getattr(t, fs, a).Nlink; n != 2 {
		t.Fatalf("a has %d links after its directory left", n)
	}
	if n := getattr(t, fs, vfs.RootIno).Nlink; n != 4 {
		t.Fatalf("root has %d links", n)
	}
	ok(t, fs.Rename(root, a, "b", vfs.RootIno, "g", 0))
	if got := must[vfs.Attr](t)(fs.Lookup(root, vfs.RootIno, "g")); got.Ino != f {
		t.Fatalf("g is %d, want %d", got.Ino, f)
	}
	_, err := fs.Getattr(root, g)
	want(t, err, syscall.ENOENT)
	ok(t, fs.Rename(root, vfs.RootIno, "g", vfs.RootIno, "w", vfs.RenameWhiteout))
	w := must[vfs.Attr](t)(fs.Lookup(root, vfs.RootIno, "g"))
	if w.Mode&vfs.ModeTypeMask != vfs.ModeChar || w.Rdev != 0 {
		t.Fatalf("no whiteout: %+v", w)
	}
}

func names(t *testing.T, h vfs.DirHandle, op *vfs.Op, piece int) (out []string) {
	t.Helper()
	cookie := uint64(0)
	for {
		n := 0
		ok(t, h.ReadDir(op, cookie, true, func(e *vfs.DirEntry) bool {
			if n == piece {
				return false
			}
			if e.Attr == nil || e.Attr.Ino != e.Ino {
				t.Fatalf("entry %+v without its attributes", e)
			}
			n++
			out, cookie = append(out, e.Name), e.Cookie
			return true
		}))
		if n == 0 {
			return out
		}
	}
}

// A name that stays is listed once, whatever goes, comes or is renamed around
// it while the listing runs.
func TestReadDirUnderChange(t *testing.T) {
	fs := New()
	const n = 500
	for i := range n {
		_, h := create(t, fs, vfs.RootIno, fmt.Sprint("keep", i), "")
		h.Release(root)
		_, h = create(t, fs, vfs.RootIno, fmt.Sprint("go", i), "")
		h.Release(root)
	}
	d := must[vfs.DirHandle](t)(fs.OpenDir(root, vfs.RootIno))
	defer d.Release(root)
	seen := map[string]int{}
	cookie, gone := uint64(0), 0
	for {
		var got []string
		ok(t, d.ReadDir(root, cookie, false, func(e *vfs.DirEntry) bool {
			got, cookie = append(got, e.Name), e.Cookie
			return len(got) < 7
		}))
		if len(got) == 0 {
			break
		}
		for _, name := range got {
			seen[name]++
		}
		for ; gone < n && gone < len(seen)*2; gone++ {
			ok(t, fs.Rename(root, vfs.RootIno, fmt.Sprint("go", gone), vfs.RootIno, fmt.Sprint("new", gone), 0))
		}
	}
	for i := range n {
		if c := seen[fmt.Sprint("keep", i)]; c != 1 {
			t.Fatalf("keep%d was listed %d times", i, c)
		}
	}
	if all := names(t, d, root, 100); len(all) != 2*n {
		t.Fatalf("a new listing has %d names, want %d", len(all), 2*n)
	}
}

// The sparse pages must behave as a plain slice of bytes does.
func TestDataAgainstModel(t *testing.T) {
	seed := int64(rand.Int31())
	rng := rand.New(rand.NewSource(seed))
	fs := New()
	ino, h := create(t, fs, vfs.RootIno, "f", "")
	defer h.Release(root)
	const space = 5 * pageSize
	var model []byte
	grow := func(n int) {
		if n > len(model) {
			model = append(model, make([]byte, n-len(model))...)
		}
	}
	for i := range 3000 {
		off, n := rng.Intn(space), 1+rng.Intn(2*pageSize)
		switch rng.Intn(5) {
		case 0, 1:
			p := make([]byte, n)
			rng.Read(p)
			must[int](t)(h.Write(root, p, int64(off)))
			grow(off + n)
			copy(model[off:], p)
		case 2:
			_, err := fs.Setattr(root, ino, &vfs.SetAttr{Mask: vfs.SetSize, Size: uint64(off), Handle: h})
			ok(t, err)
			grow(off)
			model = model[:off]
		case 3:
			ok(t, h.Fallocate(root, fallocPunchHole|fallocKeepSize, int64(off), int64(n)))
			if off < len(model) {
				clear(model[off:min(off+n, len(model))])
			}
		case 4:
			ok(t, h.Fallocate(root, fallocZeroRange, int64(off), int64(n)))
			grow(off + n)
			clear(model[off : off+n])
		}
		got := make([]byte, len(model)+10)
		k := must[int](t)(h.Read(root, got, 0))
		if !bytes.Equal(got[:k], model) {
			t.Fatalf("seed %d step %d: %d bytes differ from the model's %d", seed, i, k, len(model))
		}
		if a := getattr(t, fs, ino); a.Size != uint64(len(model)) || a.Blocks != uint64(fs.pages)*8 {
			t.Fatalf("seed %d step %d: attributes %+v, %d pages", seed, i, a, fs.pages)
		}
	}
}

func TestSeekCopyLimit(t *testing.T) {
	fs := New()
	ino, h := create(t, fs, vfs.RootIno, "f", "")
	defer h.Release(root)
	must[int](t)(h.Write(root, []byte("x"), 10*pageSize))
	_, err := fs.Setattr(root, ino, &vfs.SetAttr{Mask: vfs.SetSize, Size: 20 * pageSize})
	ok(t, err)
	for _, c := range []struct {
		off    int64
		whence int
		want   int64
		errno  syscall.Errno
	}{
		{0, seekData, 10 * pageSize, 0}, {0, seekHole, 0, 0},
		{10 * pageSize, seekHole, 11 * pageSize, 0}, {11 * pageSize, seekData, 0, syscall.ENXIO},
		{20 * pageSize, seekHole, 0, syscall.ENXIO}, {15 * pageSize, seekHole, 15 * pageSize, 0},
	} {
		got, err := h.Seek(root, c.off, c.whence)
		if vfs.ToErrno(err) != c.errno || got != c.want {
			t.Errorf("seek(%d, %d) = %d, %v; want %d, %v", c.off, c.whence, got, err, c.want, c.errno)
		}
	}
	_, h2 := create(t, fs, vfs.RootIno, "g", "")
	defer h2.Release(root)
	if n := must[int64](t)(h.CopyTo(root, 10*pageSize, h2, 3, 1<<40)); n != 10*pageSize {
		t.Fatalf("copied %d", n)
	}
	_, err = h.CopyTo(root, 0, h, 1, 100)
	want(t, err, syscall.EINVAL)

	fs.Limit(fs.pages * pageSize)
	_, err = h.Write(root, []byte("y"), 0)
	want(t, err, syscall.ENOSPC)
	must[int](t)(h.Write(root, []byte("y"), 10*pageSize))
	_, err = h.Write(root, []byte("yy"), vfs.MaxFileSize-1)
	want(t, err, syscall.EFBIG)
}

func TestPermissions(t *testing.T) {
	fs := New()
	d := mkdir(t, fs, vfs.RootIno, "d")
	f, h := create(t, fs, d, "f", "x")
	h.Release(root)
	u := user(1000)
	want(t, func() error { _, err := fs.Mkdir(u, d, "x", 0o755); return err }(), syscall.EACCES)
	want(t, fs.Unlink(u, d, "f"), syscall.EACCES)
	want(t, func() error { _, err := fs.Open(u, f, syscall.O_WRONLY); return err }(), syscall.EACCES)

	chmod := func(ino vfs.Ino, mode uint32) {
		t.Helper()
		must[vfs.Attr](t)(fs.Setattr(root, ino, &vfs.SetAttr{Mask: vfs.SetMode, Mode: mode}))
	}
	chmod(d, 0o1777)
	want(t, fs.Unlink(u, d, "f"), syscall.EPERM)
	a := must[vfs.Attr](t)(fs.Mkdir(u, d, "mine", 0o777))
	if a.UID != 1000 || a.Mode != vfs.ModeDir|0o755 {
		t.Fatalf("made %+v", a)
	}
	chmod(f, 0o6777)
	h = must[vfs.Handle](t)(fs.Open(u, f, syscall.O_WRONLY))
	must[int](t)(h.Write(u, []byte("y"), 0))
	h.Release(u)
	if m := getattr(t, fs, f).Mode; m != vfs.ModeRegular|0o777 {
		t.Fatalf("mode %o after a write: set-id bits are still there", m)
	}
	chmod(d, 0o700)
	_, err := fs.Lookup(u, d, "f")
	want(t, err, syscall.EACCES)
}

func TestXattrsAndACLs(t *testing.T) {
	fs := New()
	d := mkdir(t, fs, vfs.RootIno, "d")
	ok(t, fs.Setxattr(root, d, "user.a", []byte("v"), vfs.XattrCreate))
	want(t, fs.Setxattr(root, d, "user.a", nil, vfs.XattrCreate), syscall.EEXIST)
	want(t, fs.Setxattr(root, d, "user.b", nil, vfs.XattrReplace), syscall.ENODATA)
	want(t, fs.Setxattr(root, d, "other.b", nil, 0), syscall.EOPNOTSUPP)
	ok(t, fs.Setxattr(root, d, "trusted.t", nil, 0))
	if l := must[[]string](t)(fs.Listxattr(user(5), d)); len(l) != 1 || l[0] != "user.a" {
		t.Fatalf("list %q", l)
	}
	acl := vfs.ACL{
		{Tag: vfs.ACLUserOwner, Perm: 7, ID: 1<<32 - 1}, {Tag: vfs.ACLUser, Perm: 7, ID: 1000},
		{Tag: vfs.ACLGroupOwner, Perm: 5, ID: 1<<32 - 1}, {Tag: vfs.ACLMask, Perm: 7, ID: 1<<32 - 1},
		{Tag: vfs.ACLOther, Perm: 0, ID: 1<<32 - 1},
	}
	ok(t, fs.Setxattr(root, d, vfs.XattrACLDefault, acl.Encode(), 0))
	ok(t, fs.Setxattr(root, d, vfs.XattrACLAccess, acl.Encode(), 0))
	if m := getattr(t, fs, d).Mode; m != vfs.ModeDir|0o770 {
		t.Fatalf("mode %o, want the ACL's", m)
	}
	sub := must[vfs.Attr](t)(fs.Mkdir(user(1000), d, "sub", 0o750))
	if sub.Mode != vfs.ModeDir|0o750 {
		t.Fatalf("inherited mode %o", sub.Mode)
	}
	if v := must[[]byte](t)(fs.Getxattr(root, sub.Ino, vfs.XattrACLDefault)); !bytes.Equal(v, acl.Encode()) {
		t.Fatalf("inherited default ACL %x", v)
	}
	_, err := fs.Lookup(user(1001), d, "sub")
	want(t, err, syscall.EACCES)
	must[vfs.Attr](t)(fs.Setattr(root, d, &vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o700}))
	_, err = fs.Lookup(user(1000), d, "sub")
	want(t, err, syscall.EACCES)
	ok(t, fs.Removexattr(root, d, "user.a"))
	want(t, fs.Removexattr(root, d, "user.a"), syscall.ENODATA)
}

type listener struct {
	mu  sync.Mutex
	got []vfs.Change
}

func (l *listener) Origin() vfs.Origin { return 7 }
func (l *listener) Changed(cs []vfs.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.got = append(l.got, cs...)
}

func TestWatch(t *testing.T) {
	fs := New()
	var l listener
	stop := fs.Watch(&l)
	a := must[vfs.Attr](t)(fs.Mkdir(root, vfs.RootIno, "d", 0o755))
	if len(l.got) != 2 || l.got[0] != bound(vfs.RootIno, "d", a.Ino) || l.got[1] != attrOf(vfs.RootIno) {
		t.Fatalf("heard %+v", l.got)
	}
	own := &vfs.Op{Origin: 7}
	ok(t, fs.Rmdir(own, vfs.RootIno, "d"))
	if len(l.got) != 2 {
		t.Fatal("heard of its own change")
	}
	stop()
	must[vfs.Attr](t)(fs.Mkdir(root, vfs.RootIno, "d", 0o755))
	if len(l.got) != 2 {
		t.Fatal("heard after stop")
	}
}

// Every method at once, for the race detector and for the counts at the end.
func TestConcurrent(t *testing.T) {
	fs := New()
	d := mkdir(t, fs, vfs.RootIno, "d")
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewSource(int64(w)))
			for range 400 {
				storm(fs, d, rng)
			}
		})
	}
	wg.Wait()
	dh := must[vfs.DirHandle](t)(fs.OpenDir(root, d))
	for _, name := range names(t, dh, root, 10) {
		if fs.Unlink(root, d, name) != nil {
			ok(t, fs.Rmdir(root, d, name))
		}
	}
	dh.Release(root)
	if len(fs.inodes) != 2 || fs.pages != 0 || getattr(t, fs, d).Nlink != 2 {
		t.Fatalf("%d inodes and %d pages left, %+v", len(fs.inodes), fs.pages, getattr(t, fs, d))
	}
}

// storm does one random operation and expects nothing of it.
func storm(fs *FS, d vfs.Ino, rng *rand.Rand) {
	name, other := fmt.Sprint(rng.Intn(6)), fmt.Sprint(rng.Intn(6))
	switch rng.Intn(7) {
	case 0:
		if _, h, err := fs.Create(root, d, name, 0o644, syscall.O_RDWR); err == nil {
			h.Write(root, make([]byte, 5000), int64(rng.Intn(10000)))
			h.Read(root, make([]byte, 5000), 0)
			h.Release(root)
		}
	case 1:
		fs.Unlink(root, d, name)
	case 2:
		fs.Rename(root, d, name, d, other, uint32(rng.Intn(3)))
	case 3:
		if a, err := fs.Lookup(root, d, name); err == nil {
			fs.Pin(a.Ino)
			fs.Link(root, a.Ino, d, other)
			fs.Setattr(root, a.Ino, &vfs.SetAttr{Mask: vfs.SetSize, Size: 100})
			fs.Unpin(a.Ino)
		}
	case 4:
		fs.Mkdir(root, d, name, 0o755)
	case 5:
		fs.Rmdir(root, d, name)
	case 6:
		if dh, err := fs.OpenDir(root, d); err == nil {
			dh.ReadDir(root, 0, true, func(*vfs.DirEntry) bool { return true })
			dh.Release(root)
		}
	}
}
