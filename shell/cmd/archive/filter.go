package archive

import (
	"bufio"
	"bytes"
	stdbzip2 "compress/bzip2"
	"errors"
	"io"

	"github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// errFormat is the error of a stream that is not of the format it should be.
var errFormat = errors.New("not in the expected format")

// maxWindow bounds the memory that a compressed stream may ask for.
const maxWindow = 128 << 20

// filter is a compression format.
type filter struct {
	name   string
	magic  string
	reader func(r io.Reader) (io.ReadCloser, error)
	writer func(w io.Writer, level int) (io.WriteCloser, error)
}

var (
	gzipFilter  = filter{"gzip", "\x1f\x8b", newGzipReader, newGzipWriter}
	bzip2Filter = filter{"bzip2", "BZh", newBzip2Reader, newBzip2Writer}
	xzFilter    = filter{"xz", "\xfd7zXZ\x00", newXzReader, newXzWriter}
	lzmaFilter  = filter{"lzma", "\x5d\x00\x00", newLzmaReader, newLzmaWriter}
	zstdFilter  = filter{"zstd", "\x28\xb5\x2f\xfd", newZstdReader, newZstdWriter}
)

// sniff returns the filter whose magic number the stream starts with; nil when
// it is none of them. Nothing is consumed.
func sniff(r *bufio.Reader) *filter {
	head, _ := r.Peek(6)
	for _, f := range []*filter{&gzipFilter, &bzip2Filter, &xzFilter, &zstdFilter, &lzmaFilter} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f
		}
	}
	return nil
}

func newGzipReader(r io.Reader) (io.ReadCloser, error) {
	return gzip.NewReader(r)
}

func newGzipWriter(w io.Writer, level int) (io.WriteCloser, error) {
	if level == 0 {
		level = flate.DefaultCompression
	}
	return gzip.NewWriterLevel(w, level)
}

func newZlibReader(r io.Reader) (io.ReadCloser, error) { return zlib.NewReader(r) }

func newBzip2Reader(r io.Reader) (io.ReadCloser, error) {
	return io.NopCloser(stdbzip2.NewReader(r)), nil
}

func newBzip2Writer(w io.Writer, level int) (io.WriteCloser, error) {
	if level == 0 {
		level = 9
	}
	return bzip2.NewWriter(w, &bzip2.WriterConfig{Level: level})
}

func newXzReader(r io.Reader) (io.ReadCloser, error) {
	x, err := xz.ReaderConfig{DictCap: maxWindow}.NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(x), nil
}

func newXzWriter(w io.Writer, level int) (io.WriteCloser, error) {
	dict := 8 << 20
	if level > 0 && level < 6 {
		dict = 1 << (19 + level/2)
	}
	return xz.WriterConfig{DictCap: dict, CheckSum: xz.CRC64}.NewWriter(w)
}

func newLzmaReader(r io.Reader) (io.ReadCloser, error) {
	x, err := lzma.ReaderConfig{DictCap: maxWindow}.NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(x), nil
}

func newLzmaWriter(w io.Writer, level int) (io.WriteCloser, error) {
	return lzma.WriterConfig{DictCap: 8 << 20, EOSMarker: true}.NewWriter(w)
}

func newZstdReader(r io.Reader) (io.ReadCloser, error) {
	// One goroutine's worth of work in this one: none is left running when a
	// command is cancelled.
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

func newZstdWriter(w io.Writer, level int) (io.WriteCloser, error) {
	if level == 0 {
		level = 3
	}
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)), zstd.WithEncoderCRC(true))
}
