package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// The data directory:
//
//	format                    "vfsd data directory\nversion 1\n"
//	lock                      flocked by the process that uses it; its pid
//	chunks/                   one chunk store for all workspaces
//	workspaces/NAME/head
//	workspaces/NAME/journal/EPOCH/
//	workspaces/NAME/staging/EPOCH-SEQUENCE
const (
	formatName   = "format"
	formatPrefix = "vfsd data directory\nversion "
	formatNow    = 1
	lockName     = "lock"
	chunksName   = "chunks"
	wsName       = "workspaces"
)

// Errors that a caller may want to tell apart.
var (
	ErrNotDataDir = errors.New("not a vfsd data directory")
	ErrInUse      = errors.New("in use by another vfsd")
	ErrNoSuch     = errors.New("no such workspace")
	ErrExists     = errors.New("it exists already")
	ErrBadName    = errors.New("a name has 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter or digit")
)

// Options say where a data directory is and how to keep it. Only Dir is
// required.
type Options struct {
	FS    hostfs.FS // the host's files; nil is hostfs.OS
	Dir   string
	Log   *slog.Logger // nil discards
	Cache int64        // bytes of tree nodes and of chunks to keep in memory, each; 0 is 64 MiB
	// Handover goes on with a directory that another DataDir has handed over.
	Handover *Handover
	// Source returns where the promised chunks of a workspace are; nil returns
	// none. See Workspace.SetSource.
	Source func(workspace string) Source
}

// DataDir is an open data directory: a chunk store and workspaces. It is safe
// for concurrent use.
type DataDir struct {
	fsys   hostfs.FS
	dir    string
	log    *slog.Logger
	lock   hostfs.File
	chunks *chunk.Packs
	cache  *tree.Cache
	source func(workspace string) Source // may be nil

	gcMu sync.Mutex // one garbage collection at a time; before mu

	reclaimMu sync.Mutex // before gcMu
	reclaimed time.Time  // when it last found nothing; guarded by reclaimMu

	mu   sync.Mutex
	open map[string]*Workspace    // guarded by mu
	used map[string]time.Time     // when each was last asked for; guarded by mu
	hurt map[string]error         // why opening failed the last time; guarded by mu
	cuts map[uint64]*chunk.Cutter // by polynomial; guarded by mu
	done bool                     // guarded by mu
	// inherited is what another DataDir told of workspaces that are about to
	// be opened; guarded by mu.
	inherited map[string][]byte
}

// OpenDataDir opens a data directory, or makes one where nothing or an empty
// directory is. The errors are one line each and name the way out: ErrInUse
// with the pid of the other, ErrNotDataDir, ErrNewer, or what the host says.
func OpenDataDir(ctx context.Context, o Options) (*DataDir, error) {
	if o.FS == nil {
		o.FS = hostfs.OS{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Cache == 0 {
		o.Cache = 64 << 20
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	d := &DataDir{fsys: o.FS, dir: dir, log: o.Log, source: o.Source, cache: tree.NewCache(o.Cache), open: map[string]*Workspace{}, used: map[string]time.Time{}, hurt: map[string]error{}, cuts: map[uint64]*chunk.Cutter{}}
	if o.Handover != nil {
		d.lock = o.Handover.Lock
	}
	if err := d.prepare(); err != nil {
		d.unlock()
		return nil, fmt.Errorf("data directory %s: %w", dir, err)
	}
	d.chunks, err = chunk.Open(ctx, chunk.Options{
		FS: o.FS, Dir: filepath.Join(dir, chunksName), CacheBytes: o.Cache, Compress: true, Log: o.Log,
	})
	if err != nil {
		d.unlock()
		return nil, fmt.Errorf("data directory %s: %w", dir, err)
	}
	if o.Handover != nil {
		if err := d.inherit(o.Handover.State); err != nil {
			return nil, fmt.Errorf("data directory %s: %w", dir, err)
		}
	}
	return d, nil
}

// prepare makes the directory ours: format, lock, sub-directories.
func (d *DataDir) prepare() error {
	if err := d.fsys.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	if err := CheckFormat(d.fsys, d.dir); err != nil {
		return err
	}
	if err := d.takeLock(); err != nil {
		return err
	}
	// Looked at again under the lock: two may have found it empty.
	if _, err := d.fsys.Stat(filepath.Join(d.dir, formatName)); errors.Is(err, fs.ErrNotExist) {
		content := formatPrefix + strconv.Itoa(formatNow) + "\n"
		if err := hostfs.ReplaceFile(d.fsys, filepath.Join(d.dir, formatName), []byte(content), 0o600); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	// Not made anew where there was one: it would be an empty store under heads
	// that need a full one.
	if names, err := d.List(); err == nil && len(names) > 0 {
		if _, err := d.fsys.Stat(filepath.Join(d.dir, chunksName)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("it has %d workspaces and no %s: put that back from a copy, or begin with another directory: %w",
				len(names), chunksName, vfs.ErrCorrupt)
		}
	}
	for _, sub := range []string{chunksName, wsName} {
		if err := d.fsys.MkdirAll(filepath.Join(d.dir, sub), 0o700); err != nil {
			return err
		}
	}
	return d.fsys.SyncDir(d.dir)
}

// CheckFormat reports why dir cannot be used as a data directory by this
// program; an empty one can.
func CheckFormat(fsys hostfs.FS, dir string) error {
	b, err := readFile(fsys, filepath.Join(dir, formatName), 1<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return checkEmpty(fsys, dir)
	}
	if err != nil {
		return err
	}
	rest, ok := strings.CutPrefix(string(b), formatPrefix)
	version, verr := strconv.Atoi(strings.TrimSuffix(rest, "\n"))
	if !ok || verr != nil {
		return fmt.Errorf("%s says nothing of vfsd: %w; choose another with --data", formatName, ErrNotDataDir)
	}
	if version > formatNow {
		return fmt.Errorf("its format is version %d and this program knows up to %d: %w", version, formatNow, ErrNewer)
	}
	return nil
}

func checkEmpty(fsys hostfs.FS, dir string) error {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		switch n.Name() {
		// What a first start that was interrupted, or a daemon's log and
		// socket, leave beside nothing else.
		case lockName, formatName + ".new", "vfsd.log", "vfsd.sock", "lost+found":
		default:
			return fmt.Errorf("it holds %q and no file named %s: %w; choose an empty one with --data",
				n.Name(), formatName, ErrNotDataDir)
		}
	}
	return nil
}

func (d *DataDir) takeLock() error {
	name := filepath.Join(d.dir, lockName)
	f, err := d.lock, error(nil)
	if f == nil {
		if f, err = d.fsys.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return err
		}
	}
	if err := f.Lock(); err != nil {
		holder := LockHolder(d.fsys, d.dir)
		if cerr := f.Close(); cerr != nil {
			return cerr
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("%w, pid %d", ErrInUse, holder)
		}
		return err
	}
	d.lock = f
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// LockHolder returns the pid in a data directory's lock file, 0 when it says
// none. The process may be gone.
func LockHolder(fsys hostfs.FS, dir string) int {
	b, err := readFile(fsys, filepath.Join(dir, lockName), 64)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

func (d *DataDir) unlock() {
	if d.lock != nil {
		if err := d.lock.Close(); err != nil {
			d.log.Warn("cannot close the lock", "dir", d.dir, "err", err)
		}
	}
}

// Dir returns the directory's path.
func (d *DataDir) Dir() string { return d.dir }

// Chunks returns the chunk store.
func (d *DataDir) Chunks() *chunk.Packs { return d.chunks }

// cutter returns what cuts with a polynomial, 0 being the store's. mu is held.
func (d *DataDir) cutter(polynomial uint64) (*chunk.Cutter, error) {
	if own := d.chunks.Cutter(); polynomial == 0 || polynomial == own.Polynomial() {
		return own, nil
	}
	if c := d.cuts[polynomial]; c != nil {
		return c, nil
	}
	c, err := chunk.NewCutter(polynomial)
	if err == nil {
		d.cuts[polynomial] = c
	}
	return c, err
}

func (d *DataDir) path(name string) string { return filepath.Join(d.dir, wsName, name) }

func stagingDir(dir string) string { return filepath.Join(dir, "staging") }

// ValidName reports whether a workspace or a snapshot may have this name.
func ValidName(name string) error {
	ok := len(name) >= 1 && len(name) <= 64
	for i := 0; i < len(name); i++ {
		c := name[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		ok = ok && (alnum || i > 0 && (c == '.' || c == '-' || c == '_'))
	}
	if !ok {
		return fmt.Errorf("%q: %w", name, ErrBadName)
	}
	return nil
}

// Close checkpoints and closes every workspace, then the store. The first
// error is returned; all are logged.
func (d *DataDir) Close() error {
	d.gcMu.Lock()
	defer d.gcMu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return nil
	}
	d.done = true
	var first error
	keep := func(what string, err error) {
		if err != nil {
			d.log.Error("close", "what", what, "err", err)
			if first == nil {
				first = err
			}
		}
	}
	for name, w := range d.open {
		keep(name, w.Close())
	}
	keep("chunks", d.chunks.Close())
	d.unlock()
	return first
}
