package data

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// setMode changes the mode and the separators that come with it.
func (s *sqliteShell) setMode(name string) bool {
	m := &s.mode
	switch name {
	case "list":
		m.col, m.row = "|", "\n"
	case "line":
		m.row = "\n"
	case "csv":
		m.col, m.row = ",", "\r\n"
	case "tabs":
		m.mode, m.col = "list", "\t"
		return true
	case "quote":
		m.col, m.row = ",", "\n"
	case "ascii":
		m.col, m.row = "\x1F", "\x1E"
	case "column":
		if !m.asked {
			m.headers = true
		}
		m.row = "\n"
		m.wrap = 60
	case "table", "box", "markdown":
		m.wrap = 60
	case "html", "insert", "json":
	default:
		return false
	}
	m.mode = name
	return true
}

func (s *sqliteShell) dotMode(w []string) error {
	var operands []string
	wrap, quote := -1, false
	for i := 0; i < len(w); i++ {
		switch strings.TrimLeft(w[i], "-") {
		case "wrap":
			if i++; i < len(w) {
				wrap, _ = strconv.Atoi(w[i])
			}
		case "quote":
			if w[i][0] != '-' {
				operands = append(operands, w[i])
			} else {
				quote = true
			}
		case "noquote", "ww", "wordwrap":
		default:
			operands = append(operands, w[i])
		}
	}
	if len(operands) == 0 {
		if len(w) == 0 {
			name := s.mode.mode
			if s.mode.columnar() {
				name += fmt.Sprintf(" --wrap %d --wordwrap off --noquote", s.mode.wrap)
			}
			fmt.Fprintf(s.out, "current output mode: %s\n", name)
		}
		operands = []string{s.mode.mode}
	}
	name := operands[0]
	if name == "qbox" {
		name, quote = "box", true
	}
	found := false
	for _, k := range []string{"line", "column", "list", "html", "tcl", "csv", "tabs", "insert", "quote", "ascii", "markdown", "table", "box", "off", "json"} {
		if name != "" && strings.HasPrefix(k, name) || k == "line" && name == "lines" || k == "column" && name == "columns" {
			found = s.setMode(k)
			break
		}
	}
	if !found {
		return errors.New("mode should be one of: ascii box column csv html insert json line list markdown qbox quote table tabs tcl")
	}
	s.mode.quoteCell = quote
	if wrap >= 0 {
		s.mode.wrap = wrap
	}
	if s.mode.mode == "insert" {
		s.mode.table = "table"
		if len(operands) > 1 {
			s.mode.table = operands[1]
		}
	}
	return nil
}

func (s *sqliteShell) dotShow([]string) error {
	onOff := func(b bool) string {
		if b {
			return "on"
		}
		return "off"
	}
	mode := s.mode.mode
	if s.mode.columnar() {
		mode += fmt.Sprintf(" --wrap %d --wordwrap off --noquote", s.mode.wrap)
	}
	widths := ""
	for _, n := range s.mode.widths {
		widths += strconv.Itoa(n) + " "
	}
	for _, l := range [][2]string{{"echo", onOff(s.echo)}, {"eqp", "off"}, {"explain", "auto"}, {"headers", onOff(s.mode.headers)}, {"mode", mode}, {"nullvalue", cQuoted(s.mode.null)}, {"output", "stdout"}, {"colseparator", cQuoted(s.mode.col)}, {"rowseparator", cQuoted(s.mode.row)}, {"stats", "off"}, {"width", widths}, {"filename", s.path}} {
		fmt.Fprintf(s.out, "%12.12s: %s\n", l[0], l[1])
	}
	return nil
}

func cQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\\' || c == '"':
			b.WriteString(`\` + string(c))
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}
