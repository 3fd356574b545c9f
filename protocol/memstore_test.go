package protocol

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
)

// memStore is a store in memory over real trees: the model of the tests. Its
// keys are file names, and a value is a chunk's id, or 'n' and bytes inline.
type memStore struct {
	mu      sync.Mutex
	data    map[ID][]byte
	head    ID
	fulls   []ID // commits for which HasTree holds, oldest first
	cache   *tree.Cache
	imports int // open ones
	reads   int // of nodes and chunks
	fail    error
	lossy   bool                                       // its merge takes one side
	refs    func(key, value []byte, fn func(ID)) error // instead of Refs, if set
}

func newMemStore() *memStore {
	return &memStore{data: map[ID][]byte{}, cache: tree.NewCache(1 << 20)}
}

// Get and Put make it a tree.Store.
func (m *memStore) Get(_ context.Context, id chunk.ID) ([]byte, error) {
	if b, ok := m.get(ID(id)); ok {
		return b, nil
	}
	return nil, fmt.Errorf("%v: %w", id, ErrNotFound)
}

func (m *memStore) Put(_ context.Context, node []byte) (chunk.ID, error) {
	m.put(node)
	return chunk.Sum(node), nil
}

func (m *memStore) get(id ID) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.data[id]
	return b, ok
}

func (m *memStore) put(b []byte) ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := Sum(b)
	if m.data[id] == nil {
		m.data[id] = bytes.Clone(b)
	}
	return id
}

func (m *memStore) tree(root ID) *tree.Tree { return tree.Load(m, m.cache, chunk.ID(root)) }

func encodeTestCommit(root ID, parents []ID, n int64) []byte {
	b, err := msgpack.Marshal(struct {
		Root    ID     `msgpack:"root"`
		Parents []ID   `msgpack:"parents"`
		Time    int64  `msgpack:"time"`
		Label   string `msgpack:"label"`
	}{root, parents, n, ""})
	if err != nil {
		panic(err)
	}
	return append([]byte(commitMagic), b...)
}

// commit applies edits to the head and moves it. Values are set by inline or
// file.
func (m *memStore) commit(edits map[string][]byte) ID {
	root, parents := EmptyRoot, []ID(nil)
	if !m.head.IsZero() {
		root, parents = m.rootOf(m.head), []ID{m.head}
	}
	var batch []tree.Edit
	for k, v := range edits {
		batch = append(batch, tree.Edit{Key: []byte(k), Value: v, Delete: v == nil})
	}
	slices.SortFunc(batch, func(a, b tree.Edit) int { return bytes.Compare(a.Key, b.Key) })
	t, err := m.tree(root).Apply(context.Background(), batch)
	if err != nil {
		panic(err)
	}
	return m.setHead(ID(t.Root()), parents)
}

func (m *memStore) setHead(root ID, parents []ID) ID {
	m.head = m.put(encodeTestCommit(root, parents, 0))
	m.fulls = append(m.fulls, m.head)
	return m.head
}

func (m *memStore) rootOf(commit ID) ID { return m.link(commit).Root }

func (m *memStore) link(commit ID) *link {
	b, ok := m.get(commit)
	if !ok {
		panic("no commit " + commit.String())
	}
	c, err := decodeCommit(b)
	if err != nil {
		panic(err)
	}
	return c
}

func inline(s string) []byte { return append([]byte{'n'}, s...) }

func (m *memStore) file(data []byte) []byte {
	id := m.put(data)
	return append([]byte{'c'}, id[:]...)
}

func (m *memStore) entries(commit ID) map[string]string {
	out := map[string]string{}
	if commit.IsZero() {
		return out
	}
	err := m.tree(m.rootOf(commit)).Scan(context.Background(), nil, nil, func(k, v []byte) bool {
		out[string(k)] = string(v)
		return true
	})
	if err != nil {
		panic(err)
	}
	return out
}

func (m *memStore) Head(context.Context) (ID, error) { return m.head, m.fail }

func (m *memStore) CompareAndSwapHead(_ context.Context, old, new ID) error {
	if m.head != old {
		return ErrHeadMoved
	}
	m.head = new
	return nil
}

func (m *memStore) Commit(_ context.Context, id ID) ([]byte, error) {
	if b, ok := m.get(id); ok {
		return b, nil
	}
	return nil, ErrNotFound
}

func (m *memStore) HasTree(_ context.Context, commit ID) bool {
	return slices.Contains(m.fulls, commit)
}

func (m *memStore) Bases(_ context.Context, limit int) ([]ID, error) {
	out := slices.Clone(m.fulls)
	slices.Reverse(out)
	return out[:min(limit, len(out))], nil
}

func (m *memStore) Node(_ context.Context, id ID) ([]byte, error) { return m.Chunk(nil, id) }

func (m *memStore) Chunk(_ context.Context, id ID) ([]byte, error) {
	m.reads++
	if b, ok := m.get(id); ok {
		return b, nil
	}
	return nil, ErrNotFound
}

func (m *memStore) HasNode(id ID) bool { return m.HasChunk(id) }

func (m *memStore) HasChunk(id ID) bool {
	_, ok := m.get(id)
	return ok
}

func (m *memStore) Delta(ctx context.Context, base, target ID) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		err := tree.Diff(ctx, m.tree(base), m.tree(target), func(c tree.Change) bool {
			return yield(Change(c), nil)
		})
		if err != nil {
			yield(Change{}, err)
		}
	}
}

func (m *memStore) Size(ctx context.Context, root ID) (uint64, error) {
	s, err := m.tree(root).Size(ctx)
	return s.Bytes, err
}

func (m *memStore) Refs(key, value []byte, fn func(ID)) error {
	if m.refs != nil {
		return m.refs(key, value, fn)
	}
	switch {
	case len(value) == 0 || bytes.ContainsAny(key, "/\x00"):
		return fmt.Errorf("entry %q: %w", key, ErrInvalid)
	case value[0] == 'c' && len(value) == 33:
		fn(ID(value[1:]))
	case value[0] != 'n':
		return fmt.Errorf("entry %q: %w", key, ErrInvalid)
	}
	return nil
}

func (m *memStore) Inspect(node []byte) (TreeNode, error) {
	children, err := tree.Children(node)
	if err != nil {
		return TreeNode{}, fmt.Errorf("%v: %w", err, ErrInvalid)
	}
	n := TreeNode{Level: int(node[3])}
	for _, c := range children {
		n.Children = append(n.Children, ID(c))
	}
	var bad error
	err = tree.Entries(node, func(k, v []byte) bool {
		bad = m.Refs(k, v, func(id ID) { n.Chunks = append(n.Chunks, id) })
		return bad == nil
	})
	return n, errors.Join(err, bad)
}

func (m *memStore) Import(context.Context, ID) (Import, error) {
	if m.fail != nil {
		return nil, m.fail
	}
	m.imports++
	return &memImport{m: m}, nil
}

type memImport struct {
	m      *memStore
	closed bool
}

func (im *memImport) PutNode(_ context.Context, id ID, node []byte) error {
	return im.PutChunk(nil, id, node)
}

func (im *memImport) PutChunk(_ context.Context, id ID, data []byte) error {
	if im.closed {
		panic("put into a closed import")
	}
	if im.m.put(data) != id {
		panic("bytes that were not verified reached the store")
	}
	return im.m.fail
}

func (im *memImport) Apply(ctx context.Context, root ID, edits []Edit) (ID, error) {
	var batch []tree.Edit
	for _, e := range edits {
		batch = append(batch, tree.Edit{Key: e.Key, Value: e.Value, Delete: e.Value == nil})
	}
	t, err := im.m.tree(root).Apply(ctx, batch)
	if err != nil {
		return ID{}, err
	}
	return ID(t.Root()), nil
}

// Finish checks what a real store does: the whole tree, and every chunk.
func (im *memImport) Finish(ctx context.Context, target ID, records [][]byte, lazy bool) error {
	for _, r := range records {
		im.m.put(r)
	}
	t := im.m.tree(im.m.rootOf(target))
	report, err := tree.Check(ctx, t)
	if err != nil {
		return err
	}
	if err := report.Err(); err != nil {
		return fmt.Errorf("%v: %w", err, ErrInvalid)
	}
	for name, v := range im.m.entries(target) {
		err := im.m.Refs([]byte(name), []byte(v), func(id ID) {
			if !lazy && !im.m.HasChunk(id) {
				panic("finished without chunk " + id.String())
			}
		})
		if err != nil {
			return err
		}
	}
	if !im.m.HasTree(ctx, target) {
		im.m.fulls = append(im.m.fulls, target)
	}
	return nil
}

func (im *memImport) Close() {
	if !im.closed {
		im.closed = true
		im.m.imports--
	}
}

// testBytes returns n bytes that do not compress, by a seed.
func testBytes(seed uint64, n int) []byte {
	b := make([]byte, 0, n+32)
	for i := uint64(0); len(b) < n; i++ {
		h := Sum(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, seed), i))
		b = append(b, h[:]...)
	}
	return b[:n]
}
