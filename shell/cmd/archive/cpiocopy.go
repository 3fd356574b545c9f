package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// path is where a name leads under -D.
func (r *cpioRun) path(name string) string {
	if r.dir == "" || strings.HasPrefix(name, "/") {
		return name
	}
	return gnulib.Join(r.dir, name)
}

func (r *cpioRun) stat(name string) (vfs.Attr, error) {
	if r.follow {
		return r.c.FS.Stat(r.path(name))
	}
	return r.c.FS.Lstat(r.path(name))
}

// create writes an archive of the files on the list.
func (r *cpioRun) create() error {
	var out io.Writer = r.c.Stdout
	if r.file != "" {
		f, err := r.c.FS.Create(r.file, 0o666)
		if err != nil {
			return fmt.Errorf("Cannot open: %s: %s", r.file, command.Strerror(err))
		}
		defer f.Close()
		out = f
	}
	w := &cpioWriter{w: bufio.NewWriterSize(out, 64<<10)}
	ino := uint32(0)
	seen := map[vfs.Ino]uint32{}
	err := r.names(func(name string) error {
		a, err := r.stat(name)
		if err != nil {
			r.fail(name, "Cannot stat", err)
			return nil
		}
		if a.IsDir() {
			name = strings.TrimRight(name, "/")
			if name == "" {
				name = "/"
			}
		}
		if seen[a.Ino] == 0 {
			ino++
			seen[a.Ino] = ino
		}
		return r.addMember(w, name, &a, seen[a.Ino])
	})
	if err != nil {
		return err
	}
	if err := (&cpioHeader{nlink: 1, name: cpioTrailer}).write(w, r.format); err != nil {
		return err
	}
	if n := w.n % 512; n > 0 {
		w.Write(make([]byte, 512-n))
	}
	r.bytes = w.n
	return w.w.(*bufio.Writer).Flush()
}

// cpioWriter counts what it writes.
type cpioWriter struct {
	w io.Writer
	n int64
}

func (w *cpioWriter) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.n += int64(n)
	return n, err
}

func (r *cpioRun) addMember(w *cpioWriter, name string, a *vfs.Attr, ino uint32) error {
	h := &cpioHeader{ino: ino, mode: a.Mode, uid: a.UID, gid: a.GID, nlink: a.Nlink, mtime: a.Mtime / 1e9, name: strings.TrimPrefix(name, "./")}
	var data io.Reader
	switch {
	case a.IsSymlink():
		target, err := r.c.FS.Readlink(r.path(name))
		if err != nil {
			r.fail(name, "Cannot read", err)
			return nil
		}
		h.size, data = int64(len(target)), strings.NewReader(target)
	case a.IsRegular():
		f, err := r.c.FS.Open(r.path(name))
		if err != nil {
			r.fail(name, "Cannot open", err)
			return nil
		}
		defer f.Close()
		h.size, data = int64(a.Size), f
	}
	if h.name == "" {
		h.name = name
	}
	if err := h.write(w, r.format); err != nil {
		return fmt.Errorf("%s: %s", name, command.Strerror(err))
	}
	if data != nil {
		if err := r.copyData(w, data, h, name); err != nil {
			return err
		}
	}
	r.say(r.c.Stderr, name)
	return nil
}

// copyData writes a member's data, as long as its header says.
func (r *cpioRun) copyData(w io.Writer, data io.Reader, h *cpioHeader, name string) error {
	n, err := io.CopyN(w, &cancelReader{r.ctx, data}, h.size)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n < h.size {
		r.c.Errorf("File %s shrunk by %d bytes, padding with zeros", name, h.size-n)
		r.status = 1
		if _, err := io.CopyN(w, zeroReader{}, h.size-n); err != nil {
			return err
		}
	}
	if pad := h.size % int64(h.align); pad > 0 {
		_, err = w.Write(make([]byte, int64(h.align)-pad))
		return err
	}
	return nil
}

// zeroReader yields zeros without end.
type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// read lists or extracts an archive.
func (r *cpioRun) read() error {
	var in io.Reader = r.c.Stdin
	if r.file != "" {
		f, err := r.c.FS.Open(r.file)
		if err != nil {
			return fmt.Errorf("Cannot open: %s: %s", r.file, command.Strerror(err))
		}
		defer f.Close()
		in = f
	}
	counted := &countReader{r: &cancelReader{r.ctx, in}}
	br := bufio.NewReaderSize(counted, 64<<10)
	links := map[uint32]string{}
	for {
		h, err := readCpioHeader(br)
		if err != nil {
			return err
		}
		if h.name == cpioTrailer {
			break
		}
		data := io.LimitReader(br, h.size)
		if r.wanted(h.name) {
			if err := r.member(h, data, links); err != nil {
				return err
			}
		}
		if _, err := io.Copy(io.Discard, data); err != nil {
			return err
		}
		if pad := h.size % int64(h.align); pad > 0 {
			if _, err := br.Discard(h.align - int(pad)); err != nil {
				return errCpioEnd
			}
		}
	}
	read := counted.n - int64(br.Buffered())
	r.bytes = (read + 511) / 512 * 512
	return nil
}

// countReader counts what is read through it.
type countReader struct {
	r io.Reader
	n int64
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (r *cpioRun) wanted(name string) bool {
	if len(r.patterns) == 0 {
		return true
	}
	for _, p := range r.patterns {
		if gnulib.Fnmatch(p, name, 0) {
			return !r.nonMatching
		}
	}
	return r.nonMatching
}

func (r *cpioRun) member(h *cpioHeader, data io.Reader, links map[uint32]string) error {
	switch {
	case r.list:
		return r.listMember(h, data)
	case r.toStdout:
		if h.mode&vfs.ModeTypeMask == vfs.ModeRegular {
			_, err := io.Copy(r.c.Stdout, data)
			return err
		}
		return nil
	}
	name := h.name
	if r.relative {
		name = relativeName(name)
	}
	err := r.extract(name, h, data, links)
	r.say(r.c.Stderr, h.name)
	return err
}

// relativeName takes what leads out of the directory off a name.
func relativeName(name string) string {
	var parts []string
	for p := range strings.SplitSeq(name, "/") {
		switch p {
		case "", ".":
		case "..":
			parts = nil
		default:
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return "."
	}
	return strings.Join(parts, "/")
}

func (r *cpioRun) listMember(h *cpioHeader, data io.Reader) error {
	if !r.verbose {
		fmt.Fprintln(r.c.Stdout, h.name)
		return nil
	}
	user, group := fmt.Sprint(h.uid), fmt.Sprint(h.gid)
	if !r.numeric {
		if u, ok := r.c.System.UserByID(h.uid); ok {
			user = u.Name
		}
		if g, ok := r.c.System.GroupByID(h.gid); ok {
			group = g.Name
		}
	}
	suffix := ""
	if h.mode&vfs.ModeTypeMask == vfs.ModeSymlink {
		var b bytes.Buffer
		if _, err := io.CopyN(&b, data, min(h.size, vfs.MaxSymlink)); err != nil {
			return errCpioEnd
		}
		suffix = " -> " + b.String()
	}
	when := gnulib.Strftime("%b %e %H:%M", unixTime(h.mtime).In(r.c.Location))
	if d := r.c.Now().Unix() - h.mtime; d > 6*30*24*3600 || d < -3600 {
		when = gnulib.Strftime("%b %e  %Y", unixTime(h.mtime).In(r.c.Location))
	}
	fmt.Fprintf(r.c.Stdout, "%s %3d %-8s %-8s %8d %s %s%s\n", gnulib.ModeString(h.mode), h.nlink, user, group, h.size, when, h.name, suffix)
	return nil
}

// extract makes a member's file; only what ends the archive is an error.
func (r *cpioRun) extract(name string, h *cpioHeader, data io.Reader, links map[uint32]string) error {
	path := r.path(name)
	old, err := r.c.FS.Lstat(path)
	kind := h.mode & vfs.ModeTypeMask
	if err == nil {
		if kind == vfs.ModeDir && old.IsDir() {
			r.attributes(name, path, h)
			return nil
		}
		if !r.unconditional && !old.IsDir() && old.Mtime/1e9 >= h.mtime {
			r.c.Errorf("%s not created: newer or same age version exists", name)
			return nil
		}
		if old.IsDir() {
			err = r.c.FS.Rmdir(path)
		} else {
			err = r.c.FS.Unlink(path)
		}
		if err != nil {
			r.c.Errorf("cannot remove current %s: %s", name, command.Strerror(err))
			r.status = 1
			return nil
		}
	}
	make := func() error { return r.make(path, h, data, links) }
	if err = make(); err != nil && r.mkdir && errors.Is(err, errNotFound) {
		if dir := gnulib.Dir(path); r.c.FS.MkdirAll(dir, 0o777) == nil {
			err = make()
		}
	}
	switch {
	case errors.Is(err, errCpioEnd):
		return err
	case err != nil:
		verb := map[uint32]string{vfs.ModeDir: "Cannot create directory", vfs.ModeSymlink: "Cannot create symbolic link"}[kind]
		if verb == "" {
			verb = "Cannot open"
		}
		r.fail(name, verb, err)
	default:
		r.attributes(name, path, h)
	}
	return nil
}

func (r *cpioRun) make(path string, h *cpioHeader, data io.Reader, links map[uint32]string) error {
	fs, flags := r.c.FS, openNew
	switch h.mode & vfs.ModeTypeMask {
	case vfs.ModeDir:
		return fs.Mkdir(path, 0o700)
	case vfs.ModeSymlink:
		var b bytes.Buffer
		if h.size > vfs.MaxSymlink {
			return errNameTooLong
		}
		if dir, err := fs.Stat(gnulib.Dir(path)); err != nil || !dir.IsDir() {
			return errNotFound
		}
		if _, err := io.CopyN(&b, data, h.size); err != nil {
			return errCpioEnd
		}
		return fs.Symlink(b.String(), path)
	case vfs.ModeRegular:
		if first, ok := links[h.ino]; ok && h.nlink > 1 {
			flags = syscall.O_WRONLY | syscall.O_TRUNC
			err := fs.Link(first, path, false)
			if err == nil && r.mode == 'p' && r.verbose {
				r.c.Errorf("%s linked to %s", first, path)
			}
			if err != nil || h.size == 0 || h.align != 4 {
				return err
			}
		}
	default:
		return fs.Mknod(path, h.mode&vfs.ModeTypeMask|0o600, h.rdev)
	}
	f, err := fs.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil && n < h.size {
		err = errCpioEnd
	}
	if h.nlink > 1 {
		links[h.ino] = path
	}
	return err
}

// attributes gives a file its mode, owner and, under -m, time.
func (r *cpioRun) attributes(name, path string, h *cpioHeader) {
	if r.keepOwner && r.c.FS.Op.UID == 0 {
		r.c.FS.Chown(path, int64(h.uid), int64(h.gid), false)
	}
	set := vfs.SetAttr{}
	if h.mode&vfs.ModeTypeMask != vfs.ModeSymlink {
		set.Mask, set.Mode = vfs.SetMode, h.mode&vfs.ModePerm
	}
	if r.keepTime {
		set.Mask |= vfs.SetAtime | vfs.SetMtime
		set.Mtime, set.Atime = h.mtime*1e9, h.mtime*1e9
	}
	if err := r.c.FS.Setattr(path, false, &set); err != nil && set.Mask != 0 {
		r.fail(name, "Cannot change mode", err)
	}
}

// pass copies the files on the list below a directory.
func (r *cpioRun) pass(dest string) error {
	links := map[uint32]string{}
	seen := map[vfs.Ino]uint32{}
	return r.names(func(name string) error {
		a, err := r.stat(name)
		if err != nil {
			r.fail(name, "Cannot stat", err)
			return nil
		}
		if seen[a.Ino] == 0 {
			seen[a.Ino] = uint32(len(seen) + 1)
		}
		h := &cpioHeader{ino: seen[a.Ino], mode: a.Mode, uid: a.UID, gid: a.GID, nlink: a.Nlink, mtime: a.Mtime / 1e9}
		var data io.Reader = strings.NewReader("")
		switch {
		case a.IsSymlink():
			target, _ := r.c.FS.Readlink(r.path(name))
			h.size, data = int64(len(target)), strings.NewReader(target)
		case a.IsRegular() && a.Nlink > 1 && links[h.ino] != "":
		case a.IsRegular():
			f, err := r.c.FS.Open(r.path(name))
			if err != nil {
				r.fail(name, "Cannot open", err)
				return nil
			}
			defer f.Close()
			h.size, data = int64(a.Size), &cancelReader{r.ctx, f}
		}
		if a.IsRegular() {
			r.bytes += h.size
		}
		to := gnulib.Join(dest, strings.TrimPrefix(name, "/"))
		if err := r.extract(to, h, data, links); err != nil {
			return err
		}
		r.say(r.c.Stderr, to)
		return nil
	})
}
