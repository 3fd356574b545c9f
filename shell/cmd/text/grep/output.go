package grep

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// line is a line of the present file.
type line struct {
	text   []byte
	number int64
	at     int64 // where it starts in the file
}

// errBadText says that what is to be printed is no text.
var errBadText = errors.New("not text")

// tabWidth is the least width of numbers with -T.
const tabWidth = 2

// printer prints lines the way the options ask for.
type printer struct {
	c      *command.Context
	s      *settings
	m      matcher
	colors colors

	file     string
	showName bool
	used     bool  // something was printed, in whichever file
	next     int64 // where the line after the last one printed starts
	recent   []line
	held     int64 // bytes of recent on the account
}

// start begins a file.
func (p *printer) start(file string, showName bool) {
	p.file, p.showName, p.next = file, showName, -1
	p.forget()
}

// remember keeps a line as context of one that may follow, n at most.
func (p *printer) remember(l line, n int64) error {
	if int64(len(p.recent)) == n {
		first := p.recent[0]
		p.held -= int64(cap(first.text))
		p.c.Memory.Shrink(int64(cap(first.text)))
		copy(p.recent, p.recent[1:])
		p.recent = p.recent[:n-1]
	}
	text := append([]byte(nil), l.text...)
	if err := p.c.Memory.Grow(int64(cap(text))); err != nil {
		return err
	}
	p.held += int64(cap(text))
	p.recent = append(p.recent, line{text, l.number, l.at})
	return nil
}

// forget drops the remembered lines.
func (p *printer) forget() {
	p.c.Memory.Shrink(p.held)
	p.held = 0
	p.recent = p.recent[:0]
}

// separate prints the separator of groups before l, unless l follows what was
// printed last.
func (p *printer) separate(l line) {
	if p.used && l.at != p.next && p.s.separate {
		p.colored(p.colors.separator, p.s.separator)
		p.c.Stdout.WriteByte('\n')
	}
}

// line prints one line, or the matches in it. errBadText when a part that was
// to be printed is not valid.
func (p *printer) line(ctx context.Context, l line, selected bool, valid func([]byte) bool) error {
	p.used, p.next = true, l.at+int64(len(l.text))+1
	sep := byte(':')
	if !selected {
		sep = '-'
	}
	matching := selected != p.s.invert
	if p.s.only {
		if !matching {
			return nil
		}
		if p.s.invert {
			sep = '-'
		}
		return p.matches(ctx, l, func(start, end int) error {
			part := l.text[start:end]
			if !valid(part) {
				return errBadText
			}
			p.head(line{part, l.number, l.at + int64(start)}, sep)
			p.colored(p.matchColor(selected), string(part))
			return p.c.Stdout.WriteByte(p.s.eol)
		})
	}
	if !valid(l.text) {
		return errBadText
	}
	p.head(l, sep)
	if !p.s.color || !matching {
		p.c.Stdout.Write(l.text)
		return p.c.Stdout.WriteByte(p.s.eol)
	}
	done := 0
	err := p.matches(ctx, l, func(start, end int) error {
		p.c.Stdout.Write(l.text[done:start])
		p.colored(p.matchColor(selected), string(l.text[start:end]))
		done = end
		return nil
	})
	p.c.Stdout.Write(l.text[done:])
	p.c.Stdout.WriteByte(p.s.eol)
	return err
}

// matches calls f for each match in a line that is not empty.
func (p *printer) matches(ctx context.Context, l line, f func(start, end int) error) error {
	for at := 0; at < len(l.text); {
		start, end, err := p.m.find(ctx, l.text, at)
		if err != nil || start < 0 || start == len(l.text) {
			return err
		}
		if end == start {
			at = start + 1
			continue
		}
		if err := f(start, end); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// head prints what comes before a line.
func (p *printer) head(l line, sep byte) {
	p.name(sep)
	out := p.c.Stdout
	number := func(n int64, color string) {
		s := strconv.FormatInt(n, 10)
		if p.s.tab && len(s) < tabWidth {
			s = strings.Repeat(" ", tabWidth-len(s)) + s
		}
		p.colored(color, s)
		p.colored(p.colors.separator, string(sep))
	}
	if p.s.numbers {
		number(l.number, p.colors.line)
	}
	if p.s.offsets {
		number(l.at, p.colors.offset)
	}
	if p.s.tab && (p.showName || p.s.numbers || p.s.offsets) && len(l.text) > 0 {
		out.WriteByte('\t')
	}
}

// name prints the file's name before a line or a count.
func (p *printer) name(sep byte) {
	if !p.showName {
		return
	}
	p.colored(p.colors.file, p.file)
	if p.s.null {
		p.c.Stdout.WriteByte(0)
		return
	}
	p.colored(p.colors.separator, string(sep))
}

// listed prints a name alone, for -l and -L.
func (p *printer) listed(name string) {
	p.colored(p.colors.file, name)
	if p.s.null {
		p.c.Stdout.WriteByte(0)
	} else {
		p.c.Stdout.WriteByte('\n')
	}
}

func (p *printer) matchColor(selected bool) string {
	if selected {
		return p.colors.match
	}
	return p.colors.matchContext
}

// colored prints s, marked when colors are on.
func (p *printer) colored(color, s string) {
	if !p.s.color || color == "" || s == "" {
		p.c.Stdout.WriteString(s)
		return
	}
	p.c.Stdout.WriteString("\x1b[" + color + "m\x1b[K" + s + "\x1b[m\x1b[K")
}

// colors are the parameters of SGR sequences.
type colors struct {
	match, matchContext, file, line, offset, separator string
}

// parseColors reads GREP_COLORS.
func parseColors(env command.Environ) colors {
	k := colors{match: "01;31", matchContext: "01;31", file: "35", line: "32", offset: "32", separator: "36"}
	for _, item := range strings.Split(env.Get("GREP_COLORS"), ":") {
		name, value, _ := strings.Cut(item, "=")
		if strings.Trim(value, "0123456789;") != "" {
			break
		}
		switch name {
		case "mt":
			k.match, k.matchContext = value, value
		case "ms":
			k.match = value
		case "mc":
			k.matchContext = value
		case "fn":
			k.file = value
		case "ln":
			k.line = value
		case "bn":
			k.offset = value
		case "se":
			k.separator = value
		}
	}
	return k
}
