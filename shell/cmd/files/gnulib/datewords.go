package gnulib

// wordKind is the kind of a word in a date.
type wordKind uint8

const (
	wordNone wordKind = iota
	wordMeridian
	wordMonth
	wordDay
	wordUnit
	wordShift   // tomorrow, yesterday: a number of days
	wordOrdinal // last, this, next, third
	wordAgo
	wordZone    // minutes east
	wordDayZone // a zone of summer time
	wordDST
	wordT
)

// unit is a unit of relative time.
type unit uint8

const (
	unitSecond unit = iota
	unitMinute
	unitHour
	unitDay
	unitMonth
	unitYear
)

type dateWord struct {
	kind  wordKind
	value int
	unit  unit
	local bool // an abbreviation of the present zone
}

var meridians = map[string]int{"AM": 0, "A.M.": 0, "PM": 12, "P.M.": 12}

// monthsAndDays are found by their first three letters too.
var monthsAndDays = []struct {
	name string
	word dateWord
}{
	{"JANUARY", dateWord{kind: wordMonth, value: 1}}, {"FEBRUARY", dateWord{kind: wordMonth, value: 2}},
	{"MARCH", dateWord{kind: wordMonth, value: 3}}, {"APRIL", dateWord{kind: wordMonth, value: 4}},
	{"MAY", dateWord{kind: wordMonth, value: 5}}, {"JUNE", dateWord{kind: wordMonth, value: 6}},
	{"JULY", dateWord{kind: wordMonth, value: 7}}, {"AUGUST", dateWord{kind: wordMonth, value: 8}},
	{"SEPTEMBER", dateWord{kind: wordMonth, value: 9}}, {"SEPT", dateWord{kind: wordMonth, value: 9}},
	{"OCTOBER", dateWord{kind: wordMonth, value: 10}}, {"NOVEMBER", dateWord{kind: wordMonth, value: 11}},
	{"DECEMBER", dateWord{kind: wordMonth, value: 12}},
	{"SUNDAY", dateWord{kind: wordDay, value: 0}}, {"MONDAY", dateWord{kind: wordDay, value: 1}},
	{"TUESDAY", dateWord{kind: wordDay, value: 2}}, {"TUES", dateWord{kind: wordDay, value: 2}},
	{"WEDNESDAY", dateWord{kind: wordDay, value: 3}}, {"WEDNES", dateWord{kind: wordDay, value: 3}},
	{"THURSDAY", dateWord{kind: wordDay, value: 4}}, {"THUR", dateWord{kind: wordDay, value: 4}},
	{"THURS", dateWord{kind: wordDay, value: 4}}, {"FRIDAY", dateWord{kind: wordDay, value: 5}},
	{"SATURDAY", dateWord{kind: wordDay, value: 6}},
}

var timeUnits = map[string]dateWord{
	"YEAR": {kind: wordUnit, value: 1, unit: unitYear}, "MONTH": {kind: wordUnit, value: 1, unit: unitMonth},
	"FORTNIGHT": {kind: wordUnit, value: 14, unit: unitDay}, "WEEK": {kind: wordUnit, value: 7, unit: unitDay},
	"DAY": {kind: wordUnit, value: 1, unit: unitDay}, "HOUR": {kind: wordUnit, value: 1, unit: unitHour},
	"MINUTE": {kind: wordUnit, value: 1, unit: unitMinute}, "MIN": {kind: wordUnit, value: 1, unit: unitMinute},
	"SECOND": {kind: wordUnit, value: 1, unit: unitSecond}, "SEC": {kind: wordUnit, value: 1, unit: unitSecond},
}

var relativeWords = map[string]dateWord{
	"TOMORROW": {kind: wordShift, value: 1}, "YESTERDAY": {kind: wordShift, value: -1},
	"TODAY": {kind: wordShift}, "NOW": {kind: wordShift},
	"LAST": {kind: wordOrdinal, value: -1}, "THIS": {kind: wordOrdinal, value: 0},
	"NEXT": {kind: wordOrdinal, value: 1}, "FIRST": {kind: wordOrdinal, value: 1},
	"THIRD": {kind: wordOrdinal, value: 3}, "FOURTH": {kind: wordOrdinal, value: 4},
	"FIFTH": {kind: wordOrdinal, value: 5}, "SIXTH": {kind: wordOrdinal, value: 6},
	"SEVENTH": {kind: wordOrdinal, value: 7}, "EIGHTH": {kind: wordOrdinal, value: 8},
	"NINTH": {kind: wordOrdinal, value: 9}, "TENTH": {kind: wordOrdinal, value: 10},
	"ELEVENTH": {kind: wordOrdinal, value: 11}, "TWELFTH": {kind: wordOrdinal, value: 12},
	"AGO": {kind: wordAgo, value: -1}, "HENCE": {kind: wordAgo, value: 1},
}

// zones are the zone abbreviations that GNU date knows, in minutes east.
var zones = map[string]dateWord{
	"GMT": {kind: wordZone}, "UT": {kind: wordZone}, "UTC": {kind: wordZone}, "WET": {kind: wordZone},
	"WEST": {kind: wordDayZone}, "BST": {kind: wordDayZone},
	"ART": {kind: wordZone, value: -3 * 60}, "BRT": {kind: wordZone, value: -3 * 60}, "BRST": {kind: wordDayZone, value: -3 * 60},
	"NST": {kind: wordZone, value: -(3*60 + 30)}, "NDT": {kind: wordDayZone, value: -(3*60 + 30)},
	"AST": {kind: wordZone, value: -4 * 60}, "ADT": {kind: wordDayZone, value: -4 * 60},
	"CLT": {kind: wordZone, value: -4 * 60}, "CLST": {kind: wordDayZone, value: -4 * 60},
	"EST": {kind: wordZone, value: -5 * 60}, "EDT": {kind: wordDayZone, value: -5 * 60},
	"CST": {kind: wordZone, value: -6 * 60}, "CDT": {kind: wordDayZone, value: -6 * 60},
	"MST": {kind: wordZone, value: -7 * 60}, "MDT": {kind: wordDayZone, value: -7 * 60},
	"PST": {kind: wordZone, value: -8 * 60}, "PDT": {kind: wordDayZone, value: -8 * 60},
	"AKST": {kind: wordZone, value: -9 * 60}, "AKDT": {kind: wordDayZone, value: -9 * 60},
	"HST": {kind: wordZone, value: -10 * 60}, "HAST": {kind: wordZone, value: -10 * 60}, "HADT": {kind: wordDayZone, value: -10 * 60},
	"SST": {kind: wordZone, value: -12 * 60}, "WAT": {kind: wordZone, value: 60},
	"CET": {kind: wordZone, value: 60}, "CEST": {kind: wordDayZone, value: 60},
	"MET": {kind: wordZone, value: 60}, "MEZ": {kind: wordZone, value: 60},
	"MEST": {kind: wordDayZone, value: 60}, "MESZ": {kind: wordDayZone, value: 60},
	"EET": {kind: wordZone, value: 2 * 60}, "EEST": {kind: wordDayZone, value: 2 * 60},
	"CAT": {kind: wordZone, value: 2 * 60}, "SAST": {kind: wordZone, value: 2 * 60},
	"EAT": {kind: wordZone, value: 3 * 60}, "MSK": {kind: wordZone, value: 3 * 60}, "MSD": {kind: wordDayZone, value: 3 * 60},
	"IST": {kind: wordZone, value: 5*60 + 30}, "SGT": {kind: wordZone, value: 8 * 60},
	"KST": {kind: wordZone, value: 9 * 60}, "JST": {kind: wordZone, value: 9 * 60},
	"GST": {kind: wordZone, value: 10 * 60}, "NZST": {kind: wordZone, value: 12 * 60}, "NZDT": {kind: wordDayZone, value: 12 * 60},
	"DST": {kind: wordDST},
}

// militaryZone is a one-letter zone; T is also what joins date and time.
func militaryZone(c byte) (dateWord, bool) {
	switch {
	case c == 'T':
		return dateWord{kind: wordT, value: -7 * 60}, true
	case c >= 'A' && c <= 'I':
		return dateWord{kind: wordZone, value: int(c-'A'+1) * 60}, true
	case c >= 'K' && c <= 'M':
		return dateWord{kind: wordZone, value: int(c-'K'+10) * 60}, true
	case c >= 'N' && c <= 'Y':
		return dateWord{kind: wordZone, value: -int(c-'N'+1) * 60}, true
	case c == 'Z':
		return dateWord{kind: wordZone}, true
	}
	return dateWord{}, false
}
