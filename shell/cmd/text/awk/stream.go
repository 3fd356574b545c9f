package awk

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// streams are the files and commands that a program has opened.
type streams struct {
	out map[string]*outStream
	in  map[string]*inStream
	// order is the names in the order they were opened.
	order []string
}

// outStream is where a redirected print goes.
type outStream struct {
	name  string
	w     *command.Writer
	close io.Closer
	std   bool   // standard output
	quick bool   // flushed after each print
	cmd   *child // a command
}

// inStream is where a redirected getline reads.
type inStream struct {
	recs  *records
	close io.Closer
	cmd   *child
}

// child is a command that runs beside the program.
type child struct {
	done   <-chan error
	status int
	err    error
	stop   context.CancelFunc
}

// wait waits for a command and returns its status as gawk gives it.
func (c *child) wait() int {
	if err := <-c.done; err != nil {
		return -1
	}
	if c.err != nil {
		return 127
	}
	return c.status
}

// shell starts sh -c command beside the program.
func (in *interp) shell(line string, stdin io.Reader, stdout io.Writer, finish func()) *child {
	ctx, cancel := context.WithCancel(in.ctx)
	c := &child{stop: cancel}
	c.done = command.Go(func() {
		defer cancel()
		defer finish()
		c.status, c.err = in.c.System.Exec(ctx, in.c, &command.Child{Args: []string{"sh", "-c", line}, Stdin: stdin, Stdout: stdout})
	})
	return c
}

// output returns the stream of print > to and its like.
func (in *interp) output2(name string, op tok) (*outStream, error) {
	switch op {
	case tPipe, tPipeBoth:
		return in.openPipe(name)
	}
	switch name {
	case "/dev/stdout", "-":
		return &outStream{name: name, w: in.c.Stdout, std: true}, nil
	case "/dev/stderr":
		return &outStream{name: name, w: command.NewWriter(in.c.Stderr), quick: true}, nil
	}
	if fd, ok := descriptor(name); ok {
		f := in.c.File(fd)
		switch {
		case fd == 1:
			return &outStream{name: name, w: in.c.Stdout, std: true}, nil
		case fd == 2:
			return &outStream{name: name, w: command.NewWriter(in.c.Stderr), quick: true}, nil
		case f == nil:
			return nil, syscall.EBADF
		}
		return &outStream{name: name, w: command.NewWriter(f), quick: true}, nil
	}
	flags := syscall.O_WRONLY | syscall.O_CREAT | syscall.O_TRUNC
	if op == tAppend {
		flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_APPEND
	}
	f, err := in.c.FS.OpenFile(name, flags, 0o666)
	if err != nil {
		return nil, err
	}
	return &outStream{name: name, w: command.NewWriter(f), close: f}, nil
}

// descriptor reads /dev/fd/N.
func descriptor(name string) (int, bool) {
	rest, ok := strings.CutPrefix(name, "/dev/fd/")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(rest)
	return n, err == nil && n >= 0
}

// openPipe starts the command that a print is piped to.
func (in *interp) openPipe(line string) (*outStream, error) {
	in.flushAll()
	r, w := io.Pipe()
	unhook := context.AfterFunc(in.ctx, func() { w.CloseWithError(context.Cause(in.ctx)) })
	cmd := in.shell(line, pipeReader{r}, nil, func() {
		unhook()
		r.CloseWithError(syscall.EPIPE)
	})
	return &outStream{name: line, w: command.NewWriter(w), close: w, cmd: cmd}, nil
}

// pipeReader hides what a command must not do to a pipe.
type pipeReader struct{ io.Reader }

func (s *streams) output(in *interp, name string, op tok) *outStream {
	if in.sandbox {
		in.fatal("redirection not allowed in sandbox mode")
	}
	if name == "" {
		in.fatal("expression for `%s' redirection has null string value", map[tok]string{tGreater: ">", tAppend: ">>", tPipe: "|", tPipeBoth: "|&"}[op])
	}
	if o := s.out[name]; o != nil {
		return o
	}
	o, err := in.output2(name, op)
	if err != nil {
		verb := "redirect to"
		if op == tPipe || op == tPipeBoth {
			verb = "open pipe"
		}
		in.fatal("cannot %s `%s': %s", verb, name, command.Strerror(err))
	}
	if s.out == nil {
		s.out = map[string]*outStream{}
	}
	s.out[name] = o
	s.order = append(s.order, name)
	return o
}

// flushed flushes what is flushed after each print.
func (o *outStream) flushed() error {
	if o.quick {
		return o.w.Flush()
	}
	return nil
}

// openInput opens a file to read; "" and "-" are standard input.
func (in *interp) openInput(name string) (io.ReadCloser, error) {
	switch name {
	case "", "-", "/dev/stdin":
		return io.NopCloser(in.c.Stdin), nil
	}
	if fd, ok := descriptor(name); ok {
		var f vfs.File
		if fd == 0 {
			return io.NopCloser(in.c.Stdin), nil
		}
		if f = in.c.File(fd); f == nil {
			return nil, syscall.EBADF
		}
		return io.NopCloser(f), nil
	}
	return in.c.FS.Open(name)
}

// input returns the stream that a getline reads; op tells a command from a file.
func (s *streams) input(in *interp, name string, op tok) (*inStream, error) {
	if in.sandbox {
		in.fatal("redirection not allowed in sandbox mode")
	}
	if r := s.in[name]; r != nil {
		return r, nil
	}
	r := &inStream{}
	if op == tLess {
		src, err := in.openInput(name)
		if err == nil {
			err = checkDir(src)
		}
		if err != nil {
			return nil, err
		}
		r.close, r.recs = src, newRecords(in, src)
		if in.main.recs != nil && in.main.src == nil && (name == "-" || name == "/dev/stdin") {
			r.recs = in.main.recs // one reader of standard input
		}
	} else {
		in.flushAll()
		pr, pw := io.Pipe()
		unhook := context.AfterFunc(in.ctx, func() { pr.CloseWithError(context.Cause(in.ctx)) })
		r.cmd = in.shell(name, nil, pw, func() {
			unhook()
			pw.Close()
		})
		r.close, r.recs = brokenCloser{pr}, newRecords(in, pr)
	}
	if s.in == nil {
		s.in = map[string]*inStream{}
	}
	s.in[name] = r
	s.order = append(s.order, name)
	return r, nil
}

// brokenCloser closes the reading end of a pipe so that its writer sees EPIPE.
type brokenCloser struct{ r *io.PipeReader }

func (b brokenCloser) Close() error { return b.r.CloseWithError(syscall.EPIPE) }

// flushAll flushes all output.
func (in *interp) flushAll() {
	if in.c.Stdout.Flush() != nil {
		in.stdoutGone()
	}
	for _, name := range in.streams.order {
		if o := in.streams.out[name]; o != nil {
			o.w.Flush() // an error stays with the writer
		}
	}
}

// shut closes a stream and returns what close() does.
func (o *outStream) shut(in *interp) int {
	err := o.w.Flush()
	if o.close != nil {
		if cerr := o.close.Close(); err == nil {
			err = cerr
		}
	}
	if o.cmd != nil {
		return o.cmd.wait()
	}
	if err != nil && !o.std {
		return -1
	}
	return 0
}

func (r *inStream) shut() int {
	r.recs.r.Release()
	if r.close != nil {
		r.close.Close()
	}
	if r.cmd != nil {
		return r.cmd.wait()
	}
	return 0
}

// closeNamed closes all streams of a name; -1 when there is none.
func (s *streams) closeNamed(in *interp, name string) int {
	status := -1
	if o := s.out[name]; o != nil {
		delete(s.out, name)
		status = o.shut(in)
	}
	if r := s.in[name]; r != nil {
		delete(s.in, name)
		status = r.shut()
	}
	return status
}

// closeAll closes everything at the end, the latest first; what standard output
// holds comes after that.
func (s *streams) closeAll(in *interp) {
	for _, name := range slices.Backward(s.order) {
		if o := s.out[name]; o != nil {
			werr := o.w.Flush()
			o.shut(in)
			delete(s.out, name)
			if werr != nil && !o.std && !errors.Is(werr, syscall.EPIPE) {
				in.warning("close of `%s' failed: %s", name, command.Strerror(werr))
				in.status = max(in.status, 1)
			}
		}
		if r := s.in[name]; r != nil {
			r.shut()
			delete(s.in, name)
		}
	}
}

// abandon ends everything when the program was cut short.
func (s *streams) abandon() {
	for _, o := range s.out {
		if o.cmd != nil {
			o.cmd.stop()
		}
		if o.w.Err() == nil && o.cmd == nil {
			o.w.Flush() // what was printed before the failure
		}
		if o.close != nil {
			o.close.Close()
		}
		if o.cmd != nil {
			o.cmd.wait()
		}
	}
	for _, r := range s.in {
		if r.cmd != nil {
			r.cmd.stop()
		}
		r.shut()
	}
	s.out, s.in = nil, nil
}

// The getline forms.

func (x *getlineExpr) eval(in *interp) value {
	if x.op == tEOF {
		return in.getlineMain(x)
	}
	v := x.from.eval(in)
	in.at = x.pos
	name := v.string(in.convfmt())
	r, err := in.streams.input(in, name, x.op)
	if err != nil {
		in.special[vERRNO].value = text(command.Strerror(err))
		return number(-1)
	}
	rec, end, err := r.recs.read(in)
	if err == io.EOF {
		return number(0)
	}
	if err != nil {
		if in.ctx.Err() != nil {
			panic(&failure{status: 2})
		}
		in.special[vERRNO].value = text(command.Strerror(err))
		return number(-1)
	}
	in.special[vRT].value = text(end)
	if x.op != tLess {
		in.nr++
		in.fnr++
	}
	if x.to == nil {
		in.setRecord(rec)
		return number(1)
	}
	val := input(rec)
	val.settle()
	in.assign(x.to.locate(in), val)
	return number(1)
}

// getlineMain is getline without a redirection: the next record of the main
// input.
func (in *interp) getlineMain(x *getlineExpr) value {
	var saved record
	if x.to != nil {
		saved = in.record
		in.record.fields = nil
	}
	ok, exited := in.main.next(in)
	if exited {
		panic(unwind(flowExit))
	}
	if !ok {
		if x.to != nil {
			in.record = saved
		}
		return number(0)
	}
	if x.to != nil {
		val := input(in.record.text)
		val.settle()
		in.record = saved
		in.assign(x.to.locate(in), val)
	}
	return number(1)
}
