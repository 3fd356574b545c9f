package protocol

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// The targets run their committed seeds, under testdata/fuzz, with every go
// test. TestSeeds writes those that are made from the samples.

func FuzzBody(f *testing.F) {
	for _, m := range samples() {
		f.Add(AppendFrame(nil, m)[frameHeader:])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := DecodeBody(body)
		if err != nil {
			return
		}
		frame := AppendFrame(nil, m)
		again, err := DecodeBody(frame[frameHeader:])
		if err != nil {
			t.Fatalf("%+v does not come back: %v", m, err)
		}
		if !bytes.Equal(AppendFrame(nil, again), frame) {
			t.Fatalf("%+v comes back as %+v", m, again)
		}
	})
}

func FuzzPayload(f *testing.F) {
	f.Add(uint64(1), uint64(400), zstdSample)
	f.Add(uint64(1), uint64(1<<20), pack(make([]byte, 1<<20), CapZstd).Data)
	f.Fuzz(func(t *testing.T, codec, size uint64, data []byte) {
		p := Payload{Codec: codec % 2, Size: size, Data: data}
		if p.Codec == codecPlain {
			p.Size = uint64(len(data))
		}
		raw, err := p.unpack(1 << 20)
		if err == nil && (uint64(len(raw)) != p.Size || len(raw) > 1<<20) {
			t.Fatalf("%d bytes, want %d", len(raw), p.Size)
		}
	})
}

func FuzzEdits(f *testing.F) {
	f.Add(appendEdit(appendEdit(nil, nil, []byte("ab"), []byte("v")), []byte("ab"), []byte("ac"), nil), []byte("a"))
	f.Fuzz(func(t *testing.T, b, before []byte) {
		edits, err := decodeEdits(b, before)
		if err != nil {
			return
		}
		var out []byte
		prev := before
		for _, e := range edits {
			if len(e.Key) > maxKey || len(e.Value) > maxValue || len(before) > 0 && bytes.Compare(prev, e.Key) >= 0 {
				t.Fatalf("edit %q after %q", e.Key, prev)
			}
			out = appendEdit(out, prev, e.Key, e.Value)
			prev = e.Key
		}
		again, err := decodeEdits(out, before)
		if err != nil || len(again) != len(edits) {
			t.Fatalf("%d edits come back as %d: %v", len(edits), len(again), err)
		}
	})
}

func FuzzCommit(f *testing.F) {
	f.Add(encodeTestCommit(testID(1), []ID{testID(2)}, 9))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decodeCommit(b)
		if err == nil && len(c.Parents) > maxParents {
			t.Fatal("too many parents")
		}
	})
}

// bodies cuts an input of a fuzz target into frames with right checksums:
// length:2 and so many bytes each.
func bodies(in []byte) []byte {
	var out []byte
	for len(in) > 2 {
		n := min(int(binary.LittleEndian.Uint16(in)), len(in)-2)
		out = append(out, reframe(in[2:2+n])...)
		in = in[2+n:]
	}
	return out
}

func unframe(frames []byte) []byte {
	var out []byte
	for len(frames) > 0 {
		n := int(binary.LittleEndian.Uint32(frames))
		out = binary.LittleEndian.AppendUint16(out, uint16(n))
		out = append(out, frames[frameHeader:frameHeader+n]...)
		frames = frames[frameHeader+n:]
	}
	return out
}

// FuzzServer feeds an open server with whatever frames.
func FuzzServer(f *testing.F) {
	for _, seed := range serverSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		remote := newMemStore()
		fill(remote, 3, 100)
		before := remote.entries(remote.head)
		p := newPair(t, newMemStore(), remote)
		p.open()
		if p.server.Receive(epoch, bodies(in)); p.server.Open() {
			drain(p.server)
		}
		p.server.Close()
		if remote.imports != 0 {
			t.Fatalf("%d imports stay open", remote.imports)
		}
		if len(remote.entries(remote.head)) < len(before)/2 {
			t.Log("the head was moved by a valid push")
		}
	})
}

// FuzzClient answers a client that fetches, watches and gets with whatever
// frames.
func FuzzClient(f *testing.F) {
	for _, seed := range clientSeeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		local := newMemStore()
		fill(local, 2, 100)
		head := local.head
		p := newPair(t, local, newMemStore())
		p.open()
		p.client.Fetch(ID{}, false)
		p.client.Watch()
		p.client.Get(KindChunk, []ID{testID(1)})
		drain(p.client)
		if p.client.Receive(epoch, bodies(in)); p.client.Open() {
			drain(p.client)
		}
		p.client.Close()
		if local.imports != 0 || local.head != head {
			t.Fatal("an import stays open, or the head moved")
		}
	})
}

// serverSeeds are what real clients send after their hello.
func serverSeeds() [][]byte {
	record := func(do func(p *pair, local, remote *memStore)) []byte {
		local, remote := newMemStore(), newMemStore()
		fill(remote, 3, 100)
		for id, b := range remote.data {
			local.data[id] = b
		}
		local.head, local.fulls = remote.head, []ID{remote.head}
		local.commit(map[string][]byte{"new": local.file(testBytes(9, 300))})
		p := newPairConfig(nil, Config{Store: local, Workspace: "ws", Rights: RightRead | RightWrite, Plain: true}, remote)
		p.client.Receive(epoch, p.step())
		var out []byte
		do(p, local, remote)
		for {
			b := drain(p.client)
			if len(b) == 0 {
				return unframe(out)
			}
			out = append(out, b...)
			p.server.Receive(epoch, b)
			p.client.Receive(epoch, drain(p.server))
		}
	}
	return [][]byte{
		record(func(p *pair, _, _ *memStore) { p.client.Fetch(ID{}, false) }),
		record(func(p *pair, local, remote *memStore) { p.client.Push(remote.head, local.head) }),
		record(func(p *pair, local, remote *memStore) { p.client.PushWalk(remote.head, local.head) }),
		record(func(p *pair, _, remote *memStore) {
			p.client.Watch()
			p.client.Get(KindNode, []ID{remote.rootOf(remote.head)})
			p.client.Cancel(1)
		}),
	}
}

// clientSeeds are what a real server answers to a fetch, a watch and a get,
// with the tree as a delta and node by node.
func clientSeeds() [][]byte {
	var seeds [][]byte
	for _, walk := range []bool{false, true} {
		remote := newMemStore()
		fill(remote, 20, 20)
		p := newPairConfig(nil, Config{Store: newMemStore(), Workspace: "ws", Rights: RightRead, Plain: true}, remote)
		if walk {
			p.server.tune.emptyDelta = 0
		}
		p.client.Receive(epoch, p.step())
		p.client.Fetch(ID{}, false)
		p.client.Watch()
		p.client.Get(KindChunk, []ID{testID(1)})
		var out []byte
		for range 3 {
			p.server.Receive(epoch, drain(p.client))
			b := drain(p.server)
			out = append(out, b...)
			p.client.Receive(epoch, b)
		}
		seeds = append(seeds, unframe(out))
	}
	return seeds
}

// step takes what the client says to the server and returns the answer.
func (p *pair) step() []byte {
	p.server.Receive(epoch, drain(p.client))
	return drain(p.server)
}

func reframe(body []byte) []byte {
	var h [frameHeader]byte
	binary.LittleEndian.PutUint32(h[:], uint32(len(body)))
	binary.LittleEndian.PutUint32(h[4:], checksum(body))
	return append(h[:], body...)
}
