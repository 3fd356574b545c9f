package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"

	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
)

// CorruptError is damage that is not a torn tail. It wraps vfs.ErrCorrupt.
type CorruptError struct {
	File   string // the segment
	Offset int64  // where in it the first bad record begins
	LSN    LSN    // the LSN that should be there
	Reason string
}

// Error names file, offset and LSN.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("journal: %s at offset %d (LSN %d): %s: %v", e.File, e.Offset, e.LSN, e.Reason, vfs.ErrCorrupt)
}

// Unwrap returns vfs.ErrCorrupt.
func (e *CorruptError) Unwrap() error { return vfs.ErrCorrupt }

// Torn is a torn tail.
type Torn struct {
	File    string // the segment
	Offset  int64  // where the tail begins
	Bytes   int64  // its length
	LSN     LSN    // the LSN of the first record in it
	Records int    // intact records in it, behind a lost page
	Reason  string // what is wrong with the first record
}

// String is for logs.
func (t *Torn) String() string {
	return fmt.Sprintf("%s: %d bytes at offset %d (LSN %d on, %d of them intact): %s",
		t.File, t.Bytes, t.Offset, t.LSN, t.Records, t.Reason)
}

// Report is what Scrub found. Without records, Last is First-1.
type Report struct {
	First    LSN   // of the first record; 0 if there is no segment
	Last     LSN   // of the last good record
	Segments int   // number of segments
	Records  int   // number of good records
	Bytes    int64 // bytes of good records
	Torn     *Torn // the torn tail, or nil
}

// Scrub reads a whole journal and verifies every record. It changes nothing
// and takes no lock: while the journal is open it may take the record that is
// just being written for a torn tail, so use Journal.Scrub then. The error
// wraps vfs.ErrCorrupt if and only if there is damage other than a torn tail;
// the report covers what is before it.
func Scrub(fsys hostfs.FS, dir string) (Report, error) {
	s := scrubber{fs: fsys, dir: dir}
	err := s.run()
	return s.report, err
}

// Scrub verifies all records appended so far, while appends go on.
func (j *Journal) Scrub() (Report, error) {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return Report{}, fmt.Errorf("journal: scrub %s: %w", j.dir, os.ErrClosed)
	}
	s := scrubber{fs: j.fs, dir: j.dir, tail: j.tail.first, tailSize: j.tail.size}
	j.mu.Unlock()
	err := s.run()
	return s.report, err
}

// segmentFile is a segment found in the directory.
type segmentFile struct {
	path  string
	first LSN
}

// scrubber walks the segments of one directory.
type scrubber struct {
	fs  hostfs.FS
	dir string
	// If tail is not 0, nothing behind the first tailSize bytes of the
	// segment that begins with it is looked at.
	tail     LSN
	tailSize int64

	report Report
	last   segmentFile // the last segment
	data   []byte      // its bytes, torn tail included
}

func (s *scrubber) run() error {
	segments, err := listSegments(s.fs, s.dir)
	if err != nil {
		return err
	}
	for i, seg := range segments {
		if s.tail != 0 && seg.first > s.tail {
			break
		}
		if i == 0 {
			s.report.First = seg.first
			s.report.Last = seg.first - 1
		} else if seg.first != s.report.Last+1 {
			return &CorruptError{seg.path, 0, s.report.Last + 1, "a segment before it is missing or incomplete"}
		}
		if err := s.segment(seg, i == len(segments)-1 || seg.first == s.tail); err != nil {
			return err
		}
	}
	return nil
}

// segment verifies one segment and adds it to the report.
func (s *scrubber) segment(seg segmentFile, last bool) error {
	if err := s.read(seg); err != nil {
		return err
	}
	found := scan(s.data, seg.first)
	s.last = seg
	s.report.Segments++
	s.report.Records += found.records
	s.report.Bytes += int64(found.end)
	s.report.Last = found.next - 1
	if found.bad == "" {
		return nil
	}
	if !last {
		return &CorruptError{seg.path, int64(found.end), found.next, string(found.bad)}
	}
	rest, damage := judge(s.data, found)
	if damage != "" {
		return &CorruptError{seg.path, int64(found.end), found.next, string(damage)}
	}
	s.report.Torn = &Torn{
		File: seg.path, Offset: int64(found.end), Bytes: int64(len(s.data) - found.end),
		LSN: found.next, Records: rest.records, Reason: string(found.bad),
	}
	return nil
}

// read fills s.data with the segment.
func (s *scrubber) read(seg segmentFile) (err error) {
	f, err := s.fs.OpenFile(seg.path, os.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("journal: scrub: %w", err)
	}
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("journal: scrub: %w", cerr)
		}
	}()
	size, err := f.Size()
	if err != nil {
		return fmt.Errorf("journal: scrub: %w", err)
	}
	if seg.first == s.tail {
		size = s.tailSize
	}
	if size > MaxSegment {
		return &CorruptError{seg.path, MaxSegment, seg.first, "the segment is too long"}
	}
	if int64(cap(s.data)) < size {
		s.data = make([]byte, size)
	}
	s.data = s.data[:size]
	n, err := f.ReadAt(s.data, 0)
	if err != nil && !(errors.Is(err, io.EOF) && int64(n) == size) {
		return fmt.Errorf("journal: scrub %s at offset %d: %w", seg.path, n, err)
	}
	return nil
}

// listSegments returns the segments of a directory in the order of their
// LSNs. A name that wal would take for a segment and that this package would
// not have made is corruption: wal acts on such names by removing others.
func listSegments(fsys hostfs.FS, dir string) ([]segmentFile, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("journal: list segments: %w", err)
	}
	var segments []segmentFile
	for _, e := range entries {
		name := e.Name()
		if len(name) < segmentNameSize {
			continue
		}
		n, err := strconv.ParseUint(name[:segmentNameSize], 10, 64)
		if err != nil {
			continue
		}
		path := filepath.Join(dir, name)
		if len(name) > segmentNameSize || n == 0 || n > MaxLSN || !e.Type().IsRegular() {
			return nil, &CorruptError{path, 0, LSN(n), "no segment of this journal has this name"}
		}
		segments = append(segments, segmentFile{path, LSN(n)})
	}
	sort.Slice(segments, func(a, b int) bool { return segments[a].first < segments[b].first })
	return segments, nil
}

const segmentNameSize = 20

// segmentPath is where wal looks for the segment that begins with first.
func segmentPath(dir string, first LSN) string {
	return filepath.Join(dir, fmt.Sprintf("%0*d", segmentNameSize, uint64(first)))
}
