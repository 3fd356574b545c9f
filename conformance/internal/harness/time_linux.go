package harness

import (
	"time"

	"golang.org/x/sys/unix"
)

// Times is a set of an inode's times.
type Times int

// The times that a Mark follows.
const (
	A Times = 1 << iota // atime
	M                   // mtime
	C                   // ctime
)

// Mark remembers the times of some names.
type Mark struct {
	t     *T
	stats map[string]Stat
	begun int64 // the kernel's coarse clock when the mark was complete
}

// Mark looks at names (not following links) and waits until the kernel's clock
// has left every time that it saw behind.
func (t *T) Mark(names ...string) *Mark {
	m := &Mark{t: t, stats: make(map[string]Stat, len(names))}
	var latest int64
	for _, name := range names {
		s := t.Lstat(name)
		m.stats[name] = s
		latest = max(latest, s.Ctime)
		// Times in the far future were set by hand: they are not waited for.
		for _, at := range []int64{s.Atime, s.Mtime} {
			if at < s.Ctime+int64(time.Second) {
				latest = max(latest, at)
			}
		}
	}
	m.begun = WaitTick(latest)
	return m
}

// Moved asserts which times of name moved since the mark, and that the others
// did not: three assertions. Those that moved lie between the mark and now.
func (m *Mark) Moved(name string, want Times) { m.MovedAs(name, name, want) }

// Still asserts that no time of name moved.
func (m *Mark) Still(name string) { m.MovedAs(name, name, 0) }

// MovedAs is Moved for what was marked by one name and has another by now.
func (m *Mark) MovedAs(was, is string, want Times) {
	s, err := TryStat(unix.AT_FDCWD, is, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		m.t.Check(false, "%q: %s, want its times", is, describe(err))
		return
	}
	m.Compare(is, m.stats[was], s, want, A|M|C)
}

// MovedOf is Moved for some times only: for what may depend on the mount, as
// atime does.
func (m *Mark) MovedOf(name string, which, want Times) {
	m.Compare(name, m.stats[name], m.t.Lstat(name), want, which)
}

// Compare asserts what moved from one stat to the next.
func (m *Mark) Compare(name string, was, is Stat, want, which Times) {
	for _, f := range []struct {
		bit     Times
		label   string
		was, is int64
	}{{A, "atime", was.Atime, is.Atime}, {M, "mtime", was.Mtime, is.Mtime}, {C, "ctime", was.Ctime, is.Ctime}} {
		switch {
		case which&f.bit == 0:
		case want&f.bit == 0:
			m.t.Check(f.was == f.is, "%s of %q moved by %v", f.label, name, time.Duration(f.is-f.was))
		case f.is == f.was:
			m.t.Check(false, "%s of %q did not move", f.label, name)
		default:
			m.t.Check(f.is >= m.begun && f.is <= Now(), "%s of %q moved to %v, which is not between the mark and now",
				f.label, name, time.Unix(0, f.is))
		}
	}
}

// Now is the real-time clock in nanoseconds.
func Now() int64 { return clock(unix.CLOCK_REALTIME) }

// WaitTick returns when the kernel's coarse clock, from which files are
// stamped, is past a time; it returns the clock. A time in the future (beyond
// a second) is not waited for.
func WaitTick(past int64) int64 {
	for {
		now := clock(unix.CLOCK_REALTIME_COARSE)
		if now > past || past-now > int64(time.Second) {
			return now
		}
		// The tick is 1 to 10 ms: short naps of the thread, without the
		// scheduler of goroutines in between.
		_ = unix.Nanosleep(&unix.Timespec{Nsec: 300_000}, nil)
	}
}

func clock(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(err) // the two clocks used here are in every Linux
	}
	return ts.Nano()
}
