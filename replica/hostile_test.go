package replica

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/protocol"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/workspace"
)

// list is a payload of items.
func list(items ...[]byte) protocol.Payload {
	var b []byte
	for _, i := range items {
		b = append(binary.AppendUvarint(b, uint64(len(i))), i...)
	}
	return protocol.Payload{Size: uint64(len(b)), Data: b}
}

// delta is a payload of edits, sorted by key.
func delta(edits []tree.Edit) protocol.Payload {
	var b []byte
	for _, e := range edits {
		b = append(b, 0)
		b = append(binary.AppendUvarint(b, uint64(len(e.Key))), e.Key...)
		if e.Delete {
			b = append(b, 0)
			continue
		}
		b = append(binary.AppendUvarint(b, uint64(len(e.Value))+1), e.Value...)
	}
	return protocol.Payload{Size: uint64(len(b)), Data: b}
}

func hello() *protocol.Hello {
	return &protocol.Hello{
		Version: protocol.Version, Oldest: protocol.Version, Agent: "hostile", Workspace: "ws", Path: "/",
		Rights: protocol.RightRead | protocol.RightWrite, TreeWindow: 1 << 20, ChunkWindow: 1 << 20,
	}
}

// say sends messages over a connection and returns the failure that it ends by,
// or with which the server answers a request.
func say(t *testing.T, nc net.Conn, ms ...protocol.Message) *protocol.Failure {
	t.Helper()
	defer nc.Close()
	var b []byte
	for _, m := range ms {
		b = protocol.AppendFrame(b, m)
	}
	if _, err := nc.Write(b); err != nil {
		t.Fatal(err)
	}
	must(t, nc.SetReadDeadline(time.Now().Add(20*time.Second)))
	for {
		var h [8]byte
		if _, err := io.ReadFull(nc, h[:]); err != nil {
			t.Fatalf("the connection ended without a failure: %v", err)
		}
		body := make([]byte, binary.LittleEndian.Uint32(h[:]))
		if _, err := io.ReadFull(nc, body); err != nil {
			t.Fatal(err)
		}
		m, err := protocol.DecodeBody(body)
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := m.(*protocol.Failure); ok {
			return f
		}
	}
}

// forger makes commits that no workspace would make, on top of a real one.
type forger struct {
	t    *testing.T
	s    *site
	head chunk.ID
	base *workspace.Commit
	all  map[string][]byte
}

func newForger(t *testing.T, s *site) *forger {
	head, err := s.w.SyncHead(t.Context())
	must(t, err)
	c, err := s.w.Commit(t.Context(), head)
	must(t, err)
	f := &forger{t: t, s: s, head: head, base: c, all: map[string][]byte{}}
	for e, err := range s.w.Delta(t.Context(), tree.EmptyRoot(), c.Root) {
		must(t, err)
		f.all[string(e.Key)] = bytes.Clone(e.New)
	}
	return f
}

func key(kind byte, ino uint64, name string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{kind}, ino), name...)
}

// ino returns the inode that a name leads to.
func (f *forger) ino(parent uint64, name string) uint64 {
	f.t.Helper()
	v := f.all[string(key('d', parent, name))]
	n, k := binary.Uvarint(v)
	if k <= 0 {
		f.t.Fatalf("no name %q", name)
	}
	return n
}

// inode returns the value of an inode with the i-th of its numbers replaced:
// mode, uid, gid, nlink, size, blocks, parent.
func (f *forger) inode(ino uint64, i int, n uint64) []byte {
	v := f.all[string(key('i', ino, ""))]
	out, rest := slices.Clone(v[:3]), v[3:]
	for k := range 7 {
		x, w := binary.Uvarint(rest)
		if k == i {
			x = n
		}
		out, rest = binary.AppendUvarint(out, x), rest[w:]
	}
	return append(out, rest...)
}

// push returns the messages that push the head with edits, with the right root
// if it can be computed.
func (f *forger) push(edits []tree.Edit, root chunk.ID) []protocol.Message {
	f.t.Helper()
	slices.SortFunc(edits, func(a, b tree.Edit) int { return bytes.Compare(a.Key, b.Key) })
	c := *f.base
	c.Parents, c.Root = []chunk.ID{f.head}, root
	if root.IsZero() {
		im, err := f.s.w.Import(f.t.Context(), chunk.Sum([]byte("forged")))
		must(f.t, err)
		c.Root, err = im.Apply(f.t.Context(), f.base.Root, edits)
		must(f.t, err)
		must(f.t, im.Close())
	}
	p, err := msgpack.Marshal(&c)
	must(f.t, err)
	record := append([]byte("vfsdCMIT\x01\x00\x00\x00"), p...)
	return []protocol.Message{
		hello(),
		&protocol.Push{Request: 1, Expect: protocol.ID(f.head), Target: protocol.Sum(record), Base: protocol.ID(f.head), Mode: uint64(protocol.ModeDelta)},
		&protocol.Commits{Request: 1, Records: list(record)},
		&protocol.Edits{Request: 1, Last: true, Edits: delta(edits)},
	}
}

// A peer that lies about a namespace is refused by its kind, and nothing of it is
// seen; the others are served meanwhile.
func TestHostilePushes(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	a.write("p/q/file", "content")
	a.write("p/other", strings.Repeat("x", 1000))
	_, dial := a.serve(t, ServerOptions{})
	b.sync(dial)
	f := newForger(t, b)
	p := f.ino(1, "p")
	q := f.ino(p, "q")
	file := f.ino(q, "file")
	toP := f.all[string(key('d', 1, "p"))]
	toFile := f.all[string(key('d', q, "file"))]
	put := func(k, v []byte) tree.Edit { return tree.Edit{Key: k, Value: v} }
	del := func(k []byte) tree.Edit { return tree.Edit{Key: k, Delete: true} }
	cases := []struct {
		name  string
		code  protocol.Code
		edits []tree.Edit
		root  chunk.ID
	}{
		{"a directory in itself", protocol.CodeInvalid, []tree.Edit{
			del(key('d', 1, "p")), put(key('d', q, "p"), toP), put(key('i', p, ""), f.inode(p, 6, q)),
		}, chunk.ID{}},
		{"a directory with two names", protocol.CodeInvalid, []tree.Edit{put(key('d', q, "p"), toP)}, chunk.ID{}},
		{"a wrong link count", protocol.CodeInvalid, []tree.Edit{put(key('i', file, ""), f.inode(file, 3, 7))}, chunk.ID{}},
		{"an inode without a name", protocol.CodeInvalid, []tree.Edit{del(key('d', q, "file"))}, chunk.ID{}},
		{"a name without an inode", protocol.CodeInvalid, []tree.Edit{del(key('i', file, ""))}, chunk.ID{}},
		{"no root directory", protocol.CodeInvalid, []tree.Edit{del(key('i', 1, ""))}, chunk.ID{}},
		{"a name that is ..", protocol.CodeInvalid, []tree.Edit{put(key('d', p, ".."), toFile)}, chunk.Sum([]byte("any"))},
		{"a name with a slash", protocol.CodeInvalid, []tree.Edit{put(key('d', p, "../../etc"), toFile)}, chunk.Sum([]byte("any"))},
		{"a key of no kind", protocol.CodeInvalid, []tree.Edit{put([]byte("zzz"), toFile)}, chunk.Sum([]byte("any"))},
		{"another root", protocol.CodeRoot, []tree.Edit{put(key('i', file, ""), f.inode(file, 1, 4711))}, chunk.Sum([]byte("any"))},
	}
	head := a.root()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f.t = t
			got := say(t, dial(), f.push(c.edits, c.root)...)
			if protocol.Code(got.Code) != c.code || got.Request != 0 {
				t.Errorf("refused by %+v, want code %v", got, c.code)
			}
			if a.root() != head {
				t.Fatal("the head has moved")
			}
		})
	}
	a.check()
	b.write("honest", "edit")
	if o := b.sync(dial); !o.Pushed || a.read("honest") != "edit" {
		t.Error("an honest peer is not served")
	}
}

// A chunk with other bytes than its name says never gets in.
func TestHostileChunk(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	a.write("f", "x")
	_, dial := a.serve(t, ServerOptions{})
	b.sync(dial)
	f := newForger(t, b)
	b.write("f", noise(1, 5000))
	g := newForger(t, b)
	var edits []tree.Edit
	for e, err := range b.w.Delta(t.Context(), f.base.Root, g.base.Root) {
		must(t, err)
		edits = append(edits, tree.Edit{Key: bytes.Clone(e.Key), Value: bytes.Clone(e.New)})
	}
	ms := append(f.push(edits, chunk.ID{}), &protocol.Items{Request: 1, Kind: uint64(protocol.KindChunk), Items: list([]byte(noise(2, 5000)))})
	if got := say(t, dial(), ms...); protocol.Code(got.Code) != protocol.CodeDigest {
		t.Errorf("refused by %+v", got)
	}
	if a.read("f") != "x" {
		t.Error("the head has moved")
	}
}

// Rights come from a token of this server, for this workspace, in time.
func TestTokensOfPeers(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	a.write("f", "x")
	_, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	_, stranger, err := ed25519.GenerateKey(nil)
	must(t, err)
	now := time.Now()
	_, dial := a.serve(t, ServerOptions{Admit: func(_ context.Context, v *Visitor, token string, write, _ bool) (*workspace.Workspace, error) {
		g, err := Verify(key.Public().(ed25519.PublicKey), token, now)
		if err != nil {
			return nil, err
		}
		right := Read
		if write {
			right = Write
		}
		if err := g.Allows(v.Workspace, a.w.ID(), right); err != nil {
			return nil, err
		}
		return a.data.Open(v.Workspace)
	}})
	sign := func(key ed25519.PrivateKey, change func(*Grant)) string {
		g := Grant{Workspace: "ws", WorkspaceID: a.w.ID(), Right: Write, Expires: now.Add(time.Hour).Unix()}
		change(&g)
		g, err := NewGrant(g)
		must(t, err)
		token, err := Sign(key, g)
		must(t, err)
		return token
	}
	good := sign(key, func(*Grant) {})
	for name, c := range map[string]struct {
		token string
		code  protocol.Code
	}{
		"good":                  {good, 0},
		"none":                  {"", protocol.CodeDenied},
		"garbage":               {"vfsd1.x.y", protocol.CodeDenied},
		"a changed one":         {good[:20] + "A" + good[21:], protocol.CodeDenied},
		"of another server":     {sign(stranger, func(*Grant) {}), protocol.CodeDenied},
		"for another workspace": {sign(key, func(g *Grant) { g.WorkspaceID[3] ^= 1 }), protocol.CodeDenied},
		"for reading":           {sign(key, func(g *Grant) { g.Right = Read }), protocol.CodeDenied},
		"an expired one":        {sign(key, func(g *Grant) { g.Expires = now.Add(-time.Second).Unix() }), protocol.CodeExpired},
	} {
		cl := NewClient(t.Context(), dial(), ClientOptions{Workspace: b.w, Name: "ws", Write: true, Token: c.token})
		_, _, err := cl.Fetch(t.Context(), chunk.ID{}, false)
		var e *protocol.Error
		switch {
		case c.code == 0 && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.code != 0 && (!errors.As(err, &e) || e.Code != c.code || !e.Remote):
			t.Errorf("%s: %v, want code %v", name, err, c.code)
		}
		cl.Close()
	}
	h := hello()
	h.Path = "/secret"
	h.Token = []byte(good)
	if f := say(t, dial(), h); protocol.Code(f.Code) != protocol.CodeUnsupported && protocol.Code(f.Code) != protocol.CodeDenied {
		t.Errorf("another path: %+v", f)
	}
	h = hello()
	h.Version, h.Oldest = 9, 8
	if f := say(t, dial(), h); protocol.Code(f.Code) != protocol.CodeVersion {
		t.Errorf("another version: %+v", f)
	}
}

// Connections that say nothing, or little, keep nobody else waiting.
func TestSlowPeers(t *testing.T) {
	a, b := newSite(t, "a"), newSite(t, "b")
	a.write("f", "x")
	srv, dial := a.serve(t, ServerOptions{})
	frame := protocol.AppendFrame(nil, hello())
	for i := range 50 {
		nc := dial()
		defer nc.Close()
		_, err := nc.Write(frame[:i%len(frame)])
		must(t, err)
	}
	b.sync(dial)
	if b.read("f") != "x" {
		t.Error("it was not served")
	}
	if n := srv.Totals().Open; n < 50 {
		t.Errorf("%d sessions are open: the slow ones are gone too soon", n)
	}
}
