package files

import (
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// lsPalette has the colors of ls --color: SGR parameters by kind of file, as
// in LS_COLORS.
type lsPalette struct {
	kinds    map[string]string
	suffixes []lsSuffix
	used     bool
}

type lsSuffix struct{ suffix, color string }

// colorTerminals are the values of TERM, by beginning or part, that colors are
// used for without LS_COLORS.
var colorTerminals = []string{"Eterm", "ansi", "*color*", "con[0-9]*x[0-9]*", "cons25", "console", "cygwin", "*direct*", "dtterm",
	"gnome", "hurd", "jfbterm", "konsole", "kterm", "linux", "linux-c", "mlterm", "putty", "rxvt*", "screen*", "st",
	"terminator", "tmux*", "vt100", "vt220", "xterm*"}

// newPalette reads LS_COLORS over the colors that ls has by itself; nil when
// the terminal is not known to have any.
func newPalette(env command.Environ) *lsPalette {
	spec := env.Get("LS_COLORS")
	if spec == "" && env.Get("COLORTERM") == "" {
		known := false
		for _, pattern := range colorTerminals {
			known = known || gnulib.Fnmatch(pattern, env.Get("TERM"), 0)
		}
		if !known {
			return nil
		}
	}
	p := &lsPalette{kinds: map[string]string{"lc": "\x1b[", "rc": "m", "rs": "0", "di": "01;34", "ln": "01;36", "pi": "33",
		"so": "01;35", "bd": "01;33", "cd": "01;33", "ex": "01;32", "do": "01;35", "su": "37;41", "sg": "30;43",
		"st": "37;44", "ow": "34;42", "tw": "30;42"}}
	p.read(spec)
	return p
}

// read takes the entries of LS_COLORS.
func (p *lsPalette) read(spec string) {
	for _, item := range strings.Split(spec, ":") {
		key, value, ok := strings.Cut(item, "=")
		if !ok {
			continue
		}
		value = strings.NewReplacer(`\e`, "\x1b", `\033`, "\x1b", `\E`, "\x1b").Replace(value)
		if strings.HasPrefix(key, "*") {
			p.suffixes = append(p.suffixes, lsSuffix{key[1:], value})
		} else if len(key) == 2 {
			p.kinds[key] = value
		}
	}
}

// looksBehind reports whether colors depend on what symlinks lead to: ls then
// knows the color of a target too.
func (p *lsPalette) looksBehind() bool {
	return p.kinds["or"] != "" || p.kinds["mi"] != "" || p.kinds["ln"] == "target"
}

// paint wraps text in the colors of e.
func (p *lsPalette) paint(e *lsEntry, text string) string {
	color := p.color(e)
	if color == "" {
		return text
	}
	lead := ""
	for strings.HasPrefix(text, " ") {
		lead, text = lead+" ", text[1:]
	}
	wrap := func(code string) string { return p.kinds["lc"] + code + p.kinds["rc"] }
	s := wrap(color) + text
	if end, ok := p.kinds["ec"]; ok {
		s += end
	} else {
		s += wrap(p.kinds["rs"])
	}
	if !p.used {
		// What came before may have left colors on.
		s = wrap(p.kinds["rs"]) + s
		p.used = true
	}
	return lead + s
}

func (p *lsPalette) color(e *lsEntry) string {
	mode := e.attr.Mode
	if e.failed {
		return p.first("mi", "or")
	}
	switch mode & vfs.ModeTypeMask {
	case vfs.ModeSymlink:
		if e.targetMode == 0 && p.kinds["or"] != "" {
			return p.kinds["or"]
		}
		if p.kinds["ln"] == "target" {
			to := *e
			to.attr.Mode = e.targetMode
			return p.color(&to)
		}
		return p.kinds["ln"]
	case vfs.ModeDir:
		switch {
		case mode&0o1002 == 0o1002 && p.kinds["tw"] != "":
			return p.kinds["tw"]
		case mode&0o002 != 0 && p.kinds["ow"] != "":
			return p.kinds["ow"]
		case mode&vfs.ModeSticky != 0 && p.kinds["st"] != "":
			return p.kinds["st"]
		}
		return p.kinds["di"]
	case vfs.ModeFIFO:
		return p.kinds["pi"]
	case vfs.ModeSocket:
		return p.kinds["so"]
	case vfs.ModeChar:
		return p.kinds["cd"]
	case vfs.ModeBlock:
		return p.kinds["bd"]
	}
	return p.regular(e)
}

func (p *lsPalette) regular(e *lsEntry) string {
	mode := e.attr.Mode
	switch {
	case mode&vfs.ModeSetuid != 0 && p.kinds["su"] != "":
		return p.kinds["su"]
	case mode&vfs.ModeSetgid != 0 && p.kinds["sg"] != "":
		return p.kinds["sg"]
	case mode&0o111 != 0 && p.kinds["ex"] != "":
		return p.kinds["ex"]
	case e.attr.Nlink > 1 && p.kinds["mh"] != "":
		return p.kinds["mh"]
	}
	color, length := p.kinds["fi"], 0
	for _, s := range p.suffixes {
		if len(s.suffix) >= length && len(s.suffix) <= len(e.name) && strings.EqualFold(e.name[len(e.name)-len(s.suffix):], s.suffix) {
			color, length = s.color, len(s.suffix)
		}
	}
	return color
}

func (p *lsPalette) first(keys ...string) string {
	for _, k := range keys {
		if p.kinds[k] != "" {
			return p.kinds[k]
		}
	}
	return ""
}
