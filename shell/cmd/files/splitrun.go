package files

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
)

// splitPipe feeds a --filter command.
type splitPipe struct {
	r    *io.PipeReader
	w    *io.PipeWriter
	done <-chan error
	s    *splitter
	code int
	err  error
}

func (p *splitPipe) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if err == io.ErrClosedPipe {
		return len(b), nil // the command wants no more
	}
	return n, err
}

// open starts the next output.
func (s *splitter) open() int {
	name, ok := s.nextName()
	if !ok {
		return s.c.Errorf("output file suffixes exhausted")
	}
	s.current = name
	if s.filter != "" {
		return s.openFilter(name)
	}
	if s.verbose {
		fmt.Fprintf(s.c.Stdout, "creating file %s\n", s.c.QuoteArg(name))
	}
	f, err := s.c.FS.OpenFile(name, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC, 0o666)
	if err != nil {
		return s.fail(name, err)
	}
	s.out, s.w = f, bufio.NewWriterSize(f, copySize)
	return 0
}

func (s *splitter) openFilter(name string) int {
	if s.verbose {
		fmt.Fprintf(s.c.Stdout, "executing with FILE=%s\n", s.c.QuoteName(name))
	}
	r, w := io.Pipe()
	p := &splitPipe{r: r, w: w, s: s}
	if err := s.c.Stdout.Flush(); err != nil {
		return 1
	}
	p.done = command.Go(func() {
		defer r.Close()
		p.code, p.err = s.c.System.Exec(s.ctx, s.c, &command.Child{Args: []string{"sh", "-c", s.filter}, Stdin: r, Env: s.c.Env.Set("FILE", name)})
	})
	s.pipe, s.w = p, bufio.NewWriterSize(p, copySize)
	return 0
}

// close ends the present output, if there is one.
func (s *splitter) close() int {
	if s.w == nil {
		return 0
	}
	err := s.w.Flush()
	s.w = nil
	if s.pipe != nil {
		p := s.pipe
		s.pipe = nil
		p.w.Close()
		if panicked := <-p.done; panicked != nil && err == nil {
			err = panicked
		}
		if p.err != nil && err == nil {
			err = p.err
		}
		if err == nil && p.code != 0 {
			return s.c.Errorf("with FILE=%s, exit %d from command: %s", s.c.QuoteName(s.current), p.code, s.filter)
		}
	} else if cerr := s.out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return s.fail(s.current, err)
	}
	return 0
}

func (s *splitter) run(in io.Reader, name string) int {
	var status int
	switch s.kind {
	case 'b':
		status = s.byBytes(in, name)
	case 'l':
		status = s.byLines(in, name)
	case 'C':
		status = s.byLineBytes(in, name)
	case 'n':
		status = s.byCount(in, name)
	}
	return max(status, s.close())
}

func (s *splitter) readFailed(name string, err error) int { return s.c.Fail(name, err) }

// byBytes cuts after each size bytes.
func (s *splitter) byBytes(in io.Reader, name string) int {
	buf := make([]byte, copySize)
	left := int64(0)
	for s.ctx.Err() == nil {
		n, err := in.Read(buf)
		for p := buf[:n]; len(p) > 0; {
			if left == 0 {
				if status := max(s.close(), s.open()); status != 0 {
					return status
				}
				left = s.size
			}
			m := min(int64(len(p)), left)
			if _, err := s.w.Write(p[:m]); err != nil {
				return s.fail(s.current, err)
			}
			p, left = p[m:], left-m
		}
		if err == io.EOF {
			return 0
		}
		if err != nil {
			return s.readFailed(name, err)
		}
	}
	return 1
}

// byLines cuts after each size lines.
func (s *splitter) byLines(in io.Reader, name string) int {
	buf := make([]byte, copySize)
	left := int64(0)
	for s.ctx.Err() == nil {
		n, err := in.Read(buf)
		for p := buf[:n]; len(p) > 0; {
			if left == 0 {
				if status := max(s.close(), s.open()); status != 0 {
					return status
				}
				left = s.size
			}
			i := bytes.IndexByte(p, s.sep) + 1
			if i == 0 {
				i = len(p)
			} else {
				left--
			}
			if _, err := s.w.Write(p[:i]); err != nil {
				return s.fail(s.current, err)
			}
			p = p[i:]
		}
		if err == io.EOF {
			return 0
		}
		if err != nil {
			return s.readFailed(name, err)
		}
	}
	return 1
}

// byLineBytes puts as many whole lines into a file as fit into size bytes; a
// longer line is cut.
func (s *splitter) byLineBytes(in io.Reader, name string) int {
	r := bufio.NewReaderSize(in, copySize)
	room := int64(0)
	var line []byte
	for s.ctx.Err() == nil {
		part, err := r.ReadSlice(s.sep)
		line = append(line, part...)
		ended := err == nil || err == io.EOF
		for len(line) > 0 && (ended || int64(len(line)) >= s.size) {
			if s.w == nil || int64(len(line)) > room && room < s.size {
				if status := max(s.close(), s.open()); status != 0 {
					return status
				}
				room = s.size
			}
			n := min(int64(len(line)), room)
			if _, werr := s.w.Write(line[:n]); werr != nil {
				return s.fail(s.current, werr)
			}
			line, room = line[n:], room-n
		}
		if err == io.EOF {
			return 0
		}
		if err != nil && err != bufio.ErrBufferFull {
			return s.readFailed(name, err)
		}
	}
	return 1
}

// byCount makes a given number of files.
func (s *splitter) byCount(in io.Reader, name string) int {
	if s.part == "r" {
		return s.roundRobin(in, name)
	}
	r := command.Regular(in)
	if r == nil {
		return s.c.Errorf("%s: cannot determine file size", s.c.QuoteName(name))
	}
	a, err := r.Stat()
	if err != nil {
		return s.readFailed(name, err)
	}
	pos, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return s.readFailed(name, err)
	}
	size := max(int64(a.Size)-pos, 0)
	if s.part == "l" {
		return s.lineChunks(in, name, size)
	}
	return s.byteChunks(in, name, size)
}

// byteChunks makes chunks of equal size; the last one has what is left where it
// does not come out even.
func (s *splitter) byteChunks(in io.Reader, name string, size int64) int {
	for k := int64(1); k <= s.size; k++ {
		n := max(size/s.size, 1)
		if k == s.size {
			n = size
		}
		if s.only > 0 {
			var w io.Writer = io.Discard
			if k == s.only {
				w = s.c.Stdout
			}
			if _, err := io.CopyN(w, in, n); err != nil && err != io.EOF {
				return 1
			}
			if k == s.only {
				return 0
			}
			continue
		}
		if s.elide && n*(k-1) >= size {
			break
		}
		if status := max(s.close(), s.open()); status != 0 {
			return status
		}
		if _, err := io.CopyN(s.w, in, n); err != nil && err != io.EOF {
			return s.fail(s.current, err)
		}
	}
	return 0
}

// lineChunks cuts where byteChunks would, but at the ends of lines.
func (s *splitter) lineChunks(in io.Reader, name string, size int64) int {
	r := bufio.NewReaderSize(in, copySize)
	k, pos := int64(1), int64(0)
	end := func(k int64) int64 { return max(size/s.size, 1) * k }
	start := func() int {
		if s.only > 0 || s.elide {
			return 0
		}
		return max(s.close(), s.open())
	}
	if status := start(); status != 0 {
		return status
	}
	for s.ctx.Err() == nil {
		part, err := r.ReadSlice(s.sep)
		if len(part) > 0 {
			if s.only > 0 {
				if k == s.only {
					s.c.Stdout.Write(part)
				}
			} else {
				if s.w == nil {
					if status := s.open(); status != 0 {
						return status
					}
				}
				if _, werr := s.w.Write(part); werr != nil {
					return s.fail(s.current, werr)
				}
			}
		}
		pos += int64(len(part))
		for err == nil && k < s.size && pos >= end(k) {
			k++
			if s.elide && s.only == 0 {
				if status := s.close(); status != 0 {
					return status
				}
			}
			if status := start(); status != 0 {
				return status
			}
		}
		if err == io.EOF {
			for ; k < s.size; k++ {
				if status := start(); status != 0 {
					return status
				}
			}
			return 0
		}
		if err != nil && err != bufio.ErrBufferFull {
			return s.readFailed(name, err)
		}
	}
	return 1
}

// roundRobin deals lines out in turn.
func (s *splitter) roundRobin(in io.Reader, name string) int {
	if s.size > 1<<12 && s.only == 0 {
		return s.c.Errorf("too many chunks")
	}
	var outs []*splitter
	if s.only == 0 {
		for range s.size {
			o := *s
			if status := o.open(); status != 0 {
				return status
			}
			s.index, s.grown = o.index, o.grown
			outs = append(outs, &o)
		}
	}
	status := 0
	r := bufio.NewReaderSize(in, copySize)
	for k := int64(0); status == 0 && s.ctx.Err() == nil; {
		part, err := r.ReadSlice(s.sep)
		if s.only == 0 {
			if _, werr := outs[k].w.Write(part); werr != nil {
				status = s.fail(outs[k].current, werr)
			}
		} else if k+1 == s.only {
			s.c.Stdout.Write(part)
		}
		if err == nil {
			k = (k + 1) % s.size
		} else if err == io.EOF {
			break
		} else if err != bufio.ErrBufferFull {
			status = s.readFailed(name, err)
		}
	}
	for _, o := range outs {
		status = max(status, o.close())
	}
	return status
}
