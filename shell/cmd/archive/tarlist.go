package archive

import (
	"archive/tar"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// longListing is one line of tar -tv.
func (a *archiver) longListing(h *tar.Header, name string) {
	mode := uint32(h.Mode) & vfs.ModePerm
	letter := byte('-')
	size := fmt.Sprint(h.Size)
	suffix := ""
	switch h.Typeflag {
	case tar.TypeDir:
		letter = 'd'
	case tar.TypeSymlink:
		letter, suffix, size = 'l', " -> "+a.quote(h.Linkname), "0"
	case tar.TypeLink:
		letter, suffix, size = 'h', " link to "+a.quote(h.Linkname), "0"
	case tar.TypeFifo:
		letter = 'p'
	case tar.TypeChar, tar.TypeBlock:
		letter = 'c'
		if h.Typeflag == tar.TypeBlock {
			letter = 'b'
		}
		size = fmt.Sprintf("%d,%d", h.Devmajor, h.Devminor)
	}
	user, group := h.Uname, h.Gname
	if a.numeric || user == "" {
		user = fmt.Sprint(h.Uid)
	}
	if a.numeric || group == "" {
		group = fmt.Sprint(h.Gid)
	}
	owner := user + "/" + group
	a.width = max(a.width, len(owner)+1+len(size))
	format := "%Y-%m-%d %H:%M"
	if a.fullTime {
		format = "%Y-%m-%d %H:%M:%S"
		if h.ModTime.Nanosecond() != 0 {
			format += ".%-N"
		}
	}
	perms := gnulib.ModeString(mode | vfs.ModeRegular)
	fmt.Fprintf(a.out, "%c%s %s %*s %s %s%s\n", letter, perms[1:], owner, a.width-len(owner)-1, size,
		gnulib.Strftime(format, h.ModTime.In(a.loc)), a.quote(name), suffix)
}

// compare is tar -d for one member.
func (x *extractor) compare(h *tar.Header, r io.Reader) {
	differs := func(what string) {
		fmt.Fprintf(x.out, "%s: %s\n", x.quote(h.Name), what)
		x.status = max(x.status, 1)
	}
	if x.verbose > 0 {
		io.WriteString(x.out, x.quote(h.Name)+"\n")
	}
	path := strings.TrimRight(h.Name, "/")
	at, err := x.at.Lstat(path)
	if err != nil {
		x.message("%s: Warning: Cannot stat: %s", x.quote(h.Name), command.Strerror(err))
		x.status = max(x.status, 1)
		return
	}
	kinds := map[byte]uint32{tar.TypeReg: vfs.ModeRegular, tar.TypeLink: vfs.ModeRegular, tar.TypeDir: vfs.ModeDir, tar.TypeSymlink: vfs.ModeSymlink, tar.TypeFifo: vfs.ModeFIFO}
	if kind, ok := kinds[h.Typeflag]; ok && at.Mode&vfs.ModeTypeMask != kind {
		differs("File type differs")
		return
	}
	if h.Typeflag == tar.TypeSymlink {
		if target, err := x.at.Readlink(path); err == nil && target != h.Linkname {
			differs("Symlink differs")
		}
		return
	}
	if at.Mode&vfs.ModePerm != uint32(h.Mode)&vfs.ModePerm {
		differs("Mode differs")
	}
	if h.Typeflag != tar.TypeReg {
		return
	}
	if time.Unix(0, at.Mtime).Unix() != h.ModTime.Unix() {
		differs("Mod time differs")
	}
	if int64(at.Size) != h.Size {
		differs("Size differs")
		return
	}
	f, err := x.at.Open(path)
	if err != nil {
		x.fail(path, "Cannot open", err)
		return
	}
	defer f.Close()
	if !sameBytes(f, r) {
		differs("Contents differ")
	}
}

// sameBytes reports whether two streams are equal.
func sameBytes(a, b io.Reader) bool {
	pa, pb := make([]byte, 32<<10), make([]byte, 32<<10)
	for {
		na, ea := io.ReadFull(a, pa)
		nb, eb := io.ReadFull(b, pb)
		if na != nb || string(pa[:na]) != string(pb[:nb]) {
			return false
		}
		if ea != nil || eb != nil {
			return ea != nil && eb != nil
		}
	}
}
