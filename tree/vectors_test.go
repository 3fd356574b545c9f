package tree

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

var update = flag.Bool("update", false, "rewrite spec/vectors/tree.json and the fuzz seeds")

const vectorFile = "../spec/vectors/tree.json"

// vectors is the content of spec/vectors/tree.json; spec/tree.md describes it.
// All byte strings are hexadecimal.
type vectors struct {
	Version   int               `json:"version"`
	Hashes    []hashVector      `json:"hashes"`
	Ends      []endVector       `json:"ends"`
	Trees     []treeVector      `json:"trees"`
	Generated []generatedVector `json:"generated"`
	Corrupt   []corruptVector   `json:"corrupt"`
}

type hashVector struct {
	Level uint8  `json:"level"`
	Key   string `json:"key"`
	Hash  string `json:"hash"` // 16 digits, most significant first
}

type endVector struct {
	Level   uint8  `json:"level"`
	Key     string `json:"key"`
	Before  uint64 `json:"before"`
	After   uint64 `json:"after"`
	Entries int    `json:"entries"`
	Ends    bool   `json:"ends"`
}

type treeVector struct {
	Name    string       `json:"name"`
	Entries [][2]string  `json:"entries"`
	Nodes   []nodeVector `json:"nodes"` // as Nodes visits them
	Root    string       `json:"root"`
}

type nodeVector struct {
	Level int    `json:"level"`
	ID    string `json:"id"`
	Bytes string `json:"bytes"`
}

// generatedVector stands for the entries i = 0..Count-1 with the key i in
// decimal, filled with zeros on the left to KeySize digits, and a value of
// i*i mod ValueMod bytes 'v'.
type generatedVector struct {
	Name     string `json:"name"`
	Count    int    `json:"count"`
	KeySize  int    `json:"key_size"`
	ValueMod int    `json:"value_mod"`
	Nodes    []int  `json:"nodes"` // per level, leaves first
	Bytes    int    `json:"bytes"` // of all nodes
	Root     string `json:"root"`
}

type corruptVector struct {
	Name  string `json:"name"`
	Bytes string `json:"bytes"`
}

func (g *generatedVector) next() func() (k, v []byte, ok bool) {
	i := -1
	return func() ([]byte, []byte, bool) {
		i++
		return fmt.Appendf(nil, "%0*d", g.KeySize, i), bytes.Repeat([]byte{'v'}, i*i%g.ValueMod), i < g.Count
	}
}

func makeVectors(t *testing.T) vectors {
	v := vectors{Version: version}
	for i, key := range []string{"", "a", "key", "12345678", "123456789abcdef", strings.Repeat("k", 100)} {
		level := uint8(i % 3)
		v.Hashes = append(v.Hashes, hashVector{level, hex.EncodeToString([]byte(key)), fmt.Sprintf("%016x", keyHash(level, []byte(key)))})
	}
	v.Ends = makeEnds()
	v.Trees = []treeVector{
		{Name: "empty"},
		{Name: "one entry", Entries: hexEntries([2]string{"key", "value"})},
		{Name: "empty value", Entries: hexEntries([2]string{"k", ""})},
		{Name: "first key is the prefix", Entries: hexEntries([2]string{"ab", "1"}, [2]string{"ab\x00", "2"}, [2]string{"abc", "3"})},
		{Name: "inodes", Entries: inodeEntries(180)},
	}
	for i := range v.Trees {
		fillTree(t, &v.Trees[i])
	}
	v.Generated = []generatedVector{
		{Name: "short keys", Count: 20000, KeySize: 8, ValueMod: 61},
		{Name: "long keys", Count: 500, KeySize: MaxKey, ValueMod: 1},
		{Name: "large values", Count: 500, KeySize: 6, ValueMod: MaxValue + 1},
	}
	for i := range v.Generated {
		fillGenerated(t, &v.Generated[i])
	}
	nodes := corruptNodes()
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if len(nodes[name]) > 4<<10 {
			continue // those beyond a size limit say nothing that the limit does not
		}
		v.Corrupt = append(v.Corrupt, corruptVector{name, hex.EncodeToString(nodes[name])})
	}
	return v
}

// makeEnds finds, for some keys, the weights on both sides of the decision.
func makeEnds() (ends []endVector) {
	add := func(level uint8, key string, before, after uint64, n int) {
		ends = append(ends, endVector{level, hex.EncodeToString([]byte(key)), before, after, n,
			endsNode(level, []byte(key), before, after, n)})
	}
	for i := range 6 {
		key, level, w := fmt.Sprintf("key%d", i), uint8(i%2), uint64(0)
		for w = minSize; !endsNode(level, []byte(key), w-50, w, 100); w++ {
		}
		add(level, key, w-51, w-1, 100)
		add(level, key, w-50, w, 100)
	}
	add(1, "key0", 3*targetSize, 4*targetSize, minFanout-1)
	add(1, "key0", 3*targetSize, 4*targetSize, minFanout)
	add(0, "key0", 0, minSize-1, 1)
	add(0, "key0", capSize-10, capSize, 100)
	return ends
}

func hexEntries(entries ...[2]string) [][2]string {
	for i, e := range entries {
		entries[i] = [2]string{hex.EncodeToString([]byte(e[0])), hex.EncodeToString([]byte(e[1]))}
	}
	return entries
}

func inodeEntries(n int) [][2]string {
	var entries [][2]string
	for i := range n {
		k := binary.BigEndian.AppendUint64([]byte("i"), uint64(i))
		entries = append(entries, [2]string{string(k), strings.Repeat(string(rune('a'+i%26)), 30+i%9)})
	}
	return hexEntries(entries...)
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	p, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func fillTree(t *testing.T, v *treeVector) {
	s := newStore()
	i := -1
	tr, err := Build(ctx, s, NewCache(0), func() (key, value []byte, ok bool) {
		if i++; i == len(v.Entries) {
			return nil, nil, false
		}
		return unhex(t, v.Entries[i][0]), unhex(t, v.Entries[i][1]), true
	})
	if err != nil {
		t.Fatal(err)
	}
	v.Root, v.Nodes = tr.Root().String(), nil
	err = tr.Nodes(ctx, func(id chunk.ID, level int) (bool, error) {
		v.Nodes = append(v.Nodes, nodeVector{level, id.String(), hex.EncodeToString(s.nodes[id])})
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func fillGenerated(t *testing.T, v *generatedVector) {
	s := newStore()
	tr, err := Build(ctx, s, NewCache(0), v.next())
	if err != nil {
		t.Fatal(err)
	}
	sound(t, tr)
	size, err := tr.Size(ctx)
	if err != nil {
		t.Fatal(err)
	}
	v.Root, v.Bytes, v.Nodes = tr.Root().String(), 0, make([]int, size.Levels)
	for id, level := range nodesOf(t, tr) {
		v.Nodes[level]++
		v.Bytes += len(s.nodes[id])
	}
}

// The vectors in the spec and the code agree.
func TestVectors(t *testing.T) {
	made, err := json.MarshalIndent(makeVectors(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	made = append(made, '\n')
	if *update {
		writeVectors(t, made)
	}
	stored, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, made) {
		t.Errorf("%s is not what the code makes; a format that was released must not change", vectorFile)
	}
	var v vectors
	if err := json.Unmarshal(stored, &v); err != nil {
		t.Fatal(err)
	}
	readVectors(t, v)
}

// readVectors goes the other way: from the bytes to the entries.
func readVectors(t *testing.T, v vectors) {
	for _, tv := range v.Trees {
		s := newStore()
		for _, n := range tv.Nodes {
			id, err := s.Put(ctx, unhex(t, n.Bytes))
			if err != nil || id.String() != n.ID {
				t.Errorf("%s: node %s hashes to %v", tv.Name, n.ID, id)
			}
		}
		root, err := chunk.ParseID(tv.Root)
		if err != nil {
			t.Fatal(err)
		}
		tr := Load(s, NewCache(0), root)
		sound(t, tr)
		i := 0
		err = tr.Scan(ctx, nil, nil, func(key, value []byte) bool {
			if e := tv.Entries[i]; hex.EncodeToString(key) != e[0] || hex.EncodeToString(value) != e[1] {
				t.Errorf("%s: entry %d is %x = %x", tv.Name, i, key, value)
			}
			i++
			return true
		})
		if err != nil || i != len(tv.Entries) {
			t.Errorf("%s: %d entries of %d, %v", tv.Name, i, len(tv.Entries), err)
		}
	}
	for _, c := range v.Corrupt {
		raw := unhex(t, c.Bytes)
		if _, err := decode(chunk.Sum(raw), raw); !errors.Is(err, vfs.ErrCorrupt) {
			t.Errorf("corrupt node %q: %v", c.Name, err)
		}
	}
}

// writeVectors writes the vectors, and the nodes among them as seeds for the
// fuzzer.
func writeVectors(t *testing.T, made []byte) {
	t.Helper()
	if err := os.WriteFile(vectorFile, made, 0o644); err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(made, &v); err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Corrupt {
		writeSeed(t, "FuzzDecode", "corrupt "+c.Name, unhex(t, c.Bytes))
	}
	for _, tv := range v.Trees {
		for i, n := range tv.Nodes {
			writeSeed(t, "FuzzDecode", fmt.Sprintf("%s %d", tv.Name, i), unhex(t, n.Bytes))
		}
	}
	for i := range 4 {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		p := make([]byte, 800)
		for j := range p {
			p[j] = byte(r.Uint32())
		}
		writeSeed(t, "FuzzHistory", fmt.Sprintf("random %d", i), p)
	}
}

func writeSeed(t *testing.T, target, name string, p []byte) {
	t.Helper()
	dir := filepath.Join("testdata", "fuzz", target)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	name = strings.ReplaceAll(strings.ReplaceAll(name, ",", ""), " ", "-")
	text := fmt.Appendf(nil, "go test fuzz v1\n[]byte(%q)\n", p)
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
		t.Fatal(err)
	}
}
