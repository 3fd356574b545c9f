package files

import (
	"context"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func init() {
	command.Register(command.Info{
		Name:     "dd",
		Synopsis: "dd [OPERAND]...\ndd OPTION",
		Summary:  "Copy a file, converting and formatting according to the operands.",
		Notes: "  bs=BYTES        read and write up to BYTES bytes at a time (default: 512)\n" +
			"  cbs=BYTES       convert BYTES bytes at a time\n" +
			"  conv=CONVS      convert the file as per the comma separated symbol list:\n" +
			"                  block unblock lcase ucase swab sync excl nocreat notrunc noerror fdatasync fsync sparse ascii ebcdic ibm\n" +
			"  count=N         copy only N input blocks\n" +
			"  ibs=BYTES       read up to BYTES bytes at a time (default: 512)\n" +
			"  if=FILE         read from FILE instead of stdin\n" +
			"  iflag=FLAGS     read as per the comma separated symbol list\n" +
			"  obs=BYTES       write BYTES bytes at a time (default: 512)\n" +
			"  of=FILE         write to FILE instead of stdout\n" +
			"  oflag=FLAGS     write as per the comma separated symbol list\n" +
			"  seek=N          skip N obs-sized blocks at start of output\n" +
			"  skip=N          skip N ibs-sized blocks at start of input\n" +
			"  status=LEVEL    the LEVEL of information to print to stderr: none, noxfer, progress",
	}, dd)
}

// maxRecord bounds bs, ibs, obs and cbs.
const maxRecord = 128 << 20

// ddRun is one run of dd. A record is what one read or write moves: what dd
// itself calls a block.
type ddRun struct {
	c                    *command.Context
	ctx                  context.Context
	in, out              string
	ibs, obs, cbs        int
	skip, seek, count    int64
	skipBytes, seekBytes bool
	countBytes, hasCount bool
	fullBlock, appendOut bool
	directory, noFollow  bool
	conv                 map[string]bool
	status               string

	src                         io.Reader
	dst                         io.Writer
	file                        vfs.File
	pending                     []byte // output gathered up to obs
	fullIn, partIn              int64
	fullOut, partOut, truncated int64
	bytes                       int64
	odd                         []byte // the byte that swab has no partner for
	column                      int    // of block and unblock
	spaces                      int
}

func dd(ctx context.Context, c *command.Context, args []string) int {
	d := ddRun{c: c, ctx: ctx, ibs: 512, obs: 512, conv: map[string]bool{}}
	p := c.Options(args)
	for p.Next() {
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	bs := 0
	for _, op := range operands {
		if status, ok := d.operand(op, &bs); !ok {
			return status
		}
	}
	if status, ok := d.check(bs); !ok {
		return status
	}
	return d.run()
}

func (d *ddRun) operand(op string, bs *int) (int, bool) {
	name, value, ok := strings.Cut(op, "=")
	if !ok {
		return d.c.Usage("unrecognized operand %s", d.c.Quote(op)), false
	}
	size := func(to *int) (int, bool) {
		n, _, status := d.number(value)
		if status == 0 && (n == 0 || n > maxRecord) {
			if n == 0 {
				return d.c.Errorf("invalid number: %s", d.c.Quote(value)), false
			}
			return d.c.Errorf("memory exhausted by input buffer of size %d bytes", n), false
		}
		*to = int(n)
		return status, status == 0
	}
	count := func(to *int64, bytes *bool) (int, bool) {
		n, isBytes, status := d.number(value)
		*to = n
		*bytes = *bytes || isBytes
		return status, status == 0
	}
	switch name {
	case "if":
		d.in = value
	case "of":
		d.out = value
	case "bs":
		return size(bs)
	case "ibs":
		return size(&d.ibs)
	case "obs":
		return size(&d.obs)
	case "cbs":
		return size(&d.cbs)
	case "skip", "iseek":
		return count(&d.skip, &d.skipBytes)
	case "seek", "oseek":
		return count(&d.seek, &d.seekBytes)
	case "count":
		d.hasCount = true
		return count(&d.count, &d.countBytes)
	case "conv":
		return d.symbols(value, "conversion", ddConversions, func(s string) { d.conv[s] = true })
	case "iflag":
		return d.symbols(value, "input flag", ddFlags, d.inputFlag)
	case "oflag":
		return d.symbols(value, "output flag", ddFlags, d.outputFlag)
	case "status":
		if value != "none" && value != "noxfer" && value != "progress" {
			return d.c.Usage("invalid status level: %s", d.c.Quote(value)), false
		}
		d.status = value
	default:
		return d.c.Usage("unrecognized operand %s", d.c.Quote(op)), false
	}
	return 0, true
}

var (
	ddConversions = []string{"ascii", "ebcdic", "ibm", "block", "unblock", "lcase", "ucase", "sparse", "swab", "sync", "excl", "nocreat", "notrunc", "noerror", "fdatasync", "fsync"}
	ddFlags       = []string{"append", "binary", "cio", "direct", "directory", "dsync", "noatime", "nocache", "noctty", "nofollow", "nolinks", "nonblock", "sync", "text", "fullblock", "count_bytes", "skip_bytes", "seek_bytes"}
)

func (d *ddRun) symbols(list, kind string, known []string, set func(string)) (int, bool) {
	for _, s := range strings.Split(list, ",") {
		if !contains(known, s) {
			return d.c.Usage("invalid %s: %s", kind, d.c.Quote(s)), false
		}
		set(s)
	}
	return 0, true
}

func (d *ddRun) inputFlag(s string) {
	switch s {
	case "fullblock":
		d.fullBlock = true
	case "count_bytes":
		d.countBytes = true
	case "skip_bytes":
		d.skipBytes = true
	case "directory":
		d.directory = true
	case "nofollow":
		d.noFollow = true
	}
}

func (d *ddRun) outputFlag(s string) {
	switch s {
	case "append":
		d.appendOut = true
	case "seek_bytes":
		d.seekBytes = true
	}
}

// number reads N with suffixes and factors: "2x1k"; a B at the end says that
// it counts bytes.
func (d *ddRun) number(s string) (n int64, bytes bool, status int) {
	n = 1
	for _, part := range strings.Split(s, "x") {
		if strings.HasSuffix(part, "B") && len(part) > 1 && part[len(part)-2] >= '0' && part[len(part)-2] <= '9' {
			bytes, part = true, part[:len(part)-1]
		}
		v, err := gnulib.ParseSize(part, "bcEGkKMPTwYZ0")
		switch {
		case err == gnulib.SizeOverflow || err == nil && (v > 1<<62 || v != 0 && n > (1<<62)/int64(v)):
			return 0, false, d.c.Errorf("invalid number: %s: %s", d.c.Quote(s), command.Strerror(syscall.EOVERFLOW))
		case err != nil || part == "" || part[0] < '0' || part[0] > '9':
			return 0, false, d.c.Errorf("invalid number: %s", d.c.Quote(s))
		}
		if v == 0 && strings.HasPrefix(s, "0x") {
			d.c.Errorf("warning: %s is a zero multiplier; use %s if that is intended", d.c.Quote("0x"), d.c.Quote("00x"))
		}
		n *= int64(v)
	}
	return n, bytes, 0
}

func (d *ddRun) check(bs int) (int, bool) {
	if bs > 0 {
		d.ibs, d.obs = bs, bs
	}
	exclusive := [][]string{{"ascii", "ebcdic", "ibm"}, {"block", "unblock"}, {"lcase", "ucase"}, {"excl", "nocreat"}}
	texts := []string{"cannot combine any two of {ascii,ebcdic,ibm}", "cannot combine block and unblock", "cannot combine lcase and ucase", "cannot combine excl and nocreat"}
	for i, set := range exclusive {
		n := 0
		for _, s := range set {
			if d.conv[s] {
				n++
			}
		}
		if n > 1 {
			return d.c.Errorf("%s", texts[i]), false
		}
	}
	if d.cbs == 0 {
		delete(d.conv, "block")
		delete(d.conv, "unblock")
	}
	if bs > 0 && len(d.conv) > 0 {
		for _, s := range []string{"block", "unblock", "lcase", "ucase", "swab", "ascii", "ebcdic", "ibm"} {
			if d.conv[s] {
				return 0, true
			}
		}
	}
	return 0, true
}

// open opens both ends.
func (d *ddRun) open() (int, bool) {
	d.src, d.dst = d.c.Stdin, d.c.Stdout.Underlying()
	if err := d.c.Stdout.Flush(); err != nil {
		return 1, false
	}
	if d.in != "" {
		flags := syscall.O_RDONLY
		if d.directory {
			flags |= syscall.O_DIRECTORY
		}
		if d.noFollow {
			flags |= syscall.O_NOFOLLOW
		}
		f, err := d.c.FS.OpenFile(d.in, flags, 0)
		if err != nil {
			return d.c.Errorf("failed to open %s: %s", d.c.QuoteArg(d.in), command.Strerror(err)), false
		}
		d.src = f
	}
	if d.out == "" {
		return 0, true
	}
	flags := syscall.O_WRONLY
	if !d.conv["nocreat"] {
		flags |= syscall.O_CREAT
	}
	if d.conv["excl"] {
		flags |= syscall.O_EXCL
	}
	if d.seek == 0 && !d.conv["notrunc"] {
		flags |= syscall.O_TRUNC
	}
	if d.appendOut {
		flags |= syscall.O_APPEND
	}
	f, err := d.c.FS.OpenFile(d.out, flags, 0o666)
	if err != nil {
		return d.c.Errorf("failed to open %s: %s", d.c.QuoteArg(d.out), command.Strerror(err)), false
	}
	d.dst, d.file = f, f
	return 0, true
}

func (d *ddRun) run() int {
	start := d.c.Now()
	if status, ok := d.open(); !ok {
		d.close()
		return status
	}
	status := d.position()
	if status == 0 {
		status = d.copy()
	}
	if d.conv["fsync"] || d.conv["fdatasync"] {
		if d.file != nil {
			if err := d.file.Fsync(); err != nil {
				status = d.c.Errorf("fsync failed for %s: %s", d.c.QuoteArg(d.out), command.Strerror(err))
			}
		}
	}
	if err := d.close(); err != nil {
		status = d.c.Errorf("closing output file %s: %s", d.c.QuoteArg(d.out), command.Strerror(err))
	}
	d.statistics(d.c.Now().Sub(start))
	return status
}

func (d *ddRun) close() error {
	if c, ok := d.src.(io.Closer); ok && d.in != "" {
		c.Close()
	}
	if d.file != nil {
		return d.file.Close()
	}
	return nil
}

// statistics says what was copied.
func (d *ddRun) statistics(took time.Duration) {
	if d.status == "none" {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d+%d records in\n%d+%d records out\n", d.fullIn, d.partIn, d.fullOut, d.partOut)
	if d.truncated > 0 {
		plural := "s"
		if d.truncated == 1 {
			plural = ""
		}
		fmt.Fprintf(&b, "%d truncated record%s\n", d.truncated, plural)
	}
	if d.status != "noxfer" {
		d.transfer(&b, took.Seconds())
	}
	io.WriteString(d.c.Stderr, b.String())
}

func (d *ddRun) transfer(b *strings.Builder, seconds float64) {
	n := uint64(d.bytes)
	plural := "s"
	if n == 1 {
		plural = ""
	}
	fmt.Fprintf(b, "%d byte%s", n, plural)
	si, iec := ddHuman(n, 1000), ddHuman(n, 1024)
	if n >= 1000 {
		fmt.Fprintf(b, " (%s", si)
		if n >= 1024 {
			fmt.Fprintf(b, ", %s", iec)
		}
		b.WriteString(")")
	}
	rate := "Infinity B"
	if seconds > 0 {
		rate = ddHuman(uint64(float64(n)/seconds), 1000)
	}
	fmt.Fprintf(b, " copied, %g s, %s/s\n", float64(int64(seconds*1e6+0.5))/1e6, rate)
}

// ddHuman is a number of bytes with two or three digits and its unit.
func ddHuman(n, base uint64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	if base == 1024 {
		units = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	}
	v, i := float64(n), 0
	for v >= float64(base) && i < len(units)-1 {
		v /= float64(base)
		i++
	}
	if i > 0 && v < 10 {
		return fmt.Sprintf("%.1f %s", v, units[i])
	}
	return fmt.Sprintf("%.0f %s", v, units[i])
}
