package gnulib

import (
	"strings"

	"github.com/vfsd/vfsd/vfs"
)

// ModeChange is a compiled mode: octal or symbolic, as chmod takes it.
type ModeChange struct {
	changes []change
	// Octal is set for a mode in digits; such a mode of five digits or more, or
	// one after = + -, says something about the set-id bits of directories.
	octal bool
}

// change is one of "u+x", "go=", "+2000".
type change struct {
	op       byte   // '+', '-', '='
	affected uint32 // bits that may change; 0 means all but those of the umask
	value    uint32
	copyFrom byte // 'u', 'g', 'o' or 0
	condX    bool // X
	// mentioned are the bits that the text speaks of, which set-id bits of a
	// directory must be to change.
	mentioned uint32
}

const (
	classU  = 0o4700
	classG  = 0o2070
	classO  = 0o1007
	allPerm = 0o7777
)

// ParseMode compiles a mode; false when it is none.
func ParseMode(s string) (*ModeChange, bool) {
	if s == "" {
		return nil, false
	}
	if s[0] >= '0' && s[0] <= '7' {
		v, rest, ok := octal(s)
		if !ok || rest != "" {
			return nil, false
		}
		mentioned := uint32(v&0o6000 | 0o1777)
		if len(s) >= 5 {
			mentioned = allPerm
		}
		return &ModeChange{octal: true, changes: []change{{op: '=', affected: allPerm, value: v, mentioned: mentioned}}}, true
	}
	m := &ModeChange{}
	for _, clause := range strings.Split(s, ",") {
		if !m.clause(clause) {
			return nil, false
		}
	}
	return m, true
}

func octal(s string) (v uint32, rest string, ok bool) {
	i := 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '7'; i++ {
		if v = v*8 + uint32(s[i]-'0'); v > allPerm {
			return 0, "", false
		}
	}
	return v, s[i:], i > 0
}

// clause compiles "ugoa" followed by one or more operations.
func (m *ModeChange) clause(s string) bool {
	var affected uint32
	i := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case 'u':
			affected |= classU
		case 'g':
			affected |= classG
		case 'o':
			affected |= classO
		case 'a':
			affected |= allPerm
		default:
			goto ops
		}
	}
ops:
	s = s[i:]
	if s == "" {
		return false
	}
	for s != "" {
		if s[0] != '+' && s[0] != '-' && s[0] != '=' {
			return false
		}
		c := change{op: s[0], affected: affected}
		var ok bool
		if s, ok = c.operand(s[1:]); !ok {
			return false
		}
		m.changes = append(m.changes, c)
	}
	return true
}

// operand compiles what follows the operator and returns the rest.
func (c *change) operand(s string) (string, bool) {
	if s != "" && s[0] >= '0' && s[0] <= '7' {
		v, rest, ok := octal(s)
		if !ok || c.affected != 0 || rest != "" && rest[0] != '+' && rest[0] != '-' && rest[0] != '=' {
			return "", false
		}
		c.affected, c.value, c.mentioned = allPerm, v, allPerm
		return rest, true
	}
	if s != "" && strings.IndexByte("ugo", s[0]) >= 0 {
		c.copyFrom = s[0]
		return s[1:], len(s) == 1 || strings.IndexByte("+-=", s[1]) >= 0
	}
	i := 0
	for ; i < len(s) && strings.IndexByte("rwxXst", s[i]) >= 0; i++ {
		switch s[i] {
		case 'r':
			c.value |= 0o444
		case 'w':
			c.value |= 0o222
		case 'x':
			c.value |= 0o111
		case 'X':
			c.condX = true
		case 's':
			c.value |= 0o6000
		case 't':
			c.value |= 0o1000
		}
	}
	return s[i:], true
}

// Apply returns what a mode becomes: mode has only permission bits. Clauses
// that name no class leave the bits of umask alone.
func (m *ModeChange) Apply(mode uint32, dir bool, umask uint32) uint32 {
	for i := range m.changes {
		mode = m.changes[i].apply(mode, dir, umask, m.octal)
	}
	return mode
}

func (c *change) apply(mode uint32, dir bool, umask uint32, octal bool) uint32 {
	value := c.value
	switch c.copyFrom {
	case 'u':
		value = mode >> 6 & 7 * 0o111
	case 'g':
		value = mode >> 3 & 7 * 0o111
	case 'o':
		value = mode & 7 * 0o111
	}
	if c.condX && (dir || mode&0o111 != 0) {
		value |= 0o111
	}
	// A directory keeps its set-id bits unless the text names them.
	var omit uint32
	if dir {
		omit = 0o6000 &^ c.mentioned
		if c.value&0o6000 != 0 {
			omit &^= c.value
		}
	}
	if c.affected != 0 {
		value &= c.affected
	} else {
		value &^= umask
	}
	value &^= omit
	switch c.op {
	case '+':
		return mode | value
	case '-':
		return mode &^ value
	}
	keep := omit
	if c.affected != 0 {
		keep |= allPerm &^ c.affected
	}
	return mode&keep | value
}

// ModeString is a mode as ls -l shows it: "drwxr-xr-x".
func ModeString(mode uint32) string {
	b := []byte("----------")
	b[0] = TypeLetter(mode)
	for i := range 9 {
		if mode&(0o400>>i) != 0 {
			b[i+1] = "rwx"[i%3]
		}
	}
	special := func(bit uint32, at int, letter byte) {
		if mode&bit == 0 {
			return
		}
		if b[at] == '-' {
			letter -= 'a' - 'A'
		}
		b[at] = letter
	}
	special(vfs.ModeSetuid, 3, 's')
	special(vfs.ModeSetgid, 6, 's')
	special(vfs.ModeSticky, 9, 't')
	return string(b)
}

// TypeLetter is the letter of a file's type in ls -l.
func TypeLetter(mode uint32) byte {
	switch mode & vfs.ModeTypeMask {
	case vfs.ModeDir:
		return 'd'
	case vfs.ModeSymlink:
		return 'l'
	case vfs.ModeFIFO:
		return 'p'
	case vfs.ModeSocket:
		return 's'
	case vfs.ModeChar:
		return 'c'
	case vfs.ModeBlock:
		return 'b'
	case vfs.ModeRegular:
		return '-'
	}
	return '?'
}
