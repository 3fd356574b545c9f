package chunk

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A chunk shorter than compressMin is stored as it is: a zstd frame of it saves
// less than the reading costs.
const compressMin = 512

// The coders are shared by all stores of the process: each keeps some 1 MiB of
// tables a core. EncodeAll and DecodeAll are safe for concurrent use.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil,
			zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
			zstd.WithWindowSize(MaxSize),
			zstd.WithEncoderCRC(false)) // the record has a checksum and a digest
		if err != nil {
			panic(fmt.Sprintf("zstd refuses constant options: %v", err))
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(0),
			zstd.WithDecoderMaxMemory(MaxChunk))
		if err != nil {
			panic(fmt.Sprintf("zstd refuses constant options: %v", err))
		}
		return d
	})
)

// scratch lends buffers for compressed bytes.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// compress appends the compressed data to dst. It returns false if that saves
// less than an eighth: then the time to decompress is not worth it.
func compress(dst, data []byte) ([]byte, bool) {
	if len(data) < compressMin {
		return dst, false
	}
	out := encoder().EncodeAll(data, dst)
	return out, len(out)-len(dst) <= len(data)-len(data)/8
}

// decodeBody returns the chunk of a record and verifies it against the
// record's digest. The result is body itself if the record is not compressed.
func decodeBody(r *record, body []byte) ([]byte, error) {
	data := body
	if r.flags&recordZstd != 0 {
		var err error
		if data, err = decoder().DecodeAll(body, make([]byte, 0, r.raw)); err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
	}
	if len(data) != int(r.raw) {
		return nil, errBadRawSize
	}
	if Sum(data) != r.digest {
		return nil, errDigest
	}
	return data, nil
}
