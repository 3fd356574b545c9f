package files

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// copySize is how many bytes a copy moves at a time.
const copySize = 64 << 10

// device is the number of the one device that every file of a workspace is on.
const device = 0x32

// presentable gives a directory that has no size of its own the one block that
// people and scripts expect of it.
func presentable(a *vfs.Attr) {
	if a.IsDir() && a.Size == 0 {
		a.Size = 4096
	}
	if a.IsDir() && a.Blocks == 0 {
		a.Blocks = 8
	}
}

// userName is a user's name, or the number where there is none.
func userName(c *command.Context, uid uint32) string {
	if u, ok := c.System.UserByID(uid); ok {
		return u.Name
	}
	return strconv.FormatUint(uint64(uid), 10)
}

// groupName is a group's name, or the number where there is none.
func groupName(c *command.Context, gid uint32) string {
	if g, ok := c.System.GroupByID(gid); ok {
		return g.Name
	}
	return strconv.FormatUint(uint64(gid), 10)
}

// stream copies r to w until the end, looking at ctx on the way. The two errors
// tell whose fault it was.
func stream(ctx context.Context, w io.Writer, r io.Reader) (readErr, writeErr error) {
	buf := make([]byte, copySize)
	for {
		if err := ctx.Err(); err != nil {
			return err, nil
		}
		n, err := r.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return nil, werr
			}
		}
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return err, nil
		}
	}
}

// asker puts yes-or-no questions on standard error and reads the answers.
type asker struct {
	c  *command.Context
	in *bufio.Reader
}

// ask prints "NAME: question " and reports whether a line that starts with y
// came back.
func (a *asker) ask(question string) bool {
	io.WriteString(a.c.Stderr, a.c.Command.Name+": "+question)
	if a.in == nil {
		// One byte at a time: what is not read belongs to others.
		a.in = bufio.NewReaderSize(oneByte{a.c.Stdin}, 16)
	}
	line, _ := a.in.ReadString('\n')
	return strings.HasPrefix(line, "y") || strings.HasPrefix(line, "Y")
}

// oneByte reads a byte at a time.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:1]) }

// owned reports whether the caller may do what only an owner may.
func owned(c *command.Context, a *vfs.Attr) bool {
	return c.FS.Op.UID == 0 || c.FS.Op.UID == a.UID
}
