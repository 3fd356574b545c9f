package workspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
)

// The head is the one file that says where a workspace stands: it is replaced
// whole, atomically, and what it names is durable before.
//
//	"vfsdHEAD":8  version:4  length:4  payload  crc32c:4    little-endian
//
// payload is msgpack; the checksum covers everything before it.
const (
	headName    = "head"
	headMagic   = "vfsdHEAD"
	headVersion = 1
	headLimit   = 64 << 20
	headFrame   = len(headMagic) + 12
)

// head is the payload.
type head struct {
	ID        [16]byte `msgpack:"id"`      // of the workspace, for life
	Replica   uint32   `msgpack:"replica"` // high bits of the inode numbers it makes
	Next      uint64   `msgpack:"next"`    // the next counter
	Commit    chunk.ID `msgpack:"commit"`  // the newest
	Root      chunk.ID `msgpack:"root"`    // its tree
	Epoch     uint64   `msgpack:"epoch"`   // the journal epoch that goes on from it
	LSN       uint64   `msgpack:"lsn"`     // the last that is in the tree
	Inodes    uint64   `msgpack:"inodes"`  // usage
	Blocks    uint64   `msgpack:"blocks"`
	Quota     Quota    `msgpack:"quota"`
	Created   int64    `msgpack:"created"` // ns since 1970
	Snapshots []Snapshot
	// What came later is absent where it is zero.
	Polynomial uint64   `msgpack:"polynomial,omitempty"` // what cuts its files; 0: the store's
	Refs       []Ref    `msgpack:"refs,omitempty"`       // commits that are kept, by name
	Lazy       bool     `msgpack:"lazy,omitempty"`       // chunks may be with a peer still
	Pinned     []string `msgpack:"pinned,omitempty"`     // paths whose chunks are to be here
}

// Ref is a commit that a workspace keeps by a name of its own: what a peer is
// known to have, or what came from it and is not merged yet.
type Ref struct {
	Name   string   `msgpack:"name"`
	Commit chunk.ID `msgpack:"commit"`
}

// Snapshot is a named commit.
type Snapshot struct {
	Name   string   `msgpack:"name"`
	Commit chunk.ID `msgpack:"commit"`
	Root   chunk.ID `msgpack:"root"`
	Time   int64    `msgpack:"time"` // ns since 1970
}

func encodeHead(h *head) ([]byte, error) {
	payload, err := msgpack.Marshal(h)
	if err != nil {
		return nil, err
	}
	b := append([]byte(headMagic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[8:], headVersion)
	binary.LittleEndian.PutUint32(b[12:], uint32(len(payload)))
	b = append(b, payload...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// ErrNewer is in the chain of an error about a file of a format version that
// this program does not know.
var ErrNewer = errors.New("written by a newer vfsd; use that one")

func decodeHead(b []byte) (*head, error) {
	if len(b) < headFrame || string(b[:8]) != headMagic {
		return nil, fmt.Errorf("at offset 0: no head of a workspace: %w", vfs.ErrCorrupt)
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != headVersion {
		return nil, fmt.Errorf("version %d: %w", v, ErrNewer)
	}
	n := int(binary.LittleEndian.Uint32(b[12:]))
	if n != len(b)-headFrame {
		return nil, fmt.Errorf("at offset 12: length %d in a file of %d bytes: %w", n, len(b), vfs.ErrCorrupt)
	}
	if crc32.Checksum(b[:16+n], castagnoli) != binary.LittleEndian.Uint32(b[16+n:]) {
		return nil, fmt.Errorf("at offset %d: checksum does not match: %w", 16+n, vfs.ErrCorrupt)
	}
	h := &head{}
	dec := msgpack.NewDecoder(bytes.NewReader(b[16 : 16+n]))
	if err := dec.Decode(h); err != nil {
		return nil, fmt.Errorf("at offset 16: %v: %w", err, vfs.ErrCorrupt)
	}
	if h.Epoch == 0 || h.Replica == 0 || h.Replica >= 1<<replicaBits || h.Next > counterMask {
		return nil, fmt.Errorf("at offset 16: impossible fields: %w", vfs.ErrCorrupt)
	}
	return h, nil
}

// readHead reads the head of the workspace in dir.
func readHead(fsys hostfs.FS, dir string) (*head, error) {
	name := filepath.Join(dir, headName)
	b, err := readFile(fsys, name, headLimit)
	if err != nil {
		return nil, err
	}
	h, err := decodeHead(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return h, nil
}

// writeHead replaces the head; when it returns nil the new one is durable, and
// after an error the file holds the old one or the new one.
func writeHead(fsys hostfs.FS, dir string, h *head) error {
	b, err := encodeHead(h)
	if err != nil {
		return fmt.Errorf("encode head: %w", err)
	}
	return hostfs.ReplaceFile(fsys, filepath.Join(dir, headName), b, 0o600)
}

// readFile reads a whole file that may be no larger than limit.
func readFile(fsys hostfs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err == nil && size > limit {
		err = fmt.Errorf("%s: %d bytes are more than it can have: %w", name, size, vfs.ErrCorrupt)
	}
	var b []byte
	if err == nil {
		b = make([]byte, size)
		if n, rerr := f.ReadAt(b, 0); n < len(b) {
			err = rerr
			if err == io.EOF {
				err = fs.ErrInvalid
			}
		}
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return b, err
}
