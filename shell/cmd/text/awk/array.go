package awk

import (
	"slices"
	"strconv"
)

// slot is a variable, a parameter or an element: a scalar or an array, once it
// is known which.
type slot struct {
	value
	arr *array
	// ref is what an untyped argument was passed from: should the function use
	// it as an array, it becomes one there too.
	ref *slot
}

// tableSizes are the numbers of buckets that gawk's hash tables grow through.
var tableSizes = [...]uint32{13, 127, 1021, 8191, 65537, 524287, 4194301}

// maxChain is how many elements a bucket has on average before a table grows.
const maxChain = 2

// element is an element of an array.
type element struct {
	slot
	key  string
	gone bool // deleted
}

// array is an associative array. The elements are in a map; the order in which
// gawk would yield them is worked out, from the order of insertion, when it is
// asked for.
type array struct {
	m    map[string]*element
	log  []*element // in the order of insertion
	dead int        // elements of log that are gone
}

func newArray() *array { return &array{m: map[string]*element{}} }

// get returns an element, made if need be; fresh tells that it was.
func (a *array) get(key string) (s *slot, fresh bool) {
	if e := a.m[key]; e != nil {
		return &e.slot, false
	}
	e := &element{key: key}
	a.m[key] = e
	a.log = append(a.log, e)
	return &e.slot, true
}

func (a *array) has(key string) bool { return a.m[key] != nil }

// delete removes an element, and reports whether it was there.
func (a *array) delete(key string) bool {
	e := a.m[key]
	if e == nil {
		return false
	}
	delete(a.m, key)
	e.gone = true
	if a.dead++; a.dead > len(a.m)+16 {
		a.log = slices.DeleteFunc(a.log, func(e *element) bool { return e.gone })
		a.dead = 0
	}
	return true
}

func (a *array) clear() {
	clear(a.m)
	a.log, a.dead = nil, 0
}

// Integer subscripts lie in leaves of consecutive ones, as long as those are
// not too thinly settled.
const (
	leafSize  = 256
	leafSlack = 2048
)

// keys lists the subscripts in gawk's order. What the first subscript was
// decides about the kind of the table: a string makes one for strings, an
// integer one in which strings and thinly settled integers come first, and a
// negative one has no place for those that lie close.
func (a *array) keys() []string {
	keys := make([]string, 0, len(a.m))
	for _, e := range a.log {
		if !e.gone {
			keys = append(keys, e.key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if _, ok := integerKey(keys[0]); !ok {
		return stringOrder(keys)
	}
	var strs []string
	var ints, dense []int64
	first, _ := integerKey(keys[0])
	leaves := map[int64]bool{}
	for _, k := range keys {
		n, ok := integerKey(k)
		switch {
		case !ok:
			strs = append(strs, k)
		case first < 0 || n < 0 || n > 1<<31-1:
			ints = append(ints, n)
		case leaves[n/leafSize]:
			dense = append(dense, n)
		case (len(leaves)+1)*leafSize-len(dense) > leafSlack:
			ints = append(ints, n)
		default:
			leaves[n/leafSize] = true
			dense = append(dense, n)
		}
	}
	out := stringOrder(strs)
	for _, n := range integerOrder(ints) {
		out = append(out, strconv.FormatInt(n, 10))
	}
	slices.Sort(dense)
	for _, n := range dense {
		out = append(out, strconv.FormatInt(n, 10))
	}
	return out
}

// integerKey reads a subscript that is an integer in its shortest form.
func integerKey(s string) (int64, bool) {
	if s == "" || len(s) > 11 {
		return 0, false
	}
	d := s
	if d[0] == '-' {
		d = d[1:]
	}
	if d == "" || leadingDigits(d) != len(d) || d[0] == '0' && s != "0" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= -1<<31 && n < 1<<32
}

// stringHash is the hash of the sdbm library.
func stringHash(s string) uint32 {
	h := uint32(0)
	for i := range len(s) {
		h = uint32(s[i]) + h*65599
	}
	return h
}

// stringOrder lists strings as a chained hash table yields them into which they
// were put in this order: the last of a bucket first.
func stringOrder(keys []string) []string {
	var table [][]string // each bucket's last is its first
	place := func(k string) {
		b := &table[stringHash(k)%uint32(len(table))]
		*b = append(*b, k)
	}
	for n, k := range keys {
		if n == 0 || (n+1)/len(table) > maxChain {
			old := table
			table = make([][]string, nextSize(len(old)))
			for _, b := range old {
				for _, k := range slices.Backward(b) {
					place(k)
				}
			}
		}
		place(k)
	}
	out := make([]string, 0, len(keys))
	for _, b := range table {
		for _, k := range slices.Backward(b) {
			out = append(out, k)
		}
	}
	return out
}

func nextSize(n int) uint32 {
	for _, s := range tableSizes {
		if int(s) > n {
			return s
		}
	}
	return uint32(n)*2 + 1
}

// integerHash mixes the bits of an integer.
func integerHash(n int64) uint32 {
	k := uint32(n)
	k ^= k << 3
	k += k >> 5
	k ^= k << 4
	k += k >> 17
	k ^= k << 25
	k += k >> 6
	return k
}

// integerOrder is stringOrder for integers, whose tables chain pairs.
func integerOrder(keys []int64) []int64 {
	var table [][][]int64 // of each bucket: pairs, the last one first
	place := func(n int64) {
		b := &table[integerHash(n)%uint32(len(table))]
		if k := len(*b); k == 0 || len((*b)[k-1]) == 2 {
			*b = append(*b, nil)
		}
		k := len(*b) - 1
		(*b)[k] = append((*b)[k], n)
	}
	for i, n := range keys {
		if i == 0 || (i+1)/len(table) > maxChain {
			old := table
			table = make([][][]int64, nextSize(len(old)))
			for _, b := range old {
				for _, pair := range slices.Backward(b) {
					for _, n := range pair {
						place(n)
					}
				}
			}
		}
		place(n)
	}
	out := make([]int64, 0, len(keys))
	for _, b := range table {
		for _, pair := range slices.Backward(b) {
			out = append(out, pair...)
		}
	}
	return out
}
