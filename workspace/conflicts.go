package workspace

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// What a merge could not decide is listed in the map itself, so that it travels
// and every replica sees the same list: one private attribute of the root for
// each conflict. Attributes whose names begin with "vfsd." are the engine's;
// no way in shows or takes them.
const (
	privatePrefix  = "vfsd."
	conflictPrefix = privatePrefix + "conflict."
	maxConflicts   = 10000 // that are listed; files are kept twice beyond it too
)

func isPrivate(name string) bool { return strings.HasPrefix(name, privatePrefix) }

// ConflictKind says what a merge had to decide; the values are for people and
// programs alike.
type ConflictKind string

// The kinds of conflict.
const (
	ConflictEdited    ConflictKind = "edited"    // both have written to a file: the other version is Other
	ConflictNamed     ConflictKind = "named"     // both have given a name: Other got one beside it
	ConflictDeleted   ConflictKind = "deleted"   // one has deleted what the other has edited: it is kept
	ConflictRenamed   ConflictKind = "renamed"   // both have renamed a file: it has both names
	ConflictMoved     ConflictKind = "moved"     // both have moved directories: one move was taken back
	ConflictAttribute ConflictKind = "attribute" // both have set an extended attribute: one value is kept
)

// conflictRecord is the value of a conflict's attribute, in msgpack.
type conflictRecord struct {
	Kind    ConflictKind `msgpack:"kind"`
	Ino     vfs.Ino      `msgpack:"ino"`
	Other   vfs.Ino      `msgpack:"other,omitempty"` // the inode that lost the name
	Name    string       `msgpack:"name,omitempty"`
	Replica uint32       `msgpack:"replica"` // whose version did not keep the name, or was not taken
	Time    int64        `msgpack:"time"`    // of the change, by the clock of who made it
}

// id returns what ends the name of a conflict's attribute, equal for equal
// conflicts, and the record encoded.
func (r *conflictRecord) id() (string, []byte, error) {
	b, err := msgpack.Marshal(r)
	if err != nil {
		return "", nil, err
	}
	same := *r
	same.Replica = 0 // whoever merged it
	seed, err := msgpack.Marshal(&same)
	sum := chunk.Sum(seed)
	return hex.EncodeToString(sum[:8]), b, err
}

func decodeConflict(value []byte) (*conflictRecord, error) {
	if len(value) == 0 || value[0] != xattrInline {
		return nil, fmt.Errorf("conflict: bad value: %w", vfs.ErrCorrupt)
	}
	r := &conflictRecord{}
	b := bytes.NewReader(value[1:])
	if err := msgpack.NewDecoder(b).Decode(r); err != nil {
		return nil, fmt.Errorf("conflict: %v: %w", err, vfs.ErrCorrupt)
	}
	if b.Len() > 0 || r.Ino == 0 {
		return nil, fmt.Errorf("conflict: impossible fields: %w", vfs.ErrCorrupt)
	}
	return r, nil
}

func (m *merge) conflict(r conflictRecord) { m.conflicts = append(m.conflicts, r) }

// dropStale leaves out conflicts about what has gone again in this very merge.
func (e *mergeEmitter) dropStale() error {
	for _, s := range e.slots {
		if len(s.claims) > 1 {
			return errNotMerged
		}
	}
	e.conflicts = slices.DeleteFunc(e.conflicts, func(r conflictRecord) bool {
		n := e.nodes[r.Ino]
		return n == nil || !n.alive
	})
	return nil
}

// listConflicts adds the conflicts to the attributes of the root.
func (e *mergeEmitter) listConflicts(root *mnode) error {
	room := maxConflicts
	lo, hi := conflictRange()
	if err := e.trees[atOurs].Scan(e.ctx, lo, hi, func(_, _ []byte) bool { room--; return room > 0 }); err != nil {
		return err
	}
	for i := range e.conflicts {
		id, b, err := e.conflicts[i].id()
		if err != nil {
			return err
		}
		key := string(xattrKey(vfs.RootIno, conflictPrefix+id))
		if e.xattrs[key] != nil || i >= room {
			continue
		}
		// Either side may list it already, from a merge before.
		x := &mvalue{}
		for side := range e.trees {
			v, _, err := e.trees[side].Get(e.ctx, []byte(key))
			if err != nil {
				return err
			}
			x.v[side] = v
		}
		if x.v[atOurs] == nil {
			x.v[atBase], x.v[atTheirs] = nil, append([]byte{xattrInline}, b...)
			e.xattrs[key] = x
		}
	}
	return nil
}

func conflictRange() (lo, hi []byte) {
	return xattrKey(vfs.RootIno, conflictPrefix), xattrKey(vfs.RootIno, conflictPrefix[:len(conflictPrefix)-1]+"/")
}

// Conflict is something that a merge could not decide.
type Conflict struct {
	ID      string       `json:"id"` // for ResolveConflict
	Kind    ConflictKind `json:"kind"`
	Path    string       `json:"path"`            // of the file it is about
	Other   string       `json:"other,omitempty"` // of the version beside it
	Name    string       `json:"name,omitempty"`  // that both wanted, or of the attribute
	Replica string       `json:"replica"`         // whose version did not keep the name
	Time    int64        `json:"time"`            // ns since 1970, by that replica's clock
	Ino     vfs.Ino      `json:"ino"`
	OtherAt vfs.Ino      `json:"other_ino,omitempty"`
}

// Conflicts lists what merges could not decide and nobody has resolved since,
// by path. One whose version beside the file is gone counts as resolved.
func (w *Workspace) Conflicts(ctx context.Context) ([]Conflict, error) {
	w.mu.Lock()
	l := w.layers.view()
	w.mu.Unlock()
	names := newNamer(ctx, &l)
	var out []Conflict
	lo, hi := conflictRange()
	err := l.scan(ctx, lo, hi, func(k, v []byte) (bool, error) {
		r, err := decodeConflict(v)
		if err != nil {
			return false, err
		}
		c := Conflict{ID: strings.TrimPrefix(string(keySuffix(k)), conflictPrefix), Kind: r.Kind, Name: r.Name,
			Replica: fmt.Sprintf("%05x", r.Replica), Time: r.Time, Ino: r.Ino, OtherAt: r.Other}
		if c.Path, err = pathOrNone(names, r.Ino); err != nil {
			return false, err
		}
		if r.Other != 0 {
			if c.Other, err = pathOrNone(names, r.Other); err != nil {
				return false, err
			}
		}
		if r.Other != 0 && c.Other == "" || r.Other == 0 && c.Path == "" {
			return true, nil
		}
		out = append(out, c)
		return true, nil
	})
	slices.SortFunc(out, func(a, b Conflict) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out, err
}

// pathOrNone returns a path of an inode, "" when it is gone.
func pathOrNone(n *namer, ino vfs.Ino) (string, error) {
	if ino == vfs.RootIno {
		return "/", nil
	}
	at, err := n.nameOf(ino)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, errNameless) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return n.path(at)
}

// Resolution says how a conflict ends.
type Resolution string

// The resolutions.
const (
	KeepBoth  Resolution = "both"  // everything stays where it is
	KeepThis  Resolution = "this"  // the version beside the file goes
	KeepOther Resolution = "other" // the version beside the file takes its place
)

// ErrNoSuchConflict says that there is no conflict of that id.
var ErrNoSuchConflict = errors.New("no such conflict")

// ResolveConflict ends a conflict. What it removes is in the history still.
func (w *Workspace) ResolveConflict(ctx context.Context, id string, how Resolution) error {
	all, err := w.Conflicts(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(c Conflict) bool { return c.ID == id })
	if i < 0 {
		var ids []string
		for _, c := range all {
			ids = append(ids, c.ID)
		}
		return noSuch(ErrNoSuchConflict, id, ids)
	}
	c := all[i]
	op := &vfs.Op{Ctx: ctx}
	if c.Other != "" && c.Path != "" {
		from, fromName, err := w.walkTo(op, c.Other)
		if err != nil {
			return err
		}
		switch how {
		case KeepBoth:
		case KeepThis:
			err = (&restorer{op: op, live: w}).removeNamed(from, fromName)
		case KeepOther:
			var to vfs.Ino
			var toName string
			if to, toName, err = w.walkTo(op, c.Path); err == nil {
				err = w.Rename(op, from, fromName, to, toName, 0)
			}
		default:
			return fmt.Errorf("resolution %q: %w", how, syscall.EINVAL)
		}
		if err != nil {
			return err
		}
	}
	return w.mutate(op, func(b *batch) error {
		root, err := w.load(vfs.RootIno)
		if err != nil {
			return err
		}
		if _, there, err := w.xattr(root, conflictPrefix+id); err != nil || !there {
			return err
		}
		return w.deleteXattr(b, root, conflictPrefix+id)
	})
}

// walkTo returns the directory that a path ends in, and the name there.
func (w *Workspace) walkTo(op *vfs.Op, path string) (vfs.Ino, string, error) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	at := vfs.RootIno
	for _, name := range parts[:len(parts)-1] {
		a, err := w.Lookup(op, at, name)
		if err != nil {
			return 0, "", err
		}
		at = a.Ino
	}
	return at, parts[len(parts)-1], nil
}

func (r *restorer) removeNamed(parent vfs.Ino, name string) error {
	a, err := r.live.Lookup(r.op, parent, name)
	if err != nil {
		return err
	}
	return r.remove(parent, name, a)
}
