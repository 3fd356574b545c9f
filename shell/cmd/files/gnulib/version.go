package gnulib

// VersionCompare orders names as ls -v and sort -V do: numbers in them by
// value, "~" before everything, and what looks like suffixes (".tar.gz") last
// of all. It returns -1, 0 or 1.
func VersionCompare(a, b string) int {
	if a == b {
		return 0
	}
	// Names that start with a dot come first, "." and ".." first of those.
	for _, special := range []string{"", ".", ".."} {
		if a == special {
			return -1
		}
		if b == special {
			return 1
		}
	}
	if da, db := a[0] == '.', b[0] == '.'; da != db {
		if da {
			return -1
		}
		return 1
	} else if da {
		a, b = a[1:], b[1:]
	}
	pa, pb := versionPrefix(a), versionPrefix(b)
	if pa < len(a) || pb < len(b) {
		if d := versionOrder(a[:pa], b[:pb]); d != 0 {
			return d
		}
	}
	if d := versionOrder(a, b); d != 0 {
		return d
	}
	if a < b {
		return -1
	}
	return 1
}

// versionPrefix is the length of s without suffixes: (\.[A-Za-z~][A-Za-z0-9~]*)*.
func versionPrefix(s string) int {
	prefix := 0
	for i := 0; i < len(s); {
		i++
		prefix = i
		for i+1 < len(s) && s[i] == '.' && (isAlpha(s[i+1]) || s[i+1] == '~') {
			for i += 2; i < len(s) && (isAlpha(s[i]) || isDigit(s[i]) || s[i] == '~'); i++ {
			}
		}
		if i >= len(s) {
			return prefix
		}
	}
	return prefix
}

// weight orders the characters that are no digits: "~", the end, letters, the
// rest.
func weight(s string, i int) int {
	if i >= len(s) {
		return -1
	}
	switch c := s[i]; {
	case c == '~':
		return -2
	case isDigit(c):
		return 0
	case isAlpha(c):
		return int(c)
	default:
		return int(c) + 256
	}
}

func versionOrder(a, b string) int {
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		for i < len(a) && !isDigit(a[i]) || j < len(b) && !isDigit(b[j]) {
			wa, wb := weight(a, i), weight(b, j)
			if wa != wb {
				if wa < wb {
					return -1
				}
				return 1
			}
			i++
			j++
		}
		for i < len(a) && a[i] == '0' {
			i++
		}
		for j < len(b) && b[j] == '0' {
			j++
		}
		first := 0
		for i < len(a) && j < len(b) && isDigit(a[i]) && isDigit(b[j]) {
			if first == 0 {
				first = int(a[i]) - int(b[j])
			}
			i++
			j++
		}
		switch {
		case i < len(a) && isDigit(a[i]):
			return 1
		case j < len(b) && isDigit(b[j]):
			return -1
		case first > 0:
			return 1
		case first < 0:
			return -1
		}
	}
	return 0
}
