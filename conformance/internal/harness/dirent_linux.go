package harness

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// ParseDirents parses what getdents64 left in a buffer:
//
//	0      8      16       18     19
//	+------+------+--------+------+----------------+
//	| ino  | off  | reclen | type | name, NUL, pad |
//	+------+------+--------+------+----------------+
func ParseDirents(b []byte) ([]Dirent, error) {
	var all []Dirent
	for len(b) > 0 {
		if len(b) < 20 {
			return all, fmt.Errorf("%w: %d bytes left", ErrDirent, len(b))
		}
		n := int(binary.NativeEndian.Uint16(b[16:]))
		if n < 20 || n > len(b) {
			return all, fmt.Errorf("%w: length %d of %d", ErrDirent, n, len(b))
		}
		end := bytes.IndexByte(b[19:n], 0)
		if end < 0 {
			return all, fmt.Errorf("%w: a name without an end", ErrDirent)
		}
		all = append(all, Dirent{
			Ino: binary.NativeEndian.Uint64(b), Off: int64(binary.NativeEndian.Uint64(b[8:])),
			Type: b[18], Name: string(b[19 : 19+end]),
		})
		b = b[n:]
	}
	return all, nil
}
