package text

import (
	"context"
	"errors"
	"io"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const optOutputError = 256

func init() {
	command.Register(command.Info{
		Name:     "tee",
		Synopsis: "tee [OPTION]... [FILE]...",
		Summary:  "Copy standard input to each FILE, and also to standard output.",
		Options: []command.Option{
			{Short: 'a', Long: "append", Help: "append to the given FILEs, do not overwrite"},
			{Short: 'i', Long: "ignore-interrupts", Help: "ignore interrupt signals"},
			{Short: 'p', Help: "diagnose errors writing to non pipes"},
			{Long: "output-error", Arg: command.OptionalArgument, ArgName: "MODE", ID: optOutputError, Help: "set behavior on write error:\nwarn, warn-nopipe, exit or exit-nopipe"},
		},
	}, tee)
}

// What tee does after a failed write.
const (
	teeDefault = iota
	teeWarn
	teeWarnNoPipe
	teeExit
	teeExitNoPipe
)

func tee(ctx context.Context, c *command.Context, args []string) int {
	flags, mode := syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC, teeDefault
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'a':
			flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_APPEND
		case 'p':
			mode = teeWarnNoPipe
		case optOutputError:
			mode = teeWarnNoPipe
			if p.HasArg() {
				v, ok := gnulib.MatchArg(c, "--output-error", p.Arg(), []gnulib.Choice{{Word: "warn", Value: teeWarn}, {Word: "warn-nopipe", Value: teeWarnNoPipe}, {Word: "exit", Value: teeExit}, {Word: "exit-nopipe", Value: teeExitNoPipe}})
				if !ok {
					return 1
				}
				mode = v
			}
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	t := teeJob{c: c, mode: mode}
	defer t.close()
	for _, name := range files {
		f, err := c.FS.OpenFile(name, flags, 0o666)
		if err != nil {
			status = c.Fail(name, err)
			if mode == teeExit || mode == teeExitNoPipe {
				return status
			}
			continue
		}
		t.files = append(t.files, teeFile{name, f})
	}
	return max(status, t.copy(ctx))
}

type teeFile struct {
	name string
	f    vfs.File
}

// teeJob copies standard input to many files.
type teeJob struct {
	c      *command.Context
	mode   int
	files  []teeFile
	stdout bool // it failed
	status int
}

func (t *teeJob) copy(ctx context.Context) int {
	buf := make([]byte, copySize)
	for {
		if ctx.Err() != nil {
			return 1
		}
		n, err := t.c.Stdin.Read(buf)
		if n > 0 && !t.write(buf[:n]) {
			return t.status
		}
		if err == io.EOF {
			return t.status
		}
		if err != nil {
			return t.c.Errorf("read error: %s", command.Strerror(err))
		}
	}
}

// write writes to all; false when there is no point in going on.
func (t *teeJob) write(b []byte) bool {
	if !t.stdout {
		t.c.Stdout.Write(b)
		if err := t.c.Stdout.Flush(); err != nil {
			t.stdout = true
			if t.mode == teeDefault && errors.Is(err, syscall.EPIPE) {
				return false // the runner ends us as the signal would
			}
			if !t.failed("standard output", err) {
				return false
			}
		}
	}
	kept := t.files[:0]
	for _, f := range t.files {
		if _, err := f.f.Write(b); err != nil {
			f.f.Close()
			if !t.failed(f.name, err) {
				return false
			}
			continue
		}
		kept = append(kept, f)
	}
	t.files = kept
	return !t.stdout || len(t.files) > 0
}

// failed reports a failed write; false when tee is to end.
func (t *teeJob) failed(name string, err error) bool {
	pipe := errors.Is(err, syscall.EPIPE)
	if pipe && (t.mode == teeWarnNoPipe || t.mode == teeExitNoPipe) {
		return true
	}
	t.status = t.c.Fail(name, err)
	return t.mode != teeExit && t.mode != teeExitNoPipe
}

func (t *teeJob) close() {
	for _, f := range t.files {
		f.f.Close()
	}
}
