package workspace

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// Commit is a root with its history. It is stored as a chunk, so its digest
// names all of it:
//
//	"vfsdCMIT":8  version:4 little-endian  msgpack of the fields
type Commit struct {
	Root    chunk.ID   `msgpack:"root"`
	Parents []chunk.ID `msgpack:"parents"`
	Replica uint32     `msgpack:"replica"` // who made it
	LSN     uint64     `msgpack:"lsn"`     // of that replica's journal, the last in it
	Time    int64      `msgpack:"time"`    // ns since 1970
	Label   string     `msgpack:"label"`   // a snapshot's name, or empty
	Cause   string     `msgpack:"cause"`   // what made it: "checkpoint", "snapshot", "restore", "merge"
	Inodes  uint64     `msgpack:"inodes"`  // what the tree holds
	Blocks  uint64     `msgpack:"blocks"`  // of 4 KiB
	// Polynomial is what cut the files of the tree; 0 in commits of old, which
	// were cut with that of the store they are in.
	Polynomial uint64 `msgpack:"polynomial,omitempty"`
}

const (
	commitMagic   = "vfsdCMIT"
	commitVersion = 1
	commitLimit   = 1 << 20 // bytes
	maxParents    = 16
)

// Causes of commits.
const (
	CauseCreate     = "create"
	CauseCheckpoint = "checkpoint"
	CauseSnapshot   = "snapshot"
	CauseRestore    = "restore"
	CauseMerge      = "merge"
)

func encodeCommit(c *Commit) ([]byte, error) {
	b := binary.LittleEndian.AppendUint32([]byte(commitMagic), commitVersion)
	p, err := msgpack.Marshal(c)
	return append(b, p...), err
}

func decodeCommit(b []byte) (*Commit, error) {
	if len(b) < len(commitMagic)+4 || len(b) > commitLimit || string(b[:8]) != commitMagic {
		return nil, fmt.Errorf("no commit: %w", vfs.ErrCorrupt)
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != commitVersion {
		return nil, fmt.Errorf("commit version %d: %w", v, ErrNewer)
	}
	c := &Commit{}
	r := bytes.NewReader(b[12:])
	if err := msgpack.NewDecoder(r).Decode(c); err != nil {
		return nil, fmt.Errorf("commit: %v: %w", err, vfs.ErrCorrupt)
	}
	if r.Len() > 0 || len(c.Parents) > maxParents {
		return nil, fmt.Errorf("commit: impossible fields: %w", vfs.ErrCorrupt)
	}
	return c, nil
}

func putCommit(ctx context.Context, s chunk.Store, c *Commit) (chunk.ID, error) {
	b, err := encodeCommit(c)
	if err != nil {
		return chunk.ID{}, err
	}
	return s.Put(ctx, b)
}

func getCommit(ctx context.Context, s chunk.Store, id chunk.ID) (*Commit, error) {
	b, err := s.Get(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", id, err)
	}
	c, err := decodeCommit(b)
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", id, err)
	}
	return c, nil
}
