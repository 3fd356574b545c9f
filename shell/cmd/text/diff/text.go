package diff

import (
	"bytes"
	"context"
	"io"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// file is one side of a comparison.
type file struct {
	name   string
	attr   vfs.Attr
	absent bool // it is not there, and counts as empty
	stdin  bool
	data   []byte
	lines  [][]byte // with their newlines
	// noNewline says that the last line has none.
	noNewline bool
	binary    bool
}

// binaryProbe is how many bytes are looked at to tell text from other data.
const binaryProbe = 4096

// perLine is about what a line takes beside its bytes.
const perLine = 120

// read reads a file whole; what it takes is on the account.
func (j *job) read(ctx context.Context, f *file) error {
	if f.absent {
		return nil
	}
	src, err := j.c.Open(f.name)
	if err != nil {
		return err
	}
	defer src.Close()
	if f.data, err = readAll(ctx, j.c, src); err != nil {
		return err
	}
	j.held += int64(cap(f.data))
	// The lines, their classes and the table of these.
	more := int64(len(f.data) + perLine*(bytes.Count(f.data, []byte{'\n'})+1))
	if err := j.c.Memory.Grow(more); err != nil {
		return err
	}
	j.held += more
	f.binary = bytes.IndexByte(f.data[:min(len(f.data), binaryProbe)], 0) >= 0
	return nil
}

// readAll reads a stream, announcing what it takes.
func readAll(ctx context.Context, c *command.Context, src io.Reader) ([]byte, error) {
	const first = 32 << 10
	if err := c.Memory.Grow(first); err != nil {
		return nil, err
	}
	b := make([]byte, 0, first)
	for {
		if err := ctx.Err(); err != nil {
			return b, err
		}
		if len(b) == cap(b) {
			if err := c.Memory.Grow(int64(cap(b))); err != nil {
				return b, err
			}
			grown := make([]byte, len(b), 2*cap(b))
			copy(grown, b)
			b = grown
		}
		n, err := src.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// split makes lines of the data.
func (f *file) split(stripCR bool) {
	b := f.data
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n') + 1
		if n == 0 {
			n = len(b)
			f.noNewline = true
		}
		line := b[:n:n]
		b = b[n:]
		if stripCR && n > 1 && line[n-1] == '\n' && line[n-2] == '\r' {
			line = append(append([]byte(nil), line[:n-2]...), '\n')
		}
		f.lines = append(f.lines, line)
	}
}

// classes numbers the lines of two files, equal ones alike.
func (j *job) classes(a, b *file) (x, y []int) {
	ids := map[string]int{}
	var key []byte
	number := func(f *file) []int {
		out := make([]int, len(f.lines))
		for i, line := range f.lines {
			key = j.key(key[:0], line)
			id, ok := ids[string(key)]
			if !ok {
				id = len(ids) + 1
				ids[string(key)] = id
			}
			out[i] = id
		}
		return out
	}
	return number(a), number(b)
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// key is a line in the form in which it is compared.
func (j *job) key(out, line []byte) []byte {
	s := j.s
	if !s.foldCase && !s.noSpace && !s.lessSpace && !s.trailing && !s.tabSpace {
		return append(out, line...)
	}
	text, ended := bytes.CutSuffix(line, []byte{'\n'})
	if s.trailing || s.lessSpace || s.noSpace {
		text = bytes.TrimRight(text, " \t\n\v\f\r")
		ended = false // with white space the newline does not count either
	}
	column := 0
	space := false
	for _, c := range text {
		switch {
		case isSpace(c) && s.noSpace:
			continue
		case isSpace(c) && s.lessSpace:
			space = true
			continue
		case c == '\t' && s.tabSpace:
			for {
				out = append(out, ' ')
				if column++; column%s.tabSize == 0 {
					break
				}
			}
			continue
		}
		if space {
			out = append(out, ' ')
			space = false
		}
		if s.foldCase && c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		out = append(out, c)
		column++
	}
	if ended {
		out = append(out, '\n')
	}
	return out
}

// blank reports whether a line is blank for -B.
func (j *job) blank(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	if j.s.lessSpace || j.s.noSpace || j.s.trailing {
		line = bytes.TrimLeft(line, " \t\v\f\r")
	}
	return len(line) == 0
}

// markIgnorable notes which changes do not count.
func (j *job) markIgnorable(ctx context.Context, script []change, a, b *file) error {
	if !j.s.noBlank && !j.s.ignoreRegex {
		return nil
	}
	for i := range script {
		c := &script[i]
		c.ignore = true
		for _, line := range append(append([][]byte(nil), a.lines[c.line0:c.line0+c.deleted]...), b.lines[c.line1:c.line1+c.inserted]...) {
			ok, err := j.ignorable(ctx, line)
			if err != nil {
				return err
			}
			if !ok {
				c.ignore = false
				break
			}
		}
	}
	return nil
}

func (j *job) ignorable(ctx context.Context, line []byte) (bool, error) {
	if j.s.noBlank && j.blank(line) {
		return true, nil
	}
	for _, re := range j.s.ignore {
		if ok, err := re.Match(ctx, bytes.TrimSuffix(line, []byte{'\n'})); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}
