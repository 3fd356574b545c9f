package shell

import (
	"strconv"
	"strings"
)

// builtinUmask shows or sets the file creation mask.
func builtinUmask(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "Sp")
	symbolic, reusable := false, false
	for opts.next() {
		switch opts.opt {
		case 'S':
			symbolic = true
		case 'p':
			reusable = true
		}
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	if len(rest) == 0 {
		text := "0" + octal3(s.umask)
		if symbolic {
			text = symbolicMask(s.umask)
		}
		if reusable {
			flag := "umask "
			if symbolic {
				flag = "umask -S "
			}
			text = flag + text
		}
		return s.print(b, text+"\n")
	}
	mask, ok := uint32(0), true
	if rest[0] != "" && rest[0][0] >= '0' && rest[0][0] <= '9' {
		n, err := strconv.ParseUint(rest[0], 8, 32)
		if err != nil || n > 0o7777 {
			s.builtinError(b, "%s: octal number out of range", rest[0])
			return 1
		}
		mask = uint32(n) & 0o777
	} else if mask, ok = s.parseMask(b, rest[0]); !ok {
		return 1
	}
	s.umask, s.walk = mask, nil
	if symbolic {
		return s.print(b, symbolicMask(mask)+"\n")
	}
	return 0
}

func octal3(n uint32) string {
	t := strconv.FormatUint(uint64(n), 8)
	return strings.Repeat("0", max(0, 3-len(t))) + t
}

func symbolicMask(mask uint32) string {
	part := func(shift uint) string {
		out := ""
		for i, c := range "rwx" {
			if mask>>shift&(4>>i) == 0 {
				out += string(c)
			}
		}
		return out
	}
	return "u=" + part(6) + ",g=" + part(3) + ",o=" + part(0)
}

// parseMask reads a symbolic mask: u=rwx,g-w,o=.
func (s *state) parseMask(b *builtin, text string) (uint32, bool) {
	allowed := ^s.umask & 0o777
	for _, clause := range strings.Split(text, ",") {
		i := 0
		who := uint32(0)
		for ; i < len(clause); i++ {
			switch clause[i] {
			case 'u':
				who |= 0o700
				continue
			case 'g':
				who |= 0o070
				continue
			case 'o':
				who |= 0o007
				continue
			case 'a':
				who |= 0o777
				continue
			}
			break
		}
		if who == 0 {
			who = 0o777
		}
		if i >= len(clause) || strings.IndexByte("+-=", clause[i]) < 0 {
			c := byte(0)
			if i < len(clause) {
				c = clause[i]
			}
			s.builtinError(b, "`%c': invalid symbolic mode operator", c)
			return 0, false
		}
		op := clause[i]
		perm := uint32(0)
		for _, c := range []byte(clause[i+1:]) {
			switch c {
			case 'r':
				perm |= 0o444
			case 'w':
				perm |= 0o222
			case 'x', 'X':
				perm |= 0o111
			case 's', 't':
			default:
				s.builtinError(b, "`%c': invalid symbolic mode character", c)
				return 0, false
			}
		}
		switch op {
		case '+':
			allowed |= perm & who
		case '-':
			allowed &^= perm & who
		default:
			allowed = allowed&^who | perm&who
		}
	}
	return ^allowed & 0o777, true
}
