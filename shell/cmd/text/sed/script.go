package sed

import "github.com/vfsd/vfsd/shell/cmd/regex"

// addressKind is the kind of an address.
type addressKind uint8

const (
	addrLine     addressKind = iota // N
	addrStep                        // FIRST~STEP
	addrLast                        // $
	addrRegex                       // /RE/
	addrPlus                        // ,+N
	addrMultiple                    // ,~N
)

// address is one address of a command.
type address struct {
	kind addressKind
	n    int64 // the line, FIRST or N
	step int64
	re   *pattern
}

// pattern is a regular expression of a script; one without an expression is the
// one used last.
type pattern struct {
	re *regex.Regexp
}

// rangeState is where a command stands in its range of lines.
type rangeState uint8

const (
	rangeInactive rangeState = iota
	rangeActive
	rangeClosed // over; a first address that is a number will not match again
)

// instruction is one command of a script.
type instruction struct {
	a1, a2 *address
	not    bool
	name   byte

	n     int64        // q, Q, l: the number, -1 when there is none
	text  []byte       // a, i, c
	file  string       // r, R, w, W
	out   *output      // w, W
	sub   *substitute  // s
	table *translation // y
	jump  int          // b, t, T, {: where to go on

	state    rangeState
	rangeEnd int64
}

// translation is what y does: by byte, or by character where there are longer
// ones.
type translation struct {
	bytes [256]byte
	runes map[rune]string
}

// caseMode is how a replacement changes letters.
type caseMode uint8

const (
	caseKeep caseMode = iota
	caseUpper
	caseLower
)

// part is a piece of a replacement: literal text, then a group's match.
type part struct {
	text  []byte
	group int // -1: none
	// set says that the case changes before this part: mode from here on, once
	// for the next character only.
	setMode bool
	mode    caseMode
	setOnce bool
	once    caseMode
}

// substitute is what s does.
type substitute struct {
	re     *pattern
	parts  []part
	groups int // the highest group referred to
	global bool
	number int // 0: the first
	print  int
	out    *output
}

// program is a parsed script.
type program struct {
	cmds    []*instruction
	outputs []*output
	quiet   bool // it began with #n
}
