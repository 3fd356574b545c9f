package patch

import "fmt"

// reject keeps a hunk for the file of rejects.
func (a *application) reject(k *hunk) {
	h := a.head
	as := a.set.rejectAs
	if as == formNone {
		as = formNewContext
		if h.form == formUnified {
			as = formUnified
		}
	}
	marks := [2]string{"***", "---"}
	if as == formUnified {
		marks = [2]string{"---", "+++"}
	}
	if len(a.rejected) == 0 {
		if h.names[indexName] != "" {
			a.rejectf("Index: %s\n", h.names[indexName])
		}
		for i, mark := range marks {
			n := i ^ a.reversed()
			name := h.names[n]
			if name == "" {
				name = "/dev/null"
			}
			a.rejectf("%s %s", mark, name)
			if h.behind[n] != "" {
				a.rejectf("\t%s", h.behind[n])
			}
			a.rejectf("\n")
		}
	}
	if as == formUnified {
		a.rejectUnified(k)
	} else {
		a.rejectContext(k)
	}
}

func (a *application) rejectf(format string, args ...any) {
	a.rejected = fmt.Appendf(a.rejected, format, args...)
}

// rejectLine writes a line behind its mark; that it has no newline goes unsaid,
// as in the real ones.
func (a *application) rejectLine(mark string, text []byte) {
	a.rejected = append(append(a.rejected, mark...), text...)
}

func (a *application) rejectUnified(k *hunk) {
	span := func(first, n int) string {
		switch n {
		case 0:
			return decimal(first-1) + ",0"
		case 1:
			return decimal(first)
		}
		return decimal(first) + "," + decimal(n)
	}
	g := a.t.growth
	a.rejectf("@@ -%s +%s @@%s\n", span(k.first+g, len(k.old)), span(k.newFirst+g, len(k.new)), k.function)
	i, j := 0, 0
	for i < len(k.old) || j < len(k.new) {
		switch {
		case i < len(k.old) && k.old[i].mark != ' ':
			a.rejectLine("-", k.old[i].text)
			i++
		case j < len(k.new) && k.new[j].mark != ' ':
			a.rejectLine("+", k.new[j].text)
			j++
		default:
			if i < len(k.old) {
				a.rejectLine(" ", k.old[i].text)
			}
			i++
			j++
		}
	}
}

func (a *application) rejectContext(k *hunk) {
	span := func(first, n int) string {
		switch n {
		case 0:
			return "0"
		case 1:
			return decimal(first)
		}
		return decimal(first) + "," + decimal(first+n-1)
	}
	g := a.t.growth
	stars, dashes := " ****", " ----"
	if a.head.form == formNormal || a.head.form == formContext {
		stars, dashes = "", " -----"
	}
	old, changed := k.old, k.new
	if a.head.form == formUnified {
		old, changed = changedMarks(k)
	}
	a.rejectf("***************%s\n*** %s%s\n", k.function, span(k.first+g, len(k.old)), stars)
	for _, l := range old {
		a.rejectLine(string(rune(l.mark))+" ", l.text)
	}
	a.rejectf("--- %s%s\n", span(k.newFirst+g, len(k.new)), dashes)
	for _, l := range changed {
		a.rejectLine(string(rune(l.mark))+" ", l.text)
	}
}

// changedMarks marks the lines that come in place of others as a context diff
// does.
func changedMarks(k *hunk) (old, changed []hunkLine) {
	old, changed = append(old, k.old...), append(changed, k.new...)
	for i, j := 0, 0; i < len(old) && j < len(changed); i, j = i+1, j+1 {
		from, to := i, j
		for i < len(old) && old[i].mark == '-' {
			i++
		}
		for j < len(changed) && changed[j].mark == '+' {
			j++
		}
		if i == from || j == to {
			continue
		}
		for n := from; n < i; n++ {
			old[n].mark = '!'
		}
		for n := to; n < j; n++ {
			changed[n].mark = '!'
		}
	}
	return old, changed
}
