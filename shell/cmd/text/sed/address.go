package sed

import (
	"context"

	"github.com/vfsd/vfsd/shell/cmd/regex"
)

// selected reports whether the present line is one that a command's addresses
// select, its ! left aside.
func (m *machine) selected(ctx context.Context, cmd *instruction) (bool, error) {
	if cmd.a1 == nil {
		return true, nil
	}
	if cmd.a2 == nil {
		return m.matches(ctx, cmd.a1)
	}
	if cmd.state == rangeActive {
		return m.inRange(ctx, cmd)
	}
	if cmd.state == rangeClosed && cmd.a1.kind == addrLine {
		// The first line is past, and comes no more.
		return false, nil
	}
	ok, err := m.matches(ctx, cmd.a1)
	if !ok || err != nil {
		return false, err
	}
	n := m.in.number
	switch cmd.a2.kind {
	case addrLine:
		cmd.rangeEnd = cmd.a2.n
	case addrPlus:
		cmd.rangeEnd = n + cmd.a2.n
	case addrMultiple:
		cmd.rangeEnd = n
		if k := cmd.a2.n; k > 0 && n%k != 0 {
			cmd.rangeEnd = n + k - n%k
		}
	default:
		cmd.state = rangeActive
		return true, nil
	}
	if cmd.rangeEnd > n {
		cmd.state = rangeActive
	}
	return true, nil
}

// inRange decides about a line in a range that has begun.
func (m *machine) inRange(ctx context.Context, cmd *instruction) (bool, error) {
	switch cmd.a2.kind {
	case addrLine, addrPlus, addrMultiple:
		if m.in.number >= cmd.rangeEnd {
			cmd.state = rangeClosed
		}
		if m.in.number > cmd.rangeEnd {
			// Lines were read over the end: this one may start a new range.
			if cmd.a1.kind == addrLine {
				return false, nil
			}
			return m.selected(ctx, cmd)
		}
		return true, nil
	}
	ok, err := m.matches(ctx, cmd.a2)
	if ok {
		cmd.state = rangeClosed
	}
	return true, err
}

// matches reports whether the present line has an address.
func (m *machine) matches(ctx context.Context, a *address) (bool, error) {
	switch a.kind {
	case addrLine:
		return m.in.number == a.n, nil
	case addrStep:
		n := m.in.number
		return n >= a.n && (n-a.n)%a.step == 0, nil
	case addrLast:
		return m.in.last(), m.in.problem
	}
	re, err := m.regex(a.re)
	if err != nil {
		return false, err
	}
	return re.Match(ctx, m.pattern.text)
}

// regex returns a pattern's expression, or the last one used for an empty one.
func (m *machine) regex(p *pattern) (*regex.Regexp, error) {
	if p.re == nil {
		if m.last == nil {
			return nil, &sedError{"-e expression #1, char 0: no previous regular expression", exitUsage}
		}
		return m.last, nil
	}
	m.last = p.re
	return p.re, nil
}
