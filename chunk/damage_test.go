package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/vfsd/vfsd/vfs"
)

// damageRig is a store of a few chunks in one or two packs, whose files a test
// damages.
type damageRig struct {
	t     *testing.T
	opt   Options
	model map[ID][]byte
	files map[string][]byte // the packs as they were written
}

// newDamageRig writes a store: a sealed pack and an open one.
func newDamageRig(t *testing.T) *damageRig { return newEndedRig(t, (*Packs).Close) }

// newEndedRig is newDamageRig for a store that ends in another way than Close.
func newEndedRig(t *testing.T, end func(*Packs) error) *damageRig {
	opt := testOptions(t)
	opt.PackSize, opt.CacheBytes = 1200, -1
	opt.Log = nil // every byte would be a line
	rig := &damageRig{t: t, opt: opt, model: make(map[ID][]byte), files: make(map[string][]byte)}
	p := mustOpen(t, opt)
	text := bytes.Repeat([]byte("it compresses well. "), 60)
	for i, data := range [][]byte{{}, []byte("tiny"), text, bytes.Repeat([]byte{0xa5}, 300), []byte("and the last")} {
		rig.model[mustPut(t, p, data)] = data
		if i%2 == 0 {
			if err := p.Fsync(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	more := bytes.Repeat([]byte("no"), 250)
	rig.model[mustPut(t, p, more)] = more
	n := p.Stats().Packs
	if err := end(p); err != nil {
		t.Fatal(err)
	}
	for no := uint32(1); no <= uint32(n); no++ {
		b, err := os.ReadFile(packPath(opt.Dir, no))
		if err != nil {
			t.Fatal(err)
		}
		rig.files[packPath(opt.Dir, no)] = b
	}
	if n != 2 {
		t.Fatalf("%d packs, want a sealed and an open one", n)
	}
	return rig
}

// restore undoes the damage, and what recovery made of it.
func (rig *damageRig) restore() {
	rig.t.Helper()
	os.RemoveAll(packPath(rig.opt.Dir, 3))
	for name, b := range rig.files {
		place(rig.t, name, b)
	}
}

// place makes b the content of a file. It does not cut the file to nothing
// first, as os.WriteFile does: ext4 then writes it to the disk at once.
func place(t *testing.T, name string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(b, 0)
	if err := errors.Join(err, f.Truncate(int64(len(b))), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// open opens the damaged store and returns the chunks that cannot be read. No
// chunk may have other bytes, and no error may be another one than that a chunk
// is damaged or missing.
func (rig *damageRig) open() (p *Packs, bad map[ID]bool) {
	rig.t.Helper()
	p, err := Open(context.Background(), rig.opt)
	if err != nil {
		rig.t.Fatal(err)
	}
	bad = make(map[ID]bool)
	for id, want := range rig.model {
		got, err := p.Get(context.Background(), id)
		switch {
		case errors.Is(err, ErrNotFound) || errors.Is(err, vfs.ErrCorrupt):
			bad[id] = true
		case err != nil:
			rig.t.Fatal(err)
		case !bytes.Equal(got, want):
			rig.t.Fatalf("chunk %s has other bytes", id)
		}
	}
	return p, bad
}

// heal puts everything again, as a peer would, and wants a perfect store. In
// the short form it does so for one place in eight.
func (rig *damageRig) heal(p *Packs, place int) {
	rig.t.Helper()
	if place%8 != 0 && !soak() {
		if err := p.Close(); err != nil {
			rig.t.Fatal(err)
		}
		return
	}
	for id, data := range rig.model {
		if err := p.Repair(context.Background(), id, data); err != nil {
			rig.t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		rig.t.Fatal(err)
	}
	p, bad := rig.open()
	if len(bad) > 0 {
		rig.t.Fatalf("%d chunks still bad after repair", len(bad))
	}
	if err := p.Close(); err != nil {
		rig.t.Fatal(err)
	}
}

// TestFlipEveryByte flips one bit of each byte of each pack. No flip hurts more
// than one chunk, and none passes unnoticed.
func TestFlipEveryByte(t *testing.T) {
	rig := newDamageRig(t)
	for name, good := range rig.files {
		for off := range good {
			rig.restore()
			b := slices.Clone(good)
			b[off] ^= 1 << (off % 8)
			place(t, name, b)
			p, bad := rig.open()
			if len(bad) > 1 {
				t.Fatalf("flip at %d of %s hurt %d chunks", off, name, len(bad))
			}
			rig.heal(p, off)
		}
	}
}

// kill ends a store as SIGKILL does: its lock goes, the page cache stays.
func kill(p *Packs) error {
	p.closed.Store(true)
	return p.lock.Close()
}

// TestFlipAfterKill flips one bit of each byte of what an Fsync promised before
// the process was killed. No flip passes for a gap or a torn tail: it is an
// error to read what it hurts, and scrub names the place, before and after the
// pack is sealed. Only two things may be mended in silence, since a crash may
// leave them torn and no chunk is hurt: the mark at the end and the footer.
func TestFlipAfterKill(t *testing.T) {
	ctx := t.Context()
	rig := newEndedRig(t, func(p *Packs) error { return errors.Join(p.Fsync(ctx), kill(p)) })
	for name, good := range rig.files {
		promised := len(good) - recordHeaderSize - markSize
		if name == packPath(rig.opt.Dir, 1) {
			tail, err := decodeTrailer(good[len(good)-trailerSize:])
			if err != nil {
				t.Fatal(err)
			}
			promised = int(tail.footer)
		}
		for off := range good {
			rig.restore()
			b := slices.Clone(good)
			b[off] ^= 1 << (off % 8)
			place(t, name, b)
			p, bad := rig.open()
			if len(bad) > 1 || off >= promised && len(bad) > 0 {
				t.Fatalf("flip at %d of %s hurt %d chunks", off, name, len(bad))
			}
			for _, when := range []string{"opened", "sealed"} {
				var found []Damage
				if err := p.Scrub(ctx, nil, func(d Damage) { found = append(found, d) }); err != nil {
					t.Fatal(err)
				}
				if off < promised && len(found) != 1 || off >= promised && len(found) > 0 {
					t.Fatalf("%s with flip at %d of %s: scrub found %v", when, off, name, found)
				}
				for _, d := range found {
					if d.Pack != name || d.Offset > int64(off) || !errors.Is(d, vfs.ErrCorrupt) {
						t.Fatalf("flip at %d of %s: %v", off, name, d)
					}
				}
				if err := p.Fsync(ctx); err != nil {
					t.Fatal(err)
				}
			}
			rig.heal(p, off)
		}
	}
}

// TestTruncateWhileOpen cuts the open pack of a running store to each length.
// Scrub notices each.
func TestTruncateWhileOpen(t *testing.T) {
	ctx := t.Context()
	rig := newEndedRig(t, func(p *Packs) error { return errors.Join(p.Fsync(ctx), kill(p)) })
	name := packPath(rig.opt.Dir, 2)
	good := rig.files[name]
	for size := range good {
		rig.restore()
		p, _ := rig.open()
		if err := os.Truncate(name, int64(size)); err != nil {
			t.Fatal(err)
		}
		found := 0
		err := p.Scrub(ctx, nil, func(d Damage) {
			if d.Pack == name {
				found++
			}
		})
		if err != nil || found == 0 {
			t.Fatalf("cut to %d of %d: scrub found %d damages, %v", size, len(good), found, err)
		}
		place(t, name, good)
		if err := kill(p); err != nil {
			t.Fatal(err)
		}
		p.files.close()
	}
}

// TestFewMarks: a mark is written for what became durable, not for other marks,
// however often the store is opened.
func TestFewMarks(t *testing.T) {
	opt := testOptions(t)
	var first int64
	for i := range 4 {
		p := mustOpen(t, opt)
		mustPut(t, p, []byte("once"))
		for range 3 {
			if err := p.Fsync(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		size := dirSizes(t, opt.Dir)[packName(1)]
		if i == 0 {
			first = size
		}
		if size != first {
			t.Fatalf("opened %d times: %d bytes, were %d", i+1, size, first)
		}
	}
}

// TestTruncateEverywhere cuts each pack to each length.
func TestTruncateEverywhere(t *testing.T) {
	rig := newDamageRig(t)
	for name, good := range rig.files {
		for size := range good {
			rig.restore()
			if err := os.Truncate(name, int64(size)); err != nil {
				t.Fatal(err)
			}
			p, _ := rig.open()
			rig.heal(p, size)
		}
	}
}

// TestTails replaces the ends of packs by zeroes, noise and parts of another
// pack.
func TestTails(t *testing.T) {
	rig := newDamageRig(t)
	r := rand.New(rand.NewPCG(1, 6))
	names := slices.Sorted(maps.Keys(rig.files))
	for i, name := range names {
		good, other := rig.files[name], rig.files[names[1-i]]
		for range 100 {
			rig.restore()
			at := r.IntN(len(good))
			tail := make([]byte, r.IntN(2*(len(good)-at)))
			switch r.IntN(3) {
			case 0:
				for i := range tail {
					tail[i] = byte(r.Uint32())
				}
			case 1:
				copy(tail, other[r.IntN(len(other)):])
			}
			place(t, name, slices.Concat(good[:at], tail))
			p, _ := rig.open()
			rig.heal(p, 0)
		}
	}
}

// TestScrubFindsEveryFlip flips bits of a running store: scrub must find each,
// name the place, and count everything when it is done.
func TestScrubFindsEveryFlip(t *testing.T) {
	rig := newDamageRig(t)
	p := mustOpen(t, rig.opt)
	defer p.Close()
	for name := range rig.files {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		for bit := range 8 * st.Size() {
			flip(t, f, bit)
			var found []Damage
			err := p.Scrub(context.Background(), nil, func(d Damage) { found = append(found, d) })
			if err != nil {
				t.Fatal(err)
			}
			flip(t, f, bit)
			if len(found) != 1 {
				t.Fatalf("bit %d of %s: %d damages, want 1: %v", bit, name, len(found), found)
			}
			d := found[0]
			if d.Pack != name || d.Offset > bit/8 || !errors.Is(d, vfs.ErrCorrupt) {
				t.Fatalf("bit %d of %s: %v", bit, name, d)
			}
		}
	}
	// The flips have left the chunks marked as damaged: storing them again must
	// not trust the old copies.
	before := p.Stats().StoredBytes
	for _, data := range rig.model {
		mustPut(t, p, data)
	}
	if p.Stats().StoredBytes == before {
		t.Error("Put trusts a chunk that scrub found damaged")
	}
	verify(t, p, rig.model)
}

func flip(t *testing.T, f *os.File, bit int64) {
	var b [1]byte
	if _, err := f.ReadAt(b[:], bit/8); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1 << (bit % 8)
	if _, err := f.WriteAt(b[:], bit/8); err != nil {
		t.Fatal(err)
	}
}

func TestScrubProgress(t *testing.T) {
	opt := testOptions(t)
	p := mustOpen(t, opt)
	r := rand.New(rand.NewPCG(1, 7))
	for range 200 {
		mustPut(t, p, sample(r, 30000))
	}
	if err := p.Fsync(context.Background()); err != nil {
		t.Fatal(err)
	}
	var last, all int64
	err := p.Scrub(context.Background(), func(done, total int64) {
		if done < last || done > total {
			t.Fatalf("progress went from %d to %d of %d", last, done, total)
		}
		last, all = done, total
	}, nil)
	if err != nil || last != all || all < 1<<20 {
		t.Fatalf("scrub ended at %d of %d: %v", last, all, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Scrub(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled scrub: %v", err)
	}
}

// TestNewerVersion: a pack of a later format is refused, not recovered.
func TestNewerVersion(t *testing.T) {
	rig := newDamageRig(t)
	name := packPath(rig.opt.Dir, 1)
	b := slices.Clone(rig.files[name])
	b[8]++
	copy(b[20:], crcBytes(b[:20]))
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(context.Background(), rig.opt)
	var v versionError
	if !errors.As(err, &v) || v != FormatVersion+1 {
		t.Fatalf("Open: %v", err)
	}
	if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, b) {
		t.Errorf("the pack was changed (%v)", err)
	}
}

func crcBytes(p []byte) []byte {
	c := crc(p)
	return []byte{byte(c), byte(c >> 8), byte(c >> 16), byte(c >> 24)}
}

// TestDamagedCopy: of two copies of a chunk the later counts, but not if it is
// damaged.
func TestDamagedCopy(t *testing.T) {
	ctx := t.Context()
	for _, damaged := range []bool{false, true} {
		opt := testOptions(t)
		if err := os.MkdirAll(opt.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		data := []byte("there are two of it")
		r := plainRecord(kindChunk, data)
		var end int64
		for no, m := range []marker{{1, 1}, {2, 2}} {
			b := appendRecord(appendPackHeader(nil, m), m, &r, data)
			end = int64(len(b))
			b = appendMark(b, m, end) // so that it is damage and not a torn tail
			if damaged && no == 1 {
				b[end-1] ^= 1
			}
			place(t, packPath(opt.Dir, uint32(no+1)), b)
		}
		p := mustOpen(t, opt)
		got, err := p.Get(ctx, r.digest)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("damaged=%v: %v", damaged, err)
		}
		want := uint32(2)
		if damaged {
			want = 1
		}
		if at, _, _ := p.index.lookup(r.digest); at.pack != want {
			t.Errorf("damaged=%v: pack %d is used, want %d", damaged, at.pack, want)
		}
		if s := p.Stats(); s.DeadBytes != r.size() || s.RawBytes != int64(len(data)) {
			t.Errorf("damaged=%v: %+v", damaged, s)
		}
	}
}

// TestRepair: a damaged chunk is EIO, a wrong copy is refused, a good one is
// taken, and stays after a reopen.
func TestRepair(t *testing.T) {
	ctx := context.Background()
	opt := testOptions(t)
	opt.CacheBytes = -1
	p := mustOpen(t, opt)
	data := bytes.Repeat([]byte("precious "), 40)
	id := mustPut(t, p, data)
	if err := p.Fsync(ctx); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(packPath(opt.Dir, 1), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	flip(t, f, 8*100)
	_, err = p.Get(ctx, id)
	if !errors.Is(err, vfs.ErrCorrupt) || vfs.ToErrno(err).Error() != "input/output error" {
		t.Fatalf("Get of a damaged chunk: %v", err)
	}
	for _, want := range []string{packPath(opt.Dir, 1), fmt.Sprintf("offset %d", packHeaderSize), id.String()} {
		if !bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("%q does not name %q", err, want)
		}
	}
	if p.Has(id) {
		t.Error("Has says yes to a chunk known to be damaged")
	}
	if err := p.Repair(ctx, id, []byte("something else")); !errors.Is(err, vfs.ErrCorrupt) {
		t.Errorf("Repair with a wrong copy: %v", err)
	}
	if err := p.Repair(ctx, id, data); err != nil {
		t.Fatal(err)
	}
	stored := p.Stats().StoredBytes
	if err := p.Repair(ctx, id, data); err != nil || p.Stats().StoredBytes != stored {
		t.Errorf("Repair of a good chunk stored it again (%v)", err)
	}
	for range 2 {
		verify(t, p, map[ID][]byte{id: data})
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		p = mustOpen(t, opt)
	}
}
