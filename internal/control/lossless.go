package control

import "unicode/utf8"

// Bytes is what goes beside a path or name of the host: JSON strings are UTF-8,
// and names need not be. It is nil for one that is.
func Bytes(name string) []byte {
	if utf8.ValidString(name) {
		return nil
	}
	return []byte(name)
}

// Name is the reverse: bytes, if there are any, count.
func Name(text string, bytes []byte) string {
	if len(bytes) > 0 {
		return string(bytes)
	}
	return text
}
