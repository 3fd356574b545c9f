package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/internal/figures"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/journal"
	"github.com/vfsd/vfsd/vfs"
)

// session opens a journal, appends over several segments, fsyncs now and then
// and closes, until the first error. It returns the records whose Append
// succeeded, and how many of them are durable.
func session(o journal.Options) (appended []entry, durable journal.LSN, err error) {
	j, err := journal.Open(o)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		durable = j.Durable()
		if cerr := j.Close(); err == nil {
			err = cerr
			durable = j.Durable()
		}
	}()
	for i := range 40 {
		e := entry{Type: 3, Payload: strings.Repeat(fmt.Sprint(i), 30)}
		if e.LSN, err = j.Append(e.Type, []byte(e.Payload)); err != nil {
			return appended, 0, err
		}
		appended = append(appended, e)
		if i%7 == 6 {
			if err := j.Fsync(e.LSN); err != nil {
				return appended, 0, err
			}
		}
	}
	return appended, 0, nil
}

// Each host call fails in turn: the error comes out, what was appended is
// there when the disk is well again, and what failed is not.
func TestEveryHostCallFails(t *testing.T) {
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		t.Run(cause.Error(), func(t *testing.T) {
			options := func(hook hostfs.Hook) journal.Options {
				return journal.Options{
					FS:  hostfs.NewFault(quick{}, hook),
					Dir: filepath.Join(t.TempDir(), "j"), SegmentSize: 512, Reserve: 4096,
				}
			}
			for k := int64(0); ; k++ {
				var failed hostfs.Op
				nth := hostfs.Nth(k, cause)
				o := options(func(op hostfs.Op, name string) error {
					err := nth(op, name)
					if err != nil {
						failed = op
						if filepath.Base(name) == "RESERVE" {
							failed = 0 // the journal does without it
						}
					}
					return err
				})
				appended, durable, err := session(o)
				if err == nil && len(appended) == 40 && failed == 0 && o.FS.(*hostfs.Fault).Calls() <= k {
					if k < 30 {
						t.Fatalf("only %d calls were tried", k)
					}
					figures.Note(t, "host faults under the journal", figures.Count{What: "faults", N: k}, figures.Count{What: "wrong answers", N: 0})
					return
				}
				if failed != 0 && !errors.Is(err, cause) {
					t.Fatalf("call %d, %v: error %v", k, failed, err)
				}
				if int(durable) > len(appended) {
					t.Fatalf("call %d: %d durable of %d", k, durable, len(appended))
				}
				o.FS = quick{}
				j := mustOpen(t, o)
				sameEntries(t, replay(t, j), appended)
				mustClose(t, j)
			}
		})
	}
}

// Once it has failed a journal stays so and leaves the disk alone, but what
// was durable is; Reopen ends that once the disk is well.
func TestPoison(t *testing.T) {
	disk := hostfs.NewFault(quick{}, nil)
	o := journal.Options{FS: disk, Dir: filepath.Join(t.TempDir(), "j")}
	j := mustOpen(t, o)
	want := appendEntries(t, j, 5)
	if err := j.Fsync(3); err != nil {
		t.Fatal(err)
	}
	want = append(want, appendEntries(t, j, 1)...)

	disk.SetHook(hostfs.From(0, syscall.EIO, hostfs.OpSync))
	if err := j.Fsync(6); !errors.Is(err, syscall.EIO) || !errors.Is(err, journal.ErrFailed) {
		t.Fatalf("failed fsync: %v", err)
	}
	disk.SetHook(hostfs.From(0, syscall.EDOM)) // any further call would say so
	_, appendErr := j.Append(1)
	for what, err := range map[string]error{
		"append": appendErr, "fsync": j.Fsync(6), "replay": j.Replay(nil), "err": errors.Join(journal.ErrFailed, j.Err()),
	} {
		if !errors.Is(err, syscall.EIO) || !errors.Is(err, journal.ErrFailed) || errors.Is(err, syscall.EDOM) {
			t.Errorf("%s after the failure: %v", what, err)
		}
	}
	if err := j.Fsync(5); err != nil || j.Durable() != 5 || j.Applied() != 6 {
		t.Errorf("what was durable: %v; durable %d, applied %d", err, j.Durable(), j.Applied())
	}

	if err := j.Reopen(); !errors.Is(err, syscall.EDOM) {
		t.Errorf("reopen on a broken disk: %v", err)
	}
	if _, err := j.Append(1); !errors.Is(err, syscall.EIO) {
		t.Errorf("append after a failed reopen: %v, want the first error", err)
	}
	disk.SetHook(nil)
	if err := j.Reopen(); err != nil {
		t.Fatal(err)
	}
	if j.Durable() != 6 || j.Err() != nil {
		t.Errorf("reopened: durable %d, err %v", j.Durable(), j.Err())
	}
	want = append(want, appendEntries(t, j, 3)...)
	mustClose(t, j)
	sameEntries(t, replay(t, mustOpen(t, o)), want)
}

// A close that finds the journal failed does not fsync, and does let it go.
func TestCloseOfAFailedJournal(t *testing.T) {
	disk := hostfs.NewFault(quick{}, nil)
	o := journal.Options{FS: disk, Dir: filepath.Join(t.TempDir(), "j")}
	j := mustOpen(t, o)
	want := appendEntries(t, j, 5)
	disk.SetHook(hostfs.Nth(0, syscall.EIO, hostfs.OpSync))
	if err := j.Fsync(5); err == nil {
		t.Fatal("fsync succeeded")
	}
	mustClose(t, j)
	sameEntries(t, replay(t, mustOpen(t, o)), want)
}

// forgetful is a disk whose files, when their fsync fails, lose what was
// written since the last one, as the page cache of some file systems does.
type forgetful struct {
	quick
	forget atomic.Bool
}

func (d *forgetful) OpenFile(name string, flag int, perm os.FileMode) (hostfs.File, error) {
	f, err := d.quick.OpenFile(name, flag, perm)
	return &forgetfulFile{File: f, disk: d}, err
}

type forgetfulFile struct {
	hostfs.File
	disk   *forgetful
	synced int64
}

func (f *forgetfulFile) Sync() error {
	if f.disk.forget.Load() {
		return errors.Join(syscall.EIO, f.Truncate(f.synced))
	}
	size, err := f.Size()
	f.synced = size
	return err
}

// Records that were appended and that the kernel then lost with a failed fsync
// are missed by Reopen and not passed over.
func TestReopenMissesLostRecords(t *testing.T) {
	disk := &forgetful{}
	o := journal.Options{FS: disk, Dir: filepath.Join(t.TempDir(), "j")}
	j := mustOpen(t, o)
	want := appendEntries(t, j, 5)
	if err := j.Fsync(5); err != nil {
		t.Fatal(err)
	}
	appendEntries(t, j, 5)
	disk.forget.Store(true)
	if err := j.Fsync(10); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	disk.forget.Store(false)
	for range 2 {
		var c *journal.CorruptError
		if err := j.Reopen(); !errors.Is(err, vfs.ErrCorrupt) || !errors.As(err, &c) || c.LSN != 6 {
			t.Fatalf("reopen: %v, want LSN 6 reported gone", err)
		}
	}
	if j.Durable() != 5 || j.Applied() != 10 {
		t.Errorf("durable %d, applied %d", j.Durable(), j.Applied())
	}
	mustClose(t, j)
	sameEntries(t, replay(t, mustOpen(t, o)), want)
}

// rewrites notes what is written and fsynced, in order.
type rewrites struct {
	quick
	log []string
}

func (d *rewrites) OpenFile(name string, flag int, perm os.FileMode) (hostfs.File, error) {
	f, err := d.quick.OpenFile(name, flag, perm)
	return &rewritesFile{f, d}, err
}

func (d *rewrites) SyncDir(name string) error {
	d.log = append(d.log, "syncdir "+filepath.Base(name))
	return d.quick.SyncDir(name)
}

type rewritesFile struct {
	hostfs.File
	disk *rewrites
}

func (f *rewritesFile) WriteAt(p []byte, off int64) (int, error) {
	f.disk.log = append(f.disk.log, fmt.Sprintf("write %d+%d", off, len(p)))
	return f.File.WriteAt(p, off)
}

func (f *rewritesFile) Truncate(size int64) error {
	f.disk.log = append(f.disk.log, fmt.Sprintf("truncate %d", size))
	return f.File.Truncate(size)
}

func (f *rewritesFile) Sync() error {
	f.disk.log = append(f.disk.log, "sync "+filepath.Base(f.Name()))
	return f.File.Sync()
}

// The order of what makes things durable, and that Open writes the tail again,
// for the page cache may hold what the disk does not (invariant 4).
func TestOrderOfFsyncs(t *testing.T) {
	disk := &rewrites{}
	o := journal.Options{FS: disk, Dir: filepath.Join(t.TempDir(), "j"), SegmentSize: 64}
	expect := func(what string, want ...string) {
		t.Helper()
		if !slices.Equal(disk.log, want) {
			t.Errorf("%s: %q, want %q", what, disk.log, want)
		}
		disk.log = nil
	}
	parent := "syncdir " + filepath.Base(filepath.Dir(o.Dir))
	j := mustOpen(t, o)
	expect("a new journal", parent, "syncdir j")
	if _, err := j.Append(1, make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	expect("append")
	if _, err := j.Append(1, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	expect("append to a new segment", "sync 00000000000000000001", "syncdir j")
	if err := j.Fsync(2); err != nil {
		t.Fatal(err)
	}
	if err := j.Fsync(2); err != nil {
		t.Fatal(err)
	}
	expect("fsync twice", "sync 00000000000000000002")
	size := j.Size() - (1 + 22 + 64)
	mustClose(t, j)
	expect("close")

	j = mustOpen(t, o)
	expect("open", parent, fmt.Sprintf("write 0+%d", size), "sync 00000000000000000002", "syncdir j")
	mustClose(t, j)
	if err := os.Truncate(filepath.Join(o.Dir, "00000000000000000002"), size-1); err != nil {
		t.Fatal(err)
	}
	j = mustOpen(t, o)
	expect("open with a torn tail", parent, "truncate 0", "sync 00000000000000000002", "syncdir j")
	if d := j.Dropped(); d == nil || d.Bytes != size-1 {
		t.Errorf("dropped %v", d)
	}
}

// P8: the reserve takes space and gives it back, and the journal does without.
func TestReserve(t *testing.T) {
	disk := hostfs.NewFault(hostfs.OS{}, nil)
	o := journal.Options{FS: disk, Dir: filepath.Join(t.TempDir(), "j"), Reserve: 1 << 20}
	reserved := func() int64 {
		var st syscall.Stat_t
		if err := syscall.Stat(filepath.Join(o.Dir, "RESERVE"), &st); err != nil {
			return -1
		}
		return st.Blocks * 512
	}
	disk.SetHook(hostfs.From(0, syscall.ENOSPC, hostfs.OpAllocate))
	j := mustOpen(t, o)
	if err := j.RestoreReserve(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("restore on a full disk: %v", err)
	}
	disk.SetHook(nil)
	if err := j.RestoreReserve(); err != nil {
		t.Fatal(err)
	}
	if n := reserved(); n < 1<<20 && reservesHere(t) {
		t.Errorf("%d bytes are reserved", n)
	}
	for range 2 {
		if err := j.ReleaseReserve(); err != nil {
			t.Fatal(err)
		}
	}
	if n := reserved(); n != -1 {
		t.Errorf("%d bytes are reserved after the release", n)
	}
	disk.SetHook(hostfs.From(0, syscall.EIO, hostfs.OpRemove))
	if err := j.ReleaseReserve(); !errors.Is(err, syscall.EIO) {
		t.Errorf("failed release: %v", err)
	}
}

// reservesHere reports whether the file system under the test reserves space.
func reservesHere(t *testing.T) bool {
	t.Helper()
	f, err := hostfs.OS{}.OpenFile(filepath.Join(t.TempDir(), "f"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var st syscall.Stat_t
	if err := errors.Join(f.Allocate(0, 1<<20), syscall.Stat(f.Name(), &st)); err != nil {
		t.Fatal(err)
	}
	return st.Blocks > 0
}
