package data

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	sqlitevfs "github.com/ncruces/go-sqlite3/vfs"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// sqliteFS keeps SQLite's files in the workspace. It lives as long as one run
// of sqlite3, which registers it under a name of its own.
type sqliteFS struct {
	c    *command.Context
	name string
}

var sqliteRuns atomic.Int64

func newSqliteFS(c *command.Context) *sqliteFS {
	fs := &sqliteFS{c, fmt.Sprintf("workspace%d", sqliteRuns.Add(1))}
	sqlitevfs.Register(fs.name, fs)
	return fs
}

func (fs *sqliteFS) close() { sqlitevfs.Unregister(fs.name) }

// Open opens a database, a journal, or, without a name, a temporary file.
func (fs *sqliteFS) Open(name string, flags sqlitevfs.OpenFlag) (sqlitevfs.File, sqlitevfs.OpenFlag, error) {
	if name == "" {
		return &sqliteTemp{memory: fs.c.Memory}, flags | sqlitevfs.OPEN_MEMORY, nil
	}
	mode := syscall.O_RDONLY
	if flags&sqlitevfs.OPEN_READWRITE != 0 {
		mode = syscall.O_RDWR
	}
	if flags&sqlitevfs.OPEN_CREATE != 0 {
		mode |= syscall.O_CREAT
	}
	if flags&sqlitevfs.OPEN_EXCLUSIVE != 0 {
		mode |= syscall.O_EXCL
	}
	if a, err := fs.c.FS.Stat(name); err == nil && !a.IsRegular() {
		return nil, flags, sqlite3.CANTOPEN // never wait for a FIFO
	}
	f, err := fs.c.FS.OpenFile(name, mode, 0o644)
	if err != nil && mode&syscall.O_RDWR != 0 && mode&syscall.O_EXCL == 0 && !errors.Is(err, syscall.ENOENT) {
		flags = flags&^(sqlitevfs.OPEN_READWRITE|sqlitevfs.OPEN_CREATE) | sqlitevfs.OPEN_READONLY
		f, err = fs.c.FS.OpenFile(name, syscall.O_RDONLY, 0)
	}
	if err != nil {
		return nil, flags, sqlite3.CANTOPEN
	}
	r, ok := f.(*vfs.RegularFile)
	if !ok {
		f.Close()
		return nil, flags, sqlite3.CANTOPEN
	}
	s := &sqliteFile{RegularFile: r, key: sqliteKey{fs.c.FS.FS, r.Handle().Ino()}}
	if flags&sqlitevfs.OPEN_DELETEONCLOSE != 0 {
		s.onClose = func() { fs.c.FS.Unlink(name) }
	}
	return s, flags, nil
}

// Delete removes a file.
func (fs *sqliteFS) Delete(name string, syncDir bool) error {
	err := fs.c.FS.Unlink(name)
	if errors.Is(err, syscall.ENOENT) {
		return sqlite3.IOERR_DELETE_NOENT
	}
	if err != nil {
		return sqlite3.IOERR_DELETE
	}
	return nil
}

// Access reports whether a file is there, or may be written.
func (fs *sqliteFS) Access(name string, flags sqlitevfs.AccessFlag) (bool, error) {
	a, err := fs.c.FS.Stat(name)
	if err != nil {
		return false, nil
	}
	if flags == sqlitevfs.ACCESS_EXISTS {
		return !a.IsRegular() || a.Size > 0, nil
	}
	return fs.c.FS.Access(name, 6) == nil, nil
}

// FullPathname makes a name absolute.
func (fs *sqliteFS) FullPathname(name string) (string, error) { return fs.c.Abs(name), nil }

// sqliteKey names a file for its locks: connections of all sessions meet here.
type sqliteKey struct {
	fs  vfs.FS
	ino vfs.Ino
}

// sqliteLocks is who holds what on a file.
type sqliteLocks struct {
	shared            int
	reserved, pending bool
}

var (
	sqliteLocksMu sync.Mutex
	sqliteLocked  = map[sqliteKey]*sqliteLocks{}
)

// sqliteFile is an open database or journal.
type sqliteFile struct {
	*vfs.RegularFile
	key     sqliteKey
	lock    sqlitevfs.LockLevel
	onClose func()
}

// WriteAt writes; a full workspace is SQLITE_FULL.
func (f *sqliteFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.RegularFile.WriteAt(p, off)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = sqlite3.FULL
	}
	return n, err
}

// Close ends the file's locks and closes it.
func (f *sqliteFile) Close() error {
	f.Unlock(sqlitevfs.LOCK_NONE)
	if f.onClose != nil {
		f.onClose()
	}
	return f.RegularFile.Close()
}

// Size is the length of the file.
func (f *sqliteFile) Size() (int64, error) {
	a, err := f.Stat()
	return int64(a.Size), err
}

// Sync makes the file durable.
func (f *sqliteFile) Sync(sqlitevfs.SyncFlag) error { return f.Fsync() }

// Lock raises the lock of the file by SQLite's rules.
func (f *sqliteFile) Lock(level sqlitevfs.LockLevel) error {
	if f.lock >= level {
		return nil
	}
	sqliteLocksMu.Lock()
	defer sqliteLocksMu.Unlock()
	l := sqliteLocked[f.key]
	if l == nil {
		l = &sqliteLocks{}
		sqliteLocked[f.key] = l
	}
	switch level {
	case sqlitevfs.LOCK_SHARED:
		if l.pending {
			return sqlite3.BUSY
		}
		l.shared++
	case sqlitevfs.LOCK_RESERVED:
		if l.reserved {
			return sqlite3.BUSY
		}
		l.reserved = true
	case sqlitevfs.LOCK_EXCLUSIVE:
		if l.pending && f.lock < sqlitevfs.LOCK_PENDING || l.reserved && f.lock < sqlitevfs.LOCK_RESERVED {
			return sqlite3.BUSY
		}
		l.reserved, l.pending = true, true
		f.lock = sqlitevfs.LOCK_PENDING
		if l.shared > 1 {
			return sqlite3.BUSY
		}
	}
	f.lock = level
	return nil
}

// Unlock lowers the lock of the file.
func (f *sqliteFile) Unlock(level sqlitevfs.LockLevel) error {
	if f.lock <= level {
		return nil
	}
	sqliteLocksMu.Lock()
	defer sqliteLocksMu.Unlock()
	l := sqliteLocked[f.key]
	if f.lock >= sqlitevfs.LOCK_RESERVED {
		l.reserved = false
	}
	if f.lock >= sqlitevfs.LOCK_PENDING {
		l.pending = false
	}
	if level < sqlitevfs.LOCK_SHARED {
		l.shared--
	}
	f.lock = level
	if *l == (sqliteLocks{}) {
		delete(sqliteLocked, f.key)
	}
	return nil
}

// CheckReservedLock reports whether any connection means to write.
func (f *sqliteFile) CheckReservedLock() (bool, error) {
	sqliteLocksMu.Lock()
	defer sqliteLocksMu.Unlock()
	l := sqliteLocked[f.key]
	return l != nil && l.reserved, nil
}

// SectorSize is the unit of a write that cannot be torn.
func (f *sqliteFile) SectorSize() int { return 4096 }

// DeviceCharacteristics says what SQLite may rely on.
func (f *sqliteFile) DeviceCharacteristics() sqlitevfs.DeviceCharacteristic {
	return sqlitevfs.IOCAP_POWERSAFE_OVERWRITE
}

// sqliteTemp is a temporary file, in memory that is accounted for.
type sqliteTemp struct {
	memory *command.Memory
	data   []byte
	held   int64
}

// ReadAt reads.
func (t *sqliteTemp) ReadAt(p []byte, off int64) (n int, err error) {
	if off < int64(len(t.data)) {
		n = copy(p, t.data[off:])
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// WriteAt writes, and grows the file.
func (t *sqliteTemp) WriteAt(p []byte, off int64) (int, error) {
	if end := off + int64(len(p)); end > int64(len(t.data)) {
		if end > int64(cap(t.data)) {
			size := max(end, 2*int64(cap(t.data)), 64<<10)
			if t.memory.Grow(size-t.held) != nil {
				return 0, sqlite3.FULL
			}
			t.held = size
			t.data = append(make([]byte, 0, size), t.data...)
		}
		t.data = t.data[:end]
	}
	return copy(t.data[off:], p), nil
}

// Truncate shortens the file.
func (t *sqliteTemp) Truncate(size int64) error {
	if size < int64(len(t.data)) {
		clear(t.data[size:])
		t.data = t.data[:size]
	}
	return nil
}

// Close gives the memory back.
func (t *sqliteTemp) Close() error {
	t.memory.Shrink(t.held)
	t.data, t.held = nil, 0
	return nil
}

// Size is the length of the file.
func (t *sqliteTemp) Size() (int64, error) { return int64(len(t.data)), nil }

// Sync has nothing to do.
func (t *sqliteTemp) Sync(sqlitevfs.SyncFlag) error { return nil }

// Lock has nothing to do: nobody else can open the file.
func (t *sqliteTemp) Lock(sqlitevfs.LockLevel) error { return nil }

// Unlock has nothing to do.
func (t *sqliteTemp) Unlock(sqlitevfs.LockLevel) error { return nil }

// CheckReservedLock reports false.
func (t *sqliteTemp) CheckReservedLock() (bool, error) { return false, nil }

// SectorSize is the unit of a write.
func (t *sqliteTemp) SectorSize() int { return 4096 }

// DeviceCharacteristics says what SQLite may rely on.
func (t *sqliteTemp) DeviceCharacteristics() sqlitevfs.DeviceCharacteristic {
	return sqlitevfs.IOCAP_POWERSAFE_OVERWRITE
}
