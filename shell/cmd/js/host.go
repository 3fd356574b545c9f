package js

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"syscall"
	"time"

	"modernc.org/quickjs"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// maxFile is the largest file that a script reads whole.
const maxFile = 64 << 20

func number(v any) float64 {
	switch n := v.(type) {
	case int:
		return float64(n)
	case int32:
		return float64(n)
	case int64:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

func milliseconds(ms float64) time.Duration {
	return time.Duration(min(ms, 1<<40) * float64(time.Millisecond))
}

// hostFunctions registers what the prelude calls.
func (r *runner) hostFunctions() error {
	funcs := map[string]quickjs.HostFunc{
		"__write": func(a []any) (any, error) { return nil, r.write(int(number(a[0])), str(a, 1)) },
		"__stdin": func([]any) (any, error) { return r.stdin() },
		"__now":   func([]any) (any, error) { return float64(r.Now().UnixNano()) / 1e6, nil },
		"__exit": func(a []any) (any, error) {
			r.status, r.exited = int(number(a[0]))&0xff, true
			r.vm.Interrupt()
			return nil, nil
		},
		"__resolve": func(a []any) (any, error) { return r.resolveName(str(a, 0), str(a, 1)) },
		"__fs":      r.fs,
	}
	for name, f := range funcs {
		if err := r.vm.RegisterHostFunc(name, f); err != nil {
			return err
		}
	}
	return nil
}

func str(a []any, i int) string {
	if i >= len(a) {
		return ""
	}
	s, _ := a[i].(string)
	return s
}

// bytesOf turns a string of code units below 256 into bytes.
func bytesOf(s string) []byte {
	b := make([]byte, 0, len(s))
	for _, c := range s {
		b = append(b, byte(c))
	}
	return b
}

// textOf is the reverse of bytesOf.
func textOf(b []byte) string {
	var s strings.Builder
	s.Grow(len(b))
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return s.String()
}

// write prints on a stream: 1 and 2 take text, 3 and 4 bytes as code units.
func (r *runner) write(fd int, s string) error {
	var err error
	data := []byte(s)
	if fd > 2 {
		data, fd = bytesOf(s), fd-2
	}
	if fd == 1 {
		_, err = r.Stdout.Write(data)
	} else {
		if err = r.Stdout.Flush(); err == nil {
			_, err = r.Stderr.Write(data)
		}
	}
	if err != nil {
		r.err = err
		r.vm.Interrupt()
	}
	return err
}

// stdin reads all of standard input.
func (r *runner) stdin() (any, error) {
	b, err := io.ReadAll(io.LimitReader(r.Stdin, maxFile))
	if err != nil {
		return nil, code(err)
	}
	return textOf(b), nil
}

// code is an error as the prelude expects it: the errno's name.
func code(err error) error {
	if errors.Is(err, errTooLarge) {
		return errors.New("ERR_FS_FILE_TOO_LARGE|file is too large")
	}
	no := vfs.ToErrno(err)
	name, ok := errnoNames[no]
	if !ok {
		name = fmt.Sprintf("E%d", int(no))
	}
	text := command.Strerror(no)
	if text != "" {
		text = strings.ToLower(text[:1]) + text[1:]
	}
	return errors.New(name + "|" + text)
}

var errTooLarge = errors.New("file is too large")

var errnoNames = map[syscall.Errno]string{
	syscall.ENOENT: "ENOENT", syscall.EACCES: "EACCES", syscall.EPERM: "EPERM", syscall.EEXIST: "EEXIST", syscall.ENOTDIR: "ENOTDIR",
	syscall.EISDIR: "EISDIR", syscall.ENOTEMPTY: "ENOTEMPTY", syscall.ELOOP: "ELOOP", syscall.EINVAL: "EINVAL", syscall.EROFS: "EROFS",
	syscall.ENOSPC: "ENOSPC", syscall.EMFILE: "EMFILE", syscall.ENAMETOOLONG: "ENAMETOOLONG", syscall.EXDEV: "EXDEV", syscall.EBADF: "EBADF",
	syscall.EIO: "EIO", syscall.EFBIG: "EFBIG", syscall.EDQUOT: "EDQUOT", syscall.EBUSY: "EBUSY", syscall.EINTR: "EINTR",
}

// fs does one operation of node:fs. Paths are absolute.
func (r *runner) fs(a []any) (any, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	v, err := r.fsOp(str(a, 0), str(a, 1), a)
	if err != nil {
		return nil, code(err)
	}
	return v, nil
}

func (r *runner) fsOp(op, p string, a []any) (any, error) {
	num := func(i int) float64 {
		if i < len(a) {
			return number(a[i])
		}
		return 0
	}
	w := r.FS
	switch op {
	case "read":
		b, err := r.readFile(p)
		return textOf(b), err
	case "readText":
		b, err := r.readFile(p)
		return strings.ToValidUTF8(string(b), "\uFFFD"), err
	case "write", "writeText":
		data := []byte(str(a, 2))
		if op == "write" {
			data = bytesOf(str(a, 2))
		}
		return nil, r.writeFile(p, data, str(a, 3), uint32(num(4)))
	case "stat", "lstat":
		at, err := w.Lstat(p)
		if op == "stat" {
			at, err = w.Stat(p)
		}
		return statText(&at), err
	case "readdir":
		return r.readDir(p)
	case "mkdir":
		return nil, w.Mkdir(p, uint32(num(2)))
	case "rmdir":
		return nil, w.Rmdir(p)
	case "unlink":
		return nil, w.Unlink(p)
	case "rename":
		return nil, w.Rename(p, str(a, 2), 0)
	case "symlink":
		return nil, w.Symlink(p, str(a, 2))
	case "link":
		return nil, w.Link(p, str(a, 2), false)
	case "readlink":
		return w.Readlink(p)
	case "realpath":
		return r.realpath(p)
	case "chmod":
		return nil, w.Chmod(p, uint32(num(2)))
	case "truncate":
		return nil, w.Truncate(p, int64(num(2)))
	case "access":
		return nil, w.Access(p, uint32(num(2)))
	case "utimes":
		return nil, w.Setattr(p, true, &vfs.SetAttr{Mask: vfs.SetAtime | vfs.SetMtime, Atime: int64(num(2) * 1e6), Mtime: int64(num(3) * 1e6)})
	}
	return nil, syscall.EINVAL
}

func (r *runner) readFile(p string) ([]byte, error) {
	a, err := r.FS.Stat(p)
	if err != nil {
		return nil, err
	}
	if a.IsRegular() && a.Size > maxFile {
		return nil, errTooLarge
	}
	return r.FS.ReadFile(p, maxFile)
}

// writeFile writes with node's flags: w, a, wx, ax.
func (r *runner) writeFile(p string, data []byte, flag string, mode uint32) error {
	flags := syscall.O_WRONLY | syscall.O_CREAT
	if strings.HasPrefix(flag, "a") {
		flags |= syscall.O_APPEND
	} else {
		flags |= syscall.O_TRUNC
	}
	if strings.Contains(flag, "x") {
		flags |= syscall.O_EXCL
	}
	f, err := r.FS.OpenFile(p, flags, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// statText is the attributes as numbers between blanks.
func statText(a *vfs.Attr) string {
	return fmt.Sprintf("%d %d %d %d %d %d %d %d %d %d %d", a.Ino, a.Mode, a.Nlink, a.UID, a.GID, a.Size, a.Blocks, a.Atime, a.Mtime, a.Ctime, a.Btime)
}

// readDir lists names with their types, one a line; names with newlines are
// escaped by their bytes.
func (r *runner) readDir(p string) (any, error) {
	es, err := r.FS.ReadDir(p)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, e := range es {
		fmt.Fprintf(&b, "%d/%s/", e.Mode&vfs.ModeTypeMask, e.Name)
	}
	return b.String(), nil
}

func (r *runner) realpath(p string) (any, error) {
	f, err := r.FS.Walk(p, true)
	if err != nil {
		return nil, err
	}
	if !f.Exists {
		return nil, syscall.ENOENT
	}
	if f.Attr.IsDir() {
		return r.FS.Path(f.Attr.Ino)
	}
	dir, err := r.FS.Path(f.Parent)
	return path.Join(dir, f.Name), err
}
