package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/journal"
)

// entry is a record as a test sees it.
type entry struct {
	LSN     journal.LSN
	Type    journal.Type
	Payload string
}

// mustOpen opens a journal that the test's end closes.
func mustOpen(t testing.TB, o journal.Options) *journal.Journal {
	t.Helper()
	j, err := journal.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
	return j
}

// memDir is a temporary directory, in memory if the system has one there: the
// fsyncs that wal insists on cost nothing then, and power cuts are simulated.
func memDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "journal-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func mustClose(t testing.TB, j *journal.Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func replay(t testing.TB, j *journal.Journal) []entry {
	t.Helper()
	var got []entry
	err := j.Replay(func(lsn journal.LSN, typ journal.Type, p []byte) error {
		got = append(got, entry{lsn, typ, string(p)})
		return nil
	})
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	return got
}

// appendEntries appends n records that differ in type, size and bytes.
func appendEntries(t testing.TB, j *journal.Journal, n int) []entry {
	t.Helper()
	var want []entry
	for range n {
		next := j.Applied() + 1
		e := entry{next, journal.Type(1 + next%7), payloadOf(next)}
		half := len(e.Payload) / 2
		lsn, err := j.Append(e.Type, []byte(e.Payload[:half]), []byte(e.Payload[half:]))
		if err != nil {
			t.Fatalf("append %d: %v", next, err)
		}
		if lsn != next {
			t.Fatalf("append gave LSN %d, want %d", lsn, next)
		}
		want = append(want, e)
	}
	return want
}

// payloadOf is the payload that appendEntries gives a record.
func payloadOf(lsn journal.LSN) string {
	return strings.Repeat(fmt.Sprintf("%d,", lsn), int(lsn*13%40))
}

func sameEntries(t testing.TB, got, want []entry) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("record %d is %v, want %v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("got %d records, want %d", len(got), len(want))
	}
}

func TestAppendAndReplay(t *testing.T) {
	o := journal.Options{Dir: filepath.Join(t.TempDir(), "j"), First: 1000, SegmentSize: 4096}
	j := mustOpen(t, o)
	if j.Applied() != 999 || j.Durable() != 999 || j.Size() != 0 {
		t.Fatalf("new journal: applied %d, durable %d, size %d", j.Applied(), j.Durable(), j.Size())
	}
	want := appendEntries(t, j, 500)
	if err := j.Fsync(1200); err != nil {
		t.Fatal(err)
	}
	if j.Durable() < 1200 || j.Applied() != 1499 {
		t.Errorf("applied %d, durable %d", j.Applied(), j.Durable())
	}
	size := j.Size()
	mustClose(t, j)

	segments, err := filepath.Glob(filepath.Join(o.Dir, "0*"))
	if err != nil || len(segments) < 3 {
		t.Fatalf("segments %v, %v; want several", segments, err)
	}
	var onDisk int64
	for _, s := range segments {
		fi, err := os.Stat(s)
		if err != nil {
			t.Fatal(err)
		}
		onDisk += fi.Size()
	}
	if size != onDisk {
		t.Errorf("Size is %d, the segments have %d bytes", size, onDisk)
	}

	j = mustOpen(t, o)
	sameEntries(t, replay(t, j), want)
	if j.Applied() != 1499 || j.Durable() != 1499 || j.Size() != size || j.Dropped() != nil {
		t.Errorf("reopened: applied %d, durable %d, size %d, dropped %v", j.Applied(), j.Durable(), j.Size(), j.Dropped())
	}
	want = append(want, appendEntries(t, j, 100)...)
	if err := j.Replay(nil); err == nil {
		t.Error("Replay after Append succeeded")
	}
	mustClose(t, j)
	sameEntries(t, replay(t, mustOpen(t, o)), want)
}

func TestLargeAndEmptyPayloads(t *testing.T) {
	o := journal.Options{Dir: filepath.Join(t.TempDir(), "j"), SegmentSize: 1 << 16}
	j := mustOpen(t, o)
	var want []entry
	for i, n := range []int{0, 1, 105, 106, 1 << 14, 1 << 20, 0, 3 << 20} {
		p := bytes.Repeat([]byte{byte(i)}, n)
		lsn, err := j.Append(9, p)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, entry{lsn, 9, string(p)})
	}
	if lsn, err := j.Append(9, make([]byte, journal.MaxPayload), []byte{1}); !errors.Is(err, journal.ErrTooLarge) {
		t.Errorf("too large: %d, %v", lsn, err)
	}
	if _, err := j.Append(0, nil); err == nil {
		t.Error("type 0 was taken")
	}
	lsn, err := j.Append(1) // neither has stopped it
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, entry{lsn, 1, ""})
	mustClose(t, j)
	sameEntries(t, replay(t, mustOpen(t, o)), want)
}

func TestSecondOpenIsRefused(t *testing.T) {
	o := journal.Options{Dir: filepath.Join(t.TempDir(), "j")}
	j := mustOpen(t, o)
	want := appendEntries(t, j, 3)
	if _, err := journal.Open(o); !errors.Is(err, journal.ErrLocked) {
		t.Fatalf("second open: %v, want ErrLocked", err)
	}
	want = append(want, appendEntries(t, j, 3)...)
	mustClose(t, j)
	sameEntries(t, replay(t, mustOpen(t, o)), want)
}

func TestClosedJournal(t *testing.T) {
	j := mustOpen(t, journal.Options{Dir: filepath.Join(t.TempDir(), "j")})
	appendEntries(t, j, 1)
	mustClose(t, j)
	if j.Durable() != 1 {
		t.Error("Close left a record that is not durable")
	}
	_, scrubErr := j.Scrub()
	_, appendErr := j.Append(1)
	for what, err := range map[string]error{
		"append": appendErr, "scrub": scrubErr, "close": j.Close(), "reopen": j.Reopen(), "replay": j.Replay(nil),
	} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
}

func TestFsyncBeyondTheLastRecord(t *testing.T) {
	j := mustOpen(t, journal.Options{Dir: filepath.Join(t.TempDir(), "j")})
	appendEntries(t, j, 2)
	if err := j.Fsync(3); err == nil {
		t.Error("Fsync of a record that does not exist succeeded")
	}
	if err := j.Fsync(2); err != nil {
		t.Error(err)
	}
}

// Many writers append and fsync at once: every Fsync returns with its record
// durable, and they share fsyncs.
func TestGroupCommit(t *testing.T) {
	var fsyncs fsyncCounter
	o := journal.Options{FS: &fsyncs, Dir: filepath.Join(t.TempDir(), "j"), SegmentSize: 8192}
	j := mustOpen(t, o)
	const writers, each = 16, 50
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				lsn, err := j.Append(1, fmt.Appendf(nil, "%d.%d", w, i))
				if err == nil {
					err = j.Fsync(lsn)
				}
				if err != nil {
					t.Error(err)
					return
				}
				if d := j.Durable(); d < lsn {
					t.Errorf("Fsync(%d) returned with %d durable", lsn, d)
				}
			}
		})
	}
	wg.Wait()
	if n := fsyncs.count(); n >= writers*each {
		t.Errorf("%d fsyncs for %d records: none was shared", n, writers*each)
	}
	mustClose(t, j)

	next := make([]int, writers)
	for _, e := range replay(t, mustOpen(t, o)) {
		var w, i int
		if _, err := fmt.Sscanf(e.Payload, "%d.%d", &w, &i); err != nil {
			t.Fatal(err)
		}
		if i != next[w] {
			t.Fatalf("writer %d: record %d came when %d was due", w, i, next[w])
		}
		next[w]++
	}
	for w, n := range next {
		if n != each {
			t.Errorf("writer %d: %d records of %d", w, n, each)
		}
	}
}

// fsyncCounter counts the fsyncs of files.
type fsyncCounter struct {
	hostfs.OS
	mu sync.Mutex
	n  int // guarded by mu
}

func (c *fsyncCounter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func (c *fsyncCounter) OpenFile(name string, flag int, perm os.FileMode) (hostfs.File, error) {
	f, err := c.OS.OpenFile(name, flag, perm)
	return countedFile{f, c}, err
}

type countedFile struct {
	hostfs.File
	c *fsyncCounter
}

func (f countedFile) Sync() error {
	f.c.mu.Lock()
	f.c.n++
	f.c.mu.Unlock()
	return f.File.Sync()
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{64, 256, 4096, 65536} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			j := mustOpen(b, journal.Options{Dir: filepath.Join(b.TempDir(), "j")})
			p := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := j.Append(1, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendFsync(b *testing.B) {
	j := mustOpen(b, journal.Options{Dir: filepath.Join(b.TempDir(), "j")})
	p := make([]byte, 256)
	for b.Loop() {
		lsn, err := j.Append(1, p)
		if err == nil {
			err = j.Fsync(lsn)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// Reopening and scrubbing while others append and fsync disturbs nobody.
func TestReopenUnderWriters(t *testing.T) {
	o := journal.Options{FS: quick{}, Dir: filepath.Join(t.TempDir(), "j"), SegmentSize: 2048}
	j := mustOpen(t, o)
	const writers, each = 4, 150
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for i := range each {
				lsn, err := j.Append(1, make([]byte, i))
				if err == nil && i%3 == 0 {
					err = j.Fsync(lsn)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if err := j.Reopen(); err != nil {
			t.Fatal(err)
		}
		if _, err := j.Scrub(); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, j)
	if got := replay(t, mustOpen(t, o)); len(got) != writers*each {
		t.Errorf("%d records, want %d", len(got), writers*each)
	}
}
