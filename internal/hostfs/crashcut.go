package hostfs

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Units of what a disk may lose.
const (
	crashPage   = 4096
	crashSector = 512
)

// PowerCut makes a directory that the model allows after a power cut now and
// returns its path. The seed alone decides which one.
func (c *Crash) PowerCut(seed uint64) (string, error) {
	return c.crash(func(pending int) crashPlan {
		rng := rand.New(rand.NewPCG(seed, 0))
		p := crashPlan{seed: seed, keep: rng.IntN(pending + 1), fate: crashFate(rng.IntN(int(fateCount)))}
		// The ends are the likeliest to be wrong, and in a long list the
		// least likely to be drawn.
		switch rng.IntN(4) {
		case 0:
			p.keep = 0
		case 1:
			p.keep = pending
		}
		if rng.IntN(2) == 0 {
			p.fate = fateAny
		}
		return p
	})
}

// LoseUnsynced makes the directory as if nothing but what was fsynced had
// reached the disk.
func (c *Crash) LoseUnsynced() (string, error) {
	return c.crash(func(int) crashPlan { return crashPlan{fate: fateLost} })
}

// Kill makes the directory as the death of the process alone leaves it: the
// page cache keeps everything.
func (c *Crash) Kill() (string, error) {
	return c.crash(func(pending int) crashPlan { return crashPlan{keep: pending, fate: fateKept} })
}

// crashPlan is one outcome.
type crashPlan struct {
	seed uint64
	keep int       // how many pending changes are durable
	fate crashFate // what becomes of unsynced bytes
}

// crashFate is what becomes of a file's unsynced bytes.
type crashFate int

const (
	fateLost   crashFate = iota // all lost
	fateKept                    // all kept
	fatePrefix                  // kept up to some offset
	fatePages                   // each page by itself
	fateAny                     // each file by itself
	fateCount
)

// crash writes the directory that the plan leaves.
func (c *Crash) crash(plan func(pending int) crashPlan) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.adopt(c.root); err != nil {
		return "", fmt.Errorf("crash model: %w", err)
	}
	dir, err := os.MkdirTemp(c.opts.Scratch, "crash-")
	if err != nil {
		return "", fmt.Errorf("crash model: %w", err)
	}
	im := newCrashImage(c, plan(len(c.pending)))
	if err := im.writeDir(c.root, dir, ""); err != nil {
		return "", fmt.Errorf("crash model: %w", err)
	}
	return dir, nil
}

// crashImage is the state that a plan leaves.
type crashImage struct {
	c     *Crash
	plan  crashPlan
	names map[*crashInode]map[string]*crashInode // of directories that differ from durable
	cuts  map[*crashInode]crashCuts
}

// crashCuts are the pending truncations of a file: the least size that one
// which happened left, and that one which was lost would have left.
type crashCuts struct{ done, lost int64 }

func newCrashImage(c *Crash, plan crashPlan) *crashImage {
	im := &crashImage{
		c: c, plan: plan,
		names: map[*crashInode]map[string]*crashInode{},
		cuts:  map[*crashInode]crashCuts{},
	}
	for i := range c.pending {
		ch := &c.pending[i]
		if ch.kind == changeCut {
			cuts := im.cutsOf(ch.file)
			if i < plan.keep {
				cuts.done = min(cuts.done, ch.size)
			} else {
				cuts.lost = min(cuts.lost, ch.size)
			}
			im.cuts[ch.file] = cuts
		} else if i < plan.keep {
			ch.apply(im.namesOf)
		}
	}
	return im
}

func (im *crashImage) cutsOf(n *crashInode) crashCuts {
	if cuts, ok := im.cuts[n]; ok {
		return cuts
	}
	return crashCuts{math.MaxInt64, math.MaxInt64}
}

// namesOf returns the names that a directory is left with, to be changed.
func (im *crashImage) namesOf(dir *crashInode) map[string]*crashInode {
	names, ok := im.names[dir]
	if !ok {
		names = maps.Clone(dir.durableNames)
		im.names[dir] = names
	}
	return names
}

// writeDir writes what is left of a directory. rel is its path from the root:
// with the seed it decides about each file, so that one file's fate does not
// change when another is added.
func (im *crashImage) writeDir(dir *crashInode, to, rel string) error {
	names := dir.durableNames
	if changed, ok := im.names[dir]; ok {
		names = changed
	}
	for _, name := range sortedNames(names) {
		n, path, rel := names[name], filepath.Join(to, name), rel+"/"+name
		if !n.isDir() {
			content, err := im.content(n, rel)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path, content, n.perm|0o600); err != nil {
				return err
			}
			continue
		}
		if err := os.Mkdir(path, n.perm|0o700); err != nil {
			return err
		}
		if err := im.writeDir(n, path, rel); err != nil {
			return err
		}
	}
	return nil
}

// content is what is left of a file.
func (im *crashImage) content(n *crashInode, rel string) ([]byte, error) {
	now, err := im.c.content(n)
	if err != nil {
		return nil, err
	}
	cuts := im.cutsOf(n)
	before := n.durable[:min(int64(len(n.durable)), cuts.done)]
	if bytes.Equal(before, now) {
		return now, nil
	}
	h := fnv.New64a()
	h.Write([]byte(rel))
	t := tearing{
		rng:    rand.New(rand.NewPCG(im.plan.seed, h.Sum64())),
		fate:   im.plan.fate,
		before: before, written: n.written, now: now, lostCut: cuts.lost,
	}
	if t.fate == fateAny {
		t.fate = crashFate(t.rng.IntN(int(fateAny)))
	}
	return t.content(), nil
}

// tearing decides about the bytes of one file.
type tearing struct {
	rng     *rand.Rand
	fate    crashFate
	before  []byte // durable, with the truncations that happened
	written []byte // written back since, or nil
	now     []byte
	lostCut int64 // below all truncations that were lost
}

func (t *tearing) content() []byte {
	if t.fate == fateLost {
		return t.before
	}
	if t.fate == fateKept && t.lostCut == math.MaxInt64 {
		return t.now
	}
	out := make([]byte, t.size())
	copy(out, t.before)
	stop := len(out)
	if t.fate == fatePrefix {
		stop = t.rng.IntN(len(out) + 1)
	}
	for page := 0; page < stop && int64(page)+crashPage <= t.lostCut; page += crashPage {
		from, to, version := page, min(page+crashPage, len(out)), t.now
		if t.fate == fatePages {
			from, to, version = t.tornPage(from, to)
		}
		keep(out[:min(to, stop)], version, from)
	}
	return out
}

// size draws the size that is left.
func (t *tearing) size() int {
	before, now := len(t.before), len(t.now)
	switch {
	case t.lostCut != math.MaxInt64:
		return before
	case t.fate == fateKept || now <= before:
		return now
	}
	switch t.rng.IntN(4) {
	case 0:
		return before
	case 1:
		return now
	case 2:
		pages := (now - before) / crashPage
		return min(now, before-before%crashPage+crashPage*(1+t.rng.IntN(pages+1)))
	}
	return before + t.rng.IntN(now-before+1)
}

// tornPage draws which bytes of a page are new, mostly all or none, and which
// version they are of.
func (t *tearing) tornPage(from, to int) (int, int, []byte) {
	sector := min(to, from+crashSector*(1+t.rng.IntN(crashPage/crashSector-1)))
	switch t.rng.IntN(8) {
	case 0, 1:
		return from, from, t.now
	case 2:
		return from, sector, t.now
	case 3:
		return sector, to, t.now
	case 4, 5:
		if t.written != nil {
			return from, to, t.written
		}
	}
	return from, to, t.now
}

// keep makes out from an offset on what a version has there.
func keep(out, version []byte, from int) {
	if from >= len(out) {
		return
	}
	clear(out[from:])
	if from < len(version) {
		copy(out[from:], version[from:])
	}
}

func sortedNames(names map[string]*crashInode) []string {
	return slices.Sorted(maps.Keys(names))
}
