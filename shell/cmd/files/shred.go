package files

import (
	"context"
	"crypto/rand"
	"io"
	"math"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
)

const (
	shredRandom = 256 + iota
	shredRemove
)

func init() {
	command.Register(command.Info{
		Name:     "shred",
		Synopsis: "shred [OPTION]... FILE...",
		Summary:  "Overwrite the specified FILE(s) repeatedly.\nSnapshots of the workspace keep what they hold.",
		Options: []command.Option{
			{Short: 'f', Long: "force", Help: "change permissions to allow writing if necessary"},
			{Short: 'n', Long: "iterations", Arg: command.RequiredArgument, ArgName: "N", Help: "overwrite N times instead of the default (3)"},
			{Long: "random-source", Arg: command.RequiredArgument, ArgName: "FILE", ID: shredRandom, Help: "get random bytes from FILE"},
			{Short: 's', Long: "size", Arg: command.RequiredArgument, ArgName: "N", Help: "shred this many bytes (suffixes like K, M, G accepted)"},
			{Short: 'u', Help: "deallocate and remove file after overwriting"},
			{Long: "remove", Arg: command.OptionalArgument, ArgName: "HOW", ID: shredRemove, Help: "like -u but give control on HOW to delete"},
			{Short: 'v', Long: "verbose", Help: "show progress"},
			{Short: 'x', Long: "exact", Help: "do not round file sizes up to the next full block"},
			{Short: 'z', Long: "zero", Help: "add a final overwrite with zeros to hide shredding"},
		},
	}, shred)
}

// shredder is what a shred is to do.
type shredder struct {
	c                                   *command.Context
	ctx                                 context.Context
	force, remove, verbose, exact, zero bool
	passes                              int
	size                                int64
	random                              io.Reader
}

func shred(ctx context.Context, c *command.Context, args []string) int {
	s := shredder{c: c, ctx: ctx, passes: 3, size: -1, random: rand.Reader}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'f':
			s.force = true
		case 'n':
			n, err := gnulib.ParseSize(p.Arg(), "")
			if err != nil || n > 1<<16 {
				return c.Errorf("invalid number of passes: %s", c.Quote(p.Arg()))
			}
			s.passes = int(n)
		case 's':
			n, err := gnulib.ParseSize(p.Arg(), "cbBkKMGTPEZY0")
			if err != nil || n > math.MaxInt64 {
				return c.Errorf("invalid file size: %s", c.Quote(p.Arg()))
			}
			s.size, s.exact = int64(n), true
		case 'u', shredRemove:
			s.remove = true
		case 'v':
			s.verbose = true
		case 'x':
			s.exact = true
		case 'z':
			s.zero = true
		case shredRandom:
			f, err := c.FS.Open(p.Arg())
			if err != nil {
				return c.Fail(p.Arg(), err)
			}
			defer f.Close()
			s.random = f
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		return c.Usage("missing file operand")
	}
	for _, name := range names {
		status = max(status, s.shred(name))
	}
	return status
}

func (s *shredder) shred(name string) int {
	c := s.c
	f, err := c.FS.OpenFile(name, syscall.O_WRONLY, 0)
	if toErrno(err) == syscall.EACCES && s.force {
		if err = c.FS.Chmod(name, 0o200); err == nil {
			f, err = c.FS.OpenFile(name, syscall.O_WRONLY, 0)
		}
	}
	if err != nil {
		return c.Errorf("%s: failed to open for writing: %s", c.QuoteName(name), command.Strerror(err))
	}
	size := s.size
	if size < 0 {
		a, err := f.Stat()
		if err != nil {
			f.Close()
			return c.Fail(name, err)
		}
		size = int64(a.Size)
		if !s.exact && size > 0 {
			size = (size + 4095) / 4096 * 4096
		}
	}
	total := s.passes
	if s.zero {
		total++
	}
	for pass := 1; pass <= total; pass++ {
		kind, src := "random", s.random
		if pass > s.passes {
			kind, src = "000000", zeros{}
		}
		if s.verbose {
			c.Errorf("%s: pass %d/%d (%s)...", c.QuoteName(name), pass, total, kind)
		}
		if err := s.pass(f, src, size); err != nil {
			f.Close()
			return c.Errorf("%s: error writing at offset 0: %s", c.QuoteName(name), command.Strerror(err))
		}
	}
	if err := f.Close(); err != nil {
		return c.Fail(name, err)
	}
	if s.remove {
		return s.wipe(name)
	}
	return 0
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func (s *shredder) pass(w io.WriterAt, src io.Reader, size int64) error {
	buf := make([]byte, copySize)
	for off := int64(0); off < size; {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		n := min(size-off, int64(len(buf)))
		if _, err := io.ReadFull(src, buf[:n]); err != nil {
			return err
		}
		if _, err := w.WriteAt(buf[:n], off); err != nil {
			return err
		}
		off += n
	}
	return nil
}

// wipe renames the file to shorter and shorter names and removes it.
func (s *shredder) wipe(name string) int {
	c := s.c
	if s.verbose {
		c.Errorf("%s: removing", c.QuoteName(name))
	}
	dir, base := gnulib.Dir(name), gnulib.Base(name)
	present := name
	for n := len(base); n > 0; n-- {
		next := strings.Repeat("0", n)
		if dir != "." || strings.HasPrefix(name, "./") {
			next = gnulib.Join(dir, next)
		}
		if _, err := c.FS.Lstat(next); err == nil {
			continue
		}
		if err := c.FS.Rename(present, next, 0); err != nil {
			break
		}
		if s.verbose {
			c.Errorf("%s: renamed to %s", c.QuoteName(present), c.QuoteName(next))
		}
		present = next
	}
	if err := c.FS.Unlink(present); err != nil {
		return c.Errorf("%s: failed to remove: %s", c.QuoteName(name), command.Strerror(err))
	}
	if s.verbose {
		c.Errorf("%s: removed", c.QuoteName(name))
	}
	return 0
}
