// Package tree is a persistent ordered map from binary keys to values, kept as
// a prolly tree: sorted entries cut into nodes at boundaries that the content
// chooses, nodes named by their digest. It knows nothing of files.
//
// A Tree is an immutable handle: a root in a Store, and a Cache that many trees
// share. A batch of edits gives another tree, which shares with the first all
// nodes but those on the way to what changed:
//
//	cache := tree.NewCache(64 << 20)
//	t := tree.Load(store, cache, root) // reads nothing
//	t, err := t.Apply(ctx, []tree.Edit{
//		{Key: []byte("a"), Value: []byte("1")},
//		{Key: []byte("b"), Delete: true},
//		{Key: []byte("m"), To: []byte("n"), Delete: true},
//	})
//	err = t.Scan(ctx, []byte("a"), nil, func(key, value []byte) bool { ... })
//	root = t.Root()
//
// # Invariants
//
//   - I1 The root is a function of the entries: bulk building and any history of
//     batches that lead to the same entries lead to the same root (promise P5).
//   - I2 A node never changes; what is in the cache is shared and only read.
//   - I3 Apply, Diff and Merge read and write in proportion to what changes or
//     differs, times the height.
//   - I4 Bytes from a store are decoded as hostile input (promise P7): nothing
//     is allocated before its size is checked, every descent goes down a level,
//     and what does not hold is vfs.ErrCorrupt with the node's digest.
//
// # Format
//
// spec/tree.md is the reference, with the rule for boundaries, the limits and
// golden vectors. A node, integers little-endian:
//
//	+-----+-----+---------+-------+-------+------------+--------+
//	| 'v' | 't' | version | level | n u16 | prefix u16 | prefix |
//	+-----+-----+---------+-------+-------+------------+--------+
//	| n * u16: ends of the key suffixes                         |
//	| n * u16: ends of the values            (level 0: leaves)  |
//	| key suffixes                                              |
//	| values                                 (level 0)          |
//	| n * record: child digest 32 | entries u48 | bytes u48     |
//	|                                        (above)            |
//	+-----------------------------------------------------------+
//
// The key of an entry in an inner node is the last key of the child. Searching
// needs no decoding beyond the header, so a cached node is its bytes.
//
// # Locks
//
// The only locks are those of the cache's shards. Each is taken alone and held
// for no I/O.
package tree
