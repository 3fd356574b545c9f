package journal_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/journal"
)

// soak reports whether the long form of the tests was asked for, by setting
// VFSD_SOAK=1.
func soak() bool { return os.Getenv("VFSD_SOAK") == "1" }

// voyage is one seeded run of a journal through power cuts: after each the
// journal goes on in the directory that was left. Beside it, at random points
// and before random host calls, copies are crashed and checked.
type voyage struct {
	t     *testing.T
	rng   *rand.Rand
	lying bool
	opts  journal.Options
	crash *hostfs.Crash

	j     *journal.Journal // nil while it is being opened
	floor journal.LSN      // what was durable before it was opened
	want  []entry          // what was appended, in order
	life  int              // number of power cuts survived
	cuts  int              // number of crashes checked
	err   error            // the first promise broken
}

const voyageFirst = 500

// sail runs a voyage and returns the first promise that was broken.
func sail(t *testing.T, seed uint64, lying bool) (v *voyage, err error) {
	rng := rand.New(rand.NewPCG(seed, 7))
	v = &voyage{t: t, rng: rng, lying: lying, floor: voyageFirst - 1}
	v.opts = journal.Options{First: voyageFirst, SegmentSize: 4096 << rng.IntN(4)}
	root := memDir(t)
	for v.life = range 4 {
		next, err := v.live(root, seed)
		os.RemoveAll(root)
		if err != nil {
			return v, fmt.Errorf("seed %d, life %d: %w", seed, v.life, err)
		}
		root = next
	}
	os.RemoveAll(root)
	return v, nil
}

// live runs from one power cut to the next, and returns what that left.
func (v *voyage) live(root string, seed uint64) (string, error) {
	var err error
	v.crash, err = hostfs.NewCrash(hostfs.CrashOptions{
		Root: root, Scratch: memDir(v.t), Lying: v.lying, StrictNames: seed%2 == 1,
	})
	if err != nil {
		return "", err
	}
	v.opts.Dir = filepath.Join(root, "j")
	v.opts.FS = hostfs.NewFault(v.crash, func(hostfs.Op, string) error {
		if v.err == nil && v.rng.IntN(8) == 0 {
			v.err = v.check(v.crash.PowerCut)
		}
		return nil
	})
	if err := v.open(); err != nil {
		return "", err
	}
	for range 60 {
		if err := v.step(); err != nil || v.err != nil {
			v.j.Close()
			return "", cmp.Or(v.err, err)
		}
	}
	left, err := v.crash.PowerCut(v.rng.Uint64())
	if err != nil {
		return "", err
	}
	durable := v.j.Durable()
	v.opts.FS.(*hostfs.Fault).SetHook(nil)
	if err := v.j.Close(); err != nil {
		return "", err
	}
	v.j = nil
	got, err := v.records(left)
	if err != nil {
		return "", err
	}
	if err := v.holds(got, durable); err != nil {
		return "", err
	}
	v.want = got
	v.floor = voyageFirst - 1 + journal.LSN(len(got))
	return left, nil
}

// open opens the journal and checks that it holds what is wanted.
func (v *voyage) open() error {
	j, err := journal.Open(v.opts)
	if err != nil {
		return err
	}
	var got []entry
	err = j.Replay(func(lsn journal.LSN, typ journal.Type, p []byte) error {
		got = append(got, entry{lsn, typ, string(p)})
		return nil
	})
	if err == nil && !slices.Equal(got, v.want) {
		err = fmt.Errorf("opened with %d records, want %d", len(got), len(v.want))
	}
	v.j = j
	return err
}

// step does one random thing.
func (v *voyage) step() error {
	switch n := v.rng.IntN(100); {
	case n < 60:
		return v.append()
	case n < 72:
		upTo := v.j.Applied() - journal.LSN(v.rng.IntN(3))
		return v.j.Fsync(max(upTo, 1))
	case n < 80:
		return v.crash.WriteBack()
	case n < 90:
		return v.check(v.crash.PowerCut)
	case n < 93:
		return v.check(func(uint64) (string, error) { return v.crash.LoseUnsynced() })
	case n < 96:
		return v.checkKill()
	case n < 98:
		return v.j.Reopen()
	}
	err := v.j.Close()
	v.floor, v.j = v.j.Durable(), nil
	if err != nil {
		return err
	}
	return v.open()
}

// append appends a record unlike any other, also of former lives.
func (v *voyage) append() error {
	size := v.rng.IntN(200)
	switch v.rng.IntN(8) {
	case 0:
		size = v.rng.IntN(3 * 4096)
	case 1, 2:
		size = v.rng.IntN(2000)
	}
	p := bytes.Repeat([]byte{byte(v.rng.IntN(3))}, size)
	tag := fmt.Sprintf("life %d ", v.life)
	e := entry{v.j.Applied() + 1, journal.Type(1 + v.rng.IntN(9)), tag + string(p)}
	lsn, err := v.j.Append(e.Type, []byte(tag), p)
	if err != nil {
		return err
	}
	if lsn != e.LSN {
		return fmt.Errorf("append gave LSN %d, want %d", lsn, e.LSN)
	}
	v.want = append(v.want, e)
	return nil
}

// check crashes a copy and checks what is left of it.
func (v *voyage) check(crash func(seed uint64) (string, error)) error {
	durable := v.floor
	if v.j != nil {
		durable = v.j.Durable()
	}
	seed := v.rng.Uint64()
	left, err := crash(seed)
	if err != nil {
		return err
	}
	defer os.RemoveAll(left)
	v.cuts++
	got, err := v.records(left)
	if err == nil {
		err = v.holds(got, durable)
	}
	if err != nil {
		return fmt.Errorf("power cut %d: %w", seed, err)
	}
	return nil
}

// checkKill checks P1: the death of the process loses nothing.
func (v *voyage) checkKill() error {
	left, err := v.crash.Kill()
	if err != nil {
		return err
	}
	defer os.RemoveAll(left)
	got, err := v.records(left)
	if err == nil && !slices.Equal(got, v.want) {
		err = fmt.Errorf("killed: %d records are left of %d", len(got), len(v.want))
	}
	return err
}

// records recovers what a crash left.
func (v *voyage) records(left string) (got []entry, err error) {
	o := v.opts
	o.FS, o.Dir = quick{}, filepath.Join(left, "j")
	j, err := journal.Open(o)
	if err != nil {
		return nil, err
	}
	err = j.Replay(func(lsn journal.LSN, typ journal.Type, p []byte) error {
		got = append(got, entry{lsn, typ, string(p)})
		return nil
	})
	if cerr := j.Close(); err == nil {
		err = cerr
	}
	return got, err
}

// holds checks P3, that the records are a prefix, and P2, that it holds all
// that was durable.
func (v *voyage) holds(got []entry, durable journal.LSN) error {
	if len(got) > len(v.want) || !slices.Equal(got, v.want[:len(got)]) {
		return fmt.Errorf("P3: the %d records are no prefix of the %d appended", len(got), len(v.want))
	}
	if last := voyageFirst - 1 + journal.LSN(len(got)); last < durable {
		return fmt.Errorf("P2: the last record is %d, and %d was durable", last, durable)
	}
	return nil
}

// P1, P2, P3: seeded journeys through power cuts.
func TestPowerCuts(t *testing.T) {
	seeds := uint64(20)
	if soak() {
		seeds = 3000
	}
	cuts := 0
	for seed := range seeds {
		v, err := sail(t, seed, false)
		if err != nil {
			t.Fatal(err)
		}
		cuts += v.cuts
	}
	t.Logf("%d crashes", cuts)
	if cuts < int(seeds)*20 {
		t.Errorf("only %d crashes were checked", cuts)
	}
}

// Negative control: on a disk whose fsync does nothing, the same must fail.
func TestPowerCutsOnALyingDisk(t *testing.T) {
	failed := 0
	for seed := range uint64(10) {
		if _, err := sail(t, seed, true); err != nil {
			failed++
		}
	}
	if failed < 8 {
		t.Errorf("only %d of 10 voyages noticed that fsync does nothing", failed)
	}
}

// C08: what is appended behind a dropped torn tail, and fsynced, survives the
// next crash; the cut itself is durable before anything is appended.
func TestAppendAfterTornTailSurvives(t *testing.T) {
	for seed := range uint64(40) {
		root := memDir(t)
		o := journal.Options{FS: quick{}, Dir: filepath.Join(root, "j")}
		j := mustOpen(t, o)
		want := appendEntries(t, j, 20)
		size := j.Size()
		mustClose(t, j)
		path := filepath.Join(o.Dir, fmt.Sprintf("%020d", 1))
		if err := os.Truncate(path, size-2); err != nil {
			t.Fatal(err)
		}
		want = want[:19]

		crash, err := hostfs.NewCrash(hostfs.CrashOptions{Root: root, Scratch: memDir(t)})
		if err != nil {
			t.Fatal(err)
		}
		o.FS = crash
		j = mustOpen(t, o)
		if d := j.Dropped(); d == nil || d.LSN != 20 {
			t.Fatalf("dropped %v", d)
		}
		// Shorter than what was dropped: a lost cut would leave its end.
		lsn, err := j.Append(1, []byte("."))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, entry{lsn, 1, "."})
		if err := j.Fsync(lsn); err != nil {
			t.Fatal(err)
		}
		left, err := crash.PowerCut(seed)
		if err != nil {
			t.Fatal(err)
		}
		o.FS, o.Dir = quick{}, filepath.Join(left, "j")
		again := mustOpen(t, o)
		if d := again.Dropped(); d != nil {
			t.Errorf("seed %d: dropped %v", seed, d)
		}
		sameEntries(t, replay(t, again), want)
	}
}

// P2 with many writers: at any moment, what Fsync had promised them is there.
func TestPowerCutsUnderWriters(t *testing.T) {
	root := memDir(t)
	crash, err := hostfs.NewCrash(hostfs.CrashOptions{Root: root, Scratch: memDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	o := journal.Options{FS: crash, Dir: filepath.Join(root, "j"), SegmentSize: 16 << 10}
	j := mustOpen(t, o)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				lsn, err := j.Append(1, make([]byte, 300))
				if err == nil {
					err = j.Fsync(lsn)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for seed := range uint64(40) {
		durable := j.Durable()
		left, err := crash.PowerCut(seed)
		if err != nil {
			t.Fatal(err)
		}
		r, err := journal.Scrub(quick{}, filepath.Join(left, "j"))
		if err != nil || r.Last < durable {
			t.Errorf("seed %d: %+v, %v; %d was durable", seed, r, err, durable)
		}
		os.RemoveAll(left)
	}
	close(stop)
	writers.Wait()
}
