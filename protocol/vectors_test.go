package protocol

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite spec/vectors/protocol and the generated parts of spec/protocol.md")

const vectorDir = "../spec/vectors/protocol"

// name of a message, as the specification has it.
func nameOf(m Message) string { return strings.ToLower(reflect.TypeOf(m).Elem().Name()) }

// lister is a visitor that lists fields for JSON and for transcripts.
type lister struct {
	names  []string
	values map[string]any
	short  []string
}

func listFields(m Message) *lister {
	l := &lister{values: map[string]any{}}
	m.fields(l)
	return l
}

func (l *lister) add(name string, v any, short string) {
	l.names = append(l.names, name)
	l.values[name] = v
	l.short = append(l.short, name+" "+short)
}

func shortID(id ID) string {
	if id.IsZero() {
		return "0"
	}
	return id.String()[:8]
}

func (l *lister) uint(name string, p *uint64, _ uint64) { l.add(name, *p, fmt.Sprint(*p)) }
func (l *lister) bool(name string, p *bool)             { l.add(name, *p, fmt.Sprint(*p)) }
func (l *lister) digest(name string, p *ID)             { l.add(name, p.String(), shortID(*p)) }
func (l *lister) text(name string, p *string, _ int)    { l.add(name, *p, fmt.Sprintf("%q", *p)) }
func (l *lister) bytes(name string, p *[]byte, _ int) {
	l.add(name, hex.EncodeToString(*p), fmt.Sprintf("(%d bytes)", len(*p)))
}
func (l *lister) ids(name string, p *[]ID, _ int) {
	all, short := []string{}, []string{}
	for _, id := range *p {
		all, short = append(all, id.String()), append(short, shortID(id))
	}
	l.add(name, all, "["+strings.Join(short, " ")+"]")
}

func (l *lister) payload(name string, p *Payload, _ int) {
	l.add(name, map[string]any{"codec": p.Codec, "size": p.Size, "data": hex.EncodeToString(p.Data)}, fmt.Sprintf("(%d bytes)", p.Size))
}

func decodeHex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type messageVector struct {
	Name   string         `json:"name"`
	Number uint64         `json:"number"`
	Fields map[string]any `json:"fields"`
	Frame  string         `json:"frame"`
}

type refusedVector struct {
	About string `json:"about"`
	Body  string `json:"body"`
	Code  string `json:"code"`
}

type editVector struct {
	Key   string  `json:"key"`
	Value *string `json:"value"` // null removes
}

type deltaVector struct {
	Before string       `json:"before"`
	Edits  []editVector `json:"edits"`
	Bytes  string       `json:"bytes"`
}

type zstdVector struct {
	Payload map[string]any `json:"payload"`
	Bytes   string         `json:"bytes"`
}

type stepVector struct {
	From    string `json:"from"`
	Message string `json:"message"`
	Frame   string `json:"frame"`
}

type sessionVector struct {
	Name  string       `json:"name"`
	About string       `json:"about"`
	Steps []stepVector `json:"steps"`
	// Ends is how the session ends: "bye", or the code of the failure.
	Ends string `json:"ends"`
}

// golden compares v with a file of vectors, or writes it.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(vectorDir, name)
	if *update {
		if err := os.MkdirAll(vectorDir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(old, b.Bytes()) {
		t.Errorf("%s is not what the code does; vectors of a version never change", file)
	}
}

func TestMessageVectors(t *testing.T) {
	var out []messageVector
	for _, m := range samples() {
		out = append(out, messageVector{nameOf(m), m.id(), listFields(m).values, hex.EncodeToString(AppendFrame(nil, m))})
	}
	golden(t, "messages.json", out)
}

func TestRefusedVectors(t *testing.T) {
	var out []refusedVector
	cases := refusedBodies()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		if len(c.body) > 40_000 {
			continue
		}
		out = append(out, refusedVector{name, hex.EncodeToString(c.body), c.code.String()})
	}
	golden(t, "refused.json", out)
}

func TestDeltaVectors(t *testing.T) {
	val := func(s string) *string { return &s }
	cases := []deltaVector{
		{"", []editVector{{"a1", val("x")}, {"a2", nil}, {"b", val("")}}, ""},
		{"a1", []editVector{{"a1\x00", val("longer than the one before")}, {"a1\x00z", nil}}, ""},
		{"", nil, ""},
	}
	for i := range cases {
		c := &cases[i]
		prev, b := []byte(c.Before), []byte(nil)
		for k := range c.Edits {
			e := &c.Edits[k]
			var value []byte
			if e.Value != nil {
				value = append([]byte{}, *e.Value...)
				*e.Value = hex.EncodeToString(value)
			}
			b = appendEdit(b, prev, []byte(e.Key), value)
			prev = []byte(e.Key)
			e.Key = hex.EncodeToString(prev)
		}
		before := []byte(c.Before)
		if len(before) == 0 {
			before = nil
		}
		got, err := decodeEdits(b, before)
		if err != nil || len(got) != len(c.Edits) {
			t.Fatalf("case %d: %+v, %v", i, got, err)
		}
		c.Before, c.Bytes = hex.EncodeToString(before), hex.EncodeToString(b)
	}
	golden(t, "deltas.json", cases)
	golden(t, "payloads.json", []zstdVector{{
		map[string]any{"codec": codecZstd, "size": 400, "data": hex.EncodeToString(zstdSample)},
		hex.EncodeToString([]byte(strings.Repeat(zstdSampleText, 50))),
	}})
}

// A small workspace in the real format (spec/workspace.md), so that whoever
// implements more than the messages can use the sessions as well.

func wsInode(content byte, mode, nlink, size, blocks, parent uint64, rest []byte) []byte {
	b := []byte{1, 0, content}
	for _, v := range []uint64{mode, 1000, 1000, nlink, size, blocks, parent} {
		b = binary.AppendUvarint(b, v)
	}
	for _, v := range []int64{1_700_000_000_000_000_000, 0, 0, 0} {
		b = binary.AppendVarint(b, v)
	}
	return append(b, rest...)
}

func wsKey(kind byte, ino uint64, name string) string {
	return string(append(binary.BigEndian.AppendUint64([]byte{kind}, ino), name...))
}

func wsRefs(key, value []byte, fn func(ID)) error {
	if len(key) == 9 && key[0] == 'i' && len(value) > 35 && value[2] == 2 {
		fn(ID(value[len(value)-32:]))
	}
	return nil
}

const wsIno = 1<<36 | 5 // of the first replica

func wsFill(m *memStore, files int, text string) {
	m.refs = wsRefs
	edits := map[string][]byte{wsKey('i', 1, ""): wsInode(0, 0o40755, 2, uint64(files), 0, 1, nil)}
	for i := range uint64(files) {
		data := []byte(strings.Repeat(fmt.Sprintf("%s %d\n", text, i), 20))
		id := m.put(data)
		edits[wsKey('d', 1, fmt.Sprintf("file%d", i))] = append(binary.AppendUvarint(nil, wsIno+i), 8)
		edits[wsKey('i', wsIno+i, "")] = wsInode(2, 0o100644, 1, uint64(len(data)), 1, 1, id[:])
	}
	m.commit(edits)
}

// transcript lets a pair speak frame by frame, and notes each.
type transcript struct {
	*pair
	steps []stepVector
}

func newTranscript(t *testing.T, local, remote *memStore) *transcript {
	p := newPairConfig(t, Config{
		Store: local, Workspace: "project", Rights: RightRead | RightWrite, Plain: true, Agent: "client/1", Token: []byte("token"),
	}, remote)
	p.server.cfg.Agent = "server/1"
	return &transcript{pair: p}
}

func (x *transcript) speak() {
	for {
		out := drain(x.client)
		x.note("client", out)
		x.server.Receive(epoch, out)
		in := drain(x.server)
		x.note("server", in)
		x.client.Receive(epoch, in)
		x.ce = append(x.ce, x.client.Events()...)
		if len(in)+len(out) == 0 {
			return
		}
	}
}

func (x *transcript) note(from string, b []byte) {
	for len(b) > 0 {
		n := frameHeader + int(binary.LittleEndian.Uint32(b))
		m, err := DecodeBody(b[frameHeader:n])
		if err != nil {
			x.t.Fatal(err)
		}
		x.steps = append(x.steps, stepVector{from, nameOf(m), hex.EncodeToString(b[:n])})
		b = b[n:]
	}
}

// end closes the session and returns the vector.
func (x *transcript) end(name, about string) sessionVector {
	ends := "bye"
	for _, s := range []*Session{x.client, x.server} {
		if e, ok := s.Err().(*Error); ok && !e.Remote {
			ends = e.Code.String()
		}
	}
	if ends == "bye" {
		x.client.Close()
		x.speak()
	}
	return sessionVector{name, about, x.steps, ends}
}

func wsPair(t *testing.T, same bool) (*transcript, *memStore, *memStore) {
	local, remote := newMemStore(), newMemStore()
	wsFill(remote, 3, "text")
	local.refs = wsRefs
	if same {
		for id, b := range remote.data {
			local.data[id] = b
		}
		local.head, local.fulls = remote.head, []ID{remote.head}
	}
	return newTranscript(t, local, remote), local, remote
}

func sessionVectors(t *testing.T) []sessionVector {
	var out []sessionVector

	x, _, _ := wsPair(t, true)
	x.client.Fetch(ID{}, false)
	x.speak()
	out = append(out, x.end("unchanged", "a client fetches, and has the head already"))

	x, local, remote := wsPair(t, false)
	x.client.Fetch(ID{}, false)
	x.speak()
	same(t, local, remote, remote.head)
	out = append(out, x.end("clone", "a client that has nothing fetches a small workspace, which comes as a delta from nothing"))

	x, local, remote = wsPair(t, false)
	x.server.tune.emptyDelta, x.client.tune.wantedChunks = 0, 2
	x.client.Fetch(ID{}, false)
	x.speak()
	same(t, local, remote, remote.head)
	out = append(out, x.end("walk", "the same, node by node"))

	x, local, remote = wsPair(t, true)
	x.speak()
	wsFill(local, 3, "other")
	x.client.Push(remote.head, local.head)
	x.speak()
	same(t, local, remote, local.head)
	out = append(out, x.end("push", "a client pushes a commit that changes three files, and waits for the welcome before"))

	x, local, remote = wsPair(t, true)
	expect := remote.head
	wsFill(local, 3, "other")
	wsFill(remote, 3, "third")
	x.speak()
	x.client.Push(expect, local.head)
	x.speak()
	out = append(out, x.end("moved", "the head of the server has moved meanwhile: the push is refused, the session goes on"))

	x, _, remote = wsPair(t, false)
	x.client.Watch()
	x.speak()
	wsFill(remote, 4, "more")
	x.server.HeadMoved(remote.head)
	x.speak()
	x.client.Get(KindChunk, []ID{testID(7), remote.put([]byte(strings.Repeat("more 0\n", 20)))})
	x.speak()
	x.client.Cancel(1)
	x.speak()
	out = append(out, x.end("watch", "a client watches the head, gets a chunk and one that is not there, and watches no more"))

	return append(out, failingSessions(t)...)
}

func failingSessions(t *testing.T) []sessionVector {
	var out []sessionVector
	x, _, _ := wsPair(t, false)
	h := &Hello{Version: 9, Oldest: 7, Workspace: "project", Path: "/", Rights: RightRead, TreeWindow: 1, ChunkWindow: 1}
	x.client.control = AppendFrame(nil, h)
	x.speak()
	out = append(out, x.end("version", "a client that speaks later versions alone"))

	x, _, _ = wsPair(t, false)
	x.server.cfg.Accept = func(*Hello) (Grant, error) { return Grant{}, Fail(CodeExpired, "the token has expired") }
	x.client.Fetch(ID{}, false)
	x.speak()
	out = append(out, x.end("expired", "a client with an expired token, which did not wait for the welcome"))

	x, local, remote := wsPair(t, true)
	x.speak()
	wsFill(local, 3, "other")
	x.client.control = AppendFrame(nil, &Push{Request: 1, Expect: remote.head, Target: local.head, Base: remote.head, Mode: uint64(ModeDelta)})
	record := local.data[local.head]
	x.client.control = AppendFrame(x.client.control, &Commits{Request: 1, Records: plain(record)})
	x.client.control = AppendFrame(x.client.control, &Edits{Request: 1, Last: true, Edits: pack(nil, 0)})
	x.speak()
	out = append(out, x.end("root", "a push whose delta does not lead to the announced root"))

	x, _, remote = wsPair(t, false)
	x.client.Get(KindChunk, []ID{testID(1)})
	x.note("client", drain(x.client))
	x.server.Receive(epoch, nil)
	in := AppendFrame(nil, &Welcome{Version: 1, Rights: RightRead | RightWrite, Head: remote.head, TreeWindow: 1, ChunkWindow: 1})
	in = AppendFrame(in, &Items{Request: 1, Kind: uint64(KindChunk), Items: plain([]byte("something else"))})
	x.note("server", in)
	x.client.Receive(epoch, in)
	x.note("client", drain(x.client))
	out = append(out, x.end("digest", "a server that answers with other bytes"))
	return out
}

func TestSessionVectors(t *testing.T) {
	golden(t, "sessions.json", sessionVectors(t))
}
