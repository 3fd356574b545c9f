package shell

import (
	"math"
	"slices"
	"sort"
)

// attr are a variable's attributes.
type attr uint16

const (
	attrExport attr = 1 << iota
	attrReadonly
	attrInteger
	attrLower
	attrUpper
	attrCapital
	attrNameref
	attrTrace
	attrArray // indexed
	attrAssoc
	attrLocal
	attrNoUnset // a special variable that cannot be unset
)

// owner is a token of the state that may change what carries it. What carries
// another's token is shared and must be copied first.
type owner struct{ _ byte }

// variable is a shell variable. Its contents change only through the state
// whose token it carries.
type variable struct {
	own   *owner
	attr  attr
	set   bool // it has a value
	scope int  // the function depth that it is local to; 0 is global
	str   string
	arr   *indexed
	m     *assoc
	// special computes the value of a variable that the shell itself keeps.
	special *special
}

// clone copies a variable for another owner.
func (v *variable) clone(own *owner) *variable {
	c := *v
	c.own = own
	if v.arr != nil {
		c.arr = v.arr.clone()
	}
	if v.m != nil {
		c.m = v.m.clone()
	}
	return &c
}

// isArray reports whether the variable is an array of either kind.
func (v *variable) isArray() bool { return v.attr&(attrArray|attrAssoc) != 0 }

// scalar is the value that $x yields: an array's element 0.
func (v *variable) scalar() (string, bool) {
	switch {
	case v.arr != nil:
		return v.arr.get(0)
	case v.m != nil:
		return v.m.get("0")
	}
	return v.str, v.set
}

// indexed is an indexed array: dense while its indices are 0..n-1, sorted pairs
// otherwise.
type indexed struct {
	idx []int64 // nil while dense
	val []string
}

func (a *indexed) clone() *indexed {
	return &indexed{idx: slices.Clone(a.idx), val: slices.Clone(a.val)}
}

func (a *indexed) len() int { return len(a.val) }

// find returns the place of index i, and whether it is there.
func (a *indexed) find(i int64) (int, bool) {
	if a.idx == nil {
		if i >= 0 && i < int64(len(a.val)) {
			return int(i), true
		}
		return len(a.val), false
	}
	return slices.BinarySearch(a.idx, i)
}

func (a *indexed) get(i int64) (string, bool) {
	if k, ok := a.find(i); ok {
		return a.val[k], true
	}
	return "", false
}

// max is the highest index, -1 when there is none.
func (a *indexed) max() int64 {
	if a.idx == nil {
		return int64(len(a.val)) - 1
	}
	return a.idx[len(a.idx)-1]
}

// index is the index at place k.
func (a *indexed) index(k int) int64 {
	if a.idx == nil {
		return int64(k)
	}
	return a.idx[k]
}

// sparse gives the array explicit indices.
func (a *indexed) sparse() {
	if a.idx != nil {
		return
	}
	a.idx = make([]int64, len(a.val), len(a.val)+1)
	for i := range a.idx {
		a.idx[i] = int64(i)
	}
}

func (a *indexed) put(i int64, v string) {
	k, ok := a.find(i)
	if ok {
		a.val[k] = v
		return
	}
	if a.idx == nil {
		if i == int64(len(a.val)) {
			a.val = append(a.val, v)
			return
		}
		a.sparse()
		k = len(a.val)
	}
	a.idx = slices.Insert(a.idx, k, i)
	a.val = slices.Insert(a.val, k, v)
}

func (a *indexed) remove(i int64) {
	k, ok := a.find(i)
	if !ok {
		return
	}
	if a.idx == nil && k < len(a.val)-1 {
		a.sparse()
	}
	a.val = slices.Delete(a.val, k, k+1)
	if a.idx != nil {
		a.idx = slices.Delete(a.idx, k, k+1)
		if len(a.idx) == 0 {
			a.idx = nil
		}
	}
}

// assoc is an associative array. Bash lists one in the order of its hash table,
// which scripts see, so the table is kept as Bash keeps it.
type assoc struct {
	m map[string]string
	// order caches the keys in listing order; nil when it must be made anew.
	order []string
	// inserted numbers the keys so that within a bucket the highest is first.
	inserted map[string]int
	next     int
	buckets  int
}

func newAssoc() *assoc {
	return &assoc{m: map[string]string{}, inserted: map[string]int{}, buckets: assocBuckets}
}

func (a *assoc) clone() *assoc {
	c := &assoc{m: make(map[string]string, len(a.m)), inserted: make(map[string]int, len(a.m)), next: a.next, buckets: a.buckets}
	for k, v := range a.m {
		c.m[k] = v
		c.inserted[k] = a.inserted[k]
	}
	return c
}

func (a *assoc) len() int { return len(a.m) }

func (a *assoc) get(k string) (string, bool) {
	v, ok := a.m[k]
	return v, ok
}

func (a *assoc) put(k, v string) {
	if _, ok := a.m[k]; !ok {
		a.order = nil
		if len(a.m) >= a.buckets*2 {
			// Moving to a larger table turns the order within each bucket round.
			a.buckets *= 4
			for k, n := range a.inserted {
				a.inserted[k] = a.next - 1 - n
			}
		}
		a.inserted[k] = a.next
		a.next++
	}
	a.m[k] = v
}

func (a *assoc) remove(k string) {
	if _, ok := a.m[k]; ok {
		delete(a.m, k)
		delete(a.inserted, k)
		a.order = nil
	}
}

// assocBuckets is how many buckets Bash gives a new associative array.
const assocBuckets = 1024

// keys lists the keys as Bash does: bucket by bucket, the newest first within
// one. The slice must not be changed.
func (a *assoc) keys() []string {
	if a.order != nil || len(a.m) == 0 {
		return a.order
	}
	order := make([]string, 0, len(a.m))
	for k := range a.m {
		order = append(order, k)
	}
	bucket := make(map[string]uint32, len(order))
	for _, k := range order {
		bucket[k] = bashHash(k) & uint32(a.buckets-1)
	}
	sort.Slice(order, func(i, j int) bool {
		x, y := order[i], order[j]
		if bucket[x] != bucket[y] {
			return bucket[x] < bucket[y]
		}
		return a.inserted[x] > a.inserted[y]
	})
	a.order = order
	return order
}

// bashHash is the hash of Bash's tables: FNV-1 over signed characters.
func bashHash(s string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(s); i++ {
		h *= 16777619
		h ^= uint32(int32(int8(s[i])))
	}
	return h
}

// values lists the values in the order of keys.
func (a *assoc) values() []string {
	keys := a.keys()
	vs := make([]string, len(keys))
	for i, k := range keys {
		vs[i] = a.m[k]
	}
	return vs
}

// maxIndex is the highest index of an array.
const maxIndex = math.MaxInt64 - 1
