package tree

import (
	"bytes"
	"fmt"
)

// Edit is one change of a batch: a put of Key, or with Delete set a removal of
// Key or, if To is not nil, of all keys in [Key, To).
//
// A batch is sorted by Key, and no Key occurs twice, except that a range may
// begin at the key of the edit after it. Ranges do not overlap. Other edits may
// lie within a range: it removes what was there before the batch, and they
// apply to what that leaves. Removing what is not there is no error.
type Edit struct {
	Key    []byte
	Value  []byte // nil is the empty value
	Delete bool
	To     []byte // a bound, not a key: it may be as long as KeyEnd
}

var keyEnd = bytes.Repeat([]byte{0xff}, MaxKey+1)

// KeyEnd returns a bound above every key, to end a range of Edit at.
func KeyEnd() []byte { return bytes.Clone(keyEnd) }

func (e *Edit) isRange() bool { return e.Delete && e.To != nil }

func (e *Edit) check() error {
	switch {
	case e.To == nil && e.Delete:
		return checkEntry(e.Key, nil)
	case e.To == nil:
		return checkEntry(e.Key, e.Value)
	case !e.Delete:
		return fmt.Errorf("put of %.80q with a bound: %w", e.Key, ErrOrder)
	case len(e.Key) > MaxKey+1 || len(e.To) > MaxKey+1:
		return fmt.Errorf("bounds of %d and %d bytes, want at most %d: %w", len(e.Key), len(e.To), MaxKey+1, ErrTooLarge)
	case bytes.Compare(e.Key, e.To) > 0:
		return fmt.Errorf("range from %.80q to %.80q: %w", e.Key, e.To, ErrOrder)
	}
	return nil
}

// flatten checks a batch and returns it with ranges cut around the edits that
// lie within them, so that no two edits overlap. Without any it returns the
// batch itself.
func flatten(batch []Edit) ([]Edit, error) {
	nested := false
	for i := range batch {
		e := &batch[i]
		if err := e.check(); err != nil {
			return nil, err
		}
		if i == 0 {
			continue
		}
		prev := &batch[i-1]
		if c := bytes.Compare(prev.Key, e.Key); c > 0 || c == 0 && (!prev.isRange() || e.isRange()) {
			return nil, fmt.Errorf("edit of %.80q after %.80q: %w", e.Key, prev.Key, ErrOrder)
		}
		nested = nested || prev.isRange() && bytes.Compare(e.Key, prev.To) < 0
	}
	if !nested {
		return batch, nil
	}
	return cutRanges(batch)
}

func cutRanges(batch []Edit) ([]Edit, error) {
	out := make([]Edit, 0, len(batch)+len(batch)/2)
	var open Edit // what remains of the last range, if To is not nil
	until := func(bound []byte) {
		if open.To != nil && bytes.Compare(open.Key, bound) < 0 {
			out = append(out, Edit{Key: open.Key, To: bound, Delete: true})
		}
	}
	for _, e := range batch {
		inside := open.To != nil && bytes.Compare(e.Key, open.To) < 0
		switch {
		case !inside:
			if open.To != nil {
				until(open.To)
			}
			open = Edit{}
		case e.isRange():
			return nil, fmt.Errorf("range from %.80q within the one to %.80q: %w", e.Key, open.To, ErrOrder)
		default:
			until(e.Key)
			open.Key = append(bytes.Clone(e.Key), 0)
		}
		if e.isRange() {
			open = e
		} else {
			out = append(out, e)
		}
	}
	if open.To != nil {
		until(open.To)
	}
	return out, nil
}
