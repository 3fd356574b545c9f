package protocol

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Codecs of a payload.
const (
	codecPlain uint64 = 0
	codecZstd  uint64 = 1 // one frame
)

// Payload is bytes that may be compressed.
type Payload struct {
	Codec uint64
	Size  uint64 // once uncompressed
	Data  []byte
	parts [][]byte // instead of Data: what is sent is not copied together first
}

const (
	probeSize = 4 << 10 // of the beginning, to see whether compression pays
	tinySize  = 64      // what is not worth trying
)

var encoders = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2),
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic("protocol: constant options of zstd are refused: " + err.Error())
	}
	return e
})

var decoders = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2),
		zstd.WithDecoderMaxMemory(maxRaw), zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		panic("protocol: constant options of zstd are refused: " + err.Error())
	}
	return d
})

// pack returns raw as a payload, compressed where that saves an eighth.
func pack(raw []byte, caps uint64) Payload {
	plain := Payload{Codec: codecPlain, Size: uint64(len(raw)), Data: raw}
	if caps&CapZstd == 0 || len(raw) < tinySize {
		return plain
	}
	if len(raw) > 4*probeSize && !promising(raw) {
		return plain
	}
	z := encoders().EncodeAll(raw, make([]byte, 0, len(raw)/2))
	if !pays(len(raw), len(z)) {
		return plain
	}
	return Payload{Codec: codecZstd, Size: uint64(len(raw)), Data: z}
}

func pays(before, after int) bool { return after <= before-before/8 }

// promising reports whether bytes look as if they compress. The middle stands
// for the whole: the beginning of a file is often a header that compresses
// better than what follows.
func promising(raw []byte) bool {
	mid := raw[len(raw)/2:][:probeSize]
	return pays(probeSize, len(encoders().EncodeAll(mid, nil)))
}

// packItems returns a list as a payload. Large items that do not compress are
// not copied.
func packItems(items [][]byte, caps uint64) Payload {
	large := items[len(items)/2]
	if len(large) > 4*probeSize && (caps&CapZstd == 0 || !promising(large)) {
		p := Payload{Codec: codecPlain}
		for _, item := range items {
			p.parts = append(p.parts, binary.AppendUvarint(nil, uint64(len(item))), item)
		}
		for _, part := range p.parts {
			p.Size += uint64(len(part))
		}
		return p
	}
	var raw []byte
	for _, item := range items {
		raw = appendItem(raw, item)
	}
	return pack(raw, caps)
}

// unpack returns the bytes of a payload, at most max. They may be those of the
// message.
func (p *Payload) unpack(max int) ([]byte, error) {
	if p.Size > uint64(max) {
		return nil, fail(CodeLimit, "a payload of %d bytes, want at most %d", p.Size, max)
	}
	if p.Codec == codecPlain {
		return p.Data, nil
	}
	var h zstd.Header
	if err := h.Decode(p.Data); err != nil || h.Skippable {
		return nil, fail(CodeProtocol, "a payload is no zstd frame")
	}
	// The frame's own idea of its size is checked as well as ours: the decoder
	// allocates by it.
	if h.HasFCS && h.FrameContentSize != p.Size {
		return nil, fail(CodeProtocol, "a payload of %d bytes says it has %d", h.FrameContentSize, p.Size)
	}
	raw, err := decoders().DecodeAll(p.Data, make([]byte, 0, p.Size))
	if err != nil || uint64(len(raw)) != p.Size {
		return nil, fail(CodeProtocol, "a payload of %d bytes does not decompress to that", p.Size)
	}
	return raw, nil
}

// appendItem appends one element of a list: its length as a uvarint, and it.
func appendItem(b, item []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(item))), item...)
}

// nextItem splits the first element, of at most max bytes, off a list.
func nextItem(b []byte, max int) (item, rest []byte, err error) {
	n, k := binary.Uvarint(b)
	if k <= 0 {
		return nil, nil, fail(CodeProtocol, "a list with a bad length")
	}
	if n > uint64(max) {
		return nil, nil, fail(CodeLimit, "an item of %d bytes, want at most %d", n, max)
	}
	if n > uint64(len(b)-k) {
		return nil, nil, fail(CodeProtocol, "a list that is cut off")
	}
	end := k + int(n)
	return b[k:end:end], b[end:], nil
}

// appendEdit appends an edit of a delta: how many bytes its key shares with
// the key before, the rest of the key, and 0 for a removal or the value's
// length plus one and the value.
func appendEdit(b, before []byte, key, value []byte) []byte {
	shared := 0
	for shared < min(len(before), len(key)) && before[shared] == key[shared] {
		shared++
	}
	b = binary.AppendUvarint(b, uint64(shared))
	b = appendItem(b, key[shared:])
	if value == nil {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(value))+1)
	return append(b, value...)
}

// decodeEdits decodes a part of a delta. before is the last key of the part
// before, nil for the first; keys must go on from there. Values refer to b.
func decodeEdits(b, before []byte) ([]Edit, error) {
	var edits []Edit
	prev := before
	for len(b) > 0 {
		if len(edits) == maxEdits {
			// A key may be as long as allowed and cost three bytes here.
			return nil, fail(CodeLimit, "more than %d edits in a message", maxEdits)
		}
		shared, k := binary.Uvarint(b)
		if k <= 0 || shared > uint64(len(prev)) {
			return nil, fail(CodeProtocol, "an edit shares %d bytes with a key of %d", shared, len(prev))
		}
		suffix, rest, err := nextItem(b[k:], maxKey-int(shared))
		if err != nil {
			return nil, err
		}
		key := make([]byte, 0, int(shared)+len(suffix))
		key = append(append(key, prev[:shared]...), suffix...)
		if len(key) == 0 || prev != nil && bytes.Compare(prev, key) >= 0 {
			return nil, fail(CodeProtocol, "the keys of a delta do not increase")
		}
		e := Edit{Key: key}
		n, k := binary.Uvarint(rest)
		switch {
		case k <= 0 || n > uint64(len(rest)-k)+1:
			return nil, fail(CodeProtocol, "an edit is cut off")
		case n > maxValue+1:
			return nil, fail(CodeLimit, "a value of %d bytes, want at most %d", n-1, maxValue)
		case n > 0:
			e.Value = rest[k : k+int(n)-1 : k+int(n)-1]
			rest = rest[k+int(n)-1:]
		default:
			rest = rest[k:]
		}
		edits = append(edits, e)
		prev, b = key, rest
	}
	return edits, nil
}
