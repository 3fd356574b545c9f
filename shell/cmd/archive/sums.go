package archive

import (
	"bufio"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"syscall"

	"github.com/zeebo/blake3"
	"golang.org/x/crypto/blake2b"

	"github.com/vfsd/vfsd/shell/command"
)

const (
	sumTag = 256 + iota
	sumIgnoreMissing
	sumQuiet
	sumStatus
	sumStrict
)

// sumKind is a digest algorithm.
type sumKind struct {
	tag  string // in lines of --tag
	bits int
	make func(bits int) (hash.Hash, error)
}

var sumKinds = map[string]sumKind{
	"md5sum":    {"MD5", 128, func(int) (hash.Hash, error) { return md5.New(), nil }},
	"sha1sum":   {"SHA1", 160, func(int) (hash.Hash, error) { return sha1.New(), nil }},
	"sha224sum": {"SHA224", 224, func(int) (hash.Hash, error) { return sha256.New224(), nil }},
	"sha256sum": {"SHA256", 256, func(int) (hash.Hash, error) { return sha256.New(), nil }},
	"sha384sum": {"SHA384", 384, func(int) (hash.Hash, error) { return sha512.New384(), nil }},
	"sha512sum": {"SHA512", 512, func(int) (hash.Hash, error) { return sha512.New(), nil }},
	"b2sum":     {"BLAKE2b", 512, func(bits int) (hash.Hash, error) { return blake2b.New(bits/8, nil) }},
	"b3sum":     {"BLAKE3", 256, func(int) (hash.Hash, error) { return blake3.New(), nil }},
}

func init() {
	for name, kind := range sumKinds {
		options := []command.Option{
			{Short: 'b', Long: "binary", Help: "read in binary mode"},
			{Short: 'c', Long: "check", Help: "read checksums from the FILEs and check them"},
			{Long: "tag", ID: sumTag, Help: "create a BSD-style checksum"},
			{Short: 't', Long: "text", Help: "read in text mode (default)"},
			{Short: 'z', Long: "zero", Help: "end each output line with NUL, not newline,\nand disable file name escaping"},
			{Long: "ignore-missing", ID: sumIgnoreMissing, Help: "don't fail or report status for missing files"},
			{Long: "quiet", ID: sumQuiet, Help: "don't print OK for each successfully verified file"},
			{Long: "status", ID: sumStatus, Help: "don't output anything, status code shows success"},
			{Long: "strict", ID: sumStrict, Help: "exit non-zero for improperly formatted checksum lines"},
			{Short: 'w', Long: "warn", Help: "warn about improperly formatted checksum lines"},
		}
		if name == "b2sum" || name == "b3sum" {
			options = append(options, command.Option{Short: 'l', Long: "length", Arg: command.RequiredArgument, ArgName: "BITS", Help: "digest length; bits for b2sum, bytes for b3sum"})
		}
		if name == "b3sum" {
			options = append(options, command.Option{Long: "no-names", ID: 'N', Help: "omit filenames in the output"}, command.Option{Long: "num-threads", Arg: command.RequiredArgument, ArgName: "N", ID: 'T', Help: "(ignored)"}, command.Option{Long: "no-mmap", ID: 'T', Help: "(ignored)"})
		}
		command.Register(command.Info{Name: name, Synopsis: name + " [OPTION]... [FILE]...", Options: options,
			Summary: fmt.Sprintf("Print or check %s (%d-bit) checksums.\n\nWith no FILE, or when FILE is -, read standard input.", kind.tag, kind.bits)}, sums)
	}
}

// summer is one run of a sum.
type summer struct {
	c    *command.Context
	ctx  context.Context
	kind sumKind
	bits int

	binary, check, tag, zero, noNames bool
	ignore, quiet, silent, strict     bool
	warn                              bool
	anyKind                           bool // each line says its algorithm: cksum --check
	buf                               []byte
}

func sums(ctx context.Context, c *command.Context, args []string) int {
	s := summer{c: c, ctx: ctx, kind: sumKinds[c.Command.Name], buf: make([]byte, copySize)}
	s.bits = s.kind.bits
	text := false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'b':
			s.binary, text = true, false
		case 't':
			s.binary, text = false, true
		case 'c':
			s.check = true
		case 'z':
			s.zero = true
		case 'w':
			s.warn, s.silent, s.quiet = true, false, false
		case 'N':
			s.noNames = true
		case 'l':
			if status, ok := s.length(p.Arg()); !ok {
				return status
			}
		case sumTag:
			s.tag, s.binary = true, true
		case sumIgnoreMissing:
			s.ignore = true
		case sumQuiet:
			s.quiet, s.silent, s.warn = true, false, false
		case sumStatus:
			s.silent, s.warn, s.quiet = true, false, false
		case sumStrict:
			s.strict = true
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if status, ok := s.conflict(text); !ok {
		return status
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return 1
		}
		if s.check {
			status = max(status, s.checkFile(name))
		} else {
			status = max(status, s.printSum(name))
		}
	}
	return status
}

func (s *summer) length(arg string) (int, bool) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 {
		return s.c.Errorf("invalid length: %s", s.c.Quote(arg)), false
	}
	if s.kind.tag == "BLAKE3" {
		s.bits = min(n, 1<<16) * 8
		return 0, true
	}
	switch {
	case n > 512:
		s.c.Errorf("invalid length: %s", s.c.Quote(arg))
		return s.c.Errorf("maximum digest length for %s is %d bits", s.c.Quote("BLAKE2b"), 512), false
	case n%8 != 0:
		s.c.Errorf("invalid length: %s", s.c.Quote(arg))
		return s.c.Errorf("length is not a multiple of 8"), false
	case n > 0:
		s.bits = n
	}
	return 0, true
}

// conflict refuses options that do not go together.
func (s *summer) conflict(text bool) (int, bool) {
	c := s.c
	switch {
	case s.tag && text:
		return c.Usage("--tag does not support --text mode"), false
	case s.zero && s.check:
		return c.Usage("the --zero option is not supported when verifying checksums"), false
	case s.tag && s.check:
		return c.Usage("the --tag option is meaningless when verifying checksums"), false
	case (s.binary || text) && s.check:
		return c.Usage("the --binary and --text options are meaningless when verifying checksums"), false
	}
	if s.check {
		return 0, true
	}
	for _, o := range []struct {
		set  bool
		name string
	}{{s.ignore, "--ignore-missing"}, {s.silent, "--status"}, {s.warn, "--warn"}, {s.quiet, "--quiet"}, {s.strict, "--strict"}} {
		if o.set {
			return c.Usage("the %s option is meaningful only when verifying checksums", o.name), false
		}
	}
	return 0, true
}

// sum is the digest of a file, in hexadecimal.
func (s *summer) sum(name string, bits int) (string, error) {
	f, err := s.c.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h, err := s.kind.make(bits)
	if err != nil {
		return "", err
	}
	if _, err := io.CopyBuffer(h, withContext{s.ctx, f}, s.buf); err != nil {
		return "", err
	}
	if b3, ok := h.(*blake3.Hasher); ok && bits != 256 {
		out := make([]byte, bits/8)
		if _, err := b3.Digest().Read(out); err != nil {
			return "", err
		}
		return hex.EncodeToString(out), nil
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (s *summer) printSum(name string) int {
	sum, err := s.sum(name, s.bits)
	if err != nil {
		return s.c.Fail(name, err)
	}
	end, shown, escaped := "\n", name, ""
	if s.zero {
		end = "\x00"
	} else if strings.ContainsAny(name, "\n\\\r") {
		shown, escaped = escapeName(name), `\`
	}
	switch {
	case s.noNames:
		s.c.Stdout.WriteString(sum + end)
	case s.tag:
		tag := s.kind.tag
		if s.kind.tag == "BLAKE2b" && s.bits < 512 {
			tag += "-" + strconv.Itoa(s.bits)
		}
		s.c.Stdout.WriteString(escaped + tag + " (" + shown + ") = " + sum + end)
	default:
		mark := "  "
		if s.binary {
			mark = " *"
		}
		s.c.Stdout.WriteString(escaped + sum + mark + shown + end)
	}
	return 0
}

func escapeName(name string) string {
	return strings.NewReplacer("\n", `\n`, `\`, `\\`, "\r", `\r`).Replace(name)
}

// checkLine is one line of a file of checksums.
type checkLine struct {
	sum, name string
	bits      int
	escaped   bool
}

// kindOf is the algorithm that a line of --tag names.
func kindOf(line string) (sumKind, bool) {
	line = strings.TrimPrefix(strings.TrimLeft(line, " \t"), `\`)
	for _, k := range sumKinds {
		if rest, ok := strings.CutPrefix(line, k.tag); ok && (strings.HasPrefix(rest, " (") || strings.HasPrefix(rest, "-")) {
			return k, true
		}
	}
	return sumKind{}, false
}

// parseCheck reads "SUM  NAME", "SUM *NAME" or "TAG (NAME) = SUM".
func (s *summer) parseCheck(line string) (checkLine, bool) {
	var l checkLine
	if s.anyKind {
		kind, ok := kindOf(line)
		if !ok {
			return l, false
		}
		s.kind = kind
	}
	line = strings.TrimLeft(line, " \t")
	if strings.HasPrefix(line, `\`) {
		l.escaped, line = true, line[1:]
	}
	if rest, ok := strings.CutPrefix(line, s.kind.tag); ok {
		bits := s.kind.bits
		if s.kind.tag == "BLAKE2b" && strings.HasPrefix(rest, "-") {
			n, after, _ := strings.Cut(rest[1:], " ")
			v, err := strconv.Atoi(n)
			if err != nil || v <= 0 || v > 512 || v%8 != 0 {
				return l, false
			}
			bits, rest = v, " "+after
		}
		rest = strings.TrimPrefix(rest, " ")
		end := strings.LastIndex(rest, ")")
		if !strings.HasPrefix(rest, "(") || end < 0 {
			return l, false
		}
		l.name, l.bits = rest[1:end], bits
		sum := strings.TrimLeft(rest[end+1:], " \t")
		if !strings.HasPrefix(sum, "=") {
			return l, false
		}
		l.sum = strings.TrimLeft(sum[1:], " \t")
		return s.finishCheck(l)
	}
	i := 0
	for i < len(line) && isHex(line[i]) {
		i++
	}
	l.sum, l.bits = line[:i], i*4
	rest := line[i:]
	if len(rest) < 2 || rest[0] != ' ' && rest[0] != '\t' {
		return l, false
	}
	rest = rest[1:]
	if rest[0] == ' ' || rest[0] == '*' {
		rest = rest[1:]
	}
	l.name = rest
	return s.finishCheck(l)
}

func (s *summer) finishCheck(l checkLine) (checkLine, bool) {
	if l.name == "" || len(l.sum)*4 != l.bits || strings.Trim(strings.ToLower(l.sum), "0123456789abcdef") != "" {
		return l, false
	}
	if s.kind.tag == "BLAKE2b" || s.kind.tag == "BLAKE3" {
		if l.bits == 0 || l.bits%8 != 0 || l.bits > 512 && s.kind.tag == "BLAKE2b" {
			return l, false
		}
	} else if l.bits != s.kind.bits {
		return l, false
	}
	if l.escaped {
		l.name = strings.NewReplacer(`\n`, "\n", `\\`, `\`, `\r`, "\r").Replace(l.name)
	}
	return l, true
}

func isHex(b byte) bool {
	return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'f'
}

// checkCounts is what checking a file came to.
type checkCounts struct{ lines, bad, unreadable, mismatched, matched int }

// checkFile checks the sums that a file lists.
func (s *summer) checkFile(name string) int {
	f, err := s.c.Open(name)
	if err != nil {
		return s.c.Fail(name, err)
	}
	defer f.Close()
	shown := name
	if name == "-" {
		shown = "standard input"
	}
	var n checkCounts
	r := bufio.NewReader(withContext{s.ctx, f})
	for number := 1; ; number++ {
		line, err := r.ReadString('\n')
		if line == "" && err != nil {
			if err != io.EOF {
				return s.c.Errorf("%s: read error: %s", s.c.QuoteName(shown), command.Strerror(err))
			}
			break
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		l, ok := s.parseCheck(line)
		if !ok {
			n.bad++
			if s.warn {
				s.c.Errorf("%s: %d: improperly formatted %s checksum line", s.c.QuoteName(shown), number, s.kind.tag)
			}
			continue
		}
		n.lines++
		s.verify(l, &n)
	}
	return s.verdict(shown, &n)
}

func (s *summer) verify(l checkLine, n *checkCounts) {
	shown, escaped := l.name, ""
	if strings.Contains(l.name, "\n") {
		shown, escaped = escapeName(l.name), `\`
	}
	say := func(text string) {
		if !s.silent {
			s.c.Stdout.WriteString(escaped + shown + ": " + text + "\n")
		}
	}
	sum, err := s.sum(l.name, l.bits)
	if err != nil {
		if s.ignore && toErrno(err) == syscall.ENOENT {
			return
		}
		n.unreadable++
		if err := s.c.Stdout.Flush(); err != nil {
			return
		}
		s.c.Fail(l.name, err)
		say("FAILED open or read")
		return
	}
	if sum != strings.ToLower(l.sum) {
		n.mismatched++
		say("FAILED")
		return
	}
	n.matched++
	if !s.quiet {
		say("OK")
	}
}

// verdict prints the warnings about one file of sums.
func (s *summer) verdict(shown string, n *checkCounts) int {
	c := s.c
	if err := c.Stdout.Flush(); err != nil {
		return 1
	}
	if n.lines == 0 {
		return c.Errorf("%s: no properly formatted checksum lines found", c.QuoteName(shown))
	}
	warn := func(count int, one, many string) {
		if count > 0 && !s.silent {
			format := many
			if count == 1 {
				format = one
			}
			c.Errorf("WARNING: "+format, count)
		}
	}
	warn(n.bad, "%d line is improperly formatted", "%d lines are improperly formatted")
	warn(n.unreadable, "%d listed file could not be read", "%d listed files could not be read")
	warn(n.mismatched, "%d computed checksum did NOT match", "%d computed checksums did NOT match")
	if s.ignore && n.matched == 0 {
		if !s.silent {
			c.Errorf("%s: no file was verified", c.QuoteName(shown))
		}
		return 1
	}
	if n.mismatched > 0 || n.unreadable > 0 || s.strict && n.bad > 0 {
		return 1
	}
	return 0
}
