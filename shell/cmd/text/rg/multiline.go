package rg

import (
	"bytes"
	"context"
	"io"
)

// whole searches a file that is held in memory, so that matches may reach over
// lines.
func (t *target) whole(ctx context.Context, f io.Reader) error {
	held := 0
	for {
		n, err := t.fill(f, held)
		if n == 0 && err == io.EOF {
			break
		}
		if err != nil && err != io.EOF {
			return err
		}
		t.read += int64(n)
		if t.lookForNul(t.buf[held:held+n], int64(held)) {
			return nil
		}
		held += n
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	text := t.buf[:held]
	spans, err := t.m.all(ctx, text)
	if err != nil {
		return err
	}
	if held > 0 && text[held-1] != t.eol {
		spans = withoutEnd(spans, held)
	}
	return t.stretches(ctx, text, spans)
}

// stretches shows the runs of lines that have matches.
func (t *target) stretches(ctx context.Context, text []byte, spans [][]int) error {
	for at := 0; at < len(text); {
		if err := ctx.Err(); err != nil {
			return err
		}
		// The lines that belong together, by the matches in them.
		end := lineEnd(text, at, t.eol)
		n := 0
		for n < len(spans) && spans[n][0] < end {
			if reach := max(spans[n][1], spans[n][0]+1); reach > end {
				end = lineEnd(text, reach-1, t.eol)
			}
			n++
		}
		l := line{text: text[at:end], number: t.number + 1, at: int64(at)}
		if k := len(l.text); k > 0 && l.text[k-1] == t.eol {
			l.text, l.end = l.text[:k-1], l.text[k-1:]
		}
		lines := int64(bytes.Count(text[at:end], []byte{t.eol}))
		t.number += max(lines, 1)
		if err := t.takeStretch(l, relative(spans[:n], at), t.number-l.number+1); err != nil {
			return err
		}
		spans, at = spans[n:], end
	}
	return nil
}

// lineEnd is where the line around a position ends.
func lineEnd(text []byte, at int, eol byte) int {
	if n := bytes.IndexByte(text[at:], eol); n >= 0 {
		return at + n + 1
	}
	return len(text)
}

// relative makes positions count from at.
func relative(spans [][]int, at int) [][]int {
	out := make([][]int, len(spans))
	for i, loc := range spans {
		moved := make([]int, len(loc))
		for k, v := range loc {
			moved[k] = v
			if v >= 0 {
				moved[k] = v - at
			}
		}
		out[i] = moved
	}
	return out
}

// takeStretch does what is to be done with lines that belong together.
func (t *target) takeStretch(l line, spans [][]int, lines int64) error {
	selected := (len(spans) > 0) != t.set.invert
	if !selected || t.left == 0 {
		for _, one := range splitLine(l, t.eol) {
			if err := t.take(context.Background(), one, false); err != nil {
				return err
			}
		}
		return nil
	}
	if t.left > 0 {
		t.left--
	}
	t.selected += lines
	t.groups++
	t.matches += int64(len(spans))
	switch {
	case t.stopFirst:
		return errStop
	case t.nul >= 0 && !t.set.json && t.set.list == listNone:
		return errStop
	case t.quiet:
		return nil
	}
	t.pending = t.set.after
	return t.p.match(l, spans)
}

// splitLine divides lines that belong together.
func splitLine(l line, eol byte) []line {
	var out []line
	text := l.text
	for {
		n := bytes.IndexByte(text, eol)
		if n < 0 {
			break
		}
		out = append(out, line{text: text[:n], end: text[n : n+1], number: l.number, at: l.at})
		l.number++
		l.at += int64(n) + 1
		text = text[n+1:]
	}
	return append(out, line{text: text, end: l.end, number: l.number, at: l.at})
}
