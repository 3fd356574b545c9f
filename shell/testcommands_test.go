package shell_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/command"
)

// testCommands are the few commands that the scripts of these tests use, with
// the few options that they use.
var testCommands = map[string]*command.Command{}

func init() {
	for name, run := range map[string]command.Func{
		"cat": testCat, "sleep": testSleep, "sort": testSort, "tr": testTr, "wc": testWc, "env": testEnv, "head": testHead,
		"ls": testLs, "yes": testYes, "touch": testTouch, "mkdir": testMkdir, "chmod": testChmod, "rm": testRm, "seq": testSeq,
		"mkfifo": testMkfifo, "ln": testLn,
	} {
		testCommands[name] = &command.Command{Info: command.Info{Name: name}, Run: run}
	}
}

func lookupTestCommand(name string) *command.Command { return testCommands[name] }

func testCat(_ context.Context, c *command.Context, args []string) int {
	status := 0
	names := args[1:]
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, n := range names {
		f, err := c.Open(n)
		if err != nil {
			status = c.Fail(n, err)
			continue
		}
		buf := make([]byte, 4096)
		for {
			k, err := f.Read(buf)
			if _, werr := c.Stdout.Write(buf[:k]); werr != nil {
				break
			}
			if c.Stdout.Flush() != nil {
				break
			}
			if err != nil && err != io.EOF {
				status = c.Fail(n, err)
			}
			if k == 0 || err != nil {
				break
			}
		}
		f.Close()
	}
	return status
}

func testSleep(ctx context.Context, c *command.Context, args []string) int {
	secs, err := strconv.ParseFloat(args[1], 64)
	if err != nil {
		return c.Errorf("invalid time interval %s", c.Quote(args[1]))
	}
	c.Sleep(ctx, time.Duration(secs*float64(time.Second)))
	return 0
}

func readAll(c *command.Context) string {
	b, _ := io.ReadAll(c.Stdin)
	return string(b)
}

func testSort(_ context.Context, c *command.Context, args []string) int {
	lines := strings.SplitAfter(readAll(c), "\n")
	sort.Strings(lines)
	c.Stdout.WriteString(strings.Join(lines, ""))
	return 0
}

// testTr knows single characters and a-z A-Z.
func testTr(_ context.Context, c *command.Context, args []string) int {
	unescape := strings.NewReplacer(`\n`, "\n", `\0`, "\x00")
	buf := make([]byte, 4096)
	for {
		n, err := c.Stdin.Read(buf)
		text := string(buf[:n])
		if args[1] == "a-z" {
			text = strings.ToUpper(text)
		} else {
			text = strings.ReplaceAll(text, unescape.Replace(args[1]), unescape.Replace(args[2]))
		}
		if _, werr := c.Stdout.WriteString(text); werr != nil || err != nil {
			return 0
		}
	}
}

func testWc(_ context.Context, c *command.Context, args []string) int {
	text := readAll(c)
	n := len(text)
	if args[1] == "-l" {
		n = strings.Count(text, "\n")
	}
	fmt.Fprintf(c.Stdout, "%d\n", n)
	return 0
}

// testEnv prints the environment, or runs a command.
func testEnv(ctx context.Context, c *command.Context, args []string) int {
	env := c.Env
	args = args[1:]
	for len(args) > 0 {
		name, value, ok := strings.Cut(args[0], "=")
		switch {
		case args[0] == "-i":
			env = command.Environ{}
		case ok:
			env = env.Set(name, value)
		default:
			status, err := c.Run(ctx, &command.Child{Args: args, Env: env})
			if err != nil {
				c.Errorf("%s: %s", c.QuoteArg(args[0]), command.Strerror(err))
				return 127
			}
			return status
		}
		args = args[1:]
	}
	for _, kv := range env {
		c.Stdout.WriteString(kv + "\n")
	}
	return 0
}

func testHead(_ context.Context, c *command.Context, args []string) int {
	n := 10
	if len(args) > 1 {
		n, _ = strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(args[1], "-n"), "-"))
	}
	b := make([]byte, 1)
	for n > 0 {
		if k, err := c.Stdin.Read(b); k == 0 || err != nil {
			break
		}
		c.Stdout.WriteByte(b[0])
		if b[0] == '\n' {
			n--
		}
	}
	return 0
}

func testLs(_ context.Context, c *command.Context, args []string) int {
	args = args[1:]
	if len(args) == 0 {
		args = []string{"."}
	}
	status := 0
	for _, a := range args {
		st, err := c.FS.Lstat(a)
		if err != nil {
			c.Errorf("cannot access %s: %s", c.QuoteArg(a), command.Strerror(err))
			status = 2
			continue
		}
		if !st.IsDir() {
			c.Stdout.WriteString(a + "\n")
			continue
		}
		es, _ := c.FS.ReadDir(a)
		var names []string
		for _, e := range es {
			if e.Name[0] != '.' {
				names = append(names, e.Name+"\n")
			}
		}
		sort.Strings(names)
		c.Stdout.WriteString(strings.Join(names, ""))
	}
	return status
}

func testYes(ctx context.Context, c *command.Context, args []string) int {
	line := []byte("y\n")
	if len(args) > 1 {
		line = []byte(args[1] + "\n")
	}
	block := bytes.Repeat(line, 1+4096/len(line))
	for ctx.Err() == nil {
		if _, err := c.Stdout.Write(block); err != nil {
			return 1
		}
	}
	return 1
}

func testTouch(_ context.Context, c *command.Context, args []string) int {
	for _, a := range args[1:] {
		f, err := c.FS.OpenFile(a, 0o101, 0o666) // O_WRONLY | O_CREAT
		if err != nil {
			return c.Errorf("cannot touch %s: %s", c.QuoteArg(a), command.Strerror(err))
		}
		f.Close()
	}
	return 0
}

func testMkdir(_ context.Context, c *command.Context, args []string) int {
	for _, a := range args[1:] {
		if a == "-p" {
			continue
		}
		if err := c.FS.MkdirAll(a, 0o777); err != nil {
			return c.Errorf("cannot create directory %s: %s", c.Quote(a), command.Strerror(err))
		}
	}
	return 0
}

func testChmod(_ context.Context, c *command.Context, args []string) int {
	for _, a := range args[2:] {
		mode, err := strconv.ParseUint(args[1], 8, 32)
		if args[1] == "+x" {
			mode, err = 0o755, nil
		}
		if err == nil {
			err = c.FS.Chmod(a, uint32(mode))
		}
		if err != nil {
			return c.Errorf("cannot access %s: %s", c.QuoteArg(a), command.Strerror(err))
		}
	}
	return 0
}

func testRm(_ context.Context, c *command.Context, args []string) int {
	for _, a := range args[1:] {
		if strings.HasPrefix(a, "-") {
			continue
		}
		if c.FS.Unlink(a) != nil {
			c.FS.Rmdir(a)
		}
	}
	return 0
}

func testSeq(ctx context.Context, c *command.Context, args []string) int {
	n, _ := strconv.Atoi(args[1])
	for i := 1; i <= n && ctx.Err() == nil; i++ {
		if _, err := fmt.Fprintf(c.Stdout, "%d\n", i); err != nil {
			return 1
		}
	}
	return 0
}

func testMkfifo(_ context.Context, c *command.Context, args []string) int {
	for _, a := range args[1:] {
		if err := c.FS.Mknod(a, 0o010666, 0); err != nil {
			return c.Errorf("cannot create fifo %s: %s", c.QuoteArg(a), command.Strerror(err))
		}
	}
	return 0
}

func testLn(_ context.Context, c *command.Context, args []string) int {
	if err := c.FS.Symlink(args[2], args[3]); err != nil {
		return c.Errorf("failed to create symbolic link %s: %s", c.QuoteArg(args[3]), command.Strerror(err))
	}
	return 0
}
