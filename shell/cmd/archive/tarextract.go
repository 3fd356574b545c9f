package archive

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// read lists, extracts or compares the members of an archive.
func (a *archiver) read() {
	f, err := a.c.Open(a.file)
	if err != nil {
		a.die("%s: Cannot open: %s", a.quote(a.file), command.Strerror(err))
		return
	}
	defer f.Close()
	in := bufio.NewReaderSize(withContext{a.ctx, f}, copySize)
	var r io.Reader = in
	if found := sniff(in); found != nil {
		x, err := found.reader(in)
		if err != nil {
			a.die("%s: %v", a.quote(a.file), err)
			return
		}
		defer x.Close()
		r = x
	} else if a.filter != nil {
		if _, err := in.Peek(1); err == nil {
			a.message2("\n%s: stdin: not in %s format", a.filter.name, a.filter.name)
			a.message("Child returned status 1")
			a.message("Error is not recoverable: exiting now")
			a.status = fatal
			return
		}
	}
	if a.mode == 'x' && a.stdout {
		a.out = a.c.Stderr
	}
	if _, err := in.Peek(1); err == io.EOF {
		a.badArchive(0, io.ErrUnexpectedEOF)
		return
	}
	a.patternWarning()
	x := extractor{archiver: a, at: a.dir, delayedLinks: map[string]bool{}, buf: make([]byte, copySize)}
	x.members(tar.NewReader(r))
	x.finish()
	for _, n := range a.names {
		if !n.used && a.status != fatal {
			a.message("%s: Not found in archive", a.quote(n.name))
			a.status = max(a.status, 2)
		}
	}
}

// extractor restores members below at.
type extractor struct {
	*archiver
	at   *vfs.Walker
	dirs []delayedDir
	// links are symlinks that lead elsewhere: until the end an empty file
	// stands in their place, so that no member is written through them.
	links        []delayedLink
	delayedLinks map[string]bool
	buf          []byte
}

type delayedDir struct {
	at   *vfs.Walker
	name string
	set  vfs.SetAttr
}

type delayedLink struct {
	at   *vfs.Walker
	name string
	h    *tar.Header
}

// members goes through the archive.
func (x *extractor) members(tr *tar.Reader) {
	for n := 0; x.ctx.Err() == nil && x.status != fatal; n++ {
		h, err := tr.Next()
		// The last header may be cut short: that is the end.
		if err == io.EOF || n > 0 && errors.Is(err, io.ErrUnexpectedEOF) {
			return
		}
		if err != nil {
			x.badArchive(n, err)
			return
		}
		if x.c.Stdout.Err() != nil {
			return
		}
		x.member(h, tr)
		if _, err := io.CopyBuffer(io.Discard, onlyReader{tr}, x.buf); err != nil && x.status != fatal {
			x.badArchive(1, err)
			return
		}
	}
}

func (x *archiver) badArchive(n int, err error) {
	switch {
	case x.ctx.Err() != nil:
	case errors.Is(err, tar.ErrHeader), n == 0 && errors.Is(err, io.ErrUnexpectedEOF):
		if n == 0 {
			x.message("This does not look like a tar archive")
		} else {
			x.message("Skipping to next header")
		}
		x.status = max(x.status, 2)
	case errors.Is(err, io.ErrUnexpectedEOF):
		x.die("Unexpected EOF in archive")
	default:
		x.die("%s: Cannot read: %s", x.quote(x.file), command.Strerror(err))
	}
}

func (x *extractor) member(h *tar.Header, r io.Reader) {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return
	}
	if !x.wanted(h.Name) || x.excluded(h.Name) {
		return
	}
	switch x.mode {
	case 't':
		if x.verbose > 0 {
			x.longListing(h, h.Name)
		} else {
			io.WriteString(x.out, x.quote(h.Name)+"\n")
		}
		return
	case 'd':
		x.compare(h, r)
		return
	}
	name := x.safeName(h.Name, false)
	if !x.absolute && strings.Contains("/"+h.Name+"/", "/../") {
		x.message("%s: Member name contains '..'", x.quote(h.Name))
		x.status = max(x.status, 2)
		return
	}
	x.at = x.target
	name, ok := x.rename(name)
	if !ok {
		return
	}
	name = x.belowTop(name)
	if x.verbose > 1 {
		x.longListing(h, h.Name)
	} else if x.verbose > 0 {
		io.WriteString(x.out, x.quote(h.Name)+"\n")
	}
	if x.stdout {
		if h.Typeflag == tar.TypeReg {
			io.CopyBuffer(onlyWriter{x.c.Stdout}, onlyReader{r}, make([]byte, copySize))
		}
		return
	}
	x.extract(name, h, r)
}

// belowTop is --one-top-level.
func (x *extractor) belowTop(name string) string {
	if !x.hasTop {
		return name
	}
	top := x.top
	if top == "" {
		top = gnulib.Base(x.file)
		for _, suf := range []string{".gz", ".bz2", ".xz", ".zst", ".lzma", ".tar", ".tgz", ".tbz", ".txz"} {
			top = strings.TrimSuffix(top, suf)
		}
	}
	bare := strings.TrimPrefix(name, "./")
	if bare == top || strings.HasPrefix(bare, top+"/") {
		return name
	}
	return gnulib.Join(top, bare)
}

// extract restores one member under a name.
func (x *extractor) extract(name string, h *tar.Header, r io.Reader) {
	path := strings.TrimRight(name, "/")
	if path == "" {
		path = "/"
	}
	if h.Typeflag == tar.TypeDir || strings.HasSuffix(h.Name, "/") && h.Typeflag == tar.TypeReg {
		x.directory(path, h)
		return
	}
	if !x.clear(path, h) {
		return
	}
	var err error
	for try := 0; ; try++ {
		switch h.Typeflag {
		case tar.TypeSymlink:
			err = x.symlink(path, h)
		case tar.TypeLink:
			err = x.hardLink(path, h)
		case tar.TypeFifo:
			err = x.at.Mknod(path, vfs.ModeFIFO|uint32(h.Mode)&0o777, 0)
		case tar.TypeChar, tar.TypeBlock:
			kind := uint32(vfs.ModeChar)
			if h.Typeflag == tar.TypeBlock {
				kind = vfs.ModeBlock
			}
			err = x.at.Mknod(path, kind|uint32(h.Mode)&0o777, uint32(h.Devminor&0xff|h.Devmajor<<8|h.Devminor&^0xff<<12))
		default:
			err = x.regular(path, h, r)
		}
		if toErrno(err) != syscall.ENOENT || try > 0 || h.Typeflag == tar.TypeLink && !x.parentMissing(path) {
			break
		}
		if derr := x.makeParents(path); derr != nil {
			x.fail(gnulib.Dir(path), "Cannot mkdir", derr)
			break
		}
	}
	if err != nil {
		x.fail(path, x.verb(h), err)
		return
	}
	if h.Typeflag != tar.TypeLink && !x.delayedLinks[path] {
		x.attributes(path, h)
	}
}

func (x *extractor) parentMissing(path string) bool {
	_, err := x.at.Stat(gnulib.Dir(path))
	return err != nil
}

func (x *extractor) verb(h *tar.Header) string {
	switch h.Typeflag {
	case tar.TypeSymlink:
		return "Cannot create symlink to " + x.c.Quote(h.Linkname)
	case tar.TypeLink:
		return "Cannot hard link to " + x.c.Quote(x.safeName(h.Linkname, true))
	case tar.TypeFifo:
		return "Cannot mkfifo"
	case tar.TypeChar, tar.TypeBlock:
		return "Cannot mknod"
	}
	return "Cannot open"
}

// clear makes room for a member; false when it is not to be extracted.
func (x *extractor) clear(path string, h *tar.Header) bool {
	at, err := x.at.Lstat(path)
	if err != nil {
		return true
	}
	switch {
	case x.skipOld:
		return false
	case x.keepOld:
		x.fail(path, x.verb(h), syscall.EEXIST)
		return false
	case x.keepNewer && at.Mtime >= h.ModTime.UnixNano():
		x.message("Current %s is newer or same age", x.c.Quote(path))
		return false
	case at.IsDir():
		if err := x.at.Rmdir(path); err != nil {
			x.fail(path, x.verb(h), syscall.EEXIST)
			return false
		}
		return true
	case x.overwrite && at.IsRegular() && h.Typeflag == tar.TypeReg:
		return true
	}
	if err := x.at.Unlink(path); err != nil {
		x.fail(path, "Cannot unlink", err)
		return false
	}
	delete(x.delayedLinks, path)
	return true
}

func (x *extractor) makeParents(path string) error {
	op := x.at.Op
	op.Umask &^= 0o700
	return x.at.With(&op).MkdirAll(gnulib.Dir(path), 0o777)
}

// directory makes a directory; its attributes are set at the end, when nothing
// is written into it any more.
func (x *extractor) directory(path string, h *tar.Header) {
	op := x.at.Op
	op.Umask &^= 0o700
	w := x.at.With(&op)
	err := w.Mkdir(path, uint32(h.Mode)&0o777|0o700)
	if toErrno(err) == syscall.ENOENT {
		if err = x.makeParents(path); err == nil {
			err = w.Mkdir(path, uint32(h.Mode)&0o777|0o700)
		}
	}
	if errno := toErrno(err); errno == syscall.EEXIST || errno == syscall.EBUSY {
		at, lerr := x.at.Lstat(path)
		if lerr == nil && !at.IsDir() {
			if x.keepOld || x.skipOld {
				return
			}
			if err = x.at.Unlink(path); err == nil {
				err = w.Mkdir(path, uint32(h.Mode)&0o777|0o700)
			}
		} else {
			err = lerr
		}
	}
	if err != nil {
		x.fail(path, "Cannot mkdir", err)
		return
	}
	set := vfs.SetAttr{Mask: vfs.SetMode, Mode: x.permissions(h)}
	if !x.touch {
		set.Mask |= vfs.SetAtime | vfs.SetMtime
		set.Mtime = h.ModTime.UnixNano()
		set.Atime = x.c.Now().UnixNano()
	}
	x.own(path, h)
	x.dirs = append(x.dirs, delayedDir{x.at, path, set})
}

// permissions are those that a member gets.
func (x *extractor) permissions(h *tar.Header) uint32 {
	mode := uint32(h.Mode) & vfs.ModePerm
	if !x.perms {
		mode &= 0o777 &^ x.at.Op.Umask
	}
	return mode
}

func (x *extractor) regular(path string, h *tar.Header, r io.Reader) error {
	flags := syscall.O_WRONLY | syscall.O_CREAT | syscall.O_EXCL | syscall.O_NOFOLLOW
	if x.overwrite {
		flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_TRUNC | syscall.O_NOFOLLOW
	}
	f, err := x.at.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	out := &writeTracker{w: f}
	_, err = io.CopyBuffer(out, onlyReader{r}, make([]byte, copySize))
	cerr := f.Close()
	switch {
	case out.err != nil:
		x.fail(path, "Cannot write", out.err)
		return nil
	case x.ctx.Err() != nil:
		return nil
	case err != nil:
		x.die("Unexpected EOF in archive")
		return nil
	}
	return cerr
}

// symlink makes a symlink; one that leads to an absolute path or upwards comes
// last.
func (x *extractor) symlink(path string, h *tar.Header) error {
	if x.absolute || !strings.HasPrefix(h.Linkname, "/") && !strings.Contains("/"+h.Linkname+"/", "/../") {
		target, _ := x.relink(h.Linkname, true)
		return x.at.Symlink(target, path)
	}
	f, err := x.at.OpenFile(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0)
	if err != nil {
		return err
	}
	x.links = append(x.links, delayedLink{x.at, path, h})
	x.delayedLinks[path] = true
	return f.Close()
}

func (x *extractor) hardLink(path string, h *tar.Header) error {
	target := x.safeName(h.Linkname, true)
	target, ok := x.relink(target, false)
	if !ok {
		return syscall.ENOENT
	}
	target = x.belowTop(target)
	if x.delayedLinks[target] {
		// Another name of a symlink that is still to come.
		for _, l := range x.links {
			if l.name == target {
				return x.symlink(path, l.h)
			}
		}
	}
	return x.at.Link(target, path, false)
}

// attributes gives a member owner, mode and time.
func (x *extractor) attributes(path string, h *tar.Header) {
	x.own(path, h)
	set := vfs.SetAttr{}
	if h.Typeflag != tar.TypeSymlink {
		set.Mask, set.Mode = vfs.SetMode, x.permissions(h)
	}
	if !x.touch {
		set.Mask |= vfs.SetAtime | vfs.SetMtime
		set.Mtime = h.ModTime.UnixNano()
		set.Atime = x.c.Now().UnixNano()
	}
	if err := x.at.Setattr(path, false, &set); err != nil {
		x.fail(path, "Cannot change mode to "+gnulib.ModeString(set.Mode)[1:], err)
	}
}

// own sets the owner: by name where the workspace knows it, else by number.
func (x *extractor) own(path string, h *tar.Header) {
	if !x.sameOwner {
		return
	}
	uid, gid := int64(h.Uid), int64(h.Gid)
	if !x.numeric {
		if u, ok := x.c.System.UserByName(h.Uname); ok && h.Uname != "" {
			uid = int64(u.UID)
		}
		if g, ok := x.c.System.GroupByName(h.Gname); ok && h.Gname != "" {
			gid = int64(g.GID)
		}
	}
	if err := x.at.Chown(path, uid, gid, false); err != nil {
		x.fail(path, fmt.Sprintf("Cannot change ownership to uid %d, gid %d", uid, gid), err)
	}
}

// finish makes the delayed symlinks and sets the attributes of directories, the
// deepest first.
func (x *extractor) finish() {
	for _, l := range x.links {
		if !x.delayedLinks[l.name] {
			continue
		}
		x.at = l.at
		at, err := x.at.Lstat(l.name)
		if err != nil || !at.IsRegular() || at.Size != 0 {
			continue // replaced by something else
		}
		if err = x.at.Unlink(l.name); err == nil {
			target, _ := x.relink(l.h.Linkname, true)
			err = x.at.Symlink(target, l.name)
		}
		if err != nil {
			x.fail(l.name, x.verb(l.h), err)
			continue
		}
		delete(x.delayedLinks, l.name)
		x.attributes(l.name, l.h)
	}
	for i := len(x.dirs) - 1; i >= 0; i-- {
		d := x.dirs[i]
		if err := d.at.Setattr(d.name, false, &d.set); err != nil {
			x.fail(d.name, "Cannot utime", err)
		}
	}
}
