package posix

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// twoOpens opens a file twice.
func twoOpens(t *T) (a, b int) {
	t.Write("f", "x")
	return t.Open("f", unix.O_RDONLY), t.Open("f", unix.O_RDONLY)
}

// flocks: flock(2) locks belong to the open file, whatever process has it.
func flocks(g *Group) {
	g = g.Sub("flock")
	for _, held := range []int{unix.LOCK_SH, unix.LOCK_EX} {
		for _, ask := range []int{unix.LOCK_SH, unix.LOCK_EX} {
			var want syscall.Errno
			if held == unix.LOCK_EX || ask == unix.LOCK_EX {
				want = unix.EWOULDBLOCK
			}
			words := map[int]string{unix.LOCK_SH: "shared", unix.LOCK_EX: "exclusive"}
			g.Case(words[ask]+"-against-"+words[held]+"/"+errName(want), func(t *T) {
				a, b := twoOpens(t)
				t.OK(unix.Flock(a, held))
				t.Result(unix.Flock(b, ask|unix.LOCK_NB), want)
				t.OK(unix.Flock(a, unix.LOCK_UN))
				t.OK(unix.Flock(b, ask|unix.LOCK_NB), "after unlocking")
			})
			g.Case(words[ask]+"-over-one's-own-"+words[held]+"/converts-it", func(t *T) {
				a, b := twoOpens(t)
				t.OK(unix.Flock(a, held))
				t.OK(unix.Flock(a, ask|unix.LOCK_NB))
				other := syscall.Errno(0)
				if ask == unix.LOCK_EX {
					other = unix.EWOULDBLOCK
				}
				t.Result(unix.Flock(b, unix.LOCK_SH|unix.LOCK_NB), other)
			})
			g.Case(words[ask]+"-against-"+words[held]+"-of-another-process/"+errName(want), func(t *T) {
				t.Write("f", "x")
				c := locker(t)
				c.Expect("ok", "flock %d", held)
				fd := t.Open("f", unix.O_RDONLY)
				t.Result(unix.Flock(fd, ask|unix.LOCK_NB), want)
				c.Expect("ok", "flock %d", unix.LOCK_UN)
				t.OK(unix.Flock(fd, ask|unix.LOCK_NB), "after unlocking")
			})
		}
	}
}

// flockOwners: whose a flock is, and when it goes.
func flockOwners(g *Group) {
	g = g.Sub("flock")
	g.Case("duplicates/share-one-lock", func(t *T) {
		a, b := twoOpens(t)
		dup, err := unix.FcntlInt(uintptr(a), unix.F_DUPFD_CLOEXEC, 0)
		t.Must(err)
		t.Adopt(dup)
		t.OK(unix.Flock(a, unix.LOCK_EX))
		t.OK(unix.Flock(dup, unix.LOCK_EX|unix.LOCK_NB))
		t.Errno(unix.Flock(b, unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
		t.OK(unix.Flock(dup, unix.LOCK_UN))
		t.OK(unix.Flock(b, unix.LOCK_EX|unix.LOCK_NB))
	})
	g.Case("flock-and-fcntl/do-not-see-each-other", func(t *T) {
		t.Write("f", "x")
		a, b := t.Open("f", unix.O_RDWR), t.Open("f", unix.O_RDWR)
		t.OK(unix.Flock(a, unix.LOCK_EX))
		t.OK(setLock(b, unix.F_OFD_SETLK, rangeLock(unix.F_WRLCK, 0, 0)))
		c := locker(t)
		c.Expect("EAGAIN", "lock %d 0 1", unix.F_WRLCK)
		t.OK(setLock(b, unix.F_OFD_SETLK, rangeLock(unix.F_UNLCK, 0, 0)))
		c.Expect("ok", "lock %d 0 1", unix.F_WRLCK)
	})
	for name, c := range map[string]struct {
		op   int
		want syscall.Errno
	}{"nothing": {0, unix.EINVAL}, "both": {unix.LOCK_SH | unix.LOCK_EX, unix.EINVAL}, "unlock-of-nothing": {unix.LOCK_UN, 0}} {
		g.Case(name+"/"+errName(c.want), func(t *T) {
			a, _ := twoOpens(t)
			t.Result(unix.Flock(a, c.op), c.want)
		})
	}
	g.Case("of-a-directory/works", func(t *T) {
		a, b := t.Open(".", unix.O_RDONLY), t.Open(".", unix.O_RDONLY)
		t.OK(unix.Flock(a, unix.LOCK_EX))
		t.Errno(unix.Flock(b, unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
		t.OK(unix.Flock(a, unix.LOCK_UN))
		t.OK(unix.Flock(b, unix.LOCK_SH|unix.LOCK_NB))
	})
	g.Case("by-another-name-and-after-rename/is-the-same-file", func(t *T) {
		t.Write("f", "x")
		t.Link("f", "g")
		a, b := t.Open("f", unix.O_RDONLY), t.Open("g", unix.O_RDONLY)
		t.OK(unix.Flock(a, unix.LOCK_EX))
		t.Errno(unix.Flock(b, unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
		t.OK(unix.Rename("f", "h"))
		t.Errno(unix.Flock(t.Open("h", unix.O_RDONLY), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
	})
	g.Case("waiter/is-woken-by-unlock", func(t *T) {
		t.Write("f", "x")
		fd := t.Open("f", unix.O_RDONLY)
		t.OK(unix.Flock(fd, unix.LOCK_EX))
		c := locker(t)
		c.Tell("flock %d", unix.LOCK_EX)
		waitBlocked(t, c.Pid())
		t.OK(unix.Flock(fd, unix.LOCK_UN))
		eq(t, "the waiter's answer", c.Hear(), "ok")
		t.Errno(unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
	})
	g.Case("waiter/is-woken-when-the-holder-is-killed", func(t *T) {
		t.Write("f", "x")
		a, b := locker(t), locker(t)
		a.Expect("ok", "flock %d", unix.LOCK_EX)
		b.Tell("flock %d", unix.LOCK_SH)
		waitBlocked(t, b.Pid())
		a.Kill()
		eq(t, "the waiter's answer", b.Hear(), "ok")
	})
	g.Case("of-a-closed-file/goes", func(t *T) {
		a, b := twoOpens(t)
		t.OK(unix.Flock(a, unix.LOCK_EX))
		t.NoFork(func() { t.Close(a) })
		// A process that another case has just started may still be about to close
		// its copy: vfork's parent goes on before the child's exec has done that.
		var err error
		for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
			if err = unix.Flock(b, unix.LOCK_EX|unix.LOCK_NB); err != unix.EAGAIN || time.Now().After(end) {
				break
			}
		}
		t.OK(err)
	})
}

// lockExclusion: what locks are for. Processes count in a file, each count
// under a lock; none is lost (M14).
func lockExclusion(g *Group) {
	for _, family := range []string{"fcntl", "OFD", "flock"} {
		g.Sub("exclusion").Case("counting-by-"+family+"-in-four-processes/loses-nothing", func(t *T) {
			t.Write("f", "0")
			const each = 60
			var children []*harness.Child
			for range 4 {
				children = append(children, t.Child("counter", family, fmt.Sprint(each)))
			}
			for _, c := range children {
				c.Tell("go")
			}
			for _, c := range children {
				eq(t, "end of a counter", c.Hear(), "done")
				c.Wait()
			}
			t.Content("f", fmt.Sprint(4*each))
		})
	}
}

func init() {
	harness.RegisterRole("counter", func(p *harness.Peer) int {
		p.Next()
		fd, err := unix.Open("f", unix.O_RDWR|unix.O_CLOEXEC, 0)
		for i := int64(0); err == nil && i < p.Int(p.Args[1]); i++ {
			err = countOnce(fd, p.Args[0])
		}
		if err != nil {
			p.SayErr(err)
			return 1
		}
		p.Say("done")
		return 0
	})
}

// countOnce adds one to the number in the file, under a lock of the family.
func countOnce(fd int, family string) error {
	lock := func(on bool) error {
		kind, op := int16(unix.F_WRLCK), unix.LOCK_EX
		if !on {
			kind, op = unix.F_UNLCK, unix.LOCK_UN
		}
		switch family {
		case "fcntl":
			return setLock(fd, unix.F_SETLKW, rangeLock(kind, 0, 0))
		case "OFD":
			return setLock(fd, unix.F_OFD_SETLKW, rangeLock(kind, 0, 0))
		}
		return unix.Flock(fd, op)
	}
	if err := lock(true); err != nil {
		return err
	}
	b, err := harness.ReadFrom(fd, 0, 20)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return err
	}
	if _, err := unix.Pwrite(fd, []byte(strconv.Itoa(n+1)), 0); err != nil {
		return err
	}
	return lock(false)
}

// leases: F_SETLEASE works, or is refused outright.
func leases(g *Group) {
	for name, kind := range map[string]int{"read": unix.F_RDLCK, "write": unix.F_WRLCK} {
		g.Sub("lease").Case(name+"/works-or-is-EINVAL", func(t *T) {
			t.Write("f", "x")
			flags := unix.O_RDONLY
			if kind == unix.F_WRLCK {
				flags = unix.O_RDWR
			}
			fd := t.Open("f", flags)
			_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, kind)
			if err != nil {
				t.Errno(err, unix.EINVAL, unix.EAGAIN)
				return
			}
			got, err := unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
			t.OK(err)
			eq(t, "lease", got, kind)
			_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
			t.OK(err)
			got, err = unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
			t.OK(err)
			eq(t, "lease after giving it up", got, unix.F_UNLCK)
		})
	}
}
