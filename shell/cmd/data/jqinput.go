package data

import (
	"io"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/data/jqlang"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// jqInput yields the inputs of jq, file by file.
type jqInput struct {
	j      *jqRun
	files  []string
	opened bool
	name   string
	file   io.ReadCloser
	dec    *jqlang.Decoder
	raw    *lineReader
	queue  []any // events of --stream
	done   bool  // of a slurp
}

func (in *jqInput) close() {
	if in.file != nil {
		in.file.Close()
		in.file = nil
	}
}

func (in *jqInput) filename() any {
	if in.name == "" || in.name == "<stdin>" {
		return nil
	}
	return in.name
}

func (in *jqInput) line() int {
	switch {
	case in.dec != nil:
		return in.dec.Lines()
	case in.raw != nil:
		return in.raw.lines
	}
	return 0
}

// where says where an error occurred.
func (in *jqInput) where() string {
	if in.name == "" {
		return "<unknown>"
	}
	return in.name + ":" + strconv.Itoa(in.line())
}

// advance opens the next file; io.EOF when there is none.
func (in *jqInput) advance() error {
	in.close()
	if len(in.files) == 0 && !in.opened {
		in.opened, in.name = true, "<stdin>"
		in.file = io.NopCloser(in.j.c.Stdin)
		in.start()
		return nil
	}
	for len(in.files) > 0 {
		name := in.files[0]
		in.files, in.opened = in.files[1:], true
		f, err := in.j.c.FS.Open(name)
		if err == nil {
			var a vfs.Attr
			if a, err = f.Stat(); err == nil && a.IsDir() {
				f.Close()
				in.j.note("jq: error: Could not open " + name + ": It's a directory\n")
				in.j.status = jqUsage
				continue
			}
		}
		if err != nil {
			in.j.note("jq: error: Could not open file " + name + ": " + command.Strerror(err) + "\n")
			in.j.status = jqUsage
			continue
		}
		in.name, in.file = name, f
		in.start()
		return nil
	}
	return io.EOF
}

func (in *jqInput) start() {
	r := cancelReader{in.j.ctx, in.file}
	if in.j.rawIn {
		in.raw = newLineReader(r)
	} else {
		in.dec = jqlang.NewDecoder(r)
	}
}

// one yields the next value of the stream of files, before slurping.
func (in *jqInput) one() (any, error) {
	for {
		if in.file != nil {
			var v any
			var err error
			if in.j.rawIn {
				v, err = in.raw.next()
			} else {
				v, err = in.dec.Next()
			}
			if err != io.EOF {
				return v, err
			}
		}
		if err := in.advance(); err != nil {
			return nil, err
		}
	}
}

// next yields the next input.
func (in *jqInput) next() (any, error) {
	switch {
	case in.j.slurp && in.done:
		return nil, io.EOF
	case in.j.slurp && in.j.rawIn:
		return in.slurpText()
	case in.j.slurp:
		in.done = true
		list := []any{}
		for {
			v, err := in.one()
			if err == io.EOF {
				return list, nil
			}
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
	case in.j.stream:
		return in.event()
	}
	return in.one()
}

func (in *jqInput) slurpText() (any, error) {
	in.done = true
	var b strings.Builder
	for {
		if err := in.advance(); err == io.EOF {
			return strings.ToValidUTF8(b.String(), "\uFFFD"), nil
		} else if err != nil {
			return nil, err
		}
		if _, err := io.Copy(&b, io.LimitReader(cancelReader{in.j.ctx, in.file}, maxVar)); err != nil {
			return nil, err
		}
	}
}

// event is an input of --stream: a path and a leaf, or a path that ends.
func (in *jqInput) event() (any, error) {
	for len(in.queue) == 0 {
		v, err := in.one()
		if err != nil {
			return nil, err
		}
		in.queue = jqlang.Stream(v)
	}
	v := in.queue[0]
	in.queue = in.queue[1:]
	return v, nil
}
