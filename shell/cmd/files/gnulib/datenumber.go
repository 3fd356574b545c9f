package gnulib

func (p *dateParser) setYear(n int64, digits int) { p.year, p.yearDigits = n, digits }

// number takes an item that starts with a number.
func (p *dateParser) number() bool {
	t, a := p.peek(0), p.peek(1)
	if a.is(wordUnit) && (!t.decimal || a.word.unit == unitSecond) {
		p.at += 2
		p.addRel(a.word, t.n, t.ns)
		return true
	}
	if t.signed || t.decimal {
		return false
	}
	switch {
	case a.is(wordMeridian):
		p.at += 2
		p.setTime(t.n, 0, 0, 0, a.word.value)
	case a.ch(':'):
		return p.clock()
	case a.ch('/'):
		return p.slashes()
	case a.is(wordMonth):
		return p.dayFirst()
	case a.is(wordDay):
		p.at += 2
		p.setDay(t.n, a.word.value)
	case a.plus():
		return p.numberSigned()
	default:
		p.at++
		p.digits(t)
	}
	return true
}

// numberSigned takes "2024-01-15", "20240115 +1 day" or "12+01:00".
func (p *dateParser) numberSigned() bool {
	t, a, b := p.peek(0), p.peek(1), p.peek(2)
	switch {
	case b.plus():
		p.dates++
		p.setYear(t.n, t.digits)
		p.month, p.day = -a.n, -b.n
		p.at += 3
		if p.peek(0).is(wordT) {
			p.at++
			return p.peek(0).unsigned() && p.clock()
		}
	case b.is(wordUnit):
		p.digits(t)
		p.at += 3
		p.addRel(b.word, a.n, 0)
	default:
		p.at++
		p.setTime(t.n, 0, 0, 0, 24)
		p.zoneCount++
		off, ok := p.offset()
		p.zone = off
		return ok
	}
	return true
}

// digits takes a number by itself: a year, a date or a time, whatever is
// missing.
func (p *dateParser) digits(t *dateToken) {
	switch {
	case p.dates > 0 && p.yearDigits == 0 && p.rels == 0 && (p.times > 0 || t.digits > 2):
		p.setYear(t.n, t.digits)
	case t.digits > 4:
		p.dates++
		p.day, p.month = t.n%100, t.n/100%100
		p.setYear(t.n/10000, t.digits-4)
	case t.digits <= 2:
		p.setTime(t.n, 0, 0, 0, 24)
	default:
		p.setTime(t.n/100, t.n%100, 0, 0, 24)
	}
}

func (p *dateParser) setTime(h, m, s, ns int64, meridian int) {
	p.times++
	p.hour, p.minute, p.second, p.ns, p.meridian = h, m, s, ns, meridian
}

// clock takes "hh:mm", "hh:mm:ss.fff" or "hh", with am, pm or an offset.
func (p *dateParser) clock() bool {
	h := p.peek(0).n
	p.at++
	var m, s, ns int64
	if p.peek(0).ch(':') {
		if !p.peek(1).unsigned() && !(p.peek(1).kind == tokenNumber && !p.peek(1).signed) {
			return false
		}
		m = p.peek(1).n
		if p.peek(1).decimal {
			return false
		}
		p.at += 2
		if p.peek(0).ch(':') {
			sec := p.peek(1)
			if sec.kind != tokenNumber || sec.signed {
				return false
			}
			s, ns = sec.n, sec.ns
			p.at += 2
		}
	}
	next := p.peek(0)
	switch {
	case next.is(wordMeridian):
		p.at++
		p.setTime(h, m, s, ns, next.word.value)
		return true
	case next.plus(): // always an offset, even before "minutes"
		p.setTime(h, m, s, ns, 24)
		p.zoneCount++
		off, ok := p.offset()
		p.zone = off
		return ok
	}
	p.setTime(h, m, s, ns, 24)
	return true
}

// slashes takes "mm/dd", "mm/dd/yy" or "yyyy/mm/dd".
func (p *dateParser) slashes() bool {
	a, b := p.peek(0), p.peek(2)
	if !b.unsigned() {
		return false
	}
	p.dates++
	if !p.peek(3).ch('/') {
		p.month, p.day = a.n, b.n
		p.at += 3
		return true
	}
	c := p.peek(4)
	if !c.unsigned() {
		return false
	}
	p.at += 5
	if a.digits >= 4 {
		p.setYear(a.n, a.digits)
		p.month, p.day = b.n, c.n
	} else {
		p.month, p.day = a.n, b.n
		p.setYear(c.n, c.digits)
	}
	return true
}

// dayFirst takes "15 Jan", "15 Jan 2024" or "15-Jan-2024".
func (p *dateParser) dayFirst() bool {
	p.dates++
	p.day, p.month = p.peek(0).n, int64(p.peek(1).word.value)
	y := p.peek(2)
	p.at += 2
	if y.plus() && !p.peek(1).is(wordUnit) {
		p.setYear(-y.n, y.digits)
		p.at++
	} else if y.unsigned() && !p.peek(1).ch(':') && !p.peek(1).is(wordMeridian) && !p.peek(1).is(wordUnit) {
		p.setYear(y.n, y.digits)
		p.at++
	}
	return true
}

// fullYear is the year that digits stand for.
func fullYear(n int64, digits int) int64 {
	if digits == 2 && n >= 0 {
		if n < 69 {
			return n + 2000
		}
		return n + 1900
	}
	return n
}

// hour24 is the hour of the day; false when there is none.
func hour24(h int64, meridian int) (int64, bool) {
	if meridian == 24 {
		return h, h >= 0 && h < 24
	}
	if h < 1 || h > 12 {
		return 0, false
	}
	return h%12 + int64(meridian), true
}
