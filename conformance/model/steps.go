package model

import (
	"fmt"
	"math/rand"
	"strings"
)

// kind is what a step does.
type kind int

const (
	create kind = iota
	write
	appendTo
	truncate
	unlink
	mkdir
	rmdir
	rename
	noReplace
	exchange
	link
	symlink
	chmod
	utimes
	setxattr
	removexattr
	punch
	reserve
	zero
	copyRange
	mapWrite
	tmpfile
	open
	readOpen
	writeOpen
	closeOpen
	kinds
)

// step is one call with all its arguments.
type step struct {
	kind   kind
	p, q   string
	off, n int64
	mode   uint32
	slot   int    // of an open file
	fill   byte   // what a write writes
	value  string // of an attribute
}

// slots is how many files a history holds open.
const slots = 4

// weights make some kinds of steps more frequent than others.
var weights = map[kind]int{create: 4, write: 5, mkdir: 3, rename: 4, unlink: 2}

var lottery = func() []kind {
	var l []kind
	for k := range kinds {
		for range max(1, weights[k]) {
			l = append(l, k)
		}
	}
	return l
}()

func randomStep(r *rand.Rand) step {
	path := func() string {
		parts := make([]string, 1+r.Intn(3))
		for i := range parts {
			parts[i] = string(rune('a' + r.Intn(4)))
		}
		return strings.Join(parts, "/")
	}
	offset := func() int64 {
		switch r.Intn(4) {
		case 0:
			return int64(r.Intn(200))
		case 1:
			return int64(r.Intn(6)) * 4096
		case 2:
			return int64(r.Intn(70000))
		}
		return int64(r.Intn(300000))
	}
	modes := []uint32{0o644, 0o600, 0o755, 0o777, 0o400, 0o1777, 0o2755, 0o4755, 0}
	return step{
		kind: lottery[r.Intn(len(lottery))], p: path(), q: path(), off: offset(), n: 1 + offset(),
		mode: modes[r.Intn(len(modes))], slot: r.Intn(slots), fill: byte(r.Intn(256)),
		value: strings.Repeat(string(rune('A'+r.Intn(26))), r.Intn(300)),
	}
}

// shell returns commands that do what the step does.
func (s *step) shell() string {
	bytes := func() string {
		return fmt.Sprintf("head -c %d /dev/zero | tr '\\0' '\\%03o' | dd of=%s bs=65536 oflag=seek_bytes seek=%d conv=notrunc status=none", s.n, s.fill, s.p, s.off)
	}
	switch s.kind {
	case create:
		return fmt.Sprintf("(set -C; : >%s) && chmod %o %s", s.p, s.mode, s.p)
	case write:
		return fmt.Sprintf("test -e %s && %s", s.p, bytes())
	case appendTo:
		return fmt.Sprintf("test -e %s && head -c %d /dev/zero | tr '\\0' '\\%03o' >>%s", s.p, s.n, s.fill, s.p)
	case truncate:
		return fmt.Sprintf("truncate -c -s %d %s", s.off, s.p)
	case unlink:
		return "unlink " + s.p
	case mkdir:
		return fmt.Sprintf("mkdir -m %o %s", s.mode, s.p)
	case rmdir:
		return "rmdir " + s.p
	case rename:
		return fmt.Sprintf("mv -T %s %s", s.p, s.q)
	case noReplace:
		return fmt.Sprintf("mv -nT %s %s", s.p, s.q)
	case exchange:
		return fmt.Sprintf("mv --exchange -T %s %s", s.p, s.q)
	case link:
		return fmt.Sprintf("ln -PT %s %s", s.p, s.q)
	case symlink:
		return fmt.Sprintf("ln -sT %s %s", s.q, s.p)
	case chmod:
		return fmt.Sprintf("chmod %o %s", s.mode, s.p)
	case utimes:
		return fmt.Sprintf("touch -ch -d @%d.%09d %s", s.off, s.n, s.p)
	case setxattr:
		return fmt.Sprintf("setfattr -n user.a%d -v %q %s", s.slot, s.value, s.p)
	case removexattr:
		return fmt.Sprintf("setfattr -x user.a%d %s", s.slot, s.p)
	case punch:
		return fmt.Sprintf("fallocate -p -o %d -l %d %s", s.off, s.n, s.p)
	case reserve:
		return fmt.Sprintf("fallocate -o %d -l %d %s", s.off, s.n, s.p)
	case zero:
		return fmt.Sprintf("fallocate -z -o %d -l %d %s", s.off, s.n, s.p)
	}
	return fmt.Sprintf("# %s %s %s off=%d n=%d slot=%d fill=%d: no tool does this", kindNames[s.kind], s.p, s.q, s.off, s.n, s.slot, s.fill)
}

var kindNames = map[kind]string{copyRange: "copy_file_range", mapWrite: "write through a mapping of", tmpfile: "O_TMPFILE and link",
	open: "open and hold", readOpen: "read the held file", writeOpen: "write the held file", closeOpen: "close the held file"}
