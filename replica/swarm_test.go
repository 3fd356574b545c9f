package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/protocol"
	"github.com/vfsd/vfsd/vfs"
)

// A swarm is some machines that edit and sync, each with each other, over
// connections that are cut and corrupted: the same promises as in the simulation
// of package protocol, with real workspaces and sockets. Edits and exchanges come
// from the seed; when a connection breaks depends on the scheduler as well.
type swarm struct {
	t     *testing.T
	rnd   *rand.Rand
	sites []*site
	dials []func() net.Conn
	// written holds every content that was written, false once somebody who saw
	// it has written or deleted in its place.
	written map[string]bool
	counts  map[string]int
}

func newSwarm(t *testing.T, seed uint64) *swarm {
	s := &swarm{t: t, rnd: rand.New(rand.NewPCG(seed, 4)), written: map[string]bool{}, counts: map[string]int{}}
	for i := range 2 + s.rnd.IntN(3) {
		x := newSite(t, fmt.Sprint("site", i))
		_, dial := x.serve(t, ServerOptions{Plain: s.rnd.IntN(2) == 0})
		s.sites, s.dials = append(s.sites, x), append(s.dials, dial)
	}
	s.edit(s.sites[0], "/first")
	for _, x := range s.sites[1:] {
		x.sync(s.dials[0])
	}
	return s
}

// faulty is a connection that is cut, or has a byte changed, after some bytes.
type faulty struct {
	net.Conn
	left    int
	corrupt bool
	over    bool // the next read cuts it
}

func (c *faulty) Read(p []byte) (int, error) {
	if c.over {
		c.Conn.Close()
		return 0, errors.New("cut")
	}
	n, err := c.Conn.Read(p)
	if n == 0 || n <= c.left {
		c.left -= n
		return n, err
	}
	if !c.corrupt {
		c.Conn.Close()
		return 0, errors.New("cut")
	}
	p[max(0, c.left)] ^= 0x20
	// A length that was changed would have the session wait a minute for the
	// rest of a frame, as it must.
	c.over = true
	return n, err
}

func (s *swarm) run(steps int) {
	for range steps {
		i := s.rnd.IntN(len(s.sites))
		if s.rnd.IntN(3) > 0 {
			s.change(s.sites[i])
			continue
		}
		if k := s.rnd.IntN(len(s.sites)); k != i {
			s.exchange(i, k)
		}
	}
}

// exchange syncs two machines, now and then over a bad connection.
func (s *swarm) exchange(from, to int) {
	bad := s.rnd.IntN(3) == 0
	dial := s.dials[to]
	if bad {
		dial = func() net.Conn {
			return &faulty{Conn: s.dials[to](), left: s.rnd.IntN(1 << s.rnd.IntN(12)), corrupt: s.rnd.IntN(2) == 0}
		}
	}
	_, _, err := s.sites[from].with(dial, func(p *Peer, c *Client) (Outcome, error) {
		p.Name = fmt.Sprint("site", to)
		return p.Sync(context.Background(), c)
	})
	s.counts["exchanges"]++
	if err != nil {
		s.counts["broken"]++
		var e *protocol.Error
		if !bad || errors.As(err, &e) && e.Code == protocol.CodeInternal {
			s.t.Fatalf("%d with %d, bad %v: %v", from, to, bad, err)
		}
	}
}

func (s *swarm) path() string {
	p := fmt.Sprintf("/f%d", s.rnd.IntN(6))
	if s.rnd.IntN(2) == 0 {
		p = fmt.Sprintf("/d%d%s", s.rnd.IntN(3), p)
	}
	return p
}

// gone notes that somebody who saw what is at a path has put something else in
// its place.
func (s *swarm) gone(x *site, p string) {
	if a, err := x.fs.Lstat(p); err == nil && a.IsRegular() {
		if b, err := x.fs.ReadFile(p, 1<<20); err == nil {
			s.written[string(b)] = false
		}
	}
}

func (s *swarm) edit(x *site, p string) {
	s.gone(x, p)
	text := fmt.Sprintf("edit %d %s\n", len(s.written), strings.Repeat("x", s.rnd.IntN(400)))
	if err := x.fs.WriteFile(p, []byte(text), 0o644); err != nil {
		s.expected(err)
		return
	}
	s.written[text] = true
}

// change does something to a workspace; what cannot be done is left.
func (s *swarm) change(x *site) {
	p, q := s.path(), s.path()
	s.counts["changes"]++
	switch s.rnd.IntN(10) {
	case 0:
		s.gone(x, p)
		s.expected(x.fs.Unlink(p))
	case 1:
		if p != q {
			s.rename(x, p, q)
		}
	case 2:
		s.expected(x.fs.Chmod(p, 0o600+uint32(s.rnd.IntN(64))))
	case 3:
		s.expected(x.fs.Link(p, q, false))
	case 4:
		s.expected(x.fs.Rename(path.Dir(p), fmt.Sprintf("/d%d", s.rnd.IntN(3)), 0))
	case 5:
		s.expected(x.fs.Rmdir(path.Dir(p)))
	case 6:
		s.expected(x.fs.MkdirAll(path.Dir(p), 0o755))
	default:
		s.expected(x.fs.MkdirAll(path.Dir(p), 0o755))
		s.edit(x, p)
	}
}

func (s *swarm) rename(x *site, p, q string) {
	a, err := x.fs.Lstat(p)
	if err != nil {
		return
	}
	if b, err := x.fs.Lstat(q); err == nil && a.Ino != b.Ino {
		s.gone(x, q)
	}
	s.expected(x.fs.Rename(p, q, 0))
}

// expected passes over what a random change meets.
func (s *swarm) expected(err error) {
	for _, e := range []syscall.Errno{syscall.ENOENT, syscall.EEXIST, syscall.ENOTDIR, syscall.EISDIR, syscall.ENOTEMPTY, syscall.EPERM,
		syscall.EINVAL, syscall.EBUSY, syscall.ENOTSUP} {
		if err != nil && vfs.ToErrno(err) == e {
			return
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// settle syncs everybody until nothing moves.
func (s *swarm) settle() {
	for range 3 {
		for i := 1; i < len(s.sites); i++ {
			s.sites[i].sync(s.dials[0])
		}
	}
}

func (s *swarm) verify() {
	first := s.sites[0]
	root := first.root()
	for i, x := range s.sites {
		if x.root() != root {
			s.t.Errorf("site %d has another root", i)
		}
		x.check()
	}
	found := map[string]bool{}
	s.collect(first, "/", found)
	for text, there := range s.written {
		if there && !found[text] {
			s.t.Errorf("an edit is lost: %.40q", text)
		}
	}
}

func (s *swarm) collect(x *site, dir string, found map[string]bool) {
	entries, err := x.fs.ReadDir(dir)
	must(s.t, err)
	for _, e := range entries {
		p := path.Join(dir, e.Name)
		a, err := x.fs.Lstat(p)
		must(s.t, err)
		switch {
		case a.IsDir():
			s.collect(x, p, found)
		case a.IsRegular():
			b, err := x.fs.ReadFile(p, 1<<20)
			must(s.t, err)
			found[string(b)] = true
		}
	}
}

func TestSwarm(t *testing.T) {
	first, seeds, steps := uint64(1), uint64(6), 80
	if os.Getenv("VFSD_SOAK") != "" {
		seeds, steps = 100, 200
	}
	if one, err := strconv.ParseUint(os.Getenv("VFSD_SEED"), 10, 64); err == nil {
		first, seeds = one, 1
	}
	total := map[string]int{}
	for seed := first; seed < first+seeds; seed++ {
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSwarm(t, seed)
			s.run(steps)
			s.settle()
			s.verify()
			for k, n := range s.counts {
				total[k] += n
			}
		}) {
			t.Fatalf("VFSD_SEED=%d go test -run TestSwarm ./replica", seed)
		}
	}
	t.Logf("%v", total)
}
