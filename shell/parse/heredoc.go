package parse

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// heredoc is a here-document whose body is still to come.
type heredoc struct {
	redirect *syntax.Redirect
	delim    string
	quoted   bool // no expansions in the body
	line     int  // of the operator
}

// newHeredoc notes the here-document of a redirection whose delimiter was
// written as raw.
func newHeredoc(r *syntax.Redirect, raw string, line int) *heredoc {
	h := &heredoc{redirect: r, line: line}
	h.delim, h.quoted = unquote(raw)
	return h
}

// unquote removes the quotes of a delimiter.
func unquote(raw string) (text string, quoted bool) {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '\\':
			if i+1 < len(raw) {
				i++
				if raw[i] == '\n' {
					continue
				}
				quoted = true
				b.WriteByte(raw[i])
			}
		case '\'', '"':
			quoted = true
			for i++; i < len(raw) && raw[i] != c; i++ {
				if c == '"' && raw[i] == '\\' && i+1 < len(raw) && strings.IndexByte("\"\\$`", raw[i+1]) >= 0 {
					i++
				}
				b.WriteByte(raw[i])
			}
		case '$':
			if i+1 < len(raw) && (raw[i+1] == '\'' || raw[i+1] == '"') {
				continue
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), quoted
}

// readHeredocs reads the bodies that start at the present line.
func (p *Parser) readHeredocs() {
	pending := p.pending
	p.pending = nil
	for _, h := range pending {
		p.readHeredoc(h)
	}
}

func (p *Parser) readHeredoc(h *heredoc) {
	start := p.line
	var body strings.Builder
	strip := h.redirect.Op == syntax.DashHdoc
	for {
		if p.off >= len(p.src) {
			p.warnEOF(h, max(p.endLine()-1, 1))
			break
		}
		at, atLine := p.off, p.line
		line := p.heredocLine(h.quoted)
		if strip {
			line = strings.TrimLeft(line, "\t")
		}
		if strings.TrimSuffix(line, "\n") == h.delim {
			break
		}
		if p.inSubst > 0 && strings.HasPrefix(line, h.delim) && strings.IndexByte(line[len(h.delim):], ')') >= 0 {
			// The delimiter shares its line with the end of the substitution.
			p.warnEOF(h, atLine)
			p.line = atLine
			p.off = at + strings.Index(p.src[at:], h.delim) + len(h.delim)
			break
		}
		body.WriteString(line)
	}
	h.redirect.Hdoc = p.heredocBody(h, body.String(), start)
}

// warnEOF warns that a here-document's end was not where it should be.
func (p *Parser) warnEOF(h *heredoc, line int) {
	if p.opt.Warn != nil {
		p.opt.Warn(line, fmt.Sprintf("here-document at line %d delimited by end-of-file (wanted `%s')", h.line, h.delim))
	}
}

// heredocLine reads a line with its newline. Unless the delimiter was quoted,
// an escaped newline joins the next line to it.
func (p *Parser) heredocLine(quoted bool) string {
	var joined string
	for {
		i := strings.IndexByte(p.src[p.off:], '\n')
		if i < 0 {
			line := p.src[p.off:]
			p.off = len(p.src)
			return joined + line + "\n" // as if the input ended in one
		}
		line := p.src[p.off : p.off+i+1]
		p.off += i + 1
		p.line++
		n := len(line) - 1
		for n > 0 && line[n-1] == '\\' {
			n--
		}
		if quoted || (len(line)-1-n)%2 == 0 {
			return joined + line
		}
		joined += line[:len(line)-2]
	}
}

// heredocBody makes the word of a body.
func (p *Parser) heredocBody(h *heredoc, body string, line int) *syntax.Word {
	w := &syntax.Word{}
	if body == "" {
		return w
	}
	if h.quoted {
		w.Parts = []syntax.WordPart{&syntax.SglQuoted{Left: position(0, line), Value: body}}
		return w
	}
	sub := newParser(body, line, p.opt)
	sub.depth, sub.extglob, sub.heredoc = p.depth, p.extglob, true
	w.Parts = sub.scan(inHeredoc).parts
	return w
}
