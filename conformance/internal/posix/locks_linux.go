package posix

import (
	"fmt"
	"math"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareLocks) }

func declareLocks(s *harness.Suite) {
	g := s.Group("locks")
	lockMatrix(g)
	lockErrors(g)
	lockRanges(g)
	lockRelease(g)
	lockWaits(g)
	flocks(g)
	flockOwners(g)
	lockExclusion(g)
	leases(g)
}

// rangeLock makes a lock request: n 0 reaches to the end of every file.
func rangeLock(kind int16, start, n int64) *unix.Flock_t {
	return &unix.Flock_t{Type: kind, Start: start, Len: n}
}

func setLock(fd, cmd int, l *unix.Flock_t) error { return unix.FcntlFlock(uintptr(fd), cmd, l) }

// The locker role holds locks for a case: it opens "f" and does what it is
// told, one line for each.
//
//	lock|wait|ofd KIND START LEN   fcntl F_SETLK, F_SETLKW, F_OFD_SETLK
//	get KIND START LEN             F_GETLK: "TYPE START LEN PID"
//	flock OP                       flock(2)
//	reopen                         open and close "f" once more
func init() {
	harness.RegisterRole("locker", func(p *harness.Peer) int {
		fd, err := unix.Open("f", unix.O_RDWR|unix.O_CLOEXEC, 0)
		p.SayErr(err)
		for err == nil {
			w, ok := p.Next()
			if !ok {
				return 0
			}
			lockerDoes(p, fd, w)
		}
		return 1
	})
}

func lockerDoes(p *harness.Peer, fd int, w []string) {
	switch w[0] {
	case "flock":
		p.SayErr(unix.Flock(fd, int(p.Int(w[1]))))
	case "reopen":
		again, err := unix.Open("f", unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err == nil {
			err = unix.Close(again)
		}
		p.SayErr(err)
	default:
		l := rangeLock(int16(p.Int(w[1])), p.Int(w[2]), p.Int(w[3]))
		cmd := map[string]int{"lock": unix.F_SETLK, "wait": unix.F_SETLKW, "ofd": unix.F_OFD_SETLK, "get": unix.F_GETLK}[w[0]]
		err := setLock(fd, cmd, l)
		if w[0] == "get" && err == nil {
			p.Say("%d %d %d %d", l.Type, l.Start, l.Len, l.Pid)
		} else {
			p.SayErr(err)
		}
	}
}

// locker starts a process that has "f" open.
func locker(t *T) *harness.Child {
	c := t.Child("locker")
	if got := c.Hear(); got != "ok" {
		t.Fatalf("the locker: %s", got)
	}
	return c
}

// span is a range of bytes to lock; n 0 has no end.
type span struct{ start, n int64 }

func (s span) overlaps(o span) bool {
	end := func(x span) int64 {
		if x.n == 0 {
			return math.MaxInt64
		}
		return x.start + x.n
	}
	return s.start < end(o) && o.start < end(s)
}

// held is the range that lockMatrix locks, and asked what others then ask for.
var (
	held  = span{100, 100}
	asked = map[string]span{
		"the-same": {100, 100}, "inside": {120, 10}, "around": {50, 300}, "first-byte": {100, 1}, "last-byte": {199, 1},
		"over-the-start": {50, 60}, "over-the-end": {190, 60}, "up-to-it": {50, 50}, "right-behind": {200, 10},
		"before": {0, 10}, "behind": {500, 10}, "everything": {0, 0}, "from-inside-on": {150, 0}, "from-its-end-on": {200, 0},
	}
)

// lockMatrix: two locks conflict when they overlap and one of them writes.
func lockMatrix(g *Group) {
	kinds := map[string]int16{"read": unix.F_RDLCK, "write": unix.F_WRLCK}
	for heldName, heldKind := range kinds {
		for askName, askKind := range kinds {
			conflicts := func(s span) bool {
				return s.overlaps(held) && (heldKind == unix.F_WRLCK || askKind == unix.F_WRLCK)
			}
			g.Sub("matrix").Case(askName+"-against-"+heldName+"-of-another-process", func(t *T) {
				t.Write("f", "data")
				fd := t.Open("f", unix.O_RDWR)
				c := locker(t)
				c.Expect("ok", "lock %d %d %d", heldKind, held.start, held.n)
				for name, s := range asked {
					matrixTry(t, fd, unix.F_SETLK, unix.F_GETLK, name, rangeLock(askKind, s.start, s.n), conflicts(s), heldKind, int32(c.Pid()))
				}
			})
			g.Sub("matrix").Case(askName+"-against-"+heldName+"-of-another-open-file", func(t *T) {
				t.Write("f", "data")
				a, b := t.Open("f", unix.O_RDWR), t.Open("f", unix.O_RDWR)
				t.OK(setLock(a, unix.F_OFD_SETLK, rangeLock(heldKind, held.start, held.n)))
				for name, s := range asked {
					matrixTry(t, b, unix.F_OFD_SETLK, unix.F_OFD_GETLK, name, rangeLock(askKind, s.start, s.n), conflicts(s), heldKind, -1)
				}
			})
			g.Sub("matrix").Case(askName+"-of-the-process-against-"+heldName+"-of-its-open-file", func(t *T) {
				t.Write("f", "data")
				a, b := t.Open("f", unix.O_RDWR), t.Open("f", unix.O_RDWR)
				t.OK(setLock(a, unix.F_OFD_SETLK, rangeLock(heldKind, held.start, held.n)))
				for name, s := range asked {
					matrixTry(t, b, unix.F_SETLK, unix.F_GETLK, name, rangeLock(askKind, s.start, s.n), conflicts(s), heldKind, -1)
				}
			})
			g.Sub("matrix").Case(askName+"-over-"+heldName+"-of-one's-own/replaces-it", func(t *T) {
				t.Write("f", "data")
				fd := t.Open("f", unix.O_RDWR)
				c := locker(t)
				t.OK(setLock(fd, unix.F_SETLK, rangeLock(heldKind, held.start, held.n)))
				t.OK(setLock(fd, unix.F_SETLK, rangeLock(askKind, held.start, held.n)))
				c.Expect(fmt.Sprintf("%d %d %d %d", askKind, held.start, held.n, unix.Getpid()), "get %d %d %d", unix.F_WRLCK, held.start, held.n)
			})
		}
	}
}

// matrixTry asks whether a lock could be had and tries to have it.
func matrixTry(t *T, fd, set, get int, name string, ask *unix.Flock_t, conflict bool, heldKind int16, pid int32) {
	probe := *ask
	t.OK(setLock(fd, get, &probe), "%s: get", name)
	if conflict {
		t.Check(probe.Type == heldKind && probe.Start == held.start && probe.Len == held.n && probe.Pid == pid,
			"%s: get says %+v, want the lock of %d", name, probe, pid)
		err := setLock(fd, set, ask)
		t.Errno(err, unix.EAGAIN, unix.EACCES)
		return
	}
	t.Check(probe.Type == unix.F_UNLCK, "%s: get says %+v, want none", name, probe)
	t.OK(setLock(fd, set, ask), "%s: set", name)
	t.OK(setLock(fd, set, rangeLock(unix.F_UNLCK, ask.Start, ask.Len)), "%s: unlock", name)
}

// lockErrors: requests that make no sense.
func lockErrors(g *Group) {
	g = g.Sub("error")
	for name, c := range map[string]struct {
		open, cmd int
		lock      unix.Flock_t
		want      syscall.Errno
	}{
		"write-lock-of-O_RDONLY":     {unix.O_RDONLY, unix.F_SETLK, unix.Flock_t{Type: unix.F_WRLCK}, unix.EBADF},
		"read-lock-of-O_WRONLY":      {unix.O_WRONLY, unix.F_SETLK, unix.Flock_t{Type: unix.F_RDLCK}, unix.EBADF},
		"OFD-write-lock-of-O_RDONLY": {unix.O_RDONLY, unix.F_OFD_SETLK, unix.Flock_t{Type: unix.F_WRLCK}, unix.EBADF},
		"read-lock-of-O_RDONLY":      {unix.O_RDONLY, unix.F_SETLK, unix.Flock_t{Type: unix.F_RDLCK}, 0},
		"write-lock-of-O_WRONLY":     {unix.O_WRONLY, unix.F_SETLK, unix.Flock_t{Type: unix.F_WRLCK}, 0},
		"unknown-type":               {unix.O_RDWR, unix.F_SETLK, unix.Flock_t{Type: 9}, unix.EINVAL},
		"unknown-whence":             {unix.O_RDWR, unix.F_SETLK, unix.Flock_t{Type: unix.F_RDLCK, Whence: 9}, unix.EINVAL},
		"negative-start":             {unix.O_RDWR, unix.F_SETLK, unix.Flock_t{Type: unix.F_RDLCK, Start: -1}, unix.EINVAL},
		"negative-length-before-0":   {unix.O_RDWR, unix.F_SETLK, unix.Flock_t{Type: unix.F_RDLCK, Start: 5, Len: -10}, unix.EINVAL},
		"end-beyond-2^63":            {unix.O_RDWR, unix.F_SETLK, unix.Flock_t{Type: unix.F_RDLCK, Start: math.MaxInt64, Len: 10}, unix.EOVERFLOW},
		"OFD-with-a-pid":             {unix.O_RDWR, unix.F_OFD_SETLK, unix.Flock_t{Type: unix.F_RDLCK, Pid: 1}, unix.EINVAL},
		"get-of-F_UNLCK":             {unix.O_RDWR, unix.F_GETLK, unix.Flock_t{Type: unix.F_UNLCK}, unix.EINVAL},
		"unlock-of-nothing":          {unix.O_RDWR, unix.F_SETLK, unix.Flock_t{Type: unix.F_UNLCK}, 0},
		"last-byte-of-all":           {unix.O_RDWR, unix.F_SETLK, unix.Flock_t{Type: unix.F_WRLCK, Start: math.MaxInt64, Len: 1}, 0},
	} {
		g.Case(name+"/"+errName(c.want), func(t *T) {
			t.Write("f", "data")
			l := c.lock
			t.Result(setLock(t.Open("f", c.open), c.cmd, &l), c.want)
		})
	}
	g.Case("bad-descriptor/is-EBADF", func(t *T) {
		t.Errno(setLock(-1, unix.F_SETLK, rangeLock(unix.F_RDLCK, 0, 0)), unix.EBADF)
		t.Write("f", "x")
		t.Errno(setLock(t.Open("f", unix.O_PATH), unix.F_SETLK, rangeLock(unix.F_RDLCK, 0, 0)), unix.EBADF)
	})
}

// lockRanges: a process's locks are one map of ranges: setting splits and
// merges.
func lockRanges(g *Group) {
	g = g.Sub("range")
	start := func(t *T) (int, *harness.Child) {
		t.Write("f", "0123456789")
		return t.Open("f", unix.O_RDWR), locker(t)
	}
	// sees asserts what another process is told when it asks for a range.
	sees := func(t *T, c *harness.Child, ask span, kind int16, is span) {
		want := fmt.Sprintf("%d %d %d %d", kind, is.start, is.n, unix.Getpid())
		if kind == unix.F_UNLCK {
			want = fmt.Sprintf("%d %d %d 0", unix.F_UNLCK, ask.start, ask.n)
		}
		c.Expect(want, "get %d %d %d", unix.F_WRLCK, ask.start, ask.n)
	}
	g.Case("unlocking-the-middle/leaves-two", func(t *T) {
		fd, c := start(t)
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 0, 100)))
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_UNLCK, 40, 20)))
		sees(t, c, span{0, 40}, unix.F_WRLCK, span{0, 40})
		sees(t, c, span{40, 20}, unix.F_UNLCK, span{})
		sees(t, c, span{60, 40}, unix.F_WRLCK, span{60, 40})
	})
	g.Case("neighbours-of-one-kind/merge", func(t *T) {
		fd, c := start(t)
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 0, 10)))
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 20, 10)))
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 10, 10)))
		sees(t, c, span{0, 100}, unix.F_WRLCK, span{0, 30})
	})
	g.Case("another-kind-in-the-middle/makes-three", func(t *T) {
		fd, c := start(t)
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_RDLCK, 0, 100)))
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 40, 20)))
		sees(t, c, span{0, 1}, unix.F_RDLCK, span{0, 40})
		sees(t, c, span{50, 1}, unix.F_WRLCK, span{40, 20})
		sees(t, c, span{99, 1}, unix.F_RDLCK, span{60, 40})
	})
	g.Case("negative-length/reaches-back", func(t *T) {
		fd, c := start(t)
		t.OK(setLock(fd, unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: 50, Len: -10}))
		sees(t, c, span{0, 0}, unix.F_WRLCK, span{40, 10})
	})
	g.Case("from-the-position-and-from-the-end/counts-from-there", func(t *T) {
		fd, c := start(t)
		t.Must1(unix.Seek(fd, 4, unix.SEEK_SET))
		t.OK(setLock(fd, unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: unix.SEEK_CUR, Start: 1, Len: 2}))
		sees(t, c, span{0, 0}, unix.F_WRLCK, span{5, 2})
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_UNLCK, 0, 0)))
		t.OK(setLock(fd, unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: unix.SEEK_END, Start: -3, Len: 3}))
		sees(t, c, span{0, 0}, unix.F_WRLCK, span{7, 3})
	})
	g.Case("to-the-end-of-all/covers-what-is-appended", func(t *T) {
		fd, c := start(t)
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 10, 0)))
		put(t, fd, []byte("more"), 1000)
		sees(t, c, span{1002, 1}, unix.F_WRLCK, span{10, 0})
	})
	g.Case("upgrade-against-another-reader/is-refused-and-keeps-the-old", func(t *T) {
		fd, c := start(t)
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_RDLCK, 0, 10)))
		c.Expect("ok", "lock %d 0 10", unix.F_RDLCK)
		t.Errno(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 0, 10)), unix.EAGAIN)
		sees(t, c, span{0, 10}, unix.F_RDLCK, span{0, 10})
		c.Expect("ok", "lock %d 0 10", unix.F_UNLCK)
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 0, 10)))
		sees(t, c, span{0, 10}, unix.F_WRLCK, span{0, 10})
	})
	g.Case("by-another-name/is-the-same-file", func(t *T) {
		_, c := start(t)
		t.Link("f", "g")
		fd := t.Open("g", unix.O_RDWR)
		c.Expect("ok", "lock %d 0 10", unix.F_WRLCK)
		t.Errno(setLock(fd, unix.F_SETLK, rangeLock(unix.F_RDLCK, 5, 1)), unix.EAGAIN)
		t.OK(unix.Rename("g", "h"))
		t.Errno(setLock(fd, unix.F_SETLK, rangeLock(unix.F_RDLCK, 5, 1)), unix.EAGAIN)
	})
	g.Case("advisory/does-not-keep-anyone-from-writing", func(t *T) {
		_, c := start(t)
		c.Expect("ok", "lock %d 0 0", unix.F_WRLCK)
		t.Write("f", "written all the same")
		t.Content("f", "written all the same")
		t.OK(unix.Unlink("f"))
	})
}

// lockRelease: when locks go.
func lockRelease(g *Group) {
	g = g.Sub("release")
	start := func(t *T) (int, *harness.Child) {
		t.Write("f", "0123456789")
		return t.Open("f", unix.O_RDWR), locker(t)
	}
	free := func(t *T, fd int) {
		t.Eventually(5*time.Second, "the lock is free", func() bool {
			return setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 0, 10)) == nil
		})
	}
	g.Case("process-closes-any-descriptor-of-the-file/all-go", func(t *T) {
		fd, c := start(t)
		c.Expect("ok", "lock %d 0 10", unix.F_WRLCK)
		t.Errno(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 0, 10)), unix.EAGAIN)
		c.Expect("ok", "reopen")
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 0, 10)))
	})
	g.Case("OFD-lock/stays-when-another-descriptor-closes", func(t *T) {
		fd, c := start(t)
		c.Expect("ok", "ofd %d 0 10", unix.F_WRLCK)
		c.Expect("ok", "reopen")
		t.Errno(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 0, 10)), unix.EAGAIN)
		c.Kill()
		free(t, fd)
	})
	g.Case("process-is-killed/all-go", func(t *T) {
		fd, c := start(t)
		c.Expect("ok", "lock %d 0 10", unix.F_WRLCK)
		c.Kill()
		free(t, fd)
	})
	g.Case("process-ends/all-go", func(t *T) {
		fd, c := start(t)
		c.Expect("ok", "lock %d 0 10", unix.F_WRLCK)
		c.Wait()
		free(t, fd)
	})
	g.Case("flock-of-a-killed-process/goes", func(t *T) {
		fd, c := start(t)
		c.Expect("ok", "flock %d", unix.LOCK_EX)
		t.Errno(unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
		c.Kill()
		t.Eventually(5*time.Second, "the lock is free", func() bool { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil })
	})
	g.Case("OFD-lock/goes-with-the-last-duplicate", func(t *T) {
		t.Write("f", "x")
		a, b := t.Open("f", unix.O_RDWR), t.Open("f", unix.O_RDWR)
		dup, err := unix.FcntlInt(uintptr(a), unix.F_DUPFD_CLOEXEC, 0)
		t.Must(err)
		t.Adopt(dup)
		t.OK(setLock(a, unix.F_OFD_SETLK, rangeLock(unix.F_WRLCK, 0, 10)))
		t.OK(setLock(dup, unix.F_OFD_SETLK, rangeLock(unix.F_WRLCK, 0, 10)), "by the duplicate")
		t.NoFork(func() { t.Close(a) })
		t.Errno(setLock(b, unix.F_OFD_SETLK, rangeLock(unix.F_RDLCK, 0, 1)), unix.EAGAIN)
		t.NoFork(func() { t.Close(dup) })
		t.Eventually(5*time.Second, "the lock is free", func() bool {
			return setLock(b, unix.F_OFD_SETLK, rangeLock(unix.F_WRLCK, 0, 10)) == nil
		})
	})
	g.Case("unlinked-file/keeps-its-locks", func(t *T) {
		fd, c := start(t)
		c.Expect("ok", "lock %d 0 10", unix.F_WRLCK)
		t.OK(unix.Unlink("f"))
		t.Errno(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 0, 10)), unix.EAGAIN)
		t.Write("f", "a new file")
		t.OK(setLock(t.Open("f", unix.O_RDWR), unix.F_SETLK, rangeLock(unix.F_WRLCK, 0, 10)), "of the new file")
	})
}

// lockWaits: F_SETLKW waits, wakes, and finds deadlocks.
func lockWaits(g *Group) {
	g = g.Sub("wait")
	for name, release := range map[string]func(c *harness.Child){
		"unlock": func(c *harness.Child) { c.Expect("ok", "lock %d 0 10", unix.F_UNLCK) },
		"kill":   func(c *harness.Child) { c.Kill() },
		"close":  func(c *harness.Child) { c.Expect("ok", "reopen") },
	} {
		g.Case("woken-by-"+name, func(t *T) {
			t.Write("f", "x")
			a, b := locker(t), locker(t)
			a.Expect("ok", "lock %d 0 10", unix.F_WRLCK)
			b.Tell("wait %d 5 1", unix.F_RDLCK)
			waitBlocked(t, b.Pid())
			release(a)
			eq(t, "the waiter's answer", b.Hear(), "ok")
		})
	}
	g.Case("downgrade/wakes-readers", func(t *T) {
		t.Write("f", "x")
		a, b := locker(t), locker(t)
		a.Expect("ok", "lock %d 0 10", unix.F_WRLCK)
		b.Tell("wait %d 0 10", unix.F_RDLCK)
		waitBlocked(t, b.Pid())
		a.Expect("ok", "lock %d 0 10", unix.F_RDLCK)
		eq(t, "the waiter's answer", b.Hear(), "ok")
	})
	g.Case("deadlock-of-two/is-EDEADLK", func(t *T) {
		t.Write("f", "x")
		a, b := locker(t), locker(t)
		a.Expect("ok", "lock %d 0 1", unix.F_WRLCK)
		b.Expect("ok", "lock %d 1 1", unix.F_WRLCK)
		a.Tell("wait %d 1 1", unix.F_WRLCK)
		waitBlocked(t, a.Pid())
		b.Expect("EDEADLK", "wait %d 0 1", unix.F_WRLCK)
		b.Expect("ok", "lock %d 1 1", unix.F_UNLCK)
		eq(t, "the other's answer", a.Hear(), "ok")
	})
	g.Case("waiter-killed/leaves-no-lock", func(t *T) {
		t.Write("f", "x")
		fd := t.Open("f", unix.O_RDWR)
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_WRLCK, 0, 10)))
		c := locker(t)
		c.Tell("wait %d 0 10", unix.F_WRLCK)
		waitBlocked(t, c.Pid())
		c.Kill()
		t.OK(setLock(fd, unix.F_SETLK, rangeLock(unix.F_UNLCK, 0, 10)))
		other := locker(t)
		other.Expect("ok", "lock %d 0 10", unix.F_WRLCK)
	})
}

// waitBlocked returns when a process waits for a lock: it shows as "->" in
// /proc/locks, or its thread sleeps in the call.
func waitBlocked(t *T, pid int) {
	end := time.Now().Add(5 * time.Second)
	for time.Now().Before(end) {
		locks, err := harness.ReadFile("/proc/locks")
		t.Must(err)
		for _, line := range strings.Split(string(locks), "\n") {
			if strings.Contains(line, "->") && strings.Contains(line, fmt.Sprintf(" %d ", pid)) {
				return
			}
		}
		if inCall(pid, unix.SYS_FCNTL) || inCall(pid, unix.SYS_FLOCK) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("process %d does not wait", pid)
}

// inCall reports whether a process's first thread sleeps in a system call.
func inCall(pid, call int) bool {
	b, err := harness.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
	return err == nil && strings.HasPrefix(string(b), fmt.Sprintf("%d ", call))
}
