package sed

import (
	"bytes"
	"context"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// substitute runs s.
func (m *machine) substitute(ctx context.Context, sub *substitute) error {
	re, err := m.regex(sub.re)
	if err != nil {
		return err
	}
	text := m.pattern.text
	out := m.scratch[:0]
	done, start, count, hit := 0, 0, 0, false
	last := -1 // where the last match ended
	for start <= len(text) {
		var loc []int
		if sub.groups > 0 {
			loc, err = re.FindGroups(ctx, text, start, m.loc)
			if loc != nil {
				m.loc = loc
			}
		} else {
			var s, e int
			if s, e, err = re.Find(ctx, text, start); s >= 0 {
				loc = append(m.loc[:0], s, e)
				m.loc = loc
			}
		}
		if err != nil {
			return err
		}
		if loc == nil {
			break
		}
		from, to := loc[0], loc[1]
		// An empty match right behind the last match is none.
		if from != to || from != last {
			count++
			if count >= sub.number {
				hit = true
				out = append(out, text[done:from]...)
				if out, err = m.replace(out, sub, text, loc); err != nil {
					return err
				}
				done = to
				if !sub.global {
					break
				}
			} else {
				out = append(out, text[done:to]...)
				done = to
			}
		}
		start, last = to, to
		if from == to {
			n := m.width(text[start:])
			out = append(out, text[done:min(start+n, len(text))]...)
			start += n
			done = min(start, len(text))
		}
	}
	if !hit {
		return nil
	}
	m.scratch = text
	m.pattern.text = append(out, text[done:]...)
	m.replaced = true
	if err := m.account(); err != nil {
		return err
	}
	for range sub.print {
		if err := m.print(m.out, m.pattern.text); err != nil {
			return err
		}
	}
	if sub.out != nil {
		return m.print(sub.out, m.pattern.text)
	}
	return nil
}

// width is the length of the first character of text, at least 1.
func (m *machine) width(text []byte) int {
	if !m.s.utf8 || len(text) == 0 {
		return 1
	}
	_, n := utf8.DecodeRune(text)
	return n
}

// replace appends the replacement of one match.
func (m *machine) replace(out []byte, sub *substitute, text []byte, loc []int) ([]byte, error) {
	mode, once := caseKeep, caseKeep
	for i := range sub.parts {
		q := &sub.parts[i]
		if q.setMode {
			mode = q.mode
			if !q.setOnce {
				once = caseKeep
			}
		}
		if q.setOnce {
			once = q.once
		}
		out, once = m.appendCase(out, q.text, mode, once)
		if q.group >= 0 && 2*q.group < len(loc) && loc[2*q.group] >= 0 {
			out, once = m.appendCase(out, text[loc[2*q.group]:loc[2*q.group+1]], mode, once)
		}
	}
	if int64(len(out)) > accountStep && m.c.Memory.Left() < int64(len(out)) {
		return nil, &sedError{"couldn't allocate memory", exitPanic}
	}
	return out, nil
}

// appendCase appends text with its case changed: the first character by once,
// the others by mode. It returns what is left of once.
func (m *machine) appendCase(out, text []byte, mode, once caseMode) ([]byte, caseMode) {
	if len(text) == 0 {
		return out, once
	}
	if mode == caseKeep && once == caseKeep {
		return append(out, text...), once
	}
	for i := 0; i < len(text); {
		n := m.width(text[i:])
		how := mode
		if once != caseKeep {
			how, once = once, caseKeep
		}
		out = m.appendChar(out, text[i:i+n], how)
		i += n
	}
	return out, once
}

func (m *machine) appendChar(out, ch []byte, how caseMode) []byte {
	if how == caseKeep || len(ch) == 1 && ch[0] >= utf8.RuneSelf {
		return append(out, ch...)
	}
	r, _ := utf8.DecodeRune(ch)
	if how == caseUpper {
		r = unicode.ToUpper(r)
	} else {
		r = unicode.ToLower(r)
	}
	return utf8.AppendRune(out, r)
}

// translate runs y.
func (m *machine) translate(t *translation) {
	p := &m.pattern
	if t.runes == nil {
		for i, b := range p.text {
			p.text[i] = t.bytes[b]
		}
		return
	}
	out := m.scratch[:0]
	for i := 0; i < len(p.text); {
		n := m.width(p.text[i:])
		r, _ := utf8.DecodeRune(p.text[i:])
		if to, ok := t.runes[r]; ok && (n > 1 || r < utf8.RuneSelf) {
			out = append(out, to...)
		} else if n == 1 {
			out = append(out, t.bytes[p.text[i]])
		} else {
			out = append(out, p.text[i:i+n]...)
		}
		i += n
	}
	m.scratch, p.text = p.text, out
}

// list runs l: the pattern space in a form that shows everything.
func (m *machine) list(cmd *instruction) error {
	width := m.s.lineLength
	if cmd.n >= 0 {
		width = int(cmd.n)
	}
	var b bytes.Buffer
	column := 0
	for _, ch := range m.pattern.text {
		s := visible(ch)
		if width > 0 && column+len(s) > width-1 {
			b.WriteString("\\\n")
			column = 0
		}
		b.WriteString(s)
		column += len(s)
	}
	b.WriteByte('$')
	b.WriteByte(m.s.delim)
	return m.out.raw(b.Bytes())
}

// visible writes a byte the way l does.
func visible(ch byte) string {
	const letters = "abtnvfr"
	switch {
	case ch == '\\':
		return `\\`
	case ch >= 7 && ch <= 13:
		return `\` + string(letters[ch-7])
	case ch >= ' ' && ch < 0x7f:
		return string(rune(ch))
	}
	s := strconv.FormatInt(int64(ch)|0o1000, 8)
	return `\` + s[1:]
}
