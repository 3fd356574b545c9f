package text

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
)

const (
	optProcessSlot = 256 + iota
	optShowLimits
)

func init() {
	command.Register(command.Info{
		Name:     "xargs",
		Synopsis: "xargs [OPTION]... COMMAND [INITIAL-ARGS]...",
		Summary:  "Run COMMAND with arguments INITIAL-ARGS and more arguments read from input.",
		Options: []command.Option{
			{Short: '0', Long: "null", Help: "items are separated by a null, not whitespace;\ndisables quote and backslash processing and\nlogical EOF processing"},
			{Short: 'a', Long: "arg-file", Arg: command.RequiredArgument, ArgName: "FILE", Help: "read arguments from FILE, not standard input"},
			{Short: 'd', Long: "delimiter", Arg: command.RequiredArgument, ArgName: "CHARACTER", Help: "items in input stream are separated by CHARACTER,\nnot by whitespace; disables quote and backslash\nprocessing and logical EOF processing"},
			{Short: 'E', Arg: command.RequiredArgument, ArgName: "END", Help: "set logical EOF string; if END occurs as a line\nof input, the rest of the input is ignored"},
			{Short: 'e', Long: "eof", Arg: command.OptionalArgument, ArgName: "END", Help: "equivalent to -E END if END is specified"},
			{Short: 'I', Arg: command.RequiredArgument, ArgName: "R", Help: "same as --replace=R"},
			{Short: 'i', Long: "replace", Arg: command.OptionalArgument, ArgName: "R", Help: "replace R in INITIAL-ARGS with names read\nfrom standard input, split at newlines;\nif R is unspecified, assume {}"},
			{Short: 'L', Arg: command.RequiredArgument, ArgName: "MAX-LINES", Help: "use at most MAX-LINES non-blank input lines per command line"},
			{Short: 'l', Long: "max-lines", Arg: command.OptionalArgument, ArgName: "MAX-LINES", Help: "similar to -L but defaults to at most one non-\nblank input line if MAX-LINES is not specified"},
			{Short: 'n', Long: "max-args", Arg: command.RequiredArgument, ArgName: "MAX-ARGS", Help: "use at most MAX-ARGS arguments per command line"},
			{Short: 'o', Long: "open-tty", Help: "(ignored)"},
			{Short: 'P', Long: "max-procs", Arg: command.RequiredArgument, ArgName: "MAX-PROCS", Help: "run at most MAX-PROCS processes at a time"},
			{Short: 'p', Long: "interactive", Help: "prompt before running commands"},
			{Long: "process-slot-var", Arg: command.RequiredArgument, ArgName: "VAR", ID: optProcessSlot, Help: "set environment variable VAR in child processes"},
			{Short: 'r', Long: "no-run-if-empty", Help: "if there are no arguments, then do not run COMMAND"},
			{Short: 's', Long: "max-chars", Arg: command.RequiredArgument, ArgName: "MAX-CHARS", Help: "limit length of command line to MAX-CHARS"},
			{Long: "show-limits", ID: optShowLimits},
			{Short: 't', Long: "verbose", Help: "print commands before executing them"},
			{Short: 'x', Long: "exit", Help: "exit if the size (see -s) is exceeded"},
		},
		StopAtOperand: true,
	}, xargs)
}

// maxCommandLine bounds a command line, as Linux and GNU xargs do.
const maxCommandLine = 128 << 10

// Exit statuses of xargs.
const (
	xargsFailed   = 123 // a command failed
	xargsGaveUp   = 124 // a command exited with 255
	xargsKilled   = 125 // a command was ended by a signal
	xargsCannot   = 126 // a command cannot be run
	xargsNotFound = 127
)

// xargsJob is what the options ask for.
type xargsJob struct {
	c        *command.Context
	delim    int // -1: blanks and quotes
	file     string
	end      string
	hasEnd   bool
	replace  string
	lines    int
	args     int
	procs    int
	noEmpty  bool
	chars    int
	verbose  bool
	exit     bool
	slotVar  string
	initial  []string
	asked    bool
	in       *bufio.Reader
	lastLine bool // the last item ended its line

	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	status int  // guarded by mu
	stop   bool // guarded by mu: no further commands
}

func xargs(ctx context.Context, c *command.Context, args []string) int {
	x := &xargsJob{c: c, delim: -1, procs: 1, chars: maxCommandLine}
	p := c.Options(args)
	for p.Next() {
		if !x.option(p) {
			return 1
		}
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if len(operands) == 0 {
		operands = []string{"echo"}
	}
	x.initial = operands
	src := c.Stdin
	if x.file != "" && x.file != "-" {
		f, err := c.FS.Open(x.file)
		if err != nil {
			return c.Errorf("Cannot open input file %s: %s", c.Quote(x.file), command.Strerror(err))
		}
		defer f.Close()
		src = f
	}
	x.in = bufio.NewReaderSize(src, copySize)
	x.ctx, x.cancel = context.WithCancel(ctx)
	defer x.cancel()
	return x.run()
}

// option applies one option; false after a mistake.
func (x *xargsJob) option(p *command.Parser) (ok bool) {
	arg := p.Arg()
	ok = true
	switch id := p.ID(); id {
	case '0':
		x.delim = 0
	case 'a':
		x.file = arg
	case 'd':
		return x.setDelimiter(arg)
	case 'E', 'e':
		x.end, x.hasEnd = arg, arg != ""
	case 'I', 'i':
		if x.args > 0 {
			x.c.Errorf("warning: options --max-args and --replace/-I/-i are mutually exclusive, ignoring previous --max-args value")
		}
		x.replace = arg
		if arg == "" {
			x.replace = "{}"
		}
		x.args, x.lines = 0, 0
	case 'L', 'l':
		x.lines = 1
		if arg != "" {
			x.lines, ok = x.number(arg, byte(id), 1)
		}
		x.args, x.replace = 0, ""
	case 'n':
		x.args, ok = x.number(arg, 'n', 1)
		x.lines = 0
		if x.replace != "" && x.args != 1 {
			x.c.Errorf("warning: options --replace and --max-args/-n are mutually exclusive, ignoring previous --replace value")
			x.replace = ""
		} else if x.replace != "" {
			x.args = 0
		}
	case 'P':
		x.procs, ok = x.number(arg, 'P', 0)
	case 'r':
		x.noEmpty = true
	case 's':
		n, err := strconv.Atoi(arg)
		if err != nil {
			_, ok = x.number(arg, 's', 1)
			break
		}
		if n < 1 {
			x.c.Errorf("value %s for -s option should be >= 1", arg)
			n = 1
		}
		x.chars = min(n, maxCommandLine)
	case 't':
		x.verbose = true
	case 'p':
		x.verbose, x.asked = true, true
	case 'x':
		x.exit = true
	case optProcessSlot:
		x.slotVar = arg
	}
	return ok
}

func (x *xargsJob) number(arg string, option byte, least int) (int, bool) {
	n, err := strconv.Atoi(arg)
	if err != nil {
		x.c.Errorf("invalid number \"%s\" for -%c option", arg, option)
		io.WriteString(x.c.Stderr, "Try 'xargs --help' for more information.\n")
		return 0, false
	}
	if n < least {
		x.c.Errorf("value %s for -%c option should be >= %d", arg, option, least)
		io.WriteString(x.c.Stderr, "Try 'xargs --help' for more information.\n")
		return 0, false
	}
	return n, true
}

// setDelimiter reads the argument of -d: a character or an escape.
func (x *xargsJob) setDelimiter(arg string) bool {
	if len(arg) == 1 {
		x.delim = int(arg[0])
		return true
	}
	if !strings.HasPrefix(arg, `\`) {
		x.c.Errorf("Invalid input delimiter specification %s: the delimiter must be either a single character or an escape sequence starting with \\.", arg)
		return false
	}
	out, stop := echoEscapes(arg)
	if at := arg[1:]; digitsOf(at) == len(at) {
		v, n := digitsIn(at, 8, 3)
		if n == len(at) {
			x.delim = v & 0xff
			return true
		}
	}
	if stop || len(out) != 1 {
		x.c.Errorf("Invalid escape sequence %s in input delimiter specification.", arg)
		return false
	}
	x.delim = int(out[0])
	return true
}

// errXargs is a mistake in the input, reported already.
var errXargs = errors.New("input")

// run reads items and runs commands.
func (x *xargsJob) run() int {
	var wait sync.WaitGroup
	slots := make(chan int, max(x.procs, 1))
	for i := range cap(slots) {
		slots <- i
	}
	if x.procs == 0 {
		slots = nil // as many as there are
	}
	start := func(args []string) {
		if x.verbose && !x.announce(args) {
			return
		}
		if x.procs == 1 {
			x.execute(args, 0)
			return
		}
		slot := 0
		if slots != nil {
			select {
			case slot = <-slots:
			case <-x.ctx.Done():
				return
			}
		}
		wait.Add(1)
		command.Go(func() {
			defer wait.Done()
			if slots != nil {
				defer func() { slots <- slot }()
			}
			x.execute(args, slot)
		})
	}
	err := x.batches(start)
	wait.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.status != 0:
		return x.status
	case err != nil:
		return 1
	}
	return 0
}

func (x *xargsJob) stopped() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stop || x.ctx.Err() != nil
}

// batches reads the items and calls start for each command line.
func (x *xargsJob) batches(start func([]string)) error {
	if x.replace != "" {
		return x.replaced(start)
	}
	base := 0
	for _, a := range x.initial {
		base += len(a) + 1
	}
	if base > x.chars {
		x.c.Errorf("cannot fit single argument within argument list size limit")
		return errXargs
	}
	var batch []string
	size, linesUsed, any := base, 0, false
	flush := func() {
		start(append(append([]string(nil), x.initial...), batch...))
		batch, size, linesUsed, any = nil, base, 0, true
	}
	for !x.stopped() {
		item, ok, err := x.item()
		if err != nil {
			if err == errXargs {
				// What was read before the mistake is run.
				if len(batch) > 0 {
					flush()
				}
				return err
			}
			x.c.Errorf("read error: %s", command.Strerror(err))
			return err
		}
		if !ok {
			break
		}
		if size+len(item)+1 > x.chars {
			if len(batch) == 0 {
				x.c.Errorf("argument line too long")
				return errXargs
			}
			if x.exit && (x.lines > 0 || x.args > 0) {
				x.c.Errorf("argument list too long")
				return errXargs
			}
			flush()
		}
		batch = append(batch, item)
		size += len(item) + 1
		if x.lastLine {
			linesUsed++
		}
		if x.args > 0 && len(batch) == x.args || x.lines > 0 && linesUsed == x.lines {
			flush()
		}
	}
	if !x.stopped() && (len(batch) > 0 || !any && !x.noEmpty) {
		flush()
	}
	return nil
}

// replaced runs a command for each line, which takes the place of a string.
func (x *xargsJob) replaced(start func([]string)) error {
	for !x.stopped() {
		item, ok, err := x.line()
		if err != nil {
			if err != errXargs {
				x.c.Errorf("read error: %s", command.Strerror(err))
			}
			return err
		}
		if !ok {
			return nil
		}
		args := make([]string, len(x.initial))
		size := 0
		for i, a := range x.initial {
			args[i] = a
			if i > 0 {
				args[i] = strings.ReplaceAll(a, x.replace, item)
			}
			if size += len(args[i]) + 1; size > x.chars {
				x.c.Errorf("command too long")
				return errXargs
			}
		}
		start(args)
	}
	return nil
}

// delimited reads an item up to the delimiter.
func (x *xargsJob) delimited() (item string, ok bool, err error) {
	var b strings.Builder
	for {
		c, err := x.in.ReadByte()
		if err == io.EOF {
			x.lastLine = true
			return b.String(), b.Len() > 0, nil
		}
		if err != nil {
			return "", false, err
		}
		if int(c) == x.delim {
			x.lastLine = true
			return b.String(), true, nil
		}
		if b.WriteByte(c); b.Len() > maxCommandLine {
			x.c.Errorf("argument line too long")
			return "", false, errXargs
		}
	}
}

// item reads one item: a word with quotes taken off, or up to the delimiter.
func (x *xargsJob) item() (item string, ok bool, err error) {
	if x.delim >= 0 {
		return x.delimited()
	}
	item, ok, err = x.word(false)
	if ok && x.hasEnd && item == x.end {
		return "", false, nil
	}
	return item, ok, err
}

// line reads an item for -I: a line without the blanks at its start.
func (x *xargsJob) line() (item string, ok bool, err error) {
	if x.delim >= 0 {
		return x.delimited()
	}
	item, ok, err = x.word(true)
	if ok && x.hasEnd && item == x.end {
		return "", false, nil
	}
	return item, ok, err
}

// word reads a word, or with whole a line, taking off quotes and backslashes.
func (x *xargsJob) word(whole bool) (string, bool, error) {
	var b strings.Builder
	started := false
	quote := byte(0)
	for {
		c, err := x.in.ReadByte()
		if err == io.EOF {
			if quote != 0 {
				x.unmatched(quote)
				return "", false, errXargs
			}
			x.lastLine = true
			return b.String(), started, nil
		}
		if err != nil {
			return "", false, err
		}
		switch {
		case quote != 0:
			if c == '\n' {
				x.unmatched(quote)
				return "", false, errXargs
			}
			if c == quote {
				quote = 0
				continue
			}
		case c == '\'' || c == '"':
			quote, started = c, true
			continue
		case c == '\\':
			if c, err = x.in.ReadByte(); err == io.EOF {
				continue // nothing is quoted by it
			} else if err != nil {
				return "", false, err
			}
		case c == '\n':
			if !started {
				continue
			}
			x.lastLine = true
			return b.String(), true, nil
		case c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r':
			if !started {
				continue
			}
			if !whole {
				// With -L a blank at a line's end joins it to the next.
				x.lastLine = false
				return b.String(), true, nil
			}
		}
		started = true
		if b.WriteByte(c); b.Len() > maxCommandLine {
			x.c.Errorf("argument line too long")
			return "", false, errXargs
		}
	}
}

func (x *xargsJob) unmatched(quote byte) {
	kind := "double"
	if quote == '\'' {
		kind = "single"
	}
	x.c.Errorf("unmatched %s quote; by default quotes are special to xargs unless you use the -0 option", kind)
}

// announce prints a command line for -t; false when -p's question was not
// answered with yes.
func (x *xargsJob) announce(args []string) bool {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = x.c.QuoteName(a)
	}
	line := strings.Join(quoted, " ")
	if !x.asked {
		io.WriteString(x.c.Stderr, line+"\n")
		return true
	}
	// There is no terminal that could answer.
	io.WriteString(x.c.Stderr, line)
	x.c.Errorf("failed to open /dev/tty for reading: %s", command.Strerror(syscall.ENXIO))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status, x.stop = 1, true
	return false
}

// execute runs one command line.
func (x *xargsJob) execute(args []string, slot int) {
	child := &command.Child{Args: args, Stdin: strings.NewReader("")}
	if x.file != "" {
		child.Stdin = nil
	}
	if x.slotVar != "" {
		child.Env = x.c.Env.Set(x.slotVar, strconv.Itoa(slot))
	}
	var status int
	var err error
	if x.procs == 1 {
		status, err = x.c.Run(x.ctx, child)
	} else {
		// Nothing was written by xargs itself: there is nothing to flush.
		child.Stdout = x.c.Stdout.Underlying()
		status, err = x.c.System.Exec(x.ctx, x.c, child)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	set := func(s int, stop bool) {
		if !x.stop {
			x.status = max(x.status, s)
		}
		x.stop = x.stop || stop
	}
	switch {
	case err != nil:
		x.c.Errorf("%s: %s", args[0], command.Strerror(err))
		if errors.Is(err, syscall.ENOENT) {
			set(xargsNotFound, true)
		} else {
			set(xargsCannot, true)
		}
	case status == 255:
		x.c.Errorf("%s: exited with status 255; aborting", args[0])
		set(xargsGaveUp, true)
	case status > 128 && command.Signal(status-128).Name() != "" && status != 255:
		x.c.Errorf("%s: terminated by signal %d", args[0], status-128)
		set(xargsKilled, true)
	case status != 0:
		set(xargsFailed, false)
	}
}
