package sed

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// input is the lines of all files, one after the other.
type input struct {
	c     *command.Context
	s     *settings
	files []string // still to be opened
	r     *lines.Reader
	open  io.ReadCloser // the present file, nil between files

	name   string // of the present file
	number int64  // of the present line

	// The line ahead, when have is set. It is in the reader's buffer.
	have  bool
	ahead []byte
	ended bool

	edit    *edit // the in-place edit of the present file
	fresh   bool  // a file was opened since the last line was taken
	failed  bool  // a file could not be opened
	problem error // ends sed
}

// edit is a file being edited in place: what is written goes to another that
// takes its place at the end.
type edit struct {
	path string
	temp string
	dir  string
	out  *output
	attr vfs.Attr
}

// take makes the next line the present one; false at the end of all input. The
// line is valid until the next take or last.
func (in *input) take() (line []byte, ended, ok bool) {
	for !in.have {
		if in.open == nil && !in.nextFile() {
			return nil, false, false
		}
		if !in.read() {
			in.shut()
		}
	}
	in.have = false
	in.number++
	return in.ahead, in.ended, in.problem == nil
}

// last reports whether no line follows the present one, in its file if files
// are separate.
func (in *input) last() bool {
	for !in.have {
		if in.open != nil {
			if in.read() {
				return false
			}
			if in.s.separate {
				return true
			}
			in.shut()
		}
		if in.s.separate || !in.nextFile() {
			return true
		}
	}
	return false
}

// read reads the line ahead from the present file.
func (in *input) read() bool {
	line, ended, err := in.r.Next()
	switch {
	case err == nil:
		in.ahead, in.ended, in.have = line, ended, true
	case errors.Is(err, syscall.ENOMEM):
		in.problem = &sedError{"couldn't allocate memory", exitPanic}
	case err != io.EOF:
		in.problem = &sedError{fmt.Sprintf("read error on %s: %s", in.name, command.Strerror(err)), exitPanic}
	}
	return in.have
}

// nextFile opens the next file that can be.
func (in *input) nextFile() bool {
	for len(in.files) > 0 && in.problem == nil {
		name := in.files[0]
		in.files = in.files[1:]
		if in.start(name) {
			return true
		}
	}
	return false
}

// start opens a file; false when there is nothing to read in it.
func (in *input) start(name string) bool {
	if name == "-" && !in.s.inPlace {
		in.open = io.NopCloser(in.c.Stdin)
		in.begin(name, in.c.Stdin)
		return true
	}
	path := name
	if in.s.follow && in.s.inPlace {
		path = in.resolve(path)
	}
	f, err := in.c.FS.Open(path)
	if err != nil {
		in.failed = true
		in.c.Errorf("can't read %s: %s", name, command.Strerror(err))
		return false
	}
	if in.s.inPlace {
		if err := in.startEdit(path, f); err != nil {
			f.Close()
			in.problem = err
			return false
		}
	}
	in.open = f
	in.begin(name, f)
	return true
}

// begin makes the reader read a file.
func (in *input) begin(name string, f io.Reader) {
	if in.r == nil {
		in.r = lines.NewReader(f, in.c.Memory)
		in.r.Delim = in.s.delim
	} else {
		in.r.Reset(f)
	}
	in.name, in.fresh = name, true
	if in.s.separate {
		in.number = 0
	}
}

// resolve follows symlinks by hand, so that the file itself is replaced.
func (in *input) resolve(path string) string {
	for range vfs.MaxSymlinks {
		target, err := in.c.FS.Readlink(path)
		if err != nil {
			return path
		}
		if !strings.HasPrefix(target, "/") {
			target = dirOf(path) + target
		}
		path = target
	}
	return path
}

// dirOf is the directory part of a path, with its slash.
func dirOf(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// tempTries is how many names are tried for a temporary file.
const tempTries = 100

// startEdit makes the file that will take the place of path.
func (in *input) startEdit(path string, f vfs.File) error {
	a, err := f.Stat()
	if err != nil {
		return err
	}
	if !a.IsRegular() {
		return &sedError{fmt.Sprintf("couldn't edit %s: not a regular file", path), exitPanic}
	}
	e := &edit{path: path, dir: dirOf(path), attr: a}
	var t vfs.File
	for range tempTries {
		e.temp = e.dir + "sed" + randomName()
		t, err = in.c.FS.OpenFile(e.temp, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0o600)
		if !errors.Is(err, syscall.EEXIST) {
			break
		}
	}
	if err != nil {
		return &sedError{fmt.Sprintf("couldn't open temporary file %s: %s", e.temp, command.Strerror(err)), exitPanic}
	}
	e.out = &output{name: e.temp, w: command.NewWriter(t), close: t}
	in.edit = e
	return nil
}

func randomName() string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	b := make([]byte, 6)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return string(b)
}

// shut closes the present file, and puts its edited copy in place.
func (in *input) shut() {
	if in.open == nil {
		return
	}
	if err := in.open.Close(); err != nil && in.problem == nil {
		in.problem = &sedError{fmt.Sprintf("couldn't close %s: %s", in.name, command.Strerror(err)), exitPanic}
	}
	in.open = nil
	if in.edit != nil {
		err := in.finishEdit(in.edit)
		in.edit = nil
		if err != nil && in.problem == nil {
			in.problem = err
		}
	}
}

// finishEdit renames the edited copy over the file, after its backup.
func (in *input) finishEdit(e *edit) error {
	w := in.c.FS
	fail := func(format string, err error) error {
		w.Unlink(e.temp) // nothing to add if that fails too
		return &sedError{fmt.Sprintf(format, e.temp, command.Strerror(err)), exitPanic}
	}
	if err := e.out.shut(); err != nil {
		return fail("couldn't write to %s: %s", err)
	}
	// As in the original only root can give a file away; mode goes last since a
	// change of owner clears set-id bits.
	if err := w.Chown(e.temp, int64(e.attr.UID), int64(e.attr.GID), true); err != nil && !errors.Is(err, syscall.EPERM) {
		return fail("couldn't change the owner of %s: %s", err)
	}
	if err := w.Chmod(e.temp, e.attr.Mode&vfs.ModePerm); err != nil {
		return fail("couldn't change the mode of %s: %s", err)
	}
	if in.s.suffix != "" {
		base := e.path[len(e.dir):]
		backup := strings.ReplaceAll(in.s.suffix, "*", base)
		if !strings.Contains(backup, "/") {
			backup = e.dir + backup
		}
		if err := w.Rename(e.path, backup, 0); err != nil {
			return fail("cannot rename "+e.path+" over %s: %s", err)
		}
	}
	if err := w.Rename(e.temp, e.path, 0); err != nil {
		return fail("cannot rename %s: %s", err)
	}
	return nil
}

// abandon drops an edit that did not come to its end.
func (in *input) abandon() {
	if in.edit != nil {
		in.edit.out.shut()
		in.c.FS.Unlink(in.edit.temp)
		in.edit = nil
	}
	if in.open != nil {
		in.open.Close()
		in.open = nil
	}
}
