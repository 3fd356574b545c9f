package text

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

const optFirstOnly = 256

func init() {
	command.Register(command.Info{
		Name:     "expand",
		Synopsis: "expand [OPTION]... [FILE]...",
		Summary: "Convert tabs in each FILE to spaces, writing to standard output.\n\n" +
			"With no FILE, or when FILE is -, read standard input.",
		Options: append(digitOptions(), []command.Option{
			{Short: 'i', Long: "initial", Help: "do not convert tabs after non blanks"},
			{Short: 't', Long: "tabs", Arg: command.RequiredArgument, ArgName: "LIST", Help: "have tabs at these positions, not each 8 characters"},
			{Short: ','},
		}...),
	}, expandCommand)
	command.Register(command.Info{
		Name:     "unexpand",
		Synopsis: "unexpand [OPTION]... [FILE]...",
		Summary: "Convert blanks in each FILE to tabs, writing to standard output.\n\n" +
			"With no FILE, or when FILE is -, read standard input.",
		Options: append(digitOptions(), []command.Option{
			{Short: 'a', Long: "all", Help: "convert all blanks, instead of just initial blanks"},
			{Long: "first-only", ID: optFirstOnly, Help: "convert only leading sequences of blanks (overrides -a)"},
			{Short: 't', Long: "tabs", Arg: command.RequiredArgument, ArgName: "LIST", Help: "have tabs at these positions (enables -a)"},
			{Short: ','},
		}...),
	}, unexpand)
}

// tabStops are the columns where tabs end.
type tabStops struct {
	list []uint64
	size uint64 // tabs at every size columns, when there is no list
	// after has the tabs behind the list: every extend columns, or with
	// increment counted from the last stop.
	extend    uint64
	increment uint64
}

// parseTabs adds LIST to the stops.
func (t *tabStops) parse(c *command.Context, list string) bool {
	for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		mode := byte(0)
		if item[0] == '/' || item[0] == '+' {
			mode, item = item[0], item[1:]
		}
		if item == "" {
			continue
		}
		n := digitsOf(item)
		if n < len(item) {
			switch item[n] {
			case '/', '+':
				c.Errorf("'%c' specifier not at start of number: %s", item[n], c.Quote(item[n:]))
			default:
				c.Errorf("tab size contains invalid character(s): %s", c.Quote(item[n:]))
			}
			return false
		}
		v, err := strconv.ParseUint(item, 10, 63)
		if err != nil {
			c.Errorf("tab stop is too large %s", c.Quote(item))
			return false
		}
		switch mode {
		case '/':
			if t.extend != 0 {
				c.Errorf("'/' specifier only allowed with the last value")
				return false
			}
			t.extend = v
		case '+':
			if t.increment != 0 {
				c.Errorf("'+' specifier only allowed with the last value")
				return false
			}
			t.increment = v
		default:
			t.list = append(t.list, v)
		}
	}
	return true
}

// finish checks the stops.
func (t *tabStops) finish(c *command.Context) bool {
	last := uint64(0)
	for _, v := range t.list {
		if v == 0 {
			c.Errorf("tab size cannot be 0")
			return false
		}
		if v <= last {
			c.Errorf("tab sizes must be ascending")
			return false
		}
		last = v
	}
	if t.increment != 0 && t.extend != 0 {
		c.Errorf("'/' specifier is mutually exclusive with '+'")
		return false
	}
	switch {
	case len(t.list) == 0:
		t.size = max(t.extend, t.increment)
		if t.size == 0 {
			t.size = 8
		}
	case len(t.list) == 1 && t.extend == 0 && t.increment == 0:
		t.size, t.list = t.list[0], nil
	}
	return true
}

// next returns the stop after a column; last is set when there is none, and
// each tab is one space.
func (t *tabStops) next(column uint64) (stop uint64, last bool) {
	if t.size != 0 {
		return column + t.size - column%t.size, false
	}
	for _, v := range t.list {
		if v > column {
			return v, false
		}
	}
	end := t.list[len(t.list)-1]
	switch {
	case t.extend != 0:
		return column + t.extend - column%t.extend, false
	case t.increment != 0:
		return column + t.increment - (column-end)%t.increment, false
	}
	return column + 1, true
}

// tabOptions reads the options that the two commands share; other takes the
// rest.
func tabOptions(c *command.Context, args []string, t *tabStops, other func(id int)) (files []string, status int, stop bool) {
	p := c.Options(args)
	old := "" // -4,8 in the old form
	for p.Next() {
		switch id := p.ID(); {
		case id == 't':
			if !t.parse(c, p.Arg()) {
				return nil, 1, true
			}
			other('t')
		case id >= '0' && id <= '9' || id == ',':
			if !p.Bundled() && old != "" {
				old += ","
			}
			old += string(rune(id))
			other('0')
		default:
			other(id)
		}
	}
	files, status, stop = p.End()
	if stop {
		return files, status, true
	}
	if !t.parse(c, old) || !t.finish(c) {
		return nil, 1, true
	}
	return orStdin(files), 0, false
}

// maxSpaces bounds how many spaces one tab may become.
const maxSpaces = 1 << 24

func expandCommand(ctx context.Context, c *command.Context, args []string) int {
	var t tabStops
	initial := false
	files, status, stop := tabOptions(c, args, &t, func(id int) { initial = initial || id == 'i' })
	if stop {
		return status
	}
	buf := make([]byte, copySize)
	column, convert := uint64(0), true
	return each(ctx, c, files, func(_ string, r io.Reader) error {
		return chunks(ctx, c, r, buf, func(b []byte) error {
			for _, ch := range b {
				switch {
				case ch == '\n':
					column, convert = 0, true
				case !convert:
				case ch == '\t':
					next, _ := t.next(column)
					if next-column > maxSpaces {
						return errors.New("input line is too long")
					}
					for ; column < next-1; column++ {
						c.Stdout.WriteByte(' ')
					}
					column++
					ch = ' '
				case ch == '\b':
					if column > 0 {
						column--
					}
				default:
					column++
					convert = !initial || ch == ' '
				}
				c.Stdout.WriteByte(ch)
			}
			return nil
		})
	})
}

// chunks calls f for each piece of a stream.
func chunks(ctx context.Context, c *command.Context, r io.Reader, buf []byte, f func(b []byte) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf)
		if n > 0 {
			if err := f(buf[:n]); err != nil {
				return err
			}
			if c.Stdout.Err() != nil {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func unexpand(ctx context.Context, c *command.Context, args []string) int {
	var t tabStops
	all, first := false, false
	files, status, stop := tabOptions(c, args, &t, func(id int) {
		switch id {
		case 'a', 't':
			all = true
		case optFirstOnly:
			first = true
		}
	})
	if stop {
		return status
	}
	u := unexpander{c: c, tabs: &t, all: all && !first, convert: true, prevBlank: true}
	buf := make([]byte, copySize)
	return each(ctx, c, files, func(_ string, r io.Reader) error {
		err := chunks(ctx, c, r, buf, func(b []byte) error {
			for _, ch := range b {
				u.char(ch)
			}
			return nil
		})
		u.flush()
		return err
	})
}

// unexpander turns runs of blanks into tabs where that is shorter.
type unexpander struct {
	c         *command.Context
	tabs      *tabStops
	all       bool
	convert   bool
	column    uint64 // of the next character
	nextStop  uint64
	blanks    []byte // that are not written yet
	prevBlank bool
	oneBlank  bool // the first of blanks stands right before a stop
}

// char takes one character.
func (u *unexpander) char(ch byte) {
	if u.convert {
		blank := ch == ' ' || ch == '\t'
		switch {
		case blank:
			if u.blank(ch) {
				return
			}
			ch = '\t'
		case ch == '\b':
			if u.column > 0 {
				u.column--
			}
			u.nextStop = u.column
		default:
			u.column++
		}
		if len(u.blanks) > 0 {
			if len(u.blanks) > 1 && u.oneBlank {
				u.blanks[0] = '\t'
			}
			u.flush()
		}
		u.prevBlank = blank
		u.convert = u.convert && (u.all || blank)
	}
	u.c.Stdout.WriteByte(ch)
	if ch == '\n' {
		u.column, u.nextStop, u.convert, u.prevBlank, u.oneBlank = 0, 0, true, true, false
		u.blanks = u.blanks[:0]
	}
}

// blank takes a blank; false when a tab is to be written for it and those
// before.
func (u *unexpander) blank(ch byte) (held bool) {
	next, last := u.tabs.next(u.column)
	if last {
		u.convert = false
		u.flush()
		u.c.Stdout.WriteByte(ch)
		return true
	}
	if ch == '\t' {
		u.column = next
		if len(u.blanks) > 0 {
			u.blanks[0] = '\t'
		}
	} else {
		u.column++
		if !(u.prevBlank && u.column == next) {
			if u.column == next {
				u.oneBlank = true
			}
			u.blanks = append(u.blanks, ch)
			u.prevBlank = true
			return true
		}
		// A run of blanks has come to a stop: they are a tab.
		if len(u.blanks) > 0 {
			u.blanks[0] = '\t'
		}
	}
	// What came before a stop of its own stays one blank, the rest goes.
	if u.oneBlank && len(u.blanks) > 0 {
		u.blanks = u.blanks[:1]
	} else {
		u.blanks = u.blanks[:0]
	}
	u.oneBlank = false
	return false
}

func (u *unexpander) flush() {
	u.c.Stdout.Write(u.blanks)
	u.blanks = u.blanks[:0]
	u.oneBlank = false
}
