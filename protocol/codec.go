package protocol

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// frameHeader is the length of what precedes the body of a frame.
const frameHeader = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(body []byte) uint32 { return crc32.Checksum(body, castagnoli) }

// AppendFrame appends a message as a frame.
func AppendFrame(b []byte, m Message) []byte {
	start := len(b)
	e := encoder{b: append(b, make([]byte, frameHeader)...)}
	e.enc = msgpack.NewEncoder(&e)
	e.enc.UseCompactInts(true)
	var n counter
	m.fields(&n)
	e.must(e.enc.EncodeArrayLen(int(n) + 1))
	e.must(e.enc.EncodeUint(m.id()))
	m.fields(&e)
	body := e.b[start+frameHeader:]
	binary.LittleEndian.PutUint32(e.b[start:], uint32(len(body)))
	binary.LittleEndian.PutUint32(e.b[start+4:], checksum(body))
	return e.b
}

// encoder is a visitor that appends. It is its own writer, which never fails.
type encoder struct {
	b   []byte
	enc *msgpack.Encoder
}

func (e *encoder) Write(p []byte) (int, error) {
	e.b = append(e.b, p...)
	return len(p), nil
}

func (e *encoder) WriteByte(c byte) error {
	e.b = append(e.b, c)
	return nil
}

func (e *encoder) must(err error) {
	if err != nil {
		panic("protocol: encoding into memory failed: " + err.Error())
	}
}

func (e *encoder) uint(_ string, p *uint64, _ uint64) { e.must(e.enc.EncodeUint(*p)) }
func (e *encoder) bool(_ string, p *bool)             { e.must(e.enc.EncodeBool(*p)) }
func (e *encoder) text(_ string, p *string, _ int)    { e.must(e.enc.EncodeString(*p)) }
func (e *encoder) bytes(_ string, p *[]byte, _ int)   { e.bin(*p) }
func (e *encoder) digest(_ string, p *ID)             { e.bin(p[:]) }
func (e *encoder) payload(_ string, p *Payload, _ int) {
	e.must(e.enc.EncodeArrayLen(3))
	e.must(e.enc.EncodeUint(p.Codec))
	e.must(e.enc.EncodeUint(p.Size))
	if p.parts == nil {
		e.bin(p.Data)
		return
	}
	e.must(e.enc.EncodeBytesLen(int(p.Size)))
	for _, part := range p.parts {
		e.b = append(e.b, part...)
	}
}

func (e *encoder) ids(_ string, p *[]ID, _ int) {
	e.must(e.enc.EncodeBytesLen(len(*p) * len(ID{})))
	for i := range *p {
		e.b = append(e.b, (*p)[i][:]...)
	}
}

// bin writes bytes; nil is an empty string of them, not msgpack's nil.
func (e *encoder) bin(p []byte) {
	e.must(e.enc.EncodeBytesLen(len(p)))
	e.b = append(e.b, p...)
}

// counter is a visitor that counts fields.
type counter int

func (c *counter) uint(string, *uint64, uint64)  { *c++ }
func (c *counter) bool(string, *bool)            { *c++ }
func (c *counter) digest(string, *ID)            { *c++ }
func (c *counter) ids(string, *[]ID, int)        { *c++ }
func (c *counter) text(string, *string, int)     { *c++ }
func (c *counter) bytes(string, *[]byte, int)    { *c++ }
func (c *counter) payload(string, *Payload, int) { *c++ }

// DecodeBody decodes the body of a frame. The message refers to body.
func DecodeBody(body []byte) (Message, error) {
	d := decoder{body: body, r: bytes.NewReader(body)}
	d.dec = msgpack.NewDecoder(d.r)
	n := d.array()
	id := d.number()
	if d.err != nil {
		return nil, d.err
	}
	m := newMessage(id)
	if m == nil {
		return nil, fail(CodeProtocol, "message %d is unknown", id)
	}
	var want counter
	m.fields(&want)
	if n != int(want)+1 {
		return nil, fail(CodeProtocol, "message %d has %d elements, want %d", id, n, want+1)
	}
	m.fields(&d)
	if d.err == nil && d.r.Len() > 0 {
		d.fail("%d bytes after message %d", d.r.Len(), id)
	}
	if d.err != nil {
		return nil, d.err
	}
	return m, nil
}

// decoder is a visitor that reads. After the first failure err stays and every
// read yields zero. Byte strings point into body: nothing is allocated by a
// length that the peer chose.
type decoder struct {
	body []byte
	r    *bytes.Reader
	dec  *msgpack.Decoder
	err  error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fail(CodeProtocol, format, args...)
	}
}

func (d *decoder) array() int {
	if d.err != nil {
		return 0
	}
	n, err := d.dec.DecodeArrayLen()
	if err != nil || n < 1 {
		d.fail("no array where one must be")
	}
	return n
}

// number reads an unsigned integer of any width. A signed, floating or absent
// one is refused, which the library would convert.
func (d *decoder) number() uint64 {
	if d.err != nil {
		return 0
	}
	c, err := d.dec.PeekCode()
	if err != nil || !(msgpcode.IsFixedNum(c) && c < msgpcode.NegFixedNumLow || c >= msgpcode.Uint8 && c <= msgpcode.Uint64) {
		d.fail("no unsigned number where one must be")
		return 0
	}
	v, err := d.dec.DecodeUint64()
	if err != nil {
		d.fail("a number is cut off")
	}
	return v
}

func (d *decoder) uint(name string, p *uint64, max uint64) {
	v := d.number()
	if v > max {
		d.fail("%s is %d, want at most %d", name, v, max)
		return
	}
	*p = v
}

func (d *decoder) bool(name string, p *bool) {
	if d.err != nil {
		return
	}
	c, err := d.dec.PeekCode()
	if err != nil || c != msgpcode.True && c != msgpcode.False {
		d.fail("%s is no boolean", name)
		return
	}
	if *p, err = d.dec.DecodeBool(); err != nil {
		d.fail("%s is cut off", name)
	}
}

// bin reads a byte string (or, if text, a character string) of at most max.
func (d *decoder) bin(name string, text bool, max int) []byte {
	if d.err != nil {
		return nil
	}
	c, err := d.dec.PeekCode()
	ok := err == nil && msgpcode.IsBin(c)
	if text {
		ok = err == nil && msgpcode.IsString(c)
	}
	if !ok {
		d.fail("%s has another type", name)
		return nil
	}
	n, err := d.dec.DecodeBytesLen()
	if err != nil || n < 0 || n > d.r.Len() {
		d.fail("%s is cut off", name)
		return nil
	}
	if n > max {
		if d.err == nil {
			d.err = fail(CodeLimit, "%s has %d bytes, want at most %d", name, n, max)
		}
		return nil
	}
	at := len(d.body) - d.r.Len()
	d.r.Seek(int64(n), io.SeekCurrent) // cannot fail: n bytes are left
	return d.body[at : at+n : at+n]
}

func (d *decoder) digest(name string, p *ID) {
	b := d.bin(name, false, len(p))
	if d.err == nil && len(b) != len(p) {
		d.fail("%s has %d bytes, want %d", name, len(b), len(p))
	}
	if d.err == nil {
		copy(p[:], b)
	}
}

func (d *decoder) ids(name string, p *[]ID, max int) {
	b := d.bin(name, false, max*len(ID{}))
	if len(b)%len(ID{}) != 0 {
		d.fail("%s has %d bytes, which is no number of ids", name, len(b))
	}
	if d.err != nil || len(b) == 0 {
		return
	}
	*p = make([]ID, len(b)/len(ID{}))
	for i := range *p {
		copy((*p)[i][:], b[i*len(ID{}):])
	}
}

func (d *decoder) text(name string, p *string, max int) {
	b := d.bin(name, true, max)
	if !utf8.Valid(b) {
		d.fail("%s is not UTF-8", name)
	}
	if d.err == nil {
		*p = string(b)
	}
}

func (d *decoder) bytes(name string, p *[]byte, max int) { *p = d.bin(name, false, max) }

func (d *decoder) payload(name string, p *Payload, max int) {
	if n := d.array(); d.err == nil && n != 3 {
		d.fail("%s has %d elements, want 3", name, n)
	}
	d.uint(name+" codec", &p.Codec, codecZstd)
	d.uint(name+" size", &p.Size, uint64(max))
	p.Data = d.bin(name, false, max)
	if d.err == nil && p.Codec == codecPlain && p.Size != uint64(len(p.Data)) {
		d.fail("%s has %d bytes, want %d", name, len(p.Data), p.Size)
	}
}

// checkFrame returns the length of the body that follows the header h.
func checkFrame(h []byte, max int) (int, error) {
	n := binary.LittleEndian.Uint32(h)
	if n == 0 {
		return 0, fail(CodeProtocol, "an empty frame")
	}
	if uint64(n) > uint64(max) {
		return 0, fail(CodeLimit, "a frame of %d bytes, want at most %d", n, max)
	}
	return int(n), nil
}

// checkBody compares a body with the checksum in its header.
func checkBody(h, body []byte) error {
	if checksum(body) != binary.LittleEndian.Uint32(h[4:]) {
		return fail(CodeProtocol, "the checksum of a frame does not match")
	}
	return nil
}
