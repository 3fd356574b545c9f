package mount

import "sync"

// handleTable numbers open files, from 1 on. Numbers are used again.
type handleTable[T any] struct {
	mu    sync.RWMutex
	slots []slot[T] // guarded by mu
	free  []uint64  // unused numbers; guarded by mu
}

type slot[T any] struct {
	v    T
	used bool
}

func (t *handleTable[T]) add(v T) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.free); n > 0 {
		id := t.free[n-1]
		t.free = t.free[:n-1]
		t.slots[id-1] = slot[T]{v, true}
		return id
	}
	t.slots = append(t.slots, slot[T]{v, true})
	return uint64(len(t.slots))
}

// get returns what id stands for; false for a number that was never given or
// was taken back.
func (t *handleTable[T]) get(id uint64) (v T, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if id-1 >= uint64(len(t.slots)) {
		return v, false
	}
	s := t.slots[id-1]
	return s.v, s.used
}

func (t *handleTable[T]) remove(id uint64) (v T, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id-1 >= uint64(len(t.slots)) || !t.slots[id-1].used {
		return v, false
	}
	v = t.slots[id-1].v
	t.slots[id-1] = slot[T]{}
	t.free = append(t.free, id)
	return v, true
}

func (t *handleTable[T]) len() uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return uint64(len(t.slots) - len(t.free))
}

// drain takes everything out.
func (t *handleTable[T]) drain() (all []T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.slots {
		if t.slots[i].used {
			all = append(all, t.slots[i].v)
		}
	}
	t.slots, t.free = nil, nil
	return all
}
