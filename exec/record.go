package exec

import (
	"bytes"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// State says how an execution is.
type State string

// The states of an execution.
const (
	Waiting State = "waiting" // for its session
	Running State = "running"
	Ended   State = "ended"
	Lost    State = "lost" // the daemon died while it ran
)

// Record is what is known of an execution.
type Record struct {
	ID        string    `json:"id"`
	Workspace string    `json:"workspace"`
	Session   string    `json:"session,omitempty"`
	Command   []byte    `json:"command"` // the beginning of the script, or of the command line
	UID       uint32    `json:"uid"`
	State     State     `json:"state"`
	Started   time.Time `json:"started"`
	Ended     time.Time `json:"ended,omitzero"`
	Status    int       `json:"status"`             // exit status
	Limit     string    `json:"limit,omitempty"`    // the name of the limit that ended it
	Canceled  bool      `json:"canceled,omitempty"` // it was killed
	Exited    bool      `json:"exited,omitempty"`   // it ended itself, as by exit
	Steps     int64     `json:"steps"`
	Output    int64     `json:"output"` // bytes written to both outputs: the position of their end
	Dir       []byte    `json:"dir,omitempty"`
	Error     string    `json:"error,omitempty"`  // a defect of vfsd that it met
	Unkept    string    `json:"unkept,omitempty"` // why some output could not be kept
}

// stored is a record as its file has it.
type stored struct {
	Record
	Segments []segment `json:"segments,omitempty"`
	Small    []byte    `json:"small,omitempty"` // frames of output that has no file
}

const (
	recordSuffix = ".json"
	recordMax    = 1 << 20 // bytes of a record's file
	commandMax   = 1 << 10 // bytes of a command that are kept
)

// idCoding sorts as the numbers do.
var idCoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

const idLength = 10

// newID names an execution after the time at which it starts, in units that are
// short enough for no two to share one.
func newID(last int64, now time.Time) (string, int64) {
	n := max(now.UnixMilli()<<6, last+1)
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n)<<14)
	return idCoding.EncodeToString(b[:])[:idLength], n
}

// ValidID reports whether an execution may have this ID.
func ValidID(id string) bool {
	return len(id) == idLength && strings.Trim(id, "0123456789abcdefghijklmnopqrstuv") == ""
}

// appendRecord adds a line to a record's file.
func appendRecord(fsys hostfs.FS, name string, off int64, s *stored) (int64, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return off, err
	}
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return off, err
	}
	n, err := f.WriteAt(append(b, '\n'), off)
	return off + int64(n), errors.Join(err, f.Close())
}

// readRecord reads the last whole line of a record's file.
func readRecord(fsys hostfs.FS, name string) (*stored, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > recordMax {
		return nil, fmt.Errorf("record %s: %d bytes, and %d are the most", name, size, recordMax)
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); int64(n) < size {
		return nil, err
	}
	return decodeRecord(b)
}

// errRecord is the error of a file that holds no record.
var errRecord = errors.New("it holds no record of an execution")

// decodeRecord takes the last whole line. Whoever is named as running there runs
// no more.
func decodeRecord(b []byte) (*stored, error) {
	end := bytes.LastIndexByte(b, '\n')
	if end < 0 {
		return nil, errRecord
	}
	var s stored
	if err := json.Unmarshal(b[bytes.LastIndexByte(b[:end], '\n')+1:end], &s); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	if !ValidID(s.ID) {
		return nil, errRecord
	}
	at := int64(0)
	for _, g := range s.Segments {
		if g.N < 0 || g.Start < at || g.End < g.Start || g.Size < g.End-g.Start {
			return nil, errRecord
		}
		at = g.End
	}
	if len(s.Small) > 0 {
		if len(s.Small) > smallOutput || len(s.Segments) != 1 || s.Segments[0].Size != int64(len(s.Small)) {
			return nil, errRecord
		}
		if whole, err := wholeFrames(s.Small, "record", 0); err != nil || len(whole) < len(s.Small) {
			return nil, errRecord
		}
	}
	if s.State != Ended {
		s.State = Lost
	}
	return &s, nil
}

// reopenOutput is the output of an execution that has ended.
func reopenOutput(fsys hostfs.FS, path string, s *stored) *output {
	o := &output{fs: fsys, path: path, caps: defaultCaps, segs: s.Segments, pending: s.Small, ended: true}
	if len(o.segs) == 0 {
		o.segs = []segment{{}}
	}
	return o
}

// kept are the files of one execution.
type kept struct {
	id    string
	names []string
	size  int64
}

// listKept returns what a directory keeps, oldest first. Files of other names
// are none of its business.
func listKept(fsys hostfs.FS, dir string) ([]kept, error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	byID := map[string]*kept{}
	for _, e := range entries {
		id, _, _ := strings.Cut(e.Name(), ".")
		if !ValidID(id) {
			continue
		}
		k := byID[id]
		if k == nil {
			k = &kept{id: id}
			byID[id] = k
		}
		k.names = append(k.names, filepath.Join(dir, e.Name()))
		if info, err := e.Info(); err == nil {
			k.size += info.Size()
		}
	}
	all := make([]kept, 0, len(byID))
	for _, k := range byID {
		all = append(all, *k)
	}
	slices.SortFunc(all, func(a, b kept) int { return strings.Compare(a.id, b.id) })
	return all, nil
}
