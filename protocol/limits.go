package protocol

import "time"

// Version is the one version of the protocol that this package speaks.
const Version = 1

// Capabilities are bits of Hello and Welcome. A session uses what both ends
// have named.
const (
	CapZstd  uint64 = 1 << 0 // payloads may be compressed
	CapWatch uint64 = 1 << 1 // watch is answered
	CapLazy  uint64 = 1 << 2 // get is answered

	capsKnown = CapZstd | CapWatch | CapLazy
)

// Limits, which both ends enforce. They are part of version 1; spec/protocol.md
// lists them.
const (
	maxOpening    = 16 << 10          // body of a frame before the session is open
	maxBody       = maxRaw + 64<<10   // body of any other frame
	maxRaw        = maxChunk + 64<<10 // bytes of a payload once uncompressed
	maxChunk      = 4 << 20           // of a chunk (spec/packs.md)
	maxNode       = 41995             // of a tree node (spec/tree.md)
	maxCommit     = 1 << 20           // of the record of a commit (spec/workspace.md)
	maxKey        = 1 << 10           // of a key (spec/tree.md)
	maxValue      = 8 << 10           // of a value (spec/tree.md)
	maxLevels     = 24                // of a tree (spec/tree.md)
	maxParents    = 16                // of a commit (spec/workspace.md)
	maxAgent      = 64                // of the name of a program
	maxName       = 64                // of the name of a workspace
	maxPath       = 4096              // of a path
	maxToken      = 4096              // of a token
	maxText       = 1024              // of the text of an error
	maxPart       = 1 << 20           // bytes of edits in a message, once uncompressed
	maxEdits      = 8192              // in a message
	maxIDs        = 4096              // in a message
	maxBases      = 64                // in a fetch
	maxWanted     = 32768             // unanswered ids that a peer may have asked for
	maxRequests   = 16                // open at a time
	maxImports    = 2                 // of them transfers to one end
	frameCost     = 64                // credit that a frame takes besides its payload
	maxRecords    = 65536             // commits in a transfer; history ends there
	maxRecordSize = 64 << 20          // bytes of the commits in a transfer
	maxInner      = 1 << 18           // nodes above the leaves in a walk
	maxAhead      = 256 << 10         // bytes of chunks sent before they are asked for, a transfer
	maxControl    = 4 << 20           // bytes of answers that a peer leaves unread
	maxWindow     = 1 << 30           // credit of a class
)

// fetchBases is how many bases a fetch names: each costs 33 bytes, and mostly the
// first is the one.
const fetchBases = 8

// tuning is what an end chooses within the limits. Tests choose otherwise.
type tuning struct {
	treeWindow   uint64 // credit for commits, edits and nodes
	chunkWindow  uint64 // credit for chunks
	partSize     int    // bytes of edits in a message
	batchSize    int    // of items in a message
	commitsAhead int    // commits sent before they are asked for
	commitsBatch int    // commits for one that is asked for
	wantedNodes  int    // asked for at a time
	wantedChunks int
	queuedChunks int    // beyond it no more of the tree is taken in
	queuedNodes  int    // beyond it nodes are asked for one by one
	emptyDelta   uint64 // a tree of so many bytes goes as a delta from nothing
	ahead        int    // bytes of chunks to send before they are asked for
}

var usual = tuning{
	treeWindow:   4 << 20,
	chunkWindow:  16 << 20,
	partSize:     64 << 10,
	batchSize:    256 << 10,
	commitsAhead: 32,
	commitsBatch: 1024,
	wantedNodes:  1024,
	wantedChunks: 8192,
	queuedChunks: 65536,
	queuedNodes:  65536,
	emptyDelta:   1 << 20,
	ahead:        maxAhead,
}

// Times.
const (
	helloTime   = 10 * time.Second // from the connection to the hello
	welcomeTime = 60 * time.Second // from the hello to the welcome
	frameTime   = 60 * time.Second // from the first byte of a frame to its last
	pingAfter   = 30 * time.Second // of silence
	silence     = 90 * time.Second // after which a peer is taken to be gone
)
