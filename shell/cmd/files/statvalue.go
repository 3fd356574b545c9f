package files

import (
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// statValue is what a directive of stat prints: a text or a number.
type statValue struct {
	text   string
	isNum  bool
	num    uint64
	base   int  // 8, 10, 16
	second bool // a time in seconds: text, padded as a number
}

func number(n uint64, base int) statValue { return statValue{isNum: true, num: n, base: base} }

// format pads as printf(3) would.
func (v statValue) format(flags string, width, prec int) string {
	left := strings.Contains(flags, "-")
	zero := strings.Contains(flags, "0") && !left
	s := v.text
	if !v.isNum && !v.second {
		if prec >= 0 && prec < len(s) {
			s = s[:prec]
		}
		zero = false
	}
	if v.isNum {
		s = strconv.FormatUint(v.num, v.base)
		for len(s) < prec {
			s = "0" + s
		}
		if strings.Contains(flags, "#") && v.num != 0 {
			switch v.base {
			case 8:
				if s[0] != '0' {
					s = "0" + s
				}
			case 16:
				s = "0x" + s
			}
		}
		if v.base == 10 && strings.Contains(flags, "+") {
			s = "+" + s
		} else if v.base == 10 && strings.Contains(flags, " ") {
			s = " " + s
		}
	}
	if len(s) >= width {
		return s
	}
	pad := strings.Repeat(" ", width-len(s))
	switch {
	case left:
		return s + pad
	case zero:
		sign := ""
		if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
			sign, s = s[:1], s[1:]
		}
		return sign + strings.Repeat("0", len(pad)) + s
	}
	return pad + s
}

// statDirective knows the values of one file.
type statDirective struct {
	c      *command.Context
	loc    *time.Location
	name   string
	attr   *vfs.Attr
	link   bool                // show a symlink's target in %N
	quote  func(string) string // for %N
	status int
}

// value is what directive d stands for; mod is H or L for a part of a device
// number, prec the number of decimals of a time, -1 for none.
func (s *statDirective) value(d, mod byte, prec int) (statValue, bool) {
	a := s.attr
	switch d {
	case 'n':
		return statValue{text: s.name}, true
	case 'N':
		return statValue{text: s.quoted()}, true
	case 'd':
		return devicePart(device, mod, 10), true
	case 'D':
		return number(device, 16), true
	case 'i':
		return number(uint64(a.Ino), 10), true
	case 'a':
		return number(uint64(a.Mode&vfs.ModePerm), 8), true
	case 'A':
		return statValue{text: gnulib.ModeString(a.Mode)}, true
	case 'f':
		return number(uint64(a.Mode), 16), true
	case 'F':
		return statValue{text: typeOf(a)}, true
	case 'h':
		return number(uint64(a.Nlink), 10), true
	case 'u':
		return number(uint64(a.UID), 10), true
	case 'U':
		return statValue{text: s.knownName(s.c.System.UserByID(a.UID))}, true
	case 'g':
		return number(uint64(a.GID), 10), true
	case 'G':
		g, ok := s.c.System.GroupByID(a.GID)
		return statValue{text: s.knownName(command.User{Name: g.Name}, ok)}, true
	case 'm':
		return statValue{text: "/"}, true
	case 's':
		return number(a.Size, 10), true
	case 'r':
		return devicePart(a.Rdev, mod, 10), true
	case 'R':
		return number(uint64(a.Rdev), 16), true
	case 't':
		return devicePart(a.Rdev, 'H', 16), true
	case 'T':
		return devicePart(a.Rdev, 'L', 16), true
	case 'B':
		return number(512, 10), true
	case 'b':
		return number(a.Blocks, 10), true
	case 'o':
		return number(4096, 10), true
	case 'C':
		s.status = s.c.Errorf("failed to get security context of %s: %s", s.c.QuoteArg(s.name), command.Strerror(syscall.ENODATA))
		return statValue{text: "?"}, true
	}
	return s.time(d, prec)
}

func (s *statDirective) knownName(u command.User, ok bool) string {
	if !ok {
		return "UNKNOWN"
	}
	return u.Name
}

func (s *statDirective) quoted() string {
	q := s.quote(s.name)
	switch s.c.Env.Get("QUOTING_STYLE") {
	case "literal":
		q = s.name
	}
	if s.link && s.attr.IsSymlink() {
		if target, err := s.c.FS.Readlink(s.name); err == nil {
			q += " -> " + s.quote(target)
		}
	}
	return q
}

// time is one of the four times, for people or in seconds.
func (s *statDirective) time(d byte, prec int) (statValue, bool) {
	var ns int64
	switch d | 0x20 {
	case 'w':
		if ns = s.attr.Btime; ns == 0 {
			if d == 'w' {
				return statValue{text: "-"}, true
			}
			return number(0, 10), true
		}
	case 'x':
		ns = s.attr.Atime
	case 'y':
		ns = s.attr.Mtime
	case 'z':
		ns = s.attr.Ctime
	default:
		return statValue{}, false
	}
	t := time.Unix(0, ns).In(s.loc)
	if d >= 'a' {
		return statValue{text: gnulib.Strftime("%Y-%m-%d %H:%M:%S.%N %z", t)}, true
	}
	return statValue{second: true, text: secondsText(t, prec)}, true
}

// secondsText is a time in seconds since 1970 with prec decimals.
func secondsText(t time.Time, prec int) string {
	s := strconv.FormatInt(t.Unix(), 10)
	if prec <= 0 {
		return s
	}
	frac := gnulib.Strftime("%N", t)
	for len(frac) < prec {
		frac += "0"
	}
	return s + "." + frac[:prec]
}

// devicePart is a device number or its major or minor half.
func devicePart(dev uint32, mod byte, base int) statValue {
	switch mod {
	case 'H':
		return number(uint64(dev>>8&0xfff), base)
	case 'L':
		return number(uint64(dev&0xff|dev>>12&0xfff00), base)
	}
	return number(uint64(dev), base)
}

// fsValue is a directive of stat -f.
func fsValue(name string, st *vfs.Statfs, d byte) (statValue, bool) {
	switch d {
	case 'n':
		return statValue{text: name}, true
	case 'i':
		return number(device, 16), true
	case 'l':
		return number(uint64(st.NameMax), 10), true
	case 't':
		return number(0x65735546, 16), true // FUSE_SUPER_MAGIC
	case 'T':
		return statValue{text: "fuseblk"}, true
	case 'b':
		return number(st.Blocks, 10), true
	case 'f':
		return number(st.BlocksFree, 10), true
	case 'a':
		return number(st.BlocksAvail, 10), true
	case 's', 'S':
		return number(uint64(st.BlockSize), 10), true
	case 'c':
		return number(st.Files, 10), true
	case 'd':
		return number(st.FilesFree, 10), true
	}
	return statValue{}, false
}
