package tree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// encode packs entries into one node without asking where it should end.
func encode(level uint8, entries ...[2]string) []byte {
	p := newPacker(level)
	defer p.free()
	for _, e := range entries {
		p.add([]byte(e[0]), []byte(e[1]))
	}
	return p.take()
}

func childRecord(entries, bytes uint64) string {
	return string(record{id: chunk.Sum(nil), entries: entries, bytes: bytes}.append(nil))
}

// corruptNodes are encodings that no encoder writes, by what is wrong.
func corruptNodes() map[string][]byte {
	leaf := func() []byte { return encode(0, [2]string{"aa", "1"}, [2]string{"ab", "22"}, [2]string{"b", ""}) }
	same := func() []byte { return encode(0, [2]string{"kea", "1"}, [2]string{"keb", "2"}) }
	inner := func() []byte { return encode(1, [2]string{"k", childRecord(3, 30)}, [2]string{"m", childRecord(1, 2)}) }
	change := func(raw []byte, at int, p ...byte) []byte {
		copy(raw[at:], p)
		return raw
	}
	long := strings.Repeat("k", MaxKey+1)
	var heavy [][2]string
	for i := range 6 {
		heavy = append(heavy, [2]string{string(rune('a' + i)), strings.Repeat("v", MaxValue)})
	}
	return map[string][]byte{
		"nothing":                             {},
		"short header":                        emptyNode[:headerSize-1],
		"magic":                               change(leaf(), 0, 'V'),
		"version":                             change(leaf(), 2, 2),
		"level":                               change(inner(), 3, MaxLevels),
		"leaf as inner node":                  change(leaf(), 3, 1),
		"inner node as leaf":                  change(inner(), 3, 0),
		"no entries":                          change(leaf(), 4, 0, 0),
		"no entries, prefix":                  {'v', 't', 1, 0, 0, 0, 1, 0, 'x'},
		"no entries, level":                   {'v', 't', 1, 1, 0, 0, 0, 0},
		"count past the end":                  change(leaf(), 4, 0xff, 0xff),
		"prefix past the end":                 change(leaf(), 6, 0xff, 0xff),
		"key end goes back":                   change(leaf(), 10, 1),
		"key end past the end":                change(leaf(), 12, 0xff),
		"value end goes back":                 change(leaf(), 16, 0),
		"value end past the end":              change(leaf(), 18, 0xff),
		"bytes after the end":                 append(leaf(), 0),
		"bytes missing":                       leaf()[:len(leaf())-1],
		"keys out of order":                   change(leaf(), 20, []byte("abaa")...),
		"key twice":                           change(leaf(), 20, []byte("abab")...),
		"prefix too short":                    {'v', 't', 1, 0, 2, 0, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 'k', 'a', 'k', 'b'},
		"prefix of one too short":             {'v', 't', 1, 0, 1, 0, 1, 0, 'k', 1, 0, 0, 0, 'a'},
		"empty key":                           {'v', 't', 1, 0, 1, 0, 0, 0, 0, 0, 0, 0},
		"prefix differs":                      change(same(), 6, 1),
		"key too long":                        encode(0, [2]string{long, ""}),
		"value too long":                      encode(0, [2]string{"k", strings.Repeat("v", MaxValue+1)}),
		"too heavy":                           encode(0, heavy...),
		"child without entries":               encode(1, [2]string{"k", childRecord(0, 0)}),
		"child with fewer bytes than entries": encode(1, [2]string{"k", childRecord(2, 1)}),
		"bytes overflow":                      encode(1, [2]string{"k", childRecord(1, maxCount)}, [2]string{"l", childRecord(1, 1)}),
		"record cut short":                    inner()[:len(inner())-1],
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, raw := range corruptNodes() {
		id := chunk.Sum(raw)
		_, err := decode(id, raw)
		if !errors.Is(err, vfs.ErrCorrupt) || !strings.Contains(err.Error(), id.String()) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Children(raw); !errors.Is(err, vfs.ErrCorrupt) {
			t.Errorf("%s: children: %v", name, err)
		}
		if err := Entries(raw, func(k, v []byte) bool { return true }); !errors.Is(err, vfs.ErrCorrupt) {
			t.Errorf("%s: entries: %v", name, err)
		}
	}
}

// reencode packs what a node holds.
func reencode(n *node) []byte {
	if n.n == 0 {
		return emptyNode
	}
	p := newPacker(n.level)
	defer p.free()
	for i := range n.n {
		p.add(n.appendKey(nil, i), n.value(i))
	}
	return p.take()
}

func FuzzDecode(f *testing.F) {
	for _, raw := range corruptNodes() {
		f.Add(raw)
	}
	f.Add(emptyNode)
	f.Add(encode(0, [2]string{"key", "value"}))
	f.Add(encode(2, [2]string{"ka", childRecord(5, 10)}, [2]string{"kb", childRecord(1, 2)}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := decode(chunk.Sum(raw), raw)
		if err != nil {
			if !errors.Is(err, vfs.ErrCorrupt) {
				t.Fatalf("error %v is not about corruption", err)
			}
			return
		}
		if !bytes.Equal(reencode(n), raw) {
			t.Fatal("accepted an encoding that the encoder does not write")
		}
		var prev []byte
		for i := range n.n {
			key := n.appendKey(nil, i)
			if i > 0 && bytes.Compare(prev, key) >= 0 || len(key) == 0 || len(key) > MaxKey {
				t.Fatalf("key %q after %q", key, prev)
			}
			if n.search(key, 0) != i || n.compareKey(i, key) != 0 || n.search(append(key, 0), 0) != i+1 {
				t.Fatalf("key %q at %d is not found there", key, i)
			}
			prev = key
		}
		children, err := Children(raw)
		if err != nil || n.level > 0 && len(children) != n.n || n.level == 0 && len(children) > 0 {
			t.Fatalf("%d children, %v", len(children), err)
		}
	})
}

// FuzzHistory lets the fuzzer choose batches; whatever they are, the root is
// that of the entries built in bulk.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("\x05abcdefghijklmnopqrstuvwxyz"))
	f.Add(bytes.Repeat([]byte{0, 3, 0xff, 0x41}, 60))
	ramp := make([]byte, 0, 512)
	for i := range 128 {
		ramp = append(ramp, 1, byte(i), byte(200-i), 0)
	}
	f.Add(ramp)
	f.Fuzz(func(t *testing.T, p []byte) {
		s, c := newStore(), NewCache(1<<16)
		tr, m := Empty(s, c), model{}
		var batch []Edit
		for ; len(p) >= 4; p = p[4:] {
			// Long keys and values fill nodes within a short input.
			key := append(bytes.Repeat([]byte{'k'}, int(p[0]>>4)*60), p[1], p[2]&3)
			switch p[0] & 7 {
			case 0:
				batch = append(batch, Edit{Key: key, Delete: true})
			case 1:
				hi := append(bytes.Clone(key[:len(key)-2]), p[3], p[2]>>6)
				if bytes.Compare(key, hi) < 0 {
					batch = []Edit{{Key: key, To: hi, Delete: true}}
				}
			case 2:
				batch = sortBatch(batch)
				m.apply(batch)
				next, err := tr.Apply(ctx, batch)
				if err != nil {
					t.Fatal(err)
				}
				tr, batch = next, nil
				equalsModel(t, tr, m)
			default:
				batch = append(batch, Edit{Key: key, Value: make([]byte, int(p[3])*32)})
			}
		}
		sound(t, tr)
	})
}

// The tables in the prose and the constants in the code agree.
func TestSpecTables(t *testing.T) {
	want := map[string]uint64{
		"version":      version,
		"header":       headerSize,
		"record":       uint64(recordSize),
		"key":          MaxKey,
		"value":        MaxValue,
		"levels":       MaxLevels,
		"node":         MaxNode,
		"total":        maxCount,
		"target":       targetSize,
		"minimum":      minSize,
		"cap":          capSize,
		"fan-out":      minFanout,
		"entry cost":   entryCost,
		"hazard scale": hazardScale,
	}
	prose, err := os.ReadFile("../spec/tree.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| ([a-z -]+) \| (\d+) \|`).FindAllStringSubmatch(string(prose), -1)
	for _, row := range rows {
		v, err := strconv.ParseUint(row[2], 10, 64)
		if w, ok := want[row[1]]; err != nil || !ok || v != w {
			t.Errorf("the prose says %s is %s, the code %d", row[1], row[2], w)
		}
		delete(want, row[1])
	}
	for name := range want {
		t.Errorf("the prose says nothing of %s", name)
	}
	if root := EmptyRoot().String(); !strings.Contains(string(prose), root) {
		t.Errorf("the prose does not name the empty root, %s", root)
	}
	if binary.LittleEndian.Uint16(emptyNode) != binary.LittleEndian.Uint16([]byte(magic)) {
		t.Error("the empty leaf has another magic")
	}
}
