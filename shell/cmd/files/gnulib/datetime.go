package gnulib

import (
	"math"
	"strings"
	"time"
)

// ParseDate reads a date as GNU date -d does, relative to now, whose location
// is the time zone; load finds the zone of a TZ="..." before the date. False
// when it is no date, or none that exists.
func ParseDate(s string, now time.Time, load func(string) *time.Location) (time.Time, bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	if strings.HasPrefix(s, `TZ="`) {
		name, rest, ok := cutZone(s[4:])
		if !ok {
			return time.Time{}, false
		}
		s, now = rest, now.In(load(name))
	}
	if len(s) > 4096 {
		return time.Time{}, false
	}
	p := dateParser{now: now}
	var ok bool
	if p.tokens, ok = lexDate(s, localAbbrs(now)); !ok {
		return time.Time{}, false
	}
	p.init()
	if t, ok, done := p.epoch(); done {
		return t, ok
	}
	for p.peek(0).kind != tokenEnd {
		if !p.item() {
			return time.Time{}, false
		}
	}
	return p.result()
}

// cutZone takes the value of TZ="..." with its escapes.
func cutZone(s string) (name, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i >= len(s) || s[i] != '\\' && s[i] != '"' {
				return "", "", false
			}
			b.WriteByte(s[i])
		case '"':
			return b.String(), s[i+1:], true
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

// dateParser gathers what the items of a date say.
type dateParser struct {
	tokens []dateToken
	at     int
	now    time.Time

	year               int64
	yearDigits         int
	month, day         int64
	hour, minute       int64
	second, ns         int64
	meridian           int // 0 am, 12 pm, 24 none
	dayNumber, ordinal int64
	rel                relative
	zone               int64 // seconds east
	localZone          bool  // by an abbreviation of the present zone

	dates, times, days, rels, zoneCount, dsts int
}

// relative is an amount of time by its units.
type relative struct{ year, month, day, hour, minute, second, ns int64 }

func (p *dateParser) init() {
	n := p.now
	p.year, p.month, p.day = int64(n.Year()), int64(n.Month()), int64(n.Day())
	p.hour, p.minute, p.second, p.ns = int64(n.Hour()), int64(n.Minute()), int64(n.Second()), int64(n.Nanosecond())
	p.meridian = 24
}

func (p *dateParser) peek(n int) *dateToken {
	if p.at+n < len(p.tokens) {
		return &p.tokens[p.at+n]
	}
	return &p.tokens[len(p.tokens)-1]
}

func (t *dateToken) is(k wordKind) bool { return t.kind == tokenWord && t.word.kind == k }
func (t *dateToken) ch(c byte) bool     { return t.kind == tokenChar && t.char == c }
func (t *dateToken) unsigned() bool     { return t.kind == tokenNumber && !t.signed && !t.decimal }
func (t *dateToken) plus() bool         { return t.kind == tokenNumber && t.signed && !t.decimal }

// epoch reads "@SECONDS", which stands alone.
func (p *dateParser) epoch() (t time.Time, ok, done bool) {
	if !p.peek(0).ch('@') {
		return t, false, false
	}
	n := p.peek(1)
	if n.kind != tokenNumber || p.peek(2).kind != tokenEnd {
		return t, false, true
	}
	return time.Unix(n.n, n.ns).In(p.now.Location()), true, true
}

// item takes one item; false when there is none that the tokens start.
func (p *dateParser) item() bool {
	t := p.peek(0)
	switch t.kind {
	case tokenNumber:
		return p.number()
	case tokenWord:
		return p.wordItem(t.word)
	}
	return false
}

func (p *dateParser) wordItem(w dateWord) bool {
	switch w.kind {
	case wordMonth:
		return p.monthFirst(int64(w.value))
	case wordDay:
		p.at++
		if p.peek(0).ch(',') {
			p.at++
		}
		p.setDay(0, w.value)
	case wordUnit:
		p.at++
		p.addRel(w, 1, 0)
	case wordShift:
		p.at++
		p.rels++
		p.rel.day += int64(w.value)
	case wordOrdinal:
		next := p.peek(1)
		switch {
		case next.is(wordDay):
			p.setDay(int64(w.value), next.word.value)
			p.at += 2
		case next.is(wordUnit):
			p.at += 2
			p.addRel(next.word, int64(w.value), 0)
		default:
			return false
		}
	case wordZone, wordDayZone, wordT:
		return p.zoneItem(w)
	case wordDST:
		p.at++
		p.dsts++
	default:
		return false
	}
	return true
}

func (p *dateParser) setDay(ordinal int64, day int) {
	p.days++
	p.ordinal, p.dayNumber = ordinal, int64(day)
}

// addRel adds n of a unit (and ns, for seconds); "ago" after it turns it round.
func (p *dateParser) addRel(w dateWord, n, ns int64) {
	p.rels++
	n *= int64(w.value)
	if next := p.peek(0); next.is(wordAgo) {
		p.at++
		// "ago" turns all relative items so far round; each was alone in its
		// item, so only this one.
		n, ns = n*int64(next.word.value), ns*int64(next.word.value)
	}
	switch w.unit {
	case unitYear:
		p.rel.year += n
	case unitMonth:
		p.rel.month += n
	case unitDay:
		p.rel.day += n
	case unitHour:
		p.rel.hour += n
	case unitMinute:
		p.rel.minute += n
	default:
		p.rel.second += n
		p.rel.ns += ns
	}
}

// zoneItem takes a zone by name, with what may follow it: an offset or DST.
func (p *dateParser) zoneItem(w dateWord) bool {
	p.at++
	p.zoneCount++
	p.zone = int64(w.value) * 60
	p.localZone = w.local
	if w.kind == wordDayZone {
		p.zone += 3600
		return true
	}
	next := p.peek(0)
	switch {
	case next.is(wordDST):
		p.at++
		p.zone += 3600
	case next.plus() && p.peek(1).is(wordUnit):
		p.at += 2
		p.addRel(p.peek(-1).word, next.n, 0)
	case next.plus():
		off, ok := p.offset()
		if !ok {
			return false
		}
		p.zone += off
	}
	return true
}

// offset takes "+hh", "+hhmm" or "+hh:mm" in seconds.
func (p *dateParser) offset() (int64, bool) {
	t := p.peek(0)
	p.at++
	n, digits := t.n, t.digits
	if p.peek(0).ch(':') && p.peek(1).unsigned() {
		mm := p.peek(1).n
		p.at += 2
		if mm > 59 {
			return 0, false
		}
		if t.neg {
			mm = -mm
		}
		n = n*60 + mm
	} else if digits <= 2 {
		n *= 60
	} else {
		n = n/100*60 + n%100
	}
	return n * 60, n >= -24*60 && n <= 24*60
}

// monthFirst takes "Jan 15", "Jan 15, 2024" or "Jan-15-2024".
func (p *dateParser) monthFirst(month int64) bool {
	a, b := p.peek(1), p.peek(2)
	p.dates++
	p.month = month
	switch {
	case a.plus() && b.plus():
		p.day = -a.n
		p.setYear(-b.n, b.digits)
		p.at += 3
	case a.unsigned() && b.ch(',') && p.peek(3).unsigned():
		p.day = a.n
		p.setYear(p.peek(3).n, p.peek(3).digits)
		p.at += 4
	case a.unsigned():
		p.day = a.n
		p.at += 2
	default:
		return false
	}
	return true
}

// result puts the items together.
func (p *dateParser) result() (time.Time, bool) {
	if p.times > 1 || p.dates > 1 || p.days > 1 || p.zoneCount > 1 || p.dsts > 1 {
		return time.Time{}, false
	}
	if p.times > 0 || p.rels > 0 && p.dates == 0 && p.days == 0 {
		var ok bool
		if p.hour, ok = hour24(p.hour, p.meridian); !ok {
			return time.Time{}, false
		}
	} else {
		p.hour, p.minute, p.second, p.ns = 0, 0, 0, 0
	}
	year := fullYear(p.year, p.yearDigits)
	if !inRange(year) || p.minute > 59 || p.second > 59 || p.month < 1 || p.month > 12 {
		return time.Time{}, false
	}
	loc := p.now.Location()
	if p.zoneCount > 0 {
		loc = time.FixedZone("", int(p.zone))
	}
	t := civil(year, p.month, p.day, p.hour, p.minute, p.second, loc)
	// A day or hour that does not exist comes back as another.
	if int64(t.Day()) != p.day || int64(t.Hour()) != p.hour || int64(t.Second()) != p.second {
		return time.Time{}, false
	}
	if p.localZone {
		// The zone's own abbreviation must be the one in force then.
		if _, off := t.In(p.now.Location()).Zone(); int64(off) != p.zone {
			return time.Time{}, false
		}
	}
	day := p.day
	if p.days > 0 && p.dates == 0 {
		wday := int64(t.Weekday())
		ord := p.ordinal
		if ord > 0 && wday != p.dayNumber {
			ord--
		}
		day += (p.dayNumber-wday+7)%7 + 7*ord
		t = civil(year, p.month, day, p.hour, p.minute, p.second, loc)
	}
	r := p.rel
	for _, n := range []int64{r.year, r.month, r.day, r.hour, r.minute, r.second} {
		if !inRange(n) {
			return time.Time{}, false
		}
	}
	if r.year|r.month|r.day != 0 {
		t = civil(year+r.year, p.month+r.month, day+r.day, p.hour, p.minute, p.second, loc)
	}
	secs := t.Unix() + r.hour*3600 + r.minute*60 + r.second
	return time.Unix(secs, p.ns+r.ns).In(p.now.Location()), true
}

// inRange keeps numbers so small that no sum of them overflows.
func inRange(n int64) bool { return n > -math.MaxInt32*8 && n < math.MaxInt32*8 }

// civil is time.Date, but the earlier or the later of two readings of an hour
// is chosen as mktime(3) does.
func civil(y, mo, d, h, mi, s int64, loc *time.Location) time.Time {
	return time.Date(int(y), time.Month(mo), int(d), int(h), int(mi), int(s), 0, loc)
}
