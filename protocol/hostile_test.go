package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
)

// victim is an open server's session with a workspace of three files, that a
// hostile client talks to in frames of its own making.
type victim struct {
	*pair
	store *memStore
	head  ID
	root  ID
}

func newVictim(t *testing.T) *victim {
	remote := newMemStore()
	fill(remote, 3, 100)
	p := newPair(t, newMemStore(), remote)
	p.open()
	return &victim{p, remote, remote.head, remote.rootOf(remote.head)}
}

func (v *victim) send(ms ...Message) {
	var b []byte
	for _, m := range ms {
		b = AppendFrame(b, m)
	}
	v.server.Receive(epoch, b)
}

// child returns the record of a commit with a root, on top of the head.
func (v *victim) child(root ID) (ID, []byte) {
	b := encodeTestCommit(root, []ID{v.head}, 1)
	return Sum(b), b
}

// push begins a push of a commit with a root.
func (v *victim) push(root ID, mode Mode) {
	id, record := v.child(root)
	m := &Push{Request: 1, Expect: v.head, Target: id, Mode: uint64(mode)}
	if mode == ModeDelta {
		m.Base = v.head
	}
	v.send(m, &Commits{Request: 1, Records: plain(record)})
}

func edits(last bool, kv ...string) *Edits {
	var b, prev []byte
	for i := 0; i < len(kv); i += 2 {
		b = appendEdit(b, prev, []byte(kv[i]), []byte(kv[i+1]))
		prev = []byte(kv[i])
	}
	return &Edits{Request: 1, Last: last, Edits: pack(b, 0)}
}

func items(kind Kind, ahead bool, data ...[]byte) *Items {
	return &Items{Request: 1, Kind: uint64(kind), Ahead: ahead, Items: plain(data...)}
}

// treeOf builds a tree in a store of its own and returns it.
func treeOf(t *testing.T, entries int, key func(i int) string, value []byte) (*memStore, ID) {
	t.Helper()
	m := newMemStore()
	var batch []tree.Edit
	for i := range entries {
		batch = append(batch, tree.Edit{Key: []byte(key(i)), Value: value})
	}
	tr, err := m.tree(EmptyRoot).Apply(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	return m, ID(tr.Root())
}

// innerNode makes a node of a level with children that it knows nothing of.
func innerNode(level byte, children ...ID) []byte {
	n := len(children)
	b := []byte{'v', 't', 1, level}
	b = binary.LittleEndian.AppendUint16(b, uint16(n))
	b = binary.LittleEndian.AppendUint16(b, 0)
	for i := range n {
		b = binary.LittleEndian.AppendUint16(b, uint16(i+1))
	}
	for i := range n {
		b = append(b, byte('a'+i))
	}
	for _, c := range children {
		b = append(b, c[:]...)
		b = append(b, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0)
	}
	return b
}

func TestHostileClients(t *testing.T) {
	noise := testBytes(5, 300)
	many := make([]ID, maxIDs)
	for i := range many {
		many[i] = Sum([]byte{byte(i), byte(i >> 8)})
	}
	cases := []struct {
		name string
		code Code
		do   func(v *victim)
	}{
		{"garbage", CodeLimit, func(v *victim) { v.server.Receive(epoch, bytes.Repeat([]byte{0xff}, 100)) }},
		{"HTTP", CodeLimit, func(v *victim) { v.server.Receive(epoch, []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")) }},
		{"an empty frame", CodeProtocol, func(v *victim) { v.server.Receive(epoch, make([]byte, 8)) }},
		{"an oversize frame", CodeLimit, func(v *victim) {
			v.server.Receive(epoch, binary.LittleEndian.AppendUint64(nil, maxBody+1))
		}},
		{"a wrong checksum", CodeProtocol, func(v *victim) {
			b := AppendFrame(nil, &Ping{})
			b[len(b)-1] ^= 1
			v.server.Receive(epoch, b)
		}},
		{"a second hello", CodeProtocol, func(v *victim) { v.send(samples()[0]) }},
		{"a message of a server", CodeProtocol, func(v *victim) { v.send(&Offer{Request: 1}) }},
		{"a result", CodeProtocol, func(v *victim) { v.send(&Result{Request: 1, Head: v.head}) }},
		{"items of no request", CodeProtocol, func(v *victim) { v.send(items(KindChunk, false, noise)) }},
		{"a request number twice", CodeProtocol, func(v *victim) { v.send(&Watch{Request: 1}, &Watch{Request: 1}) }},
		{"wants without end", CodeLimit, func(v *victim) {
			v.send(&Fetch{Request: 1})
			for range maxWanted/maxIDs + 1 {
				v.send(&Want{Request: 1, Kind: uint64(KindChunk), IDs: many})
			}
		}},
		{"pings without reading", CodeLimit, func(v *victim) {
			for range maxControl/10 + 1 {
				v.send(&Ping{Nonce: 1})
			}
		}},
		{"credit without end", CodeLimit, func(v *victim) {
			v.send(&Credit{Class: 1, Bytes: maxWindow}, &Credit{Class: 1, Bytes: maxWindow})
		}},
		{"credit of no class", CodeLimit, func(v *victim) { v.send(&Credit{Bytes: 1}) }},
		{"edits without credit", CodeLimit, func(v *victim) {
			v.push(testID(9), ModeWalk)
			v.server.flow.given[ClassTree] = 0
			v.send(edits(false))
		}},
		{"another commit", CodeDigest, func(v *victim) {
			v.send(&Push{Request: 1, Expect: v.head, Target: testID(1), Base: v.head, Mode: 1}, &Commits{Request: 1, Records: plain(v.store.data[v.head])})
		}},
		{"no commit", CodeInvalid, func(v *victim) {
			v.send(&Push{Request: 1, Expect: v.head, Target: Sum(noise), Base: v.head, Mode: 1}, &Commits{Request: 1, Records: plain(noise)})
		}},
		{"a commit of other people", CodeDigest, func(v *victim) {
			v.push(v.root, ModeDelta)
			v.send(&Commits{Request: 1, Records: plain(encodeTestCommit(testID(3), nil, 3))})
		}},
		{"a root that does not match", CodeRoot, func(v *victim) {
			v.push(testID(9), ModeDelta)
			v.send(edits(true, "x", "nvalue"))
		}},
		{"keys that decrease", CodeProtocol, func(v *victim) {
			v.push(testID(9), ModeDelta)
			v.send(edits(false, "y", "nvalue"), edits(true, "x", "nvalue"))
		}},
		{"a name that escapes", CodeInvalid, func(v *victim) {
			v.push(testID(9), ModeDelta)
			v.send(edits(true, "../x", "nvalue"))
		}},
		{"a value of no kind", CodeInvalid, func(v *victim) {
			v.push(testID(9), ModeDelta)
			v.send(edits(true, "x", "?"))
		}},
		{"edits in a walk", CodeProtocol, func(v *victim) {
			v.push(testID(9), ModeWalk)
			v.send(edits(true, "x", "nvalue"))
		}},
		{"a chunk that was not asked for", CodeDigest, func(v *victim) {
			v.push(testID(9), ModeDelta)
			v.send(items(KindChunk, false, noise))
		}},
		{"chunks ahead without end", CodeLimit, func(v *victim) {
			v.push(testID(9), ModeDelta)
			for i := range uint64(maxAhead/60_000 + 1) {
				v.send(items(KindChunk, true, testBytes(i, 60_000)))
			}
		}},
		{"a wrong chunk", CodeDigest, func(v *victim) {
			m := newMemStore()
			tr, err := v.store.tree(v.root).Apply(t.Context(), []tree.Edit{{Key: []byte("x"), Value: m.file(noise)}})
			if err != nil {
				t.Fatal(err)
			}
			v.push(ID(tr.Root()), ModeDelta)
			v.send(edits(true, "x", string(m.file(noise))))
			noise := bytes.Clone(noise)
			noise[7] ^= 1
			v.send(items(KindChunk, false, noise))
		}},
		{"a node that was not asked for", CodeDigest, func(v *victim) {
			v.push(testID(9), ModeWalk)
			v.send(items(KindNode, false, innerNode(1, testID(1), testID(2))))
		}},
		{"a node that is none", CodeInvalid, func(v *victim) {
			v.push(Sum(noise), ModeWalk)
			v.send(items(KindNode, false, noise))
		}},
		{"a leaf with a name that escapes", CodeInvalid, func(v *victim) {
			m, root := treeOf(t, 3, func(i int) string { return fmt.Sprint("../", i) }, inline("x"))
			v.push(root, ModeWalk)
			v.send(items(KindNode, false, m.data[root]))
		}},
		{"a child of the wrong level", CodeInvalid, func(v *victim) {
			leaf := innerNode(1, testID(1), testID(2))
			top := innerNode(3, Sum(leaf), testID(3))
			v.push(Sum(top), ModeWalk)
			v.send(items(KindNode, false, top), items(KindNode, false, leaf))
		}},
		{"too deep a tree", CodeInvalid, func(v *victim) {
			top := innerNode(maxLevels, testID(1), testID(2))
			v.push(Sum(top), ModeWalk)
			v.send(items(KindNode, false, top))
		}},
		{"a node in many places", CodeInvalid, func(v *victim) {
			// Twenty-three levels of four equal children: 2^46 paths.
			id, nodes := testID(1), [][]byte(nil)
			for level := byte(1); level < maxLevels; level++ {
				n := innerNode(level, id, id, id, id)
				id, nodes = Sum(n), append(nodes, n)
			}
			v.push(id, ModeWalk)
			for i := len(nodes) - 1; i >= 0 && v.server.Open(); i-- {
				v.send(items(KindNode, false, nodes[i]))
			}
		}},
		{"a bomb", CodeProtocol, func(v *victim) {
			v.push(testID(9), ModeDelta)
			p := pack(make([]byte, maxRaw), CapZstd)
			p.Size = 10
			v.send(&Edits{Request: 1, Edits: p})
		}},
		{"a part beyond the limit", CodeLimit, func(v *victim) {
			v.push(testID(9), ModeDelta)
			v.send(&Edits{Request: 1, Edits: pack(make([]byte, maxPart+1), CapZstd)})
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := newVictim(t)
			before := len(v.store.data)
			c.do(v)
			var e *Error
			if err := v.server.Err(); !errors.As(err, &e) || e.Code != c.code || e.Remote {
				t.Fatalf("the session ended by %v, want code %v", err, c.code)
			}
			if v.store.head != v.head || v.store.imports != 0 {
				t.Error("the head moved, or an import is open")
			}
			if kept := len(v.store.data) - before; kept > 40 {
				t.Errorf("%d things were kept", kept)
			}
			// The peer is told, and nothing more is taken.
			out := drain(v.server)
			if !strings.Contains(string(out), e.Text) {
				t.Error("the peer was not told")
			}
			v.send(&Fetch{Request: 99})
			if len(drain(v.server)) > 0 {
				t.Error("the session goes on")
			}
		})
	}
}

// A server that lies is found out, and nothing of it is visible.
func TestHostileServers(t *testing.T) {
	good := newMemStore()
	fill(good, 2, 100)
	record := good.data[good.head]
	cases := []struct {
		name string
		code Code
		ms   []Message
	}{
		{"an offer twice", CodeProtocol, []Message{&Offer{Request: 1, Target: good.head, Mode: 1}, &Offer{Request: 1, Target: good.head, Mode: 1}}},
		{"an offer of nothing", CodeProtocol, []Message{&Offer{Request: 1, Target: good.head}}},
		{"commits before the offer", CodeProtocol, []Message{&Commits{Request: 1, Records: plain(record)}}},
		{"another commit", CodeDigest, []Message{&Offer{Request: 1, Target: testID(1), Mode: 1}, &Commits{Request: 1, Records: plain(record)}}},
		{"another root", CodeRoot, []Message{&Offer{Request: 1, Target: good.head, Mode: 1}, &Commits{Request: 1, Records: plain(record)}, edits(true)}},
		{"a result of no push", CodeProtocol, []Message{&Result{Request: 3, Head: good.head}}},
		{"a head that nobody watches", CodeProtocol, []Message{&Head{Request: 9, Commit: good.head}}},
		{"a wrong item", CodeDigest, []Message{&Items{Request: 2, Kind: uint64(KindChunk), Items: plain([]byte("other"))}}},
		{"a request", CodeProtocol, []Message{&Fetch{Request: 1}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			local := newMemStore()
			p := newPair(t, local, newMemStore())
			p.open()
			p.client.Fetch(ID{}, false)
			p.client.Get(KindChunk, []ID{Sum([]byte("wanted"))})
			var b []byte
			for _, m := range c.ms {
				b = AppendFrame(b, m)
			}
			p.client.Receive(epoch, b)
			var e *Error
			if err := p.client.Err(); !errors.As(err, &e) || e.Code != c.code {
				t.Fatalf("the session ended by %v, want code %v", err, c.code)
			}
			if !local.head.IsZero() || len(local.fulls) > 0 || local.imports != 0 {
				t.Error("something of it is visible")
			}
			failed := 0
			for _, ev := range p.client.Events() {
				if ev.Kind == EventFailed {
					failed++
				}
			}
			if failed != 2 {
				t.Errorf("%d requests failed, want 2", failed)
			}
		})
	}
}

// What a server refuses without ending the session.
func TestRefusedRequests(t *testing.T) {
	v := newVictim(t)
	v.server.rights = RightRead
	cases := []struct {
		code Code
		m    Message
	}{
		{CodeDenied, &Push{Request: 1, Expect: v.head, Target: testID(1), Mode: 1}},
		{CodeNotFound, &Fetch{Request: 2, Target: testID(1)}},
		{CodeNotFound, &Fetch{Request: 3, Target: v.store.put(encodeTestCommit(v.root, nil, 77))}},
		{CodeProtocol, &Get{Request: 4, Kind: uint64(KindCommit), IDs: []ID{v.head}}},
	}
	for i, c := range cases {
		v.send(c.m)
		body := drain(v.server)[frameHeader:]
		m, err := DecodeBody(body)
		f, ok := m.(*Failure)
		if err != nil || !ok || Code(f.Code) != c.code || f.Request != uint64(i+1) || !v.server.Open() {
			t.Errorf("%+v is answered by %+v, %v", c.m, m, err)
		}
	}
	for r := range uint64(maxRequests + 1) {
		v.send(&Watch{Request: 10 + r})
	}
	out := drain(v.server)
	if !strings.Contains(string(out), "requests are open") || !v.server.Open() {
		t.Error("a request too many is not refused")
	}
	v.server.rights = RightWrite
	v.send(&Fetch{Request: 100})
	if out := drain(v.server); !strings.Contains(string(out), "does not have the right") {
		t.Error("a fetch without the right to read")
	}
}

func TestOpeningIsRefused(t *testing.T) {
	remote := newMemStore()
	serve := func(h *Hello) *Session {
		s := NewServer(epoch, Config{Accept: func(h *Hello) (Grant, error) {
			if string(h.Token) == "failing" {
				return Grant{}, errors.New("a secret of the server")
			}
			return Grant{Store: remote, Rights: RightRead}, nil
		}})
		s.Receive(epoch, AppendFrame(nil, h))
		return s
	}
	for name, c := range map[string]struct {
		h    Hello
		code Code
	}{
		"a later version":      {Hello{Version: 5, Oldest: 2, Path: "/", Rights: 1}, CodeVersion},
		"an earlier version":   {Hello{Version: 0, Path: "/", Rights: 1}, CodeVersion},
		"more rights":          {Hello{Version: 1, Path: "/", Rights: 3}, CodeDenied},
		"a path that escapes":  {Hello{Version: 1, Path: "/a/../../b", Rights: 1}, CodeProtocol},
		"a relative path":      {Hello{Version: 1, Path: "a", Rights: 1}, CodeProtocol},
		"a failure of a store": {Hello{Version: 1, Path: "/", Rights: 1, Token: []byte("failing")}, CodeInternal},
	} {
		s := serve(&c.h)
		var e *Error
		if !errors.As(s.Err(), &e) || e.Code != c.code {
			t.Errorf("%s: %v", name, s.Err())
		}
		if out := drain(s); len(out) == 0 || bytes.Contains(out, []byte("secret")) {
			t.Errorf("%s: the peer hears %q", name, out)
		}
	}
	s := NewServer(epoch, Config{})
	if s.Receive(epoch, AppendFrame(nil, &Watch{Request: 1})); s.Err() == nil {
		t.Error("a request before the hello")
	}
	s = NewServer(epoch, Config{})
	if s.Receive(epoch, binary.LittleEndian.AppendUint64(nil, maxOpening+1)); s.Err() == nil {
		t.Error("a large frame before the hello")
	}
}

// Time is what is told: nobody has to wait for it.
func TestTimes(t *testing.T) {
	code := func(s *Session) Code {
		var e *Error
		if errors.As(s.Err(), &e) {
			return e.Code
		}
		return 0
	}
	loris := NewServer(epoch, Config{})
	hello := AppendFrame(nil, samples()[0])
	for i, b := range hello[:9] {
		loris.Receive(epoch.Add(time.Duration(i)*time.Second), []byte{b})
	}
	if loris.Tick(epoch.Add(helloTime - 1)); code(loris) != 0 {
		t.Errorf("too early: %v", loris.Err())
	}
	if loris.Tick(epoch.Add(helloTime)); code(loris) != CodeTimeout {
		t.Errorf("a hello byte by byte: %v", loris.Err())
	}

	v := newVictim(t)
	v.server.Receive(epoch, AppendFrame(nil, &Ping{})[:3])
	for at := time.Duration(0); at < frameTime; at += 10 * time.Second {
		v.server.Tick(epoch.Add(at))
		if v.server.Closed() {
			t.Fatalf("closed at %v", at)
		}
	}
	if v.server.Tick(epoch.Add(frameTime)); code(v.server) != CodeTimeout {
		t.Errorf("half a frame: %v", v.server.Err())
	}

	v = newVictim(t)
	drain(v.server)
	if at := v.server.Deadline(); !at.Equal(epoch.Add(pingAfter)) {
		t.Errorf("the deadline is %v", at.Sub(epoch))
	}
	if v.server.Tick(epoch.Add(pingAfter)); len(drain(v.server)) == 0 {
		t.Error("no ping")
	}
	if v.server.Tick(epoch.Add(silence)); code(v.server) != CodeTimeout {
		t.Errorf("a half-open connection: %v", v.server.Err())
	}

	v = newVictim(t)
	v.server.Tick(epoch.Add(-1000 * time.Hour))
	if v.server.Closed() {
		t.Error("a clock that was set back closes the session")
	}
}

// chunkOf is here so that the model's ids are those of the engine.
func TestSameDigests(t *testing.T) {
	if b := []byte("x"); ID(chunk.Sum(b)) != Sum(b) || ID(tree.EmptyRoot()) != EmptyRoot || tree.MaxNode != maxNode ||
		tree.MaxKey != maxKey || tree.MaxValue != maxValue || tree.MaxLevels != maxLevels || chunk.MaxChunk != maxChunk {
		t.Error("ids or limits are not those of the engine")
	}
}
