package sed

import (
	"fmt"
	"io"

	"github.com/vfsd/vfsd/shell/command"
)

// output is a file that lines go to. A last line that had no newline gets one
// only if something follows it.
type output struct {
	name    string
	w       *command.Writer
	close   io.Closer
	flush   bool // after each line
	missing bool // a newline is owed
}

// openOutput opens the file of a w command.
func openOutput(c *command.Context, name string) (*output, error) {
	switch name {
	case "/dev/stdout":
		return &output{name: name, w: c.Stdout}, nil
	case "/dev/stderr":
		return &output{name: name, w: command.NewWriter(c.Stderr), flush: true}, nil
	}
	f, err := c.FS.Create(name, 0o666)
	if err != nil {
		return nil, &sedError{fmt.Sprintf("couldn't open file %s: %s", name, command.Strerror(err)), exitPanic}
	}
	return &output{name: name, w: command.NewWriter(f), close: f}, nil
}

// settle writes the newline that is owed.
func (o *output) settle() {
	if o.missing {
		o.w.WriteByte('\n')
		o.missing = false
	}
}

// line writes a line that ends in delim, unless it had no end in the input.
func (o *output) line(text []byte, ended bool, delim byte) error {
	o.settle()
	o.w.Write(text)
	if ended {
		o.w.WriteByte(delim)
	} else {
		o.missing = true
	}
	return o.done()
}

// raw writes text as it is.
func (o *output) raw(text []byte) error {
	o.settle()
	o.w.Write(text)
	return o.done()
}

func (o *output) done() error {
	if o.flush {
		return o.w.Flush()
	}
	return o.w.Err()
}

// shut flushes and closes.
func (o *output) shut() error {
	err := o.w.Flush()
	if o.close != nil {
		if cerr := o.close.Close(); err == nil {
			err = cerr
		}
		o.close = nil
	}
	return err
}
