package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func testID(b byte) (id ID) {
	for i := range id {
		id[i] = b + byte(i)
	}
	return id
}

func plain(items ...[]byte) Payload {
	var raw []byte
	for _, i := range items {
		raw = appendItem(raw, i)
	}
	return pack(raw, 0)
}

// samples has each message at least once: the vectors and the seeds of the
// fuzz targets are made of it.
func samples() []Message {
	a, b := testID(0x10), testID(0x80)
	edits := appendEdit(nil, nil, []byte("dkey-one"), []byte("value"))
	edits = appendEdit(edits, []byte("dkey-one"), []byte("dkey-two"), nil)
	edits = appendEdit(edits, []byte("dkey-two"), []byte("i"), []byte{})
	return []Message{
		&Hello{Version: 1, Oldest: 1, Caps: CapZstd | CapWatch | CapLazy, Agent: "vfsd/1", Workspace: "project", Path: "/",
			Rights: RightRead | RightWrite, Token: []byte("token"), TreeWindow: 4 << 20, ChunkWindow: 16 << 20},
		&Hello{Version: 3, Oldest: 1, Flags: HelloCreate, Workspace: "w", Path: "/src/lib", Rights: RightRead, TreeWindow: 1, ChunkWindow: maxWindow},
		&Welcome{Version: 1, Caps: CapZstd, Agent: "vfsd/1", Rights: RightRead, Head: a, TreeWindow: 4 << 20, ChunkWindow: 16 << 20},
		&Failure{Request: 0, Code: uint64(CodeVersion), Text: "this end speaks version 1, the other 2 to 3"},
		&Failure{Request: 7, Code: uint64(CodeHeadMoved), Text: "the head has moved"},
		&Ping{Nonce: 1}, &Pong{Nonce: 1 << 40},
		&Credit{Class: uint64(ClassTree), Bytes: 2 << 20}, &Credit{Class: uint64(ClassChunk), Bytes: 1},
		&Fetch{Request: 1, Bases: []ID{a, b}}, &Fetch{Request: 300, Target: b, Flags: FetchLazy},
		&Offer{Request: 1, Target: a, Base: b, Mode: uint64(ModeDelta)},
		&Offer{Request: 1, Target: a, Mode: uint64(ModeWalk)},
		&Push{Request: 2, Expect: b, Target: a, Base: b, Mode: uint64(ModeDelta)},
		&Commits{Request: 1, Records: plain(encodeTestCommit(a, []ID{b}, 5), encodeTestCommit(b, nil, 4))},
		&Edits{Request: 1, Last: true, Edits: pack(edits, 0)},
		&Edits{Request: 1, Edits: pack(nil, 0)},
		&Want{Request: 1, Kind: uint64(KindNode), IDs: []ID{a}},
		&Items{Request: 1, Kind: uint64(KindChunk), Items: plain([]byte("hello"), nil)},
		&Items{Request: 1, Kind: uint64(KindChunk), Ahead: true, Items: plain([]byte("ahead"))},
		&Lacks{Request: 1, Kind: uint64(KindCommit), IDs: []ID{a, b}},
		&Done{Request: 1}, &Result{Request: 2, Head: a}, &Watch{Request: 3}, &Head{Request: 3, Commit: b},
		&Get{Request: 4, Kind: uint64(KindChunk), IDs: []ID{b}}, &Cancel{Request: 3}, &Bye{},
	}
}

// zstdSample is a payload as a certain version of the encoder made it: other
// encoders make others, and all must be read.
var zstdSample = []byte{
	0x28, 0xb5, 0x2f, 0xfd, 0x40, 0x00, 0x90, 0x00, 0x85, 0x00, 0x00, 0x40, 0x61, 0x62,
	0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x01, 0x54, 0x08, 0x03, 0x2c, 0x85, 0x0b,
}

const zstdSampleText = "abcdefgh" // 50 times

func TestEveryMessageComesBack(t *testing.T) {
	seen := map[uint64]bool{}
	for _, m := range samples() {
		seen[m.id()] = true
		frame := AppendFrame(nil, m)
		n, err := checkFrame(frame, maxBody)
		if err != nil || n != len(frame)-frameHeader {
			t.Fatalf("%T: a frame of %d bytes, %v", m, n, err)
		}
		if err := checkBody(frame, frame[frameHeader:]); err != nil {
			t.Fatal(err)
		}
		got, err := DecodeBody(frame[frameHeader:])
		if err != nil {
			t.Fatalf("%T: %v", m, err)
		}
		if again := AppendFrame(nil, got); !bytes.Equal(again, frame) || reflect.TypeOf(got) != reflect.TypeOf(m) {
			t.Errorf("%T came back as %+v", m, got)
		}
		for i := range frame[frameHeader:] {
			if _, err := DecodeBody(frame[frameHeader : frameHeader+i]); err == nil {
				t.Errorf("%T: %d bytes of %d are taken for it", m, i, n)
			}
		}
		if _, err := DecodeBody(append(bytes.Clone(frame[frameHeader:]), 0)); err == nil {
			t.Errorf("%T: a byte behind it is passed over", m)
		}
	}
	for id, mk := range makers {
		if mk != nil && !seen[uint64(id)] {
			t.Errorf("message %d has no sample", id)
		}
		if mk != nil && mk().id() != uint64(id) {
			t.Errorf("message %d says it is %d", id, mk().id())
		}
	}
}

type refusedBody struct {
	body []byte
	code Code
}

// refusedBodies are bodies of frames that no decoder may take.
func refusedBodies() map[string]refusedBody {
	long := strings.Repeat("x", 2000)
	tooMany := make([]ID, maxIDs+1)
	return map[string]refusedBody{
		"nothing":           {[]byte{}, CodeProtocol},
		"no array":          {[]byte{0x01}, CodeProtocol},
		"nil":               {[]byte{0xc0}, CodeProtocol},
		"an empty array":    {[]byte{0x90}, CodeProtocol},
		"a huge array":      {[]byte{0xdd, 0xff, 0xff, 0xff, 0xff, 0x04}, CodeProtocol},
		"number 0":          {[]byte{0x91, 0x00}, CodeProtocol},
		"number 99":         {[]byte{0x91, 99}, CodeProtocol},
		"a negative number": {[]byte{0x92, 0x04, 0xff}, CodeProtocol},
		"a float":           {[]byte{0x92, 0x04, 0xca, 0, 0, 0, 0}, CodeProtocol},
		"too many elements": {[]byte{0x93, 0x04, 0x01, 0x01}, CodeProtocol},
		"too few elements":  {[]byte{0x91, 0x04}, CodeProtocol},
		"a huge string":     {[]byte{0x94, 0x03, 0x00, 0x01, 0xdb, 0xff, 0xff, 0xff, 0xff}, CodeProtocol},
		"no UTF-8":          {[]byte{0x94, 0x03, 0x00, 0x01, 0xa1, 0xff}, CodeProtocol},
		"bytes for text":    {[]byte{0x94, 0x03, 0x00, 0x01, 0xc4, 0x01, 'x'}, CodeProtocol},
		"a short digest":    {[]byte{0x93, 0x12, 0x01, 0xc4, 0x01, 'x'}, CodeProtocol},
		"half an id":        {[]byte{0x94, 0x0c, 0x01, 0x02, 0xc4, 0x01, 'x'}, CodeProtocol},
		"a long text":       {AppendFrame(nil, &Failure{Text: long})[frameHeader:], CodeLimit},
		"many ids":          {AppendFrame(nil, &Want{Kind: 2, IDs: tooMany})[frameHeader:], CodeLimit},
		"an unknown flag":   {AppendFrame(nil, &Fetch{Flags: 2})[frameHeader:], CodeProtocol},
		"an unknown mode":   {AppendFrame(nil, &Offer{Mode: 3})[frameHeader:], CodeProtocol},
		"an unknown codec":  {AppendFrame(nil, &Edits{Edits: Payload{Codec: 2}})[frameHeader:], CodeProtocol},
		"a wrong size":      {AppendFrame(nil, &Edits{Edits: Payload{Size: 2, Data: []byte("x")}})[frameHeader:], CodeProtocol},
		"a huge payload":    {AppendFrame(nil, &Edits{Edits: Payload{Codec: 1, Size: maxRaw + 1}})[frameHeader:], CodeProtocol},
		"a huge window":     {AppendFrame(nil, &Credit{Class: 1, Bytes: maxWindow + 1})[frameHeader:], CodeProtocol},
	}
}

func TestDecoderRefuses(t *testing.T) {
	for name, c := range refusedBodies() {
		m, err := DecodeBody(c.body)
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: %+v, %v, want code %v", name, m, err, c.code)
		}
	}
}

func TestPayloads(t *testing.T) {
	text := []byte(strings.Repeat("the quick brown fox ", 5000))
	for name, raw := range map[string][]byte{"none": nil, "text": text, "noise": testBytes(1, 100_000), "short": []byte("x")} {
		p := pack(raw, CapZstd)
		got, err := p.unpack(maxRaw)
		if err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%s: %v", name, err)
		}
		if compressed := p.Codec == codecZstd; compressed != (name == "text") {
			t.Errorf("%s: codec %d", name, p.Codec)
		}
		if q := pack(raw, 0); q.Codec != codecPlain {
			t.Errorf("%s: compressed without the capability", name)
		}
		if _, err := p.unpack(len(raw) - 1); len(raw) > 0 && err == nil {
			t.Errorf("%s: over the limit", name)
		}
	}
	old := Payload{Codec: codecZstd, Size: 400, Data: zstdSample}
	if raw, err := old.unpack(maxRaw); err != nil || string(raw) != strings.Repeat(zstdSampleText, 50) {
		t.Errorf("the sample: %v", err)
	}
	bomb := pack(make([]byte, maxRaw), CapZstd)
	bomb.Size = 100
	if _, err := bomb.unpack(maxRaw); err == nil {
		t.Error("a bomb was taken")
	}
	if p := pack(text, CapZstd); true {
		p.Data = p.Data[:len(p.Data)-1]
		if _, err := p.unpack(maxRaw); err == nil {
			t.Error("a payload that is cut off was taken")
		}
	}
}

func TestEditsRefused(t *testing.T) {
	one := appendEdit(nil, nil, []byte("b"), []byte("v"))
	many := []byte(nil)
	key := []byte(nil)
	for i := range maxEdits + 1 {
		next := binary.BigEndian.AppendUint32(nil, uint32(i+1))
		many = appendEdit(many, key, next, nil)
		key = next
	}
	cases := map[string]struct{ b, before []byte }{
		"the same key":      {one, []byte("b")},
		"a key before":      {one, []byte("c")},
		"an empty key":      {[]byte{0, 0, 0}, nil},
		"shares too much":   {[]byte{1, 0, 0}, nil},
		"no length":         {[]byte{0}, nil},
		"no value":          {[]byte{0, 1, 'x'}, nil},
		"a cut value":       {[]byte{0, 1, 'x', 3, 'y'}, nil},
		"a long key":        {appendEdit(nil, nil, make([]byte, maxKey+1), nil), nil},
		"a long value":      {appendEdit(nil, nil, []byte("k"), make([]byte, maxValue+1)), nil},
		"a huge length":     {[]byte{0, 1, 'x', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, nil},
		"too many edits":    {many, nil},
		"a shared huge key": {[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0}, []byte("k")},
	}
	for name, c := range cases {
		if e, err := decodeEdits(c.b, c.before); err == nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
	got, err := decodeEdits(appendEdit(one, []byte("b"), []byte("bc"), nil), []byte("a"))
	if err != nil || len(got) != 2 || string(got[1].Key) != "bc" || got[1].Value != nil || string(got[0].Value) != "v" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCommitsRefused(t *testing.T) {
	good := encodeTestCommit(testID(1), []ID{testID(2)}, 3)
	c, err := decodeCommit(good)
	if err != nil || c.Root != testID(1) || len(c.Parents) != 1 || c.Parents[0] != testID(2) {
		t.Fatalf("%+v, %v", c, err)
	}
	for i := range good {
		if _, err := decodeCommit(good[:i]); err == nil {
			t.Errorf("%d bytes of a commit are taken for one", i)
		}
	}
	nested := append([]byte(commitMagic+"\x81\xa1x"), bytes.Repeat([]byte{0x91}, 1<<19)...)
	many := encodeTestCommit(testID(1), make([]ID, maxParents+1), 0)
	for name, b := range map[string][]byte{"nested": nested, "many parents": many, "more": append(bytes.Clone(good), 0)} {
		if _, err := decodeCommit(b); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
