package text

import (
	"bufio"
	"context"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "fmt",
		Synopsis: "fmt [-WIDTH] [OPTION]... [FILE]...",
		Summary: "Reformat each paragraph in the FILE(s), writing to standard output.\n" +
			"The option -WIDTH is an abbreviated form of --width=DIGITS.\n\nWith no FILE, or when FILE is -, read standard input.",
		Options: append(numberOptions(), []command.Option{
			{Short: 'c', Long: "crown-margin", Help: "preserve indentation of first two lines"},
			{Short: 'p', Long: "prefix", Arg: command.RequiredArgument, ArgName: "STRING", Help: "reformat only lines beginning with STRING,\nreattaching the prefix to reformatted lines"},
			{Short: 's', Long: "split-only", Help: "split long lines, but do not refill"},
			{Short: 't', Long: "tagged-paragraph", Help: "indentation of first line different from second"},
			{Short: 'u', Long: "uniform-spacing", Help: "one space between words, two after sentences"},
			{Short: 'w', Long: "width", Arg: command.RequiredArgument, ArgName: "WIDTH", Help: "maximum line width (default of 75 columns)"},
			{Short: 'g', Long: "goal", Arg: command.RequiredArgument, ArgName: "WIDTH", Help: "goal width (default of 93% of width)"},
		}...),
	}, fmtCommand)
}

// Bounds of a paragraph: a longer one is set in parts.
const (
	fmtMaxWords = 1000
	fmtMaxChars = 5000
	fmtMaxWidth = fmtMaxChars / 2
)

// fmtWord is a word, with what stands behind it.
type fmtWord struct {
	text          []byte
	space         int
	paren, period bool
	punct, final  bool
	// Results of the optimisation.
	best   int
	next   int // index of the first word of the next line
	length int // of the line that starts here
}

// formatter sets paragraphs.
type formatter struct {
	c           *command.Context
	crown       bool
	tagged      bool
	split       bool
	uniform     bool
	width, goal int

	prefix       string // without the blanks around it
	prefixLead   int
	prefixLength int // with trailing blanks
	prefixFull   int

	in     *bufio.Reader
	tabs   bool
	column int
	next   int // the next character, -1 at the end

	nextIndent  int
	indent      int // of the prefix
	firstIndent int
	otherIndent int
	words       []fmtWord
	chars       int
	lastLength  int
	outColumn   int
}

func fmtCommand(ctx context.Context, c *command.Context, args []string) int {
	f := &formatter{c: c, width: 75}
	widthArg, goalArg, prefix := "", "", ""
	p := c.Options(args)
	for p.Next() {
		switch id := p.ID(); id {
		case 'c':
			f.crown = true
		case 'p':
			prefix = p.Arg()
		case 's':
			f.split = true
		case 't':
			f.tagged = true
		case 'u':
			f.uniform = true
		case 'w':
			widthArg = p.Arg()
		case 'g':
			goalArg = p.Arg()
		default:
			widthArg = string(rune(id)) + p.Arg()
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	if !f.setWidths(widthArg, goalArg) {
		return 1
	}
	f.setPrefix(prefix)
	for _, name := range orStdin(files) {
		r, err := c.Open(name)
		if err != nil {
			status = c.Errorf("cannot open %s for reading: %s", c.QuoteArg(name), command.Strerror(err))
			continue
		}
		f.in = bufio.NewReaderSize(r, copySize)
		if err := f.file(ctx); err != nil && ctx.Err() == nil {
			status = c.Errorf("read error: %s", command.Strerror(err))
		}
		r.Close()
		if ctx.Err() != nil || c.Stdout.Err() != nil {
			return 1
		}
	}
	return status
}

func (f *formatter) setWidths(width, goal string) bool {
	parse := func(s string, most int) (int, bool) {
		n, err := strconv.ParseUint(s, 10, 63)
		switch {
		case isRange(err) || err == nil && n > uint64(most):
			f.c.Errorf("invalid width: %s: Numerical result out of range", f.c.Quote(s))
			return 0, false
		case err != nil:
			f.c.Errorf("invalid width: %s", f.c.Quote(s))
			return 0, false
		}
		return int(n), true
	}
	ok := true
	if width != "" {
		if f.width, ok = parse(width, fmtMaxWidth); !ok {
			return false
		}
	}
	if goal != "" {
		if f.goal, ok = parse(goal, f.width); !ok {
			return false
		}
		if width == "" {
			f.width = f.goal + 10
		}
		return true
	}
	f.goal = f.width * 187 / 200
	return true
}

func (f *formatter) setPrefix(s string) {
	trimmed := strings.TrimLeft(s, " ")
	f.prefixLead = len(s) - len(trimmed)
	f.prefixFull = len(trimmed)
	f.prefix = strings.TrimRight(trimmed, " ")
	f.prefixLength = len(f.prefix)
}

// get reads a character, -1 at the end.
func (f *formatter) get() (int, error) {
	c, err := f.in.ReadByte()
	if err == io.EOF {
		return -1, nil
	}
	return int(c), err
}

// space reads blanks from c on, counting columns, and returns what follows.
func (f *formatter) space(c int) (int, error) {
	for {
		switch c {
		case ' ':
			f.column++
		case '\t':
			f.tabs = true
			f.column = (f.column/8 + 1) * 8
		default:
			return c, nil
		}
		var err error
		if c, err = f.get(); err != nil {
			return c, err
		}
	}
}

// readPrefix reads the blanks and the prefix at the start of a line.
func (f *formatter) readPrefix() (int, error) {
	f.column = 0
	c, err := f.get()
	if err != nil {
		return c, err
	}
	if c, err = f.space(c); err != nil {
		return c, err
	}
	if f.prefixLength == 0 {
		f.nextIndent = min(f.prefixLead, f.column)
		return c, nil
	}
	f.nextIndent = f.column
	for i := range f.prefixLength {
		if c != int(f.prefix[i]) {
			return c, nil
		}
		f.column++
		if c, err = f.get(); err != nil {
			return c, err
		}
	}
	return f.space(c)
}

func (f *formatter) file(ctx context.Context) error {
	f.tabs = false
	f.otherIndent = 0
	var err error
	if f.next, err = f.readPrefix(); err != nil {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		ok, err := f.paragraph()
		if !ok || err != nil {
			return err
		}
		f.optimise()
		f.put(len(f.words))
		if f.c.Stdout.Err() != nil {
			return nil
		}
	}
}

// same reports whether a line belongs to the paragraph, by its prefix.
func (f *formatter) same(c int) bool {
	return f.nextIndent == f.indent && f.column >= f.nextIndent+f.prefixFull && c != '\n' && c >= 0
}

// paragraph reads a paragraph; lines that are none are copied on the way.
func (f *formatter) paragraph() (ok bool, err error) {
	f.lastLength = 0
	c := f.next
	for c == '\n' || c < 0 || f.nextIndent < f.prefixLead || f.column < f.nextIndent+f.prefixFull {
		if c, err = f.copyRest(c); err != nil {
			return false, err
		}
		if c < 0 {
			f.next = -1
			return false, nil
		}
		f.c.Stdout.WriteByte('\n')
		if f.c.Stdout.Err() != nil {
			return false, nil
		}
		if c, err = f.readPrefix(); err != nil {
			return false, err
		}
	}
	f.indent, f.firstIndent = f.nextIndent, f.column
	f.words, f.chars = f.words[:0], 0
	if c, err = f.line(c); err != nil {
		return false, err
	}
	f.setOtherIndent(f.same(c))
	more := !f.split && f.same(c)
	switch {
	case f.crown:
		for first := true; more && f.same(c) && (first || f.column == f.otherIndent); first = false {
			if c, err = f.line(c); err != nil {
				return false, err
			}
		}
	case f.tagged:
		for first := f.column != f.firstIndent; more && f.same(c) && (first || f.column == f.otherIndent && f.column != f.firstIndent); first = false {
			if c, err = f.line(c); err != nil {
				return false, err
			}
		}
	default:
		for more && f.same(c) && f.column == f.otherIndent {
			if c, err = f.line(c); err != nil {
				return false, err
			}
		}
	}
	last := &f.words[len(f.words)-1]
	last.period, last.final = true, true
	f.next = c
	return true, nil
}

// setOtherIndent decides how lines after the first are indented.
func (f *formatter) setOtherIndent(same bool) {
	switch {
	case f.split:
		f.otherIndent = f.firstIndent
	case f.crown:
		f.otherIndent = f.firstIndent
		if same {
			f.otherIndent = f.column
		}
	case f.tagged:
		if same && f.column != f.firstIndent {
			f.otherIndent = f.column
		} else if f.otherIndent == f.firstIndent {
			f.otherIndent = 0
			if f.firstIndent == 0 {
				f.otherIndent = 3
			}
		}
	default:
		f.otherIndent = f.firstIndent
	}
}

// copyRest copies a line that is not to be set.
func (f *formatter) copyRest(c int) (int, error) {
	f.outColumn = 0
	if f.column > f.nextIndent || c != '\n' && c >= 0 {
		f.putSpace(f.nextIndent)
		n := 0
		for n < len(f.prefix) && f.outColumn != f.column {
			f.c.Stdout.WriteByte(f.prefix[n])
			f.outColumn++
			n++
		}
		if c >= 0 && c != '\n' {
			f.putSpace(f.column - f.outColumn)
		}
		if c < 0 && f.column >= f.nextIndent+f.prefixLength {
			f.c.Stdout.WriteByte('\n')
		}
	}
	var err error
	for c != '\n' && c >= 0 {
		f.c.Stdout.WriteByte(byte(c))
		if c, err = f.get(); err != nil {
			return c, err
		}
	}
	return c, nil
}

func isFmtSpace(c int) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// line reads the words of a line from c on, and the prefix of the next.
func (f *formatter) line(c int) (int, error) {
	var err error
	for {
		w := fmtWord{}
		for {
			if f.chars == fmtMaxChars {
				f.flushPart(&w)
			}
			w.text = append(w.text, byte(c))
			f.chars++
			if c, err = f.get(); err != nil {
				return c, err
			}
			if c < 0 || isFmtSpace(c) {
				break
			}
		}
		f.column += len(w.text)
		w.look()
		start := f.column
		if c, err = f.space(c); err != nil {
			return c, err
		}
		w.space = f.column - start
		w.final = c < 0 || w.period && (c == '\n' || w.space > 1)
		if c == '\n' || c < 0 || f.uniform {
			w.space = 1
			if w.final {
				w.space = 2
			}
		}
		if len(f.words) == fmtMaxWords-2 {
			f.flushPart(nil)
		}
		f.words = append(f.words, w)
		if c == '\n' || c < 0 {
			return f.readPrefix()
		}
	}
}

// look finds what the word's characters say about its place in a sentence.
func (w *fmtWord) look() {
	first, end := w.text[0], len(w.text)-1
	w.paren = strings.IndexByte("([`'\"", first) >= 0
	fin := w.text[end]
	w.punct = fin > ' ' && fin < 0x7f && !(fin >= '0' && fin <= '9') && !(fin|0x20 >= 'a' && fin|0x20 <= 'z')
	for end > 0 && strings.IndexByte(")]'\"", w.text[end]) >= 0 {
		end--
	}
	w.period = strings.IndexByte(".?!", w.text[end]) >= 0
}

// flushPart sets what there is of a paragraph that is too long, up to a good
// place near its end. partial is a word that is being read.
func (f *formatter) flushPart(partial *fmtWord) {
	if len(f.words) == 0 {
		if partial != nil {
			f.c.Stdout.Write(partial.text)
			f.chars -= len(partial.text)
			partial.text = partial.text[:0]
		}
		return
	}
	f.optimise()
	split, best := len(f.words), math.MaxInt
	for w := f.words[0].next; w != len(f.words); w = f.words[w].next {
		after := 0
		if n := f.words[w].next; n < len(f.words) {
			after = f.words[n].best
		}
		if cost := f.words[w].best - after; cost < best {
			split, best = w, cost
		}
		if best <= math.MaxInt-9 {
			best += 9
		}
	}
	f.put(split)
	rest := append([]fmtWord(nil), f.words[split:]...)
	f.chars = 0
	for i := range rest {
		f.chars += len(rest[i].text)
	}
	if partial != nil {
		f.chars += len(partial.text)
	}
	f.words = rest
}

func square(n int) int { return n * n }

// ragged is what a difference of lengths of neighbouring lines costs.
func ragged(n int) int { return square(n*10) / 2 }

// optimise finds where to break, from the last word to the first.
func (f *formatter) optimise() {
	end := len(f.words)
	for start := end - 1; start >= 0; start-- {
		w := &f.words[start]
		best := math.MaxInt
		length := f.otherIndent
		if start == 0 {
			length = f.firstIndent
		}
		length += len(w.text)
		for k := start + 1; ; k++ {
			// Consider a break before word k.
			cost := f.lineCost(k, length)
			if k < end {
				cost += f.words[k].best
			}
			if start == 0 && f.lastLength > 0 {
				cost += ragged(length - f.lastLength)
			}
			if cost < best {
				best = cost
				w.next, w.length = k, length
			}
			if k == end {
				break
			}
			length += f.words[k-1].space + len(f.words[k].text)
			if length >= f.width {
				break
			}
		}
		w.best = best + f.baseCost(start)
	}
}

// baseCost is what a line that starts with word i costs, whatever its length.
func (f *formatter) baseCost(i int) int {
	cost := square(70)
	w := &f.words[i]
	if i > 0 {
		prev := &f.words[i-1]
		switch {
		case prev.period && prev.final:
			cost -= square(50) // a sentence ends there
		case prev.period:
			cost += square(600) // it may be an abbreviation
		case prev.punct:
			cost -= square(40)
		case i > 1 && f.words[i-2].final:
			cost += square(200) / (len(prev.text) + 2) // a widow
		}
	}
	switch {
	case w.paren:
		cost -= square(40)
	case w.final:
		cost += square(150) / (len(w.text) + 2) // an orphan
	}
	return cost
}

// lineCost is what a line of a length costs that ends before word next.
func (f *formatter) lineCost(next, length int) int {
	if next == len(f.words) {
		return 0
	}
	cost := square(10 * (f.goal - length))
	if w := &f.words[next]; w.next != len(f.words) {
		cost += ragged(length - w.length)
	}
	return cost
}

// put writes the lines of the words before finish.
func (f *formatter) put(finish int) {
	f.putLine(0, f.firstIndent)
	for w := f.words[0].next; w != finish; w = f.words[w].next {
		f.putLine(w, f.otherIndent)
	}
}

// putLine writes the line that starts with word w.
func (f *formatter) putLine(w, indent int) {
	out := f.c.Stdout
	f.outColumn = 0
	f.putSpace(f.indent)
	out.WriteString(f.prefix)
	f.outColumn += f.prefixLength
	f.putSpace(indent - f.outColumn)
	end := f.words[w].next - 1
	for ; ; w++ {
		out.Write(f.words[w].text)
		f.outColumn += len(f.words[w].text)
		if w == end {
			break
		}
		f.putSpace(f.words[w].space)
	}
	f.lastLength = f.outColumn
	out.WriteByte('\n')
}

// putSpace writes blanks, with tabs if the input had some.
func (f *formatter) putSpace(n int) {
	target := f.outColumn + n
	if f.tabs {
		stop := target / 8 * 8
		if f.outColumn+1 < stop {
			for f.outColumn < stop {
				f.c.Stdout.WriteByte('\t')
				f.outColumn = (f.outColumn/8 + 1) * 8
			}
		}
	}
	for f.outColumn < target {
		f.c.Stdout.WriteByte(' ')
		f.outColumn++
	}
}
