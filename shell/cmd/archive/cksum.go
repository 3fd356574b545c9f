package archive

import (
	"context"
	"fmt"
	"io"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
)

const cksumUntagged = 300

func init() {
	command.Register(command.Info{
		Name:     "cksum",
		Synopsis: "cksum [OPTION]... [FILE]...",
		Summary:  "Print or verify checksums.\nBy default use the 32 bit CRC algorithm.",
		Options: []command.Option{
			{Short: 'a', Long: "algorithm", Arg: command.RequiredArgument, ArgName: "TYPE", Help: "select the digest type to use: sysv, bsd, crc, md5, sha1,\nsha224, sha256, sha384, sha512, blake2b"},
			{Short: 'c', Long: "check", Help: "read checksums from the FILEs and check them"},
			{Short: 'l', Long: "length", Arg: command.RequiredArgument, ArgName: "BITS", Help: "digest length in bits for blake2b"},
			{Long: "tag", ID: sumTag, Help: "create a BSD-style checksum (the default)"},
			{Long: "untagged", ID: cksumUntagged, Help: "create a reversed style checksum, without digest type"},
			{Short: 'z', Long: "zero", Help: "end each output line with NUL, not newline,\nand disable file name escaping"},
			{Long: "ignore-missing", ID: sumIgnoreMissing, Help: "don't fail or report status for missing files"},
			{Long: "quiet", ID: sumQuiet, Help: "don't print OK for each successfully verified file"},
			{Long: "status", ID: sumStatus, Help: "don't output anything, status code shows success"},
			{Long: "strict", ID: sumStrict, Help: "exit non-zero for improperly formatted checksum lines"},
			{Short: 'w', Long: "warn", Help: "warn about improperly formatted checksum lines"},
		},
	}, cksum)
	command.Register(command.Info{
		Name:     "sum",
		Synopsis: "sum [OPTION]... [FILE]...",
		Summary:  "Print checksum and block counts for each FILE.",
		Options: []command.Option{
			{Short: 'r', Help: "use BSD sum algorithm (the default), use 1K blocks"},
			{Short: 's', Long: "sysv", Help: "use System V sum algorithm, use 512 bytes blocks"},
		},
	}, sum)
}

var cksumTypes = []gnulib.Choice{{Word: "bsd", Value: 0}, {Word: "sysv", Value: 1}, {Word: "crc", Value: 2}, {Word: "md5", Value: 3}, {Word: "sha1", Value: 4},
	{Word: "sha224", Value: 5}, {Word: "sha256", Value: 6}, {Word: "sha384", Value: 7}, {Word: "sha512", Value: 8}, {Word: "blake2b", Value: 9}, {Word: "sm3", Value: 10}}

var cksumCommands = [...]string{3: "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"}

func cksum(ctx context.Context, c *command.Context, args []string) int {
	s := summer{c: c, ctx: ctx, tag: true, buf: make([]byte, copySize)}
	kind, length, explicit := 2, "", false
	untagged := false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'a':
			v, ok := gnulib.MatchArg(c, "--algorithm", p.Arg(), cksumTypes)
			if !ok {
				return 1
			}
			kind, explicit = v, true
		case 'c':
			s.check = true
		case 'l':
			length = p.Arg()
		case sumTag:
			untagged = false
		case cksumUntagged:
			untagged = true
		case 'z':
			s.zero = true
		case 'w':
			s.warn = true
		case sumIgnoreMissing:
			s.ignore = true
		case sumQuiet:
			s.quiet = true
		case sumStatus:
			s.silent = true
		case sumStrict:
			s.strict = true
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		names = []string{""}
	}
	if kind <= 2 {
		if s.check && !explicit {
			return s.checkTagged(names)
		}
		if s.check {
			return c.Errorf("--check is not supported with --algorithm={bsd,sysv,crc}")
		}
		return oldSums(ctx, c, names, kind)
	}
	if kind == 10 {
		return c.Errorf("sm3 is not supported")
	}
	s.kind = sumKinds[cksumCommands[kind]]
	s.bits = s.kind.bits
	if length != "" {
		if kind != 9 {
			return c.Errorf("--length is only supported with --algorithm=blake2b")
		}
		if status, ok := s.length(length); !ok {
			return status
		}
	}
	s.tag = !untagged
	for _, name := range names {
		if name == "" {
			name = "-"
		}
		if s.check {
			status = max(status, s.checkFile(name))
		} else {
			status = max(status, s.printSum(name))
		}
	}
	return status
}

// checkTagged checks lines that name their algorithm.
func (s *summer) checkTagged(names []string) int {
	s.anyKind = true
	status := 0
	for _, name := range names {
		if name == "" {
			name = "-"
		}
		status = max(status, s.checkFile(name))
	}
	return status
}

// oldSums prints the three sums that are no digests: 0 bsd, 1 sysv, 2 crc.
func oldSums(ctx context.Context, c *command.Context, names []string, kind int) int {
	status := 0
	buf := make([]byte, copySize)
	for _, name := range names {
		path := name
		if path == "" {
			path = "-"
		}
		f, err := c.Open(path)
		if err != nil {
			status = c.Fail(path, err)
			continue
		}
		var h oldSum
		switch kind {
		case 0:
			h = &bsdSum{}
		case 1:
			h = &sysvSum{}
		default:
			h = &crcSum{}
		}
		n, err := io.CopyBuffer(h, withContext{ctx, f}, buf)
		f.Close()
		if err != nil {
			status = c.Fail(path, err)
			continue
		}
		line := h.line(n)
		if name != "" {
			line += " " + name
		}
		c.Stdout.WriteString(line + "\n")
	}
	return status
}

func sum(ctx context.Context, c *command.Context, args []string) int {
	kind := 0
	p := c.Options(args)
	for p.Next() {
		kind = 0
		if p.ID() == 's' {
			kind = 1
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		names = []string{""}
	}
	return oldSums(ctx, c, names, kind)
}

// oldSum is a sum that prints itself with the length n of the input.
type oldSum interface {
	io.Writer
	line(n int64) string
}

type bsdSum struct{ v uint32 }

func (s *bsdSum) Write(p []byte) (int, error) {
	for _, b := range p {
		s.v = (s.v>>1 + s.v&1<<15 + uint32(b)) & 0xffff
	}
	return len(p), nil
}

func (s *bsdSum) line(n int64) string { return fmt.Sprintf("%05d %5d", s.v, (n+1023)/1024) }

type sysvSum struct{ v uint32 }

func (s *sysvSum) Write(p []byte) (int, error) {
	for _, b := range p {
		s.v += uint32(b)
	}
	return len(p), nil
}

func (s *sysvSum) line(n int64) string {
	r := s.v&0xffff + s.v>>16
	return fmt.Sprintf("%d %d", r&0xffff+r>>16, (n+511)/512)
}

// crcSum is the CRC of POSIX cksum, which covers the length too.
type crcSum struct{ v uint32 }

var crcTable = func() (t [256]uint32) {
	for i := range t {
		v := uint32(i) << 24
		for range 8 {
			if v&(1<<31) != 0 {
				v = v<<1 ^ 0x04c11db7
			} else {
				v <<= 1
			}
		}
		t[i] = v
	}
	return t
}()

func (s *crcSum) Write(p []byte) (int, error) {
	v := s.v
	for _, b := range p {
		v = v<<8 ^ crcTable[byte(v>>24)^b]
	}
	s.v = v
	return len(p), nil
}

func (s *crcSum) line(n int64) string {
	v := s.v
	for l := n; l > 0; l >>= 8 {
		v = v<<8 ^ crcTable[byte(v>>24)^byte(l)]
	}
	return fmt.Sprintf("%d %d", ^v, n)
}
