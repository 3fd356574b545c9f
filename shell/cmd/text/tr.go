package text

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "tr",
		Synopsis: "tr [OPTION]... STRING1 [STRING2]",
		Summary: "Translate, squeeze, and/or delete characters from standard input,\n" +
			"writing to standard output.",
		Options: []command.Option{
			{Short: 'c', Long: "complement", Help: "use the complement of STRING1"},
			{Short: 'C', ID: 'c', Help: "the same as -c"},
			{Short: 'd', Long: "delete", Help: "delete characters in STRING1, do not translate"},
			{Short: 's', Long: "squeeze-repeats", Help: "replace each sequence of a repeated character\nthat is listed in the last specified STRING,\nwith a single occurrence of that character"},
			{Short: 't', Long: "truncate-set1", Help: "first truncate STRING1 to length of STRING2"},
		},
		Notes: "STRINGs hold characters, escapes (\\NNN \\\\ \\a \\b \\f \\n \\r \\t \\v), ranges A-B,\n" +
			"classes [:alnum:] and the like, [=C=], and in STRING2 [C*] and [C*N].",
		StopAtOperand: true,
	}, tr)
}

// trItem is an item of a string: a run of characters, or a class.
type trItem struct {
	chars  []byte
	class  string // "upper", "lower" and so on, "" for none
	equiv  bool   // [=c=]
	repeat bool   // [c*n]: chars[0], count times; 0 means as often as needed
	count  int
}

// trJob is what the options and strings ask for.
type trJob struct {
	c                                     *command.Context
	complement, delete, squeeze, truncate bool
	set1, set2                            []trItem
	remove, once                          [256]bool
	table                                 [256]byte
}

func tr(ctx context.Context, c *command.Context, args []string) int {
	t := trJob{c: c}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'c':
			t.complement = true
		case 'd':
			t.delete = true
		case 's':
			t.squeeze = true
		case 't':
			t.truncate = true
		}
	}
	sets, status, stop := p.End()
	if stop {
		return status
	}
	if !t.operands(sets) || !t.parse(sets) {
		return 1
	}
	return t.run(ctx)
}

// operands checks the number of strings.
func (t *trJob) operands(sets []string) bool {
	least, most := 1, 2
	if t.delete == t.squeeze {
		least = 2
	}
	if t.delete && !t.squeeze {
		most = 1
	}
	c := t.c
	note := func(text string) {
		if text != "" {
			text = "\n" + text
		}
		n := len(sets)
		if n < least {
			if n == 0 {
				c.Errorf("missing operand%s\nTry 'tr --help' for more information.", text)
			} else {
				c.Errorf("missing operand after %s%s\nTry 'tr --help' for more information.", c.Quote(sets[n-1]), text)
			}
			return
		}
		c.Errorf("extra operand %s%s\nTry 'tr --help' for more information.", c.Quote(sets[most]), text)
	}
	switch {
	case len(sets) < least && len(sets) == 0:
		note("")
	case len(sets) < least && t.squeeze:
		note("Two strings must be given when both deleting and squeezing repeats.")
	case len(sets) < least:
		note("Two strings must be given when translating.")
	case len(sets) > most && len(sets) == 2:
		note("Only one string may be given when deleting without squeezing repeats.")
	case len(sets) > most:
		note("")
	default:
		return true
	}
	return false
}

// parse reads the strings and builds the tables.
func (t *trJob) parse(sets []string) bool {
	ok := true
	if t.set1, ok = t.items(sets[0], true); !ok {
		return false
	}
	if len(sets) > 1 {
		if t.set2, ok = t.items(sets[1], false); !ok {
			return false
		}
	}
	translating := len(sets) > 1 && !t.delete
	for _, it := range t.set1 {
		if it.repeat && it.count == 0 {
			return t.fail("the [c*] repeat construct may not appear in string1")
		}
	}
	if !t.checkSet2(translating) {
		return false
	}
	list1, _ := expand(t.set1, 0)
	if t.complement {
		list1 = complement(list1)
	}
	switch {
	case t.delete:
		mark(&t.remove, list1)
		if t.squeeze {
			list2, _ := expand(t.set2, 0)
			mark(&t.once, list2)
		}
	case translating:
		return t.translation(list1)
	default:
		mark(&t.once, list1)
	}
	return true
}

func (t *trJob) fail(message string) bool {
	t.c.Errorf("%s", message)
	return false
}

// checkSet2 checks what may not be in string2.
func (t *trJob) checkSet2(translating bool) bool {
	open := 0
	for _, it := range t.set2 {
		if it.repeat && it.count == 0 {
			open++
		}
	}
	if open > 1 {
		return t.fail("only one [c*] repeat construct may appear in string2")
	}
	if !translating {
		for _, it := range t.set2 {
			if it.repeat && it.count == 0 {
				return t.fail("the [c*] construct may appear in string2 only when translating")
			}
		}
		return true
	}
	for _, it := range t.set2 {
		if it.equiv {
			return t.fail("[=c=] expressions may not appear in string2 when translating")
		}
		if it.class != "" && it.class != "upper" && it.class != "lower" {
			return t.fail("when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'")
		}
	}
	return true
}

func mark(set *[256]bool, list []byte) {
	for _, b := range list {
		set[b] = true
	}
}

// expand lists the characters of a string; an open repeat is made so long that
// the list has need characters. starts has where each class begins.
func expand(items []trItem, need int) (list []byte, starts map[int]string) {
	starts = map[int]string{}
	known := 0
	for _, it := range items {
		known += len(it.chars)
		if it.repeat {
			known += it.count - len(it.chars)
		}
	}
	for _, it := range items {
		switch {
		case it.repeat:
			n := it.count
			if n == 0 {
				n = max(0, need-known)
			}
			for range n {
				list = append(list, it.chars[0])
			}
		default:
			if it.class == "upper" || it.class == "lower" {
				starts[len(list)] = it.class
			}
			list = append(list, it.chars...)
		}
	}
	return list, starts
}

func complement(list []byte) []byte {
	var in [256]bool
	mark(&in, list)
	var out []byte
	for i, ok := range in {
		if !ok {
			out = append(out, byte(i))
		}
	}
	return out
}

// translation builds the table that maps string1 to string2.
func (t *trJob) translation(list1 []byte) bool {
	_, starts1 := expand(t.set1, 0)
	list2, starts2 := expand(t.set2, len(list1))
	if !t.complement {
		for at := range starts2 {
			if starts1[at] == "" {
				return t.fail("misaligned [:upper:] and/or [:lower:] construct")
			}
		}
	}
	if len(list2) == 0 && !t.truncate && len(list1) > 0 {
		return t.fail("when not truncating set1, string2 must be non-empty")
	}
	if t.complement && hasClass(t.set1) && !uniform(list2) {
		return t.fail("when translating with complemented character classes,\nstring2 must map all characters in the domain to one")
	}
	if len(list2) < len(list1) && !t.truncate {
		if n := len(t.set2); n > 0 && t.set2[n-1].class != "" {
			return t.fail("when translating with string1 longer than string2,\nthe latter string must not end with a character class")
		}
	}
	for i := range t.table {
		t.table[i] = byte(i)
	}
	for i, b := range list1 {
		switch {
		case i < len(list2):
			t.table[b] = list2[i]
		case !t.truncate && len(list2) > 0:
			t.table[b] = list2[len(list2)-1]
		}
	}
	if t.squeeze {
		mark(&t.once, list2)
	}
	return true
}

func hasClass(items []trItem) bool {
	for _, it := range items {
		if it.class != "" {
			return true
		}
	}
	return false
}

// uniform reports whether all characters are the same.
func uniform(list []byte) bool {
	for _, b := range list {
		if b != list[0] {
			return false
		}
	}
	return true
}

// items parses a string.
func (t *trJob) items(s string, first bool) ([]trItem, bool) {
	chars, escaped := t.unescape(s)
	var items []trItem
	for i := 0; i < len(chars); {
		if chars[i] == '[' && !escaped[i] {
			it, n, ok := t.construct(chars[i:], escaped[i:])
			if !ok {
				return nil, false
			}
			if n > 0 {
				items = append(items, it)
				i += n
				continue
			}
		}
		if i+2 < len(chars) && chars[i+1] == '-' && !escaped[i+1] {
			lo, hi := chars[i], chars[i+2]
			if lo > hi {
				t.c.Errorf("range-endpoints of '%s-%s' are in reverse collating sequence order", printable(lo), printable(hi))
				return nil, false
			}
			var run []byte
			for b := int(lo); b <= int(hi); b++ {
				run = append(run, byte(b))
			}
			items = append(items, trItem{chars: run})
			i += 3
			continue
		}
		items = append(items, trItem{chars: chars[i : i+1]})
		i++
	}
	return items, true
}

// unescape replaces escapes, and tells which characters came of one.
func (t *trJob) unescape(s string) (chars []byte, escaped []bool) {
	add := func(b byte, esc bool) { chars, escaped = append(chars, b), append(escaped, esc) }
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			add(s[i], false)
			continue
		}
		i++
		if i == len(s) {
			t.c.Errorf("warning: an unescaped backslash at end of string is not portable")
			add('\\', false)
			break
		}
		if at := strings.IndexByte(`abfnrtv\`, s[i]); at >= 0 {
			add("\a\b\f\n\r\t\v\\"[at], true)
			continue
		}
		if s[i] < '0' || s[i] > '7' {
			add(s[i], true)
			continue
		}
		v, n := 0, 0
		for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
			if next := v*8 + int(s[i+n]-'0'); next > 255 {
				t.c.Errorf("warning: the ambiguous octal escape \\%s is being\n\tinterpreted as the 2-byte sequence \\0%s, %s", s[i:i+3], s[i:i+2], s[i+2:i+3])
				break
			} else {
				v = next
			}
			n++
		}
		add(byte(v), true)
		i += n - 1
	}
	return chars, escaped
}

// construct parses [:class:], [=c=], [c*n]; n is 0 when it is none of them.
func (t *trJob) construct(chars []byte, escaped []bool) (it trItem, n int, ok bool) {
	if len(chars) > 2 && (chars[1] == ':' || chars[1] == '=') && !escaped[1] {
		for i := 2; i+1 < len(chars); i++ {
			if chars[i] != chars[1] || chars[i+1] != ']' || escaped[i] || escaped[i+1] {
				continue
			}
			it, found, ok := t.named(chars[1], chars[2:i])
			if !ok {
				return it, 0, false
			}
			if found {
				return it, i + 2, true
			}
			break
		}
	}
	if len(chars) < 4 || chars[2] != '*' || escaped[2] {
		return it, 0, true
	}
	for i := 3; i < len(chars); i++ {
		if chars[i] != ']' || escaped[i] {
			continue
		}
		digits := string(chars[3:i])
		base := 10
		if strings.HasPrefix(digits, "0") {
			base = 8
		}
		count, err := strconv.ParseUint("0"+digits, base, 31)
		if err != nil {
			t.c.Errorf("invalid repeat count %s in [c*n] construct", t.c.Quote(digits))
			return it, 0, false
		}
		return trItem{chars: chars[1:2], repeat: true, count: int(count)}, i + 1, true
	}
	return it, 0, true
}

// named parses the inside of [:name:] or [=c=].
func (t *trJob) named(kind byte, name []byte) (it trItem, found, ok bool) {
	if kind == '=' {
		switch len(name) {
		case 0:
			t.c.Errorf("missing equivalence class character '[==]'")
			return it, false, false
		case 1:
			return trItem{chars: name, equiv: true}, true, true
		}
		if len(name) > 1 && name[1] == '*' {
			return it, false, true
		}
		t.c.Errorf("%s: equivalence class operand must be a single character", string(name))
		return it, false, false
	}
	if len(name) == 0 {
		t.c.Errorf("missing character class name '[::]'")
		return it, false, false
	}
	test := asciiClass(string(name))
	if test == nil {
		if len(name) > 1 && name[1] == '*' {
			return it, false, true
		}
		t.c.Errorf("invalid character class %s", t.c.Quote(string(name)))
		return it, false, false
	}
	it.class = string(name)
	for b := range 256 {
		if test(byte(b)) {
			it.chars = append(it.chars, byte(b))
		}
	}
	return it, true, true
}

// asciiClass returns the test of a class of the C locale, nil for a name that
// is none.
func asciiClass(name string) func(byte) bool {
	upper := func(b byte) bool { return b >= 'A' && b <= 'Z' }
	lower := func(b byte) bool { return b >= 'a' && b <= 'z' }
	digit := func(b byte) bool { return b >= '0' && b <= '9' }
	alnum := func(b byte) bool { return upper(b) || lower(b) || digit(b) }
	graph := func(b byte) bool { return b > ' ' && b < 0x7f }
	switch name {
	case "upper":
		return upper
	case "lower":
		return lower
	case "digit":
		return digit
	case "alnum":
		return alnum
	case "alpha":
		return func(b byte) bool { return upper(b) || lower(b) }
	case "space":
		return func(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }
	case "blank":
		return func(b byte) bool { return b == ' ' || b == '\t' }
	case "punct":
		return func(b byte) bool { return graph(b) && !alnum(b) }
	case "print":
		return func(b byte) bool { return graph(b) || b == ' ' }
	case "graph":
		return graph
	case "cntrl":
		return func(b byte) bool { return b < ' ' || b == 0x7f }
	case "xdigit":
		return func(b byte) bool { return digit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' }
	}
	return nil
}

// printable writes a character for a message.
func printable(b byte) string {
	if b >= ' ' && b < 0x7f {
		return string(rune(b))
	}
	s := strconv.FormatInt(int64(b)|0o1000, 8)
	return `\` + s[1:]
}

// run reads, changes and writes.
func (t *trJob) run(ctx context.Context) int {
	translating := t.set2 != nil && !t.delete
	buf := make([]byte, copySize)
	last := -1
	for {
		if ctx.Err() != nil {
			return 1
		}
		n, err := t.c.Stdin.Read(buf)
		out := buf[:0]
		for _, b := range buf[:n] {
			if t.remove[b] {
				continue
			}
			if translating {
				b = t.table[b]
			}
			if int(b) == last && t.once[b] {
				continue
			}
			last = int(b)
			out = append(out, b)
		}
		if _, werr := t.c.Stdout.Write(out); werr != nil {
			return 1
		}
		if err == io.EOF {
			return 0
		}
		if err != nil {
			return t.c.Errorf("read error: %s", command.Strerror(err))
		}
	}
}
