//go:build linux

package checkout

import (
	"encoding/binary"
	"slices"
	"strings"
)

// encodeXattrs makes one comparable string of attributes.
func encodeXattrs(attrs map[string][]byte) string {
	names := make([]string, 0, len(attrs))
	for name := range attrs {
		names = append(names, name)
	}
	slices.Sort(names)
	var b []byte
	for _, name := range names {
		b = binary.AppendUvarint(b, uint64(len(name)))
		b = append(b, name...)
		b = binary.AppendUvarint(b, uint64(len(attrs[name])))
		b = append(b, attrs[name]...)
	}
	return string(b)
}

// decodeXattrs is its inverse; what cannot be read is left out, for it is a
// cache's.
func decodeXattrs(s string) map[string][]byte {
	attrs := map[string][]byte{}
	b := []byte(s)
	field := func() []byte {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			b = nil
			return nil
		}
		f := b[used : used+int(n)]
		b = b[used+int(n):]
		return f
	}
	for len(b) > 0 {
		name := field()
		if name == nil {
			break
		}
		attrs[string(name)] = slices.Clone(field())
	}
	return attrs
}

// reserved reports whether a name is the checkout's own and never synced.
func reserved(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// tempPrefix begins the names of what emission has not put in its place yet.
const tempPrefix = ".vfsd-part-"
