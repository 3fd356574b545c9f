package text

import (
	"context"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "echo",
		Synopsis: "echo [SHORT-OPTION]... [STRING]...\necho LONG-OPTION",
		Summary:  "Echo the STRING(s) to standard output.",
		Options: []command.Option{
			{Short: 'n', Help: "do not output the trailing newline"},
			{Short: 'e', Help: "enable interpretation of backslash escapes"},
			{Short: 'E', Help: "disable interpretation of backslash escapes (default)"},
		},
		RawArgs: true,
		Notes:   "With -e: \\\\ \\a \\b \\c (no further output) \\e \\f \\n \\r \\t \\v \\0NNN \\xHH",
	}, echo)
}

func echo(_ context.Context, c *command.Context, args []string) int {
	words := args[1:]
	_, posix := c.Env.Lookup("POSIXLY_CORRECT")
	newline, escapes := true, posix
	if len(words) == 1 && !posix {
		switch words[0] {
		case "--help":
			c.Stdout.WriteString(c.Command.Help())
			return 0
		case "--version":
			c.Stdout.WriteString("echo (vfsd)\n")
			return 0
		}
	}
	options := !posix || len(words) > 0 && words[0] == "-n"
	for options && len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' && strings.Trim(words[0][1:], "neE") == "" {
		for _, ch := range words[0][1:] {
			switch ch {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = posix
			}
		}
		words = words[1:]
	}
	for i, w := range words {
		if i > 0 {
			c.Stdout.WriteByte(' ')
		}
		if !escapes {
			c.Stdout.WriteString(w)
			continue
		}
		out, stop := echoEscapes(w)
		c.Stdout.Write(out)
		if stop {
			return 0
		}
	}
	if newline {
		c.Stdout.WriteByte('\n')
	}
	return 0
}

// echoEscapes replaces the escapes of echo -e; stop is set by \c.
func echoEscapes(s string) (out []byte, stop bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		ch := s[i]
		if at := strings.IndexByte(`abefnrtv\`, ch); at >= 0 {
			out = append(out, "\a\b\x1b\f\n\r\t\v\\"[at])
			continue
		}
		switch {
		case ch == 'c':
			return out, true
		case ch == 'x' && i+1 < len(s) && isHex(s[i+1]):
			v, n := digitsIn(s[i+1:], 16, 2)
			out = append(out, byte(v))
			i += n
		case ch == '0':
			v, n := digitsIn(s[i+1:], 8, 3)
			out = append(out, byte(v))
			i += n
		case ch >= '1' && ch <= '7':
			v, n := digitsIn(s[i:], 8, 3)
			out = append(out, byte(v))
			i += n - 1
		default:
			out = append(out, '\\', ch)
		}
	}
	return out, false
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// digitsIn reads at most that many digits, and returns how many there were.
func digitsIn(s string, base, most int) (v, n int) {
	for n < most && n < len(s) {
		d := 99
		switch c := s[n]; {
		case c >= '0' && c <= '9':
			d = int(c - '0')
		case isHex(c):
			d = int(c|0x20-'a') + 10
		}
		if d >= base {
			break
		}
		v = v*base + d
		n++
	}
	return v, n
}
