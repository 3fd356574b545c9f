package protocol

import (
	"context"
	"encoding/hex"
	"errors"
	"iter"

	"github.com/zeebo/blake3"
)

// ID names a commit, a tree node or a chunk: the BLAKE3-256 digest of its
// bytes.
type ID [32]byte

// Sum returns the ID of the bytes p.
func Sum(p []byte) ID { return blake3.Sum256(p) }

// String returns the ID as 64 lower-case hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether id is the zero ID, which names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// EmptyRoot is the root of the tree without entries, whose node is never
// stored or sent (spec/tree.md).
var EmptyRoot = Sum([]byte("vt\x01\x00\x00\x00\x00\x00"))

// Errors that a Store returns, in the chain of its own. Any other error of a
// store is its own failure: the peer learns only that there was one.
var (
	// ErrNotFound: there is no such commit, node or chunk here.
	ErrNotFound = errors.New("not here")
	// ErrHeadMoved: the head is not the commit that the caller expected.
	ErrHeadMoved = errors.New("the head has moved")
	// ErrInvalid: bytes of the peer are not what the formats allow. The peer
	// is told, and what came with them is not kept.
	ErrInvalid = errors.New("invalid")
	// ErrRefused: the bytes are valid but may not be stored here: a quota, a
	// full disk, a right that is missing. The peer is told the error's text.
	ErrRefused = errors.New("refused")
)

// Change is one key that two trees do not agree on. A value is nil if the tree
// has no such key; an empty value is not nil. Slices are valid until the next
// change is asked for.
type Change struct {
	Key, Old, New []byte
}

// Edit is a put of Key, or its removal if Value is nil.
type Edit struct {
	Key, Value []byte
}

// TreeNode is what a session must know of an encoded tree node.
type TreeNode struct {
	Level    int
	Children []ID // none if it is a leaf
	Chunks   []ID // what the values of a leaf refer to; repeats are allowed
}

// Store is one workspace as a session sees it: commits, tree nodes and chunks
// by their digest, and a head. Bytes that it returns hash to the ID that was
// asked for, are not modified by the session, and may be shared.
//
// A session calls it from one goroutine, several sessions from several. Calls
// may block on the disk, not on another peer.
type Store interface {
	// Head returns the commit that the workspace stands at. Every operation
	// acknowledged before the call is in it, so a dirty workspace is
	// committed first.
	Head(ctx context.Context) (ID, error)

	// CompareAndSwapHead moves the head from old to new, a commit that an
	// Import has finished, and makes that durable before it returns. If the
	// workspace stands elsewhere, or has changes that old does not have, it
	// moves nothing and returns ErrHeadMoved.
	CompareAndSwapHead(ctx context.Context, old, new ID) error

	// Commit returns the record of a commit (spec/workspace.md).
	Commit(ctx context.Context, id ID) ([]byte, error)

	// HasTree reports whether the commit and all nodes of its tree are here
	// for certain, as far as that is known without walking the tree. It is
	// what makes a commit a base; false is always safe.
	HasTree(ctx context.Context, commit ID) bool

	// Bases returns commits for which HasTree holds that a peer may have too,
	// the likeliest first, at most limit: the head, frontiers of peers,
	// snapshots, the newest history.
	Bases(ctx context.Context, limit int) ([]ID, error)

	// Node and Chunk return stored bytes, verified.
	Node(ctx context.Context, id ID) ([]byte, error)
	Chunk(ctx context.Context, id ID) ([]byte, error)

	// HasNode and HasChunk do not read what they find. A node that is here
	// does not promise that those below it are.
	HasNode(id ID) bool
	HasChunk(id ID) bool

	// Delta yields, in the order of keys, what differs between the trees with
	// the roots base and target; base may be EmptyRoot. After an error it
	// yields nothing.
	Delta(ctx context.Context, base, target ID) iter.Seq2[Change, error]

	// Size returns how many bytes of keys and values the tree has, from its
	// root node alone.
	Size(ctx context.Context, root ID) (uint64, error)

	// Refs calls fn for each chunk that the value of key refers to. What is no
	// valid key or value of a workspace is ErrInvalid. It is a pure function.
	Refs(key, value []byte, fn func(ID)) error

	// Inspect decodes a tree node, with Refs of its entries if it is a leaf.
	// It is a pure function, and what it does not accept is ErrInvalid.
	Inspect(node []byte) (TreeNode, error)

	// Import begins to receive the commit target. Until the import is closed,
	// garbage collection leaves alone what was put through it.
	Import(ctx context.Context, target ID) (Import, error)
}

// Import takes in what a peer sends. All of it has been checked against its
// digest, and is kept if the transfer breaks, so that the next one need not
// send it again; nothing refers to it before Finish.
type Import interface {
	PutNode(ctx context.Context, id ID, node []byte) error
	PutChunk(ctx context.Context, id ID, data []byte) error

	// Apply applies edits, sorted by key, to the tree with the given root and
	// returns the root of the result. A delta comes in several parts, each
	// applied to the result of the one before.
	Apply(ctx context.Context, root ID, edits []Edit) (ID, error)

	// Finish ends a transfer in which everything arrived. records are those of
	// the target and of its ancestors that came with it, newest first; their
	// digests and links were checked. It verifies what digests do not show:
	// that nodes fit together and that the tree is a whole namespace, without
	// cycles, orphans, wrong link counts or names that escape (ErrInvalid
	// otherwise). Unless lazy, no chunk may be missing. What it accepts is
	// durable when it returns, and HasTree holds for target.
	Finish(ctx context.Context, target ID, records [][]byte, lazy bool) error

	// Close releases the import, finished or not.
	Close()
}
