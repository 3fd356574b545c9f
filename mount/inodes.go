package mount

import (
	"sync"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

const inodeShards = 64

// inodeTable counts how often each inode was handed to the kernel and not
// forgotten yet, and keeps what must be remembered of the ones it holds. An
// entry is small because a listing of a million names makes a million of them.
type inodeTable struct {
	fs     vfs.FS
	shards [inodeShards]inodeShard
}

type inodeShard struct {
	mu sync.Mutex
	m  map[vfs.Ino]inodeState // guarded by mu
}

// inodeState is what the mount remembers of an inode that the kernel holds.
type inodeState struct {
	// lookups<<flagBits | flags
	word uint64
	// from is the directory by which the kernel last came to know the inode.
	from vfs.Ino
}

const (
	flagBits = 8
	// flagSearch: flagOpen is known to be right.
	flagSearch = 1 << 0
	// flagOpen: everyone may search the directory.
	flagOpen = 1 << 1
	// flagGranted: entries below it were given to the kernel for ever.
	flagGranted = 1 << 2
	// flagFresh: it is not certain that the kernel has taken the inode in since
	// it was last given. Until then an invalidation could pass before what it is
	// to invalidate arrives.
	flagFresh = 1 << 3
	// flagNamed: an entry that leads to the regular file was given for ever.
	flagNamed = 1 << 4
)

func (t *inodeTable) init(fs vfs.FS) {
	t.fs = fs
	for i := range t.shards {
		t.shards[i].m = map[vfs.Ino]inodeState{}
	}
	// The kernel holds the root without ever looking it up.
	t.shard(vfs.RootIno).m[vfs.RootIno] = inodeState{word: 1 << flagBits}
	fs.Pin(vfs.RootIno)
}

func (t *inodeTable) shard(ino vfs.Ino) *inodeShard { return &t.shards[ino%inodeShards] }

// introduce counts one more reference of the kernel's, got by a name in from,
// and sets flags.
func (t *inodeTable) introduce(ino, from vfs.Ino, flags uint64) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	st, held := sh.m[ino]
	if !held {
		// Under the shard's lock, so that the last Unpin of an inode just
		// forgotten cannot come after the first Pin of its return.
		t.fs.Pin(ino)
	}
	st.word = st.word + 1<<flagBits | flags
	st.from = from
	if from != 0 {
		st.word |= flagFresh
	}
	sh.m[ino] = st
}

// forget takes n references back.
func (t *inodeTable) forget(ino vfs.Ino, n uint64) {
	if ino == vfs.RootIno {
		return
	}
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	st, held := sh.m[ino]
	if !held {
		return
	}
	if n < st.word>>flagBits {
		st.word -= n << flagBits
		sh.m[ino] = st
		return
	}
	delete(sh.m, ino)
	t.fs.Unpin(ino)
}

func (t *inodeTable) held(ino vfs.Ino) bool {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	_, held := sh.m[ino]
	return held
}

// settle reports whether the kernel holds ino, and the directory whose lock
// proves that it has taken it in (0: known already). It counts on the caller
// to get that proof.
func (t *inodeTable) settle(ino vfs.Ino) (from vfs.Ino, held bool) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	st, held := sh.m[ino]
	if !held || st.word&flagFresh == 0 {
		return 0, held
	}
	st.word &^= flagFresh
	sh.m[ino] = st
	return st.from, true
}

// from returns the directory by which the kernel last came to know ino; 0 when
// there is none.
func (t *inodeTable) from(ino vfs.Ino) vfs.Ino {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.m[ino].from
}

// setFlags sets and clears flags and returns what they were.
func (t *inodeTable) setFlags(ino vfs.Ino, set, clear uint64) (old uint64) {
	sh := t.shard(ino)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	st, held := sh.m[ino]
	if !held {
		return 0
	}
	old = st.word & (1<<flagBits - 1)
	st.word = st.word&^clear | set
	sh.m[ino] = st
	return old
}

// all returns every inode that the kernel holds.
func (t *inodeTable) all() []vfs.Ino {
	var inos []vfs.Ino
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		for ino := range sh.m {
			inos = append(inos, ino)
		}
		sh.mu.Unlock()
	}
	return inos
}

func (t *inodeTable) len() (n uint64) {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		n += uint64(len(sh.m))
		sh.mu.Unlock()
	}
	return n
}

// drain forgets everything.
func (t *inodeTable) drain() {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		for ino := range sh.m {
			t.fs.Unpin(ino)
		}
		clear(sh.m)
		sh.mu.Unlock()
	}
}

// inoCounts counts how often inodes were added and not removed.
type inoCounts struct {
	mu sync.Mutex
	n  map[vfs.Ino]int // guarded by mu
}

func (t *inoCounts) add(ino vfs.Ino) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = map[vfs.Ino]int{}
	}
	t.n[ino]++
}

func (t *inoCounts) remove(ino vfs.Ino) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n[ino]--; t.n[ino] <= 0 {
		delete(t.n, ino)
	}
}

func (t *inoCounts) has(ino vfs.Ino) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n[ino] > 0
}

// recentInos remembers inodes for recently at least, and at most twice that.
type recentInos struct {
	mu        sync.Mutex
	turned    time.Time            // when cur became prev; guarded by mu
	cur, prev map[vfs.Ino]struct{} // guarded by mu
}

const recently = time.Second

func (r *recentInos) add(ino vfs.Ino) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn()
	if r.cur == nil {
		r.cur = map[vfs.Ino]struct{}{}
	}
	r.cur[ino] = struct{}{}
}

func (r *recentInos) has(ino vfs.Ino) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn()
	_, cur := r.cur[ino]
	_, prev := r.prev[ino]
	return cur || prev
}

// turn makes old entries older. r.mu is held.
func (r *recentInos) turn() {
	switch age := time.Since(r.turned); {
	case age > 2*recently:
		r.cur, r.prev, r.turned = nil, nil, time.Now()
	case age > recently:
		r.cur, r.prev, r.turned = nil, r.cur, time.Now()
	}
}
