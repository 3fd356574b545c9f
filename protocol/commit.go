package protocol

import (
	"bytes"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// commitMagic begins a record of a commit of version 1 (spec/workspace.md).
const commitMagic = "vfsdCMIT\x01\x00\x00\x00"

// link is what a session must know of a commit.
type link struct {
	Root    ID   `msgpack:"root"`
	Parents []ID `msgpack:"parents"`
}

// decodeCommit reads the root and the parents of a commit. The rest of it is
// for the store to judge.
func decodeCommit(record []byte) (*link, error) {
	if len(record) > maxCommit || !bytes.HasPrefix(record, []byte(commitMagic)) {
		return nil, fmt.Errorf("no commit of version 1: %w", ErrInvalid)
	}
	r := bytes.NewReader(record[len(commitMagic):])
	dec := msgpack.NewDecoder(r)
	n, err := dec.DecodeMapLen()
	if err != nil || n < 0 || n > 64 {
		return nil, fmt.Errorf("a commit without its map: %w", ErrInvalid)
	}
	var c link
	seen := 0
	for range n {
		key, err := dec.DecodeString()
		if err == nil {
			switch key {
			case "root":
				seen |= 1
				err = decodeID(dec, &c.Root)
			case "parents":
				seen |= 2
				c.Parents, err = decodeParents(dec)
			default:
				err = skipScalar(dec)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("a commit's fields: %v: %w", err, ErrInvalid)
		}
	}
	if seen != 3 || r.Len() > 0 {
		return nil, fmt.Errorf("a commit without root or parents: %w", ErrInvalid)
	}
	return &c, nil
}

// skipScalar steps over a field that is of no interest here. None of version 1
// nests, and the library's own way to skip recurses as deep as a peer likes.
func skipScalar(dec *msgpack.Decoder) error {
	c, err := dec.PeekCode()
	if err != nil {
		return err
	}
	if msgpcode.IsFixedArray(c) || msgpcode.IsFixedMap(c) || msgpcode.IsExt(c) || c >= msgpcode.Array16 && c <= msgpcode.Map32 {
		return fmt.Errorf("a field of type %#x", c)
	}
	return dec.Skip()
}

func decodeParents(dec *msgpack.Decoder) ([]ID, error) {
	n, err := dec.DecodeArrayLen()
	if err != nil {
		return nil, err
	}
	if n > maxParents {
		return nil, fmt.Errorf("%d parents, want at most %d", n, maxParents)
	}
	ids := make([]ID, max(n, 0))
	for i := range ids {
		if err := decodeID(dec, &ids[i]); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// decodeID reads a digest. Its length is checked before anything is read.
func decodeID(dec *msgpack.Decoder, id *ID) error {
	n, err := dec.DecodeBytesLen()
	if err != nil {
		return err
	}
	if n != len(id) {
		return fmt.Errorf("a digest of %d bytes", n)
	}
	return dec.ReadFull(id[:])
}
