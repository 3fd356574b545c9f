package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vfsd/vfsd/internal/figures"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/journal"
	"github.com/vfsd/vfsd/vfs"
)

// quick is the host's files without the waits for the disk.
type quick struct{ hostfs.OS }

func (q quick) SyncDir(string) error { return nil }

func (q quick) OpenFile(name string, flag int, perm os.FileMode) (hostfs.File, error) {
	f, err := q.OS.OpenFile(name, flag, perm)
	return quickFile{f}, err
}

type quickFile struct{ hostfs.File }

func (quickFile) Sync() error { return nil }

// sample is a closed journal that tests damage in copies.
type sample struct {
	t       *testing.T
	opts    journal.Options
	entries []entry
	names   []string          // the segments in order
	bytes   map[string][]byte // their bytes
	ends    map[string][]int  // where in them the records end
	tried   int64             // how often a damaged journal was opened
}

// note writes down how often a damage was tried. A silent loss fails the test.
func (s *sample) note(run string) {
	s.t.Helper()
	figures.Note(s.t, run, figures.Count{What: "damages", N: s.tried}, figures.Count{What: "silent losses", N: 0})
}

// newSample appends n records. fsync says whether after each one.
func newSample(t *testing.T, segmentSize, n int, fsync bool) *sample {
	t.Helper()
	s := &sample{t: t, bytes: map[string][]byte{}, ends: map[string][]int{}}
	s.opts = journal.Options{FS: quick{}, Dir: filepath.Join(memDir(t), "j"), First: 70, SegmentSize: segmentSize}
	j := mustOpen(t, s.opts)
	var before int64
	for range n {
		s.entries = append(s.entries, appendEntries(t, j, 1)...)
		name := s.lastName()
		if len(s.names) == 0 || s.names[len(s.names)-1] != name {
			s.names = append(s.names, name)
		}
		end := int(j.Size() - before)
		if ends := s.ends[name]; len(ends) > 0 {
			end += ends[len(ends)-1]
		}
		before = j.Size()
		s.ends[name] = append(s.ends[name], end)
		if fsync {
			if err := j.Fsync(j.Applied()); err != nil {
				t.Fatal(err)
			}
		}
	}
	mustClose(t, j)
	for _, name := range s.names {
		b, err := os.ReadFile(filepath.Join(s.opts.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		s.bytes[name] = b
	}
	return s
}

func (s *sample) lastName() string {
	s.t.Helper()
	segments, err := filepath.Glob(filepath.Join(s.opts.Dir, "0*"))
	if err != nil || len(segments) == 0 {
		s.t.Fatal("no segments", err)
	}
	return filepath.Base(slices.Max(segments))
}

// last is the last segment's name.
func (s *sample) last() string { return s.names[len(s.names)-1] }

// entriesBefore returns how many records of the journal end at or before an
// offset in the last segment.
func (s *sample) entriesBefore(offset int) int {
	ends := s.ends[s.last()]
	whole, _ := slices.BinarySearch(ends, offset+1)
	return len(s.entries) - len(ends) + whole
}

// damaged writes the sample with one segment replaced, opens it and returns
// its records. The directory is gone when the test ends.
func (s *sample) damaged(name string, content []byte) ([]entry, *journal.Torn, error) {
	s.t.Helper()
	s.tried++
	// The last test may have begun a segment.
	segments, err := filepath.Glob(filepath.Join(s.opts.Dir, "0*"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, path := range segments {
		if s.bytes[filepath.Base(path)] == nil {
			if err := os.Remove(path); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	for n, b := range s.bytes {
		if n == name {
			b = content
		}
		if err := os.WriteFile(filepath.Join(s.opts.Dir, n), b, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	return s.opened()
}

// opened opens the journal as it is, and if that works also proves that it
// goes on: a record appended now is there after another open.
func (s *sample) opened() ([]entry, *journal.Torn, error) {
	s.t.Helper()
	j, err := journal.Open(s.opts)
	if err != nil {
		return nil, nil, err
	}
	got, torn := replay(s.t, j), j.Dropped()
	more := appendEntries(s.t, j, 1)
	mustClose(s.t, j)
	j, err = journal.Open(s.opts)
	if err != nil {
		s.t.Fatalf("open after append after damage: %v", err)
	}
	sameEntries(s.t, replay(s.t, j), append(slices.Clone(got), more...))
	mustClose(s.t, j)
	return got, torn, nil
}

// wantPrefix checks that damage at an offset of the last segment was dropped
// from there on and reported.
func (s *sample) wantPrefix(what string, offset int, got []entry, torn *journal.Torn, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
	n := s.entriesBefore(offset)
	sameEntries(s.t, got, s.entries[:n])
	if torn == nil || torn.LSN != 70+journal.LSN(n) || torn.File != filepath.Join(s.opts.Dir, s.last()) || torn.Bytes == 0 {
		s.t.Fatalf("%s: reported as %v", what, torn)
	}
}

// wantCorrupt checks that damage was refused, and where it was seen.
func (s *sample) wantCorrupt(what, name string, offset int, err error) {
	s.t.Helper()
	var c *journal.CorruptError
	if !errors.Is(err, vfs.ErrCorrupt) || !errors.As(err, &c) {
		s.t.Fatalf("%s: %v, want corruption", what, err)
	}
	if c.File != filepath.Join(s.opts.Dir, name) || c.Offset != int64(offset) || c.Reason == "" {
		s.t.Fatalf("%s: refused with %v, want %s at offset %d", what, err, name, offset)
	}
}

// C06: cut at every byte, the last segment opens with all records before the
// cut, and any other is refused.
func TestTruncatedAtEveryByte(t *testing.T) {
	s := newSample(t, 400, 14, true)
	defer s.note("journal cut at every byte")
	whole := s.bytes[s.last()]
	for size := range len(whole) {
		got, torn, err := s.damaged(s.last(), whole[:size])
		if size == 0 || slices.Contains(s.ends[s.last()], size) {
			if err != nil || torn != nil {
				t.Fatalf("cut between records at %d: %v, %v", size, torn, err)
			}
			sameEntries(t, got, s.entries[:s.entriesBefore(size)])
			continue
		}
		s.wantPrefix(fmt.Sprintf("cut at %d", size), size, got, torn, err)
	}
	for i, name := range s.names[:len(s.names)-1] {
		for size := range len(s.bytes[name]) {
			_, _, err := s.damaged(name, s.bytes[name][:size])
			if ends := s.ends[name]; size == 0 || slices.Contains(ends, size) {
				s.wantCorrupt(fmt.Sprintf("cut at %d", size), s.names[i+1], 0, err)
			} else {
				s.wantCorrupt(fmt.Sprintf("cut at %d", size), name, recordAt(ends, size), err)
			}
		}
	}
}

// recordAt returns where the record begins that an offset is in.
func recordAt(ends []int, offset int) int {
	i, _ := slices.BinarySearch(ends, offset+1)
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// A flipped byte is never given back: in the last record it is a torn tail,
// anywhere else it is refused, whether it had been fsynced or not.
func TestFlippedAtEveryByte(t *testing.T) {
	for _, fsync := range []bool{false, true} {
		t.Run(fmt.Sprintf("fsync=%v", fsync), func(t *testing.T) {
			s := newSample(t, 400, 12, fsync)
			defer s.note("journal flipped at every byte")
			for _, name := range s.names {
				for at := range s.bytes[name] {
					for _, mask := range []byte{0xff, 1 << (at % 8)} {
						b := slices.Clone(s.bytes[name])
						b[at] ^= mask
						what := fmt.Sprintf("%s: byte %d ^ %02x", name, at, mask)
						start := recordAt(s.ends[name], at)
						got, torn, err := s.damaged(name, b)
						if name == s.last() && s.entriesBefore(at) == len(s.entries)-1 {
							s.wantPrefix(what, start, got, torn, err)
						} else {
							s.wantCorrupt(what, name, start, err)
						}
					}
				}
			}
		})
	}
}

// C10: a tail of zeroes, noise or an old segment's bytes is no record.
func TestForeignTail(t *testing.T) {
	s := newSample(t, 16<<10, 610, true)
	defer s.note("journal with a foreign tail")
	last := s.bytes[s.last()]
	if len(last) < 2*4096 {
		t.Fatalf("the last segment has only %d bytes", len(last))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	noise := make([]byte, 4096)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	old := s.bytes[s.names[0]]
	cut := len(last) - 4096
	atRecord := recordAt(s.ends[s.last()], cut)
	for what, tail := range map[string][]byte{
		"zeroes":                        make([]byte, 4096),
		"noise":                         noise,
		"an old segment, at its start":  old[:4096],
		"an old segment, at some place": old[777 : 777+4096],
		"this segment's start":          last[:4096],
	} {
		t.Run(what, func(t *testing.T) {
			for _, at := range []int{cut, atRecord} {
				got, torn, err := s.damaged(s.last(), slices.Concat(last[:at], tail))
				s.wantPrefix(what, at, got, torn, err)
			}
			got, torn, err := s.damaged(s.last(), slices.Concat(last, tail))
			s.wantPrefix(what+" appended", len(last), got, torn, err)
			if what == "this segment's start" {
				return // alone it would be right
			}
			got, torn, err = s.damaged(s.last(), tail)
			s.wantPrefix(what+" alone", 0, got, torn, err)
		})
	}
}

// A page lost in front of intact records is a torn tail as long as none of it
// was fsynced, and corruption if the records behind it say that it was.
func TestLostPage(t *testing.T) {
	for _, fsync := range []bool{false, true} {
		t.Run(fmt.Sprintf("fsync=%v", fsync), func(t *testing.T) {
			s := newSample(t, 1<<20, 400, fsync)
			defer s.note("journal with a lost page")
			last := s.bytes[s.last()]
			for page := 0; page+2*4096 < len(last); page += 4096 {
				b := slices.Clone(last)
				clear(b[page : page+4096])
				got, torn, err := s.damaged(s.last(), b)
				start := recordAt(s.ends[s.last()], page)
				if fsync {
					s.wantCorrupt("lost page", s.last(), start, err)
					continue
				}
				s.wantPrefix("lost page", start, got, torn, err)
				if torn.Records == 0 {
					t.Fatalf("page %d: the records behind it were not counted: %v", page/4096, torn)
				}
			}
		})
	}
}

// What is wrong with the directory and not with bytes.
func TestDamagedDirectory(t *testing.T) {
	s := newSample(t, 700, 30, true)
	restore := func() {
		if _, _, err := s.damaged("", nil); err != nil {
			t.Fatal(err)
		}
	}
	put := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(s.opts.Dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(name string) {
		if err := os.Remove(filepath.Join(s.opts.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	remove(s.names[1])
	_, _, err := s.opened()
	s.wantCorrupt("a segment is missing", s.names[2], 0, err)
	put(s.names[1], s.bytes[s.names[1]])

	remove(s.names[0])
	_, _, err = s.opened()
	s.wantCorrupt("the first segment is missing", s.names[1], 0, err)
	put(s.names[0], s.bytes[s.names[0]])

	for _, name := range []string{
		"00000000000000000070.START", "18446744073709551615", "00000000000000000070.END", "00000000000000000000", "00000000000000000070x",
	} {
		put(name, nil)
		_, _, err = s.opened()
		s.wantCorrupt("a foreign name", name, 0, err)
		remove(name)
	}

	put("notes", []byte("left by somebody"))
	put("99999999999999999999", nil) // no LSN is this high, and wal ignores it too
	restore()
}

func TestWrongFirstLSN(t *testing.T) {
	s := newSample(t, 700, 3, true)
	s.opts.First = 71
	if _, _, err := s.opened(); !errors.Is(err, vfs.ErrCorrupt) {
		t.Errorf("another first LSN: %v", err)
	}
	s.opts.First = 0
	got, _, err := s.opened()
	if err != nil {
		t.Fatal(err)
	}
	sameEntries(t, got, s.entries)
}

// Damage that comes between Open and Replay is found, and where.
func TestDamageAfterOpen(t *testing.T) {
	s := newSample(t, 700, 30, true)
	path := filepath.Join(s.opts.Dir, s.names[1])
	for what, content := range map[string][]byte{
		"flipped": append([]byte{s.bytes[s.names[1]][0] ^ 1}, s.bytes[s.names[1]][1:]...),
		"cut":     s.bytes[s.names[1]][:len(s.bytes[s.names[1]])-1],
		"payload": append(slices.Clone(s.bytes[s.names[1]][:len(s.bytes[s.names[1]])-1]), 0),
	} {
		j := mustOpen(t, s.opts)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		next := 0
		err := j.Replay(func(lsn journal.LSN, typ journal.Type, p []byte) error {
			if e := (entry{lsn, typ, string(p)}); e != s.entries[next] {
				t.Errorf("%s: replayed %v, want %v", what, e, s.entries[next])
			}
			next++
			return nil
		})
		at := 0
		if what != "flipped" {
			ends := s.ends[s.names[1]]
			at = ends[len(ends)-2]
		}
		s.wantCorrupt(what, s.names[1], at, err)
		mustClose(t, j)
		if err := os.WriteFile(path, s.bytes[s.names[1]], 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A segment too long to be one is refused before it is read.
func TestHugeSegment(t *testing.T) {
	s := newSample(t, 700, 3, true)
	if err := os.Truncate(filepath.Join(s.opts.Dir, s.last()), 1<<40); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.opened()
	s.wantCorrupt("huge", s.last(), journal.MaxSegment, err)
}

// Scrub reports the same as Open finds, and changes nothing.
func TestScrub(t *testing.T) {
	s := newSample(t, 700, 30, true)
	r, err := journal.Scrub(quick{}, s.opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, b := range s.bytes {
		size += int64(len(b))
	}
	want := journal.Report{First: 70, Last: 99, Segments: len(s.names), Records: 30, Bytes: size}
	if r != want {
		t.Errorf("scrub: %+v, want %+v", r, want)
	}
	path := filepath.Join(s.opts.Dir, s.last())
	cut := s.bytes[s.last()][:len(s.bytes[s.last()])-1]
	if err := os.WriteFile(path, cut, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err = journal.Scrub(quick{}, s.opts.Dir)
	if err != nil || r.Torn == nil || r.Last != 98 || r.Torn.LSN != 99 {
		t.Errorf("scrub of a torn tail: %+v, %v", r, err)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, cut) {
		t.Error("scrub changed the segment")
	}
	if _, err := journal.Scrub(quick{}, filepath.Join(s.opts.Dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("scrub of nothing: %v", err)
	}
}

// Journal.Scrub sees whole records only, whoever appends meanwhile.
func TestScrubWhileAppending(t *testing.T) {
	j := mustOpen(t, journal.Options{FS: quick{}, Dir: filepath.Join(memDir(t), "j"), SegmentSize: 4096})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2000 {
			if _, err := j.Append(1, []byte("some payload that takes room")); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for scrubs := 0; ; scrubs++ {
		before := j.Applied()
		r, err := j.Scrub()
		if err != nil || r.Torn != nil || r.Last < before {
			t.Fatalf("scrub %d: %+v, %v; %d were applied before", scrubs, r, err, before)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}
