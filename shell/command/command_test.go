package command_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/shell/command"
)

const optReverse = 256

var info = command.Info{
	Name:     "tool",
	Synopsis: "tool [OPTION]... [FILE]...",
	Summary:  "Do something.",
	Options: []command.Option{
		{Short: 'a', Long: "all", Help: "everything"},
		{Short: 'n', Long: "number", Arg: command.RequiredArgument, ArgName: "N", Help: "N of them"},
		{Short: 'c', Long: "color", Arg: command.OptionalArgument, ArgName: "WHEN", Help: "in color"},
		{Long: "reverse", ID: optReverse, Help: "the other way"},
		{Long: "recursive", ID: optReverse + 1, Help: "below"},
		{Short: 'Z', Long: "number-nonblank"},
	},
}

// parse runs the parser and shows what it yields.
func parse(env command.Environ, info command.Info, args ...string) string {
	var stdout, stderr bytes.Buffer
	c := &command.Context{
		Command: &command.Command{Info: info}, Env: env, Stdout: command.NewWriter(&stdout), Stderr: &stderr,
	}
	var b strings.Builder
	p := c.Options(append([]string{"tool"}, args...))
	for p.Next() {
		fmt.Fprintf(&b, "%s(%d)", p.Spelled(), p.ID())
		if p.HasArg() {
			fmt.Fprintf(&b, "=%q", p.Arg())
		}
		b.WriteByte(' ')
	}
	operands, status, stop := p.End()
	c.Stdout.Flush()
	if stop {
		return fmt.Sprintf("stop %d %s%s", status, stdout.String(), stderr.String())
	}
	return b.String() + strings.Join(operands, ",")
}

// TestOptions holds getopt_long's behaviour and words.
func TestOptions(t *testing.T) {
	try := "\nTry 'tool --help' for more information.\n"
	stopAt := info
	stopAt.StopAtOperand = true
	status2 := info
	status2.UsageStatus = 2
	posix := command.Environ{"POSIXLY_CORRECT=1"}
	for _, c := range []struct {
		env  command.Environ
		info command.Info
		args string
		want string
	}{
		{nil, info, "", ""},
		{nil, info, "f -a g", "-a(97) f,g"},
		{posix, info, "f -a g", "f,-a,g"},
		{nil, stopAt, "-a f -a", "-a(97) f,-a"},
		{nil, info, "-a -- -n", "-a(97) -n"},
		{nil, info, "-", "-"},
		{nil, info, "-an5", `-a(97) -n(110)="5" `},
		{nil, info, "-n 5 -n", "stop 1 tool: option requires an argument -- 'n'" + try},
		{nil, info, "-c -cauto x", `-c(99) -c(99)="auto" x`},
		{nil, info, "--all --number=5 --number 6", `--all(97) --number(110)="5" --number(110)="6" `},
		{nil, info, "--color --color=x", `--color(99) --color(99)="x" `},
		{nil, info, "--rev", "--reverse(256) "},
		{nil, info, "--number-n", "--number-nonblank(90) "},
		{nil, info, "--re", "stop 1 tool: option '--re' is ambiguous; possibilities: '--reverse' '--recursive'" + try},
		{nil, info, "--re=3", "stop 1 tool: option '--re=3' is ambiguous; possibilities: '--reverse' '--recursive'" + try},
		{nil, info, "-z", "stop 1 tool: invalid option -- 'z'" + try},
		{nil, status2, "-z", "stop 2 tool: invalid option -- 'z'" + try},
		{nil, info, "--zap=1", "stop 1 tool: unrecognized option '--zap=1'" + try},
		{nil, info, "--all=1", "stop 1 tool: option '--all' doesn't allow an argument" + try},
		{nil, info, "--number", "stop 1 tool: option '--number' requires an argument" + try},
	} {
		if got := parse(c.env, c.info, strings.Fields(c.args)...); got != c.want {
			t.Errorf("%q: got %q, want %q", c.args, got, c.want)
		}
	}
}

func TestHelp(t *testing.T) {
	help := parse(nil, info, "--help")
	for _, want := range []string{"stop 0 Usage: tool [OPTION]... [FILE]...\nDo something.\n", "\n  -a, --all", "  -n, --number=N", "  -c, --color[=WHEN]", "      --reverse", "      --version"} {
		if !strings.Contains(help, want) {
			t.Errorf("no %q in\n%s", want, help)
		}
	}
	if strings.Contains(help, "nonblank") {
		t.Error("an option without help is shown")
	}
	if got := parse(nil, info, "--vers"); !strings.HasPrefix(got, "stop 0 tool (vfsd)") {
		t.Error(got)
	}
}

// TestQuoting holds what coreutils 9.1 prints for names, in the C locale.
func TestQuoting(t *testing.T) {
	c := &command.Context{}
	for _, q := range []struct{ name, quoteName, quoteArg, quote string }{
		{"a", "a", "'a'", "'a'"},
		{"a b", "'a b'", "'a b'", "'a b'"},
		{"a'b", `"a'b"`, `"a'b"`, `'a\'b'`},
		{"a\nb", `'a'$'\n''b'`, `'a'$'\n''b'`, `'a\nb'`},
		{"a\n'b", `'a'$'\n'\''b'`, `'a'$'\n'\''b'`, `'a\n\'b'`},
		{"'\nx", `''\'''$'\n''x'`, `''\'''$'\n''x'`, `'\'\nx'`},
		{"a'$b", `'a'\''$b'`, `'a'\''$b'`, `'a\'$b'`},
		{"\xff", `''$'\377'`, `''$'\377'`, `'\377'`},
		{"", "''", "''", "''"},
		{"~x", "'~x'", "'~x'", "'~x'"},
		{"x~", "x~", "'x~'", "'x~'"},
		{"{", "'{'", "'{'", "'{'"},
		{"{}", "{}", "'{}'", "'{}'"},
		{"a=b", "'a=b'", "'a=b'", "'a=b'"},
		{`a\`, `'a\'`, `'a\'`, `'a\\'`},
		{"é", `''$'\303\251'`, `''$'\303\251'`, `'\303\251'`},
		{"x\n'\ny", `'x'$'\n'\'''$'\n''y'`, `'x'$'\n'\'''$'\n''y'`, `'x\n\'\ny'`},
	} {
		if got := c.QuoteName(q.name); got != q.quoteName {
			t.Errorf("QuoteName(%q) = %s, want %s", q.name, got, q.quoteName)
		}
		if got := c.QuoteArg(q.name); got != q.quoteArg {
			t.Errorf("QuoteArg(%q) = %s, want %s", q.name, got, q.quoteArg)
		}
		if got := c.Quote(q.name); got != q.quote {
			t.Errorf("Quote(%q) = %s, want %s", q.name, got, q.quote)
		}
	}
	wide := &command.Context{Env: command.Environ{"LANG=C.UTF-8"}}
	if got := wide.Quote("é'\xff") + wide.QuoteName("é"); got != "‘é'\\377’é" {
		t.Errorf("in UTF-8: %s", got)
	}
}

func TestStrerror(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, "Success"},
		{syscall.ENOENT, "No such file or directory"},
		{fmt.Errorf("open x: %w", syscall.EISDIR), "Is a directory"},
		{syscall.EOPNOTSUPP, "Operation not supported"},
		{context.Canceled, "Interrupted system call"},
		{errors.New("else"), "else"},
	} {
		if got := command.Strerror(c.err); got != c.want {
			t.Errorf("%v: %s", c.err, got)
		}
	}
}

// chunks records the writes that reach it, and fails after some.
type chunks struct {
	sizes []int
	fail  int // writes until it fails; 0 never
}

func (c *chunks) Write(p []byte) (int, error) {
	c.sizes = append(c.sizes, len(p))
	if c.fail > 0 && len(c.sizes) >= c.fail {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

func TestWriter(t *testing.T) {
	c := &chunks{}
	w := command.NewWriter(c)
	for range 5000 {
		w.WriteByte('x')
	}
	w.WriteString("end")
	w.Write(make([]byte, 10000))
	w.Flush()
	w.Flush()
	if fmt.Sprint(c.sizes) != "[4096 907 10000]" {
		t.Errorf("writes of %v bytes", c.sizes)
	}
	c = &chunks{}
	w = command.NewWriter(c)
	w.LineBuffered()
	w.WriteString("a")
	w.WriteString("b\nc")
	w.WriteByte('\n')
	if fmt.Sprint(c.sizes) != "[4 1]" {
		t.Errorf("line by line: %v", c.sizes)
	}
	c = &chunks{fail: 1}
	w = command.NewWriter(c)
	w.WriteString("lost")
	if err := w.Flush(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("flush: %v", err)
	}
	for _, err := range []error{w.WriteByte('x'), w.Flush(), w.Err(), second(w.WriteString("x")), second(w.Write([]byte("x")))} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("after a failure: %v", err)
		}
	}
	if len(c.sizes) != 1 {
		t.Errorf("it went on writing: %v", c.sizes)
	}
}

func second(_ int, err error) error { return err }

func TestMemory(t *testing.T) {
	m := command.NewMemory(100)
	if err := m.Grow(60); err != nil || m.Left() != 40 {
		t.Errorf("%v, %d left", err, m.Left())
	}
	if err := m.Grow(41); !errors.Is(err, syscall.ENOMEM) || m.Used() != 60 {
		t.Errorf("%v, %d used", err, m.Used())
	}
	m.Shrink(60)
	if err := m.Grow(100); err != nil {
		t.Error(err)
	}
	var none *command.Memory
	if err := none.Grow(1 << 40); err != nil || none.Left() <= 0 {
		t.Error("no account limits something")
	}
}

func TestEnviron(t *testing.T) {
	e := command.Environ{"A=1", "AB=2", "C="}
	f := e.Set("A", "x").Set("N", "new").Unset("AB")
	if e.Get("A") != "1" || fmt.Sprint(f) != "[A=x C= N=new]" {
		t.Errorf("%v from %v", f, e)
	}
	if _, ok := f.Lookup("C"); !ok {
		t.Error("C is not set")
	}
	if _, ok := f.Lookup("AB"); ok {
		t.Error("AB is set")
	}
	for env, want := range map[string]bool{"": false, "LANG=C": false, "LANG=en_US.UTF-8": true, "LC_ALL=C.utf8": true} {
		if (command.Environ{env}).UTF8() != want {
			t.Errorf("%s: UTF-8 is %v", env, !want)
		}
	}
	if (command.Environ{"LC_ALL=C", "LANG=C.UTF-8"}).UTF8() {
		t.Error("LC_ALL does not win")
	}
}

func TestSignals(t *testing.T) {
	for text, want := range map[string]command.Signal{"9": 9, "KILL": 9, "sigterm": 15, "SIGINT": 2, "RTMIN+1": 35, "CLD": 17, "0": 0} {
		if got, ok := command.ParseSignal(text); !ok || got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "NOPE", "65", "-1"} {
		if got, ok := command.ParseSignal(text); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
	for sig, want := range map[command.Signal]string{1: "HUP Hangup", 15: "TERM Terminated", 34: "RTMIN Real-time signal 0", 64: "RTMAX Real-time signal 30", 99: " Unknown signal 99"} {
		if got := sig.Name() + " " + sig.Description(); got != want {
			t.Errorf("%d: %s", sig, got)
		}
	}
	ctx, cancel := command.WithSignalAfter(context.Background(), time.Nanosecond, command.SIGTERM)
	defer cancel()
	<-ctx.Done()
	if sig, ok := command.KilledBy(ctx); !ok || sig != command.SIGTERM {
		t.Errorf("killed by %d, %v", sig, ok)
	}
}

func TestGoRecovers(t *testing.T) {
	err := <-command.Go(func() { panic("boom") })
	var p *command.Panic
	if !errors.As(err, &p) || p.Value != "boom" {
		t.Errorf("%v", err)
	}
	if err := <-command.Go(func() {}); err != nil {
		t.Error(err)
	}
}

func TestRegistry(t *testing.T) {
	command.Register(command.Info{Name: "registered"}, func(context.Context, *command.Context, []string) int { return 3 })
	if c := command.Lookup("registered"); c == nil || c.Run(nil, nil, nil) != 3 {
		t.Error("not found")
	}
	defer func() {
		if recover() == nil {
			t.Error("a name can be taken twice")
		}
	}()
	command.Register(command.Info{Name: "registered"}, nil)
}

var _ io.Writer = (*command.Writer)(nil)
