package archive

import (
	"bytes"
	"context"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"io"
	"math"
	"math/bits"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
)

// baseOptions are common to base64, base32 and basenc.
var baseOptions = []command.Option{
	{Short: 'd', Long: "decode", Help: "decode data"},
	{Short: 'i', Long: "ignore-garbage", Help: "when decoding, ignore non-alphabet characters"},
	{Short: 'w', Long: "wrap", Arg: command.RequiredArgument, ArgName: "COLS", Help: "wrap encoded lines after COLS character (default 76).\nUse 0 to disable line wrapping"},
}

// baseKind is an encoding: in and out are the sizes of its smallest groups.
type baseKind struct {
	in, out  int
	alphabet string
	padded   bool
	encode   func(dst, src []byte) int
	decode   func(dst, src []byte) (int, error)
}

const (
	letters      = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alphabet64   = letters + "abcdefghijklmnopqrstuvwxyz0123456789+/"
	alphabetURL  = letters + "abcdefghijklmnopqrstuvwxyz0123456789-_"
	alphabet32   = letters + "234567"
	alphabetHex  = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
	alphabetZ85  = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
	basencFirst  = 256
	upperHexSize = 2
)

func of64(e *base64.Encoding, alphabet string) baseKind {
	e = e.Strict()
	return baseKind{3, 4, alphabet, true, func(dst, src []byte) int { e.Encode(dst, src); return e.EncodedLen(len(src)) },
		func(dst, src []byte) (int, error) { return e.Decode(dst, src) }}
}

func of32(e *base32.Encoding, alphabet string) baseKind {
	return baseKind{5, 8, alphabet, true, func(dst, src []byte) int { e.Encode(dst, src); return e.EncodedLen(len(src)) },
		func(dst, src []byte) (int, error) { return e.Decode(dst, src) }}
}

var baseKinds = map[string]baseKind{
	"base64":    of64(base64.StdEncoding, alphabet64),
	"base64url": of64(base64.URLEncoding, alphabetURL),
	"base32":    of32(base32.StdEncoding, alphabet32),
	"base32hex": of32(base32.HexEncoding, alphabetHex),
	"base16": {1, upperHexSize, "0123456789ABCDEF", false, func(dst, src []byte) int {
		return copy(dst, strings.ToUpper(hex.EncodeToString(src)))
	}, func(dst, src []byte) (int, error) { return hex.Decode(dst, src) }},
	"base2msbf": {1, 8, "01", false, func(dst, src []byte) int { return bitsOf(dst, src, true) }, func(dst, src []byte) (int, error) { return fromBits(dst, src, true), nil }},
	"base2lsbf": {1, 8, "01", false, func(dst, src []byte) int { return bitsOf(dst, src, false) }, func(dst, src []byte) (int, error) { return fromBits(dst, src, false), nil }},
	"z85":       {4, 5, alphabetZ85, false, encodeZ85, decodeZ85},
}

func init() {
	for _, name := range []string{"base64", "base32"} {
		command.Register(command.Info{Name: name, Synopsis: name + " [OPTION]... [FILE]", Options: baseOptions,
			Summary: "Base" + name[4:] + " encode or decode FILE, or standard input, to standard output."}, baseCommand)
	}
	options := append([]command.Option{}, baseOptions...)
	for i, name := range basencNames {
		options = append(options, command.Option{Long: name, ID: basencFirst + i, Help: "the encoding " + name})
	}
	command.Register(command.Info{Name: "basenc", Synopsis: "basenc [OPTION]... [FILE]", Options: options,
		Summary: "basenc encode or decode FILE, or standard input, to standard output."}, baseCommand)
}

var basencNames = []string{"base64", "base64url", "base32", "base32hex", "base16", "base2msbf", "base2lsbf", "z85"}

func baseCommand(ctx context.Context, c *command.Context, args []string) int {
	kind, known := baseKinds[c.Command.Name]
	decode, garbage, wrap := false, false, uint64(76)
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'd':
			decode = true
		case 'i':
			garbage = true
		case 'w':
			n, err := gnulib.ParseSize(p.Arg(), "")
			if err == gnulib.SizeOverflow {
				n, err = 0, nil
			}
			if err != nil {
				return c.Errorf("invalid wrap size: %s", c.Quote(p.Arg()))
			}
			wrap = min(n, math.MaxInt64)
		default:
			kind, known = baseKinds[basencNames[p.ID()-basencFirst]], true
		}
	}
	names, status, stop := p.End()
	switch {
	case stop:
		return status
	case !known:
		return c.Usage("missing encoding type")
	case len(names) > 1:
		return c.ExtraOperand(names[1])
	}
	name := "-"
	if len(names) == 1 {
		name = names[0]
	}
	f, err := c.Open(name)
	if err != nil {
		return c.Fail(name, err)
	}
	defer f.Close()
	in := &readTracker{r: withContext{ctx, f}}
	if decode {
		err = decodeStream(c, kind, in, garbage)
	} else {
		err = encodeStream(c, kind, in, int64(wrap))
	}
	switch {
	case err == nil || c.Stdout.Err() != nil || ctx.Err() != nil:
		return 0
	case in.err != nil:
		return c.Errorf("read error: %s", command.Strerror(in.err))
	}
	return c.Errorf("%v", err)
}

// baseError is a mistake in the input.
type baseError string

func (e baseError) Error() string { return string(e) }

const errBaseInput = baseError("invalid input")

func encodeStream(c *command.Context, k baseKind, in io.Reader, wrap int64) error {
	size := 4096 / k.in * k.in * 3 // a multiple of every group
	size -= size % (k.in * 15)
	src, dst := make([]byte, size), make([]byte, size/k.in*k.out+k.out)
	column := int64(0)
	for {
		n, err := io.ReadFull(in, src)
		if n > 0 {
			if k.alphabet == alphabetZ85 && n%4 != 0 {
				return baseError("invalid input (length must be multiple of 4 characters)")
			}
			column = writeWrapped(c.Stdout, dst[:k.encode(dst, src[:n])], wrap, column)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
		if c.Stdout.Err() != nil {
			return c.Stdout.Err()
		}
	}
	if wrap > 0 && column > 0 {
		c.Stdout.WriteByte('\n')
	}
	return nil
}

// writeWrapped writes p with a newline after each wrap columns and returns the
// column that it ends in.
func writeWrapped(w *command.Writer, p []byte, wrap, column int64) int64 {
	if wrap == 0 {
		w.Write(p)
		return 0
	}
	for len(p) > 0 {
		if column == wrap {
			w.WriteByte('\n')
			column = 0
		}
		n := min(int64(len(p)), wrap-column)
		w.Write(p[:n])
		p, column = p[n:], column+n
	}
	if column == wrap {
		w.WriteByte('\n')
		column = 0
	}
	return column
}

// decodeStream decodes whole groups; newlines do not count.
func decodeStream(c *command.Context, k baseKind, in io.Reader, garbage bool) error {
	group := k.out
	src := make([]byte, 32<<10)
	dst := make([]byte, len(src)+64)
	var held []byte
	for {
		n, err := in.Read(src)
		for _, b := range src[:n] {
			if b == '\n' || garbage && strings.IndexByte(k.alphabet, b) < 0 && b != '=' {
				continue
			}
			if k.out == upperHexSize && b >= 'a' && b <= 'f' {
				return decodeRest(c, k, append(held, b))
			}
			held = append(held, b)
		}
		whole := len(held) / group * group
		if werr := decodeGroups(c, k, held[:whole], dst); werr != nil {
			return werr
		}
		held = append(held[:0], held[whole:]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if c.Stdout.Err() != nil {
			return c.Stdout.Err()
		}
	}
	return decodeRest(c, k, held)
}

// decodeGroups decodes complete groups. Padding may end one in the middle, as
// where two encodings were put one after the other.
func decodeGroups(c *command.Context, k baseKind, p, dst []byte) error {
	for len(p) > 0 {
		n := len(p)
		if k.padded {
			if pad := bytes.IndexByte(p, '='); pad >= 0 {
				n = max(pad/k.out*k.out, k.out)
				if pad < k.out {
					n = k.out
				}
			}
		}
		m, err := k.decode(dst, p[:n])
		if err != nil {
			return decodeBad(c, k, p[:n], dst)
		}
		c.Stdout.Write(dst[:m])
		p = p[n:]
	}
	return nil
}

// decodeBad writes what can be decoded of a text with a mistake in it.
func decodeBad(c *command.Context, k baseKind, p, dst []byte) error {
	for len(p) >= k.out {
		m, err := k.decode(dst, p[:k.out])
		if err != nil {
			break
		}
		c.Stdout.Write(dst[:m])
		p = p[k.out:]
	}
	return decodeRest(c, k, p[:min(len(p), k.out)])
}

// decodeRest decodes what is less than a group, or wrong: the bytes that are
// complete before the mistake.
func decodeRest(c *command.Context, k baseKind, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	// Each character of an alphabet of 2^n is n bits.
	width := bits.Len(uint(len(k.alphabet))) - 1
	var v, n uint
	for _, ch := range p {
		digit := strings.IndexByte(k.alphabet, ch)
		if digit < 0 || len(k.alphabet) != 1<<width {
			break
		}
		v, n = v<<width|uint(digit), n+uint(width)
		if n >= 8 {
			n -= 8
			c.Stdout.WriteByte(byte(v >> n))
		}
	}
	return errBaseInput
}

// bitsOf writes each bit as a digit, the most significant first or last.
func bitsOf(dst, src []byte, most bool) int {
	for i, b := range src {
		for bit := range 8 {
			shift := bit
			if most {
				shift = 7 - bit
			}
			dst[i*8+bit] = '0' + b>>shift&1
		}
	}
	return len(src) * 8
}

func fromBits(dst, src []byte, most bool) int {
	for i := 0; i < len(src)/8; i++ {
		var v byte
		for bit := range 8 {
			shift := bit
			if most {
				shift = 7 - bit
			}
			v |= (src[i*8+bit] - '0') & 1 << shift
		}
		dst[i] = v
	}
	return len(src) / 8
}

func encodeZ85(dst, src []byte) int {
	for i := 0; i+4 <= len(src); i += 4 {
		v := uint32(src[i])<<24 | uint32(src[i+1])<<16 | uint32(src[i+2])<<8 | uint32(src[i+3])
		for j := 4; j >= 0; j-- {
			dst[i/4*5+j] = alphabetZ85[v%85]
			v /= 85
		}
	}
	return len(src) / 4 * 5
}

func decodeZ85(dst, src []byte) (int, error) {
	for i := 0; i+5 <= len(src); i += 5 {
		var v uint64
		for _, b := range src[i : i+5] {
			d := strings.IndexByte(alphabetZ85, b)
			if d < 0 {
				return 0, errBaseInput
			}
			v = v*85 + uint64(d)
		}
		if v > math.MaxUint32 {
			return 0, errBaseInput
		}
		o := i / 5 * 4
		dst[o], dst[o+1], dst[o+2], dst[o+3] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
	}
	return len(src) / 5 * 4, nil
}
