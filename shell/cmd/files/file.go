package files

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func init() {
	command.Register(command.Info{
		Name:     "file",
		Synopsis: "file [-bhiLNrsz0] [--mime-type] [--mime-encoding] [-F SEPARATOR] [-f NAMEFILE] FILE...",
		Summary:  "Determine the type of FILEs.",
		Options: []command.Option{
			{Short: 'b', Long: "brief", Help: "do not prepend filenames to output lines"},
			{Short: 'f', Long: "files-from", Arg: command.RequiredArgument, ArgName: "FILE", Help: "read the filenames to be examined from FILE"},
			{Short: 'F', Long: "separator", Arg: command.RequiredArgument, ArgName: "STRING", Help: "use string as separator instead of `:'"},
			{Short: 'i', Long: "mime", Help: "output MIME type strings (--mime-type and --mime-encoding)"},
			{ID: 'T', Long: "mime-type", Help: "output the MIME type"},
			{ID: 'E', Long: "mime-encoding", Help: "output the MIME encoding"},
			{Short: 'h', Long: "no-dereference", Help: "don't follow symlinks (default)"},
			{Short: 'L', Long: "dereference", Help: "follow symlinks"},
			{Short: 'N', Long: "no-pad", Help: "do not pad output"},
			{Short: '0', Long: "print0", Help: "terminate filenames with ASCII NUL"},
			{Short: 'k', Long: "keep-going", Help: "ignored"},
			{Short: 'r', Long: "raw", Help: "don't translate unprintable chars to \\ooo"},
			{Short: 's', Long: "special-files", Help: "treat special files as ordinary ones"},
			{Short: 'z', Long: "uncompress", Help: "ignored"},
			{Short: 'E', ID: 'e', Help: "on filesystem errors, issue an error message and exit"},
		},
	}, file)
}

// fileRun is one run of file.
type fileRun struct {
	c                             *command.Context
	brief, follow, mime, encoding bool
	noPad, nul                    bool
	separator                     string
}

// fileHead is how much of a file is looked at.
const fileHead = 1 << 20

func file(ctx context.Context, c *command.Context, args []string) int {
	f := &fileRun{c: c, separator: ":"}
	var names []string
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'b':
			f.brief = true
		case 'F':
			f.separator = p.Arg()
		case 'f':
			list, err := f.list(p.Arg())
			if err != nil {
				return c.Fail(p.Arg(), err)
			}
			names = append(names, list...)
		case 'i':
			f.mime, f.encoding = true, true
		case 'T':
			f.mime = true
		case 'E':
			f.encoding = true
		case 'L':
			f.follow = true
		case 'h':
			f.follow = false
		case 'N':
			f.noPad = true
		case '0':
			f.nul = true
		}
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if names = append(names, operands...); len(names) == 0 {
		io.WriteString(c.Stderr, "Usage: file [-bcCdEhikLlNnprsSvzZ0] [--apple] [--extension] [--mime-encoding]\n            [--mime-type] [-e <testname>] [-F <separator>]  [-f <namefile>]\n            [-m <magicfiles>] [-P <parameter=value>] [--exclude-quiet]\n            <file> ...\n       file -C [-m <magicfiles>]\n       file [--help]\n")
		return 1
	}
	width := 0
	for _, n := range names {
		if n == "-" {
			n = "/dev/stdin"
		}
		width = max(width, utf8.RuneCountInString(n))
	}
	for _, n := range names {
		if ctx.Err() != nil {
			return 1
		}
		f.one(n, width)
	}
	return 0
}

func (f *fileRun) list(name string) ([]string, error) {
	var r io.Reader = f.c.Stdin
	if name != "-" {
		h, err := f.c.FS.Open(name)
		if err != nil {
			return nil, err
		}
		defer h.Close()
		r = h
	}
	b, err := io.ReadAll(io.LimitReader(r, fileHead))
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' }), err
}

func (f *fileRun) one(name string, width int) {
	what := f.describe(name)
	if name == "-" {
		name = "/dev/stdin"
	}
	switch {
	case f.brief:
	case f.nul:
		fmt.Fprintf(f.c.Stdout, "%s\x00%s ", name, f.separator)
	case f.noPad:
		fmt.Fprintf(f.c.Stdout, "%s%s ", name, f.separator)
	default:
		fmt.Fprintf(f.c.Stdout, "%s%s %*s", name, f.separator, width-utf8.RuneCountInString(name), "")
	}
	f.c.Stdout.WriteString(what + "\n")
}

func (f *fileRun) describe(name string) string {
	if name == "-" {
		b, err := io.ReadAll(io.LimitReader(f.c.Stdin, fileHead))
		if err != nil {
			return "cannot read"
		}
		return f.content(b, nil)
	}
	a, err := f.c.FS.Lstat(name)
	if err == nil && a.IsSymlink() && f.follow {
		if a, err = f.c.FS.Stat(name); err != nil {
			return fmt.Sprintf("cannot open `%s' (%s)", name, command.Strerror(err))
		}
	}
	if err != nil {
		return fmt.Sprintf("cannot open `%s' (%s)", name, command.Strerror(err))
	}
	special := func(text, mime string) string {
		switch {
		case f.mime && f.encoding:
			return mime + "; charset=binary"
		case f.mime:
			return mime
		case f.encoding:
			return "binary"
		}
		return text
	}
	switch a.Mode & vfs.ModeTypeMask {
	case vfs.ModeDir:
		text := "directory"
		if a.Mode&vfs.ModeSticky != 0 {
			text = "sticky, directory"
		}
		return special(text, "inode/directory")
	case vfs.ModeSymlink:
		target, _ := f.c.FS.Readlink(name)
		if _, err := f.c.FS.Stat(name); err != nil {
			if f.mime {
				return "inode/symlink"
			}
			return special("broken symbolic link to "+target, "")
		}
		return special("symbolic link to "+target, "inode/symlink")
	case vfs.ModeFIFO:
		return special("fifo (named pipe)", "inode/fifo")
	case vfs.ModeSocket:
		return special("socket", "inode/socket")
	case vfs.ModeChar:
		return special("character special", "inode/chardevice")
	case vfs.ModeBlock:
		return special("block special", "inode/blockdevice")
	}
	if a.Size == 0 {
		return special("empty", "inode/x-empty")
	}
	h, err := f.c.FS.Open(name)
	if err != nil {
		text := "regular file, no read permission"
		if a.Mode&0o111 != 0 {
			text = "executable, " + text
		}
		return text
	}
	defer h.Close()
	b, err := io.ReadAll(io.LimitReader(h, fileHead))
	if err != nil {
		return "cannot read `" + name + "' (" + command.Strerror(err) + ")"
	}
	return f.content(b, &a)
}

// content describes what a file holds.
func (f *fileRun) content(b []byte, a *vfs.Attr) string {
	if len(b) == 0 {
		if f.mime {
			return "inode/x-empty"
		}
		return "empty"
	}
	text, mime, charset := binaryMagic(b), "", "binary"
	if text.text == "" {
		text, charset = textMagic(b)
	} else if _, c, ok := encodingOf(b); ok {
		charset = c
	}
	mime = text.mime
	if mime == "" {
		mime = "application/octet-stream"
	}
	switch {
	case f.mime && f.encoding:
		return mime + "; charset=" + charset
	case f.mime:
		return mime
	case f.encoding:
		return charset
	}
	return text.text
}

// fileType is a type as file names it.
type fileType struct{ text, mime string }

// textMagic describes text: its language, encoding and lines; data otherwise.
func textMagic(b []byte) (fileType, string) {
	name, charset, ok := encodingOf(b)
	if len(b) == 1 {
		return fileType{"very short file (no magic)", "application/octet-stream"}, "binary"
	}
	if !ok {
		return fileType{"data", "application/octet-stream"}, "binary"
	}
	kind, mime, suffix := textLanguage(b)
	if mime == "application/json" {
		return fileType{kind, mime}, charset
	}
	text := name + " text"
	if kind == "Perl script" {
		return fileType{kind + " text executable", mime}, charset
	}
	if kind != "" {
		text = kind + ", " + name + " text"
		if suffix {
			text = kind + ", " + name + " text executable"
		}
	}
	return fileType{text + lineNotes(b), mime}, charset
}

// encodingOf tells the encoding of text.
func encodingOf(b []byte) (name, charset string, ok bool) {
	if rest, bom := strings.CutPrefix(string(b[:min(3, len(b))]), "\xEF\xBB\xBF"); bom && rest == "" && utf8.Valid(trimRune(b)) {
		return "Unicode text, UTF-8 (with BOM)", "utf-8", true
	}
	if len(b) >= 2 && (b[0] == 0xFF && b[1] == 0xFE || b[0] == 0xFE && b[1] == 0xFF) {
		if b[0] == 0xFF {
			return "Unicode text, UTF-16, little-endian", "utf-16le", true
		}
		return "Unicode text, UTF-16, big-endian", "utf-16be", true
	}
	ascii, latin, extended := true, true, true
	for _, c := range b {
		switch {
		case c >= 0xA0:
			ascii = false
		case c >= 0x80:
			ascii = false
			latin = latin && c == 0x85
		case c >= 0x20 && c != 0x7F, c >= '\a' && c <= '\r', c == 0x1B:
		default:
			return "", "", false
		}
	}
	switch {
	case ascii:
		return "ASCII", "us-ascii", true
	case utf8.Valid(trimRune(b)):
		return "Unicode text, UTF-8", "utf-8", true
	case latin:
		return "ISO-8859", "iso-8859-1", true
	}
	return "Non-ISO extended-ASCII", "unknown-8bit", extended
}

// trimRune cuts a character off that the end of the head cut through.
func trimRune(b []byte) []byte {
	if len(b) < fileHead {
		return b
	}
	for i := 1; i <= 3; i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			return b[:len(b)-i]
		}
	}
	return b
}

// lineNotes says what is unusual about the lines of a text.
func lineNotes(b []byte) string {
	var crlf, cr, lf, nel, longest, length int
	escapes, backspace := false, false
	for i, c := range b {
		switch c {
		case '\n':
			if i > 0 && b[i-1] == '\r' {
				crlf++
			} else {
				lf++
			}
		case '\r':
			if i+1 < len(b) && b[i+1] != '\n' || i+1 == len(b) {
				cr++
			}
		case 0x1B:
			escapes = true
		case '\b':
			backspace = true
		}
		if length++; c == '\n' || c == '\r' {
			longest, length = max(longest, length-1), 0
		}
	}
	longest = max(longest, length)
	out := ""
	if longest > 300 {
		out += fmt.Sprintf(", with very long lines (%d)", longest)
	}
	switch {
	case crlf+cr+nel+lf == 0:
		out += ", with no line terminators"
	case lf == 0 || crlf+cr > 0:
		var kinds []string
		for _, k := range []struct {
			n    int
			name string
		}{{crlf, "CRLF"}, {cr, "CR"}, {lf, "LF"}, {nel, "NEL"}} {
			if k.n > 0 {
				kinds = append(kinds, k.name)
			}
		}
		out += ", with " + strings.Join(kinds, ", ") + " line terminators"
	}
	if escapes {
		out += ", with escape sequences"
	}
	if backspace {
		out += ", with overstriking"
	}
	return out
}

// textLanguage guesses a language by what a text starts with.
func textLanguage(b []byte) (kind, mime string, executable bool) {
	head := string(b[:min(len(b), 8192)])
	trimmed := strings.TrimLeft(strings.TrimPrefix(head, "\xEF\xBB\xBF"), " \t\r\n")
	if line, ok := strings.CutPrefix(head, "#!"); ok {
		line, _, _ = strings.Cut(line, "\n")
		return scriptLanguage(strings.TrimSpace(line))
	}
	lower := strings.ToLower(trimmed[:min(len(trimmed), 512)])
	switch {
	case isJSON(b):
		return "JSON text data", "application/json", false
	case strings.HasPrefix(trimmed, "<?xml"):
		if strings.Contains(lower, "<svg") {
			return "SVG Scalable Vector Graphics image", "image/svg+xml", false
		}
		return "XML 1.0 document", "text/xml", false
	case strings.HasPrefix(trimmed, "<svg"):
		return "SVG Scalable Vector Graphics image", "image/svg+xml", false
	case strings.HasPrefix(lower, "<!doctype html"), strings.HasPrefix(lower, "<html"), strings.HasPrefix(lower, "<head"), strings.HasPrefix(lower, "<body"):
		return "HTML document", "text/html", false
	case strings.HasPrefix(trimmed, "<?php"):
		return "PHP script", "text/x-php", false
	case strings.HasPrefix(head, "-----BEGIN CERTIFICATE-----"):
		return "PEM certificate", "text/plain", false
	case strings.HasPrefix(head, "-----BEGIN RSA PRIVATE"):
		return "PEM RSA private key", "text/plain", false
	case strings.HasPrefix(head, "diff --git"), strings.HasPrefix(head, "--- ") && strings.Contains(head, "\n+++ "):
		return "unified diff output", "text/x-diff", false
	case strings.Contains(head, "\n#include ") || strings.HasPrefix(head, "#include "):
		return "C source", "text/x-c", false
	case (strings.HasPrefix(head, "import ") || strings.Contains(head, "\nimport ") || strings.HasPrefix(head, "from ")) && strings.Contains(head, "\ndef ") && strings.Contains(head, ":\n"):
		return "Python script", "text/x-script.python", true
	}
	return "", "text/plain", false
}

func scriptLanguage(line string) (kind, mime string, executable bool) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return "", "text/plain", false
	}
	name := words[0][strings.LastIndexByte(words[0], '/')+1:]
	if name == "env" && len(words) > 1 {
		name = words[1]
	}
	switch {
	case slices.Contains([]string{"sh", "dash"}, name):
		return "POSIX shell script", "text/x-shellscript", true
	case name == "bash":
		return "Bourne-Again shell script", "text/x-shellscript", true
	case name == "zsh":
		return "Paul Falstad's zsh script", "text/x-shellscript", true
	case strings.HasPrefix(name, "python"):
		return "Python script", "text/x-script.python", true
	case strings.HasPrefix(name, "perl"):
		return "Perl script", "text/x-perl", true
	case strings.HasPrefix(name, "ruby"):
		return "Ruby script", "text/x-ruby", true
	case name == "node":
		return "Node.js script", "application/javascript", true
	case name == "awk", name == "gawk":
		return name + " script", "text/x-awk", true
	}
	return "a " + line + " script", "text/plain", true
}
