package protocol

import (
	"fmt"
	"net"
	"testing"
	"time"
)

// drive runs one end over a connection until stop says so, and returns the
// bytes read. It is the plainest driver: one goroutine reads and answers.
func drive(b testing.TB, s *Session, c net.Conn, stop func() bool) {
	buf := make([]byte, 256<<10)
	var out []byte
	for {
		over := stop() // first, as it may ask for something
		for {
			out = s.Output(out[:0], 512<<10)
			if len(out) == 0 {
				break
			}
			if _, err := c.Write(out); err != nil {
				return
			}
		}
		if s.Closed() || over {
			return
		}
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		s.Receive(time.Now(), buf[:n])
	}
}

// pushOver pushes the head of local to remote over a Unix socket pair or TCP.
func pushOver(b testing.TB, local, remote *memStore, plain bool) time.Duration {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		s := NewServer(time.Now(), Config{Plain: plain, Accept: func(*Hello) (Grant, error) {
			return Grant{Store: remote, Rights: RightRead | RightWrite}, nil
		}})
		drive(b, s, c, func() bool { s.Events(); return false })
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	s := NewClient(time.Now(), Config{Plain: plain, Store: local, Workspace: "ws", Rights: RightRead | RightWrite})
	pushed := false
	drive(b, s, c, func() bool {
		for _, e := range s.Events() {
			switch e.Kind {
			case EventOpen:
				if _, err := s.Push(e.Commit, local.head); err != nil {
					b.Error(err)
				}
				return false
			case EventPushed:
				pushed = true
			case EventFailed, EventClosed:
				b.Errorf("%+v", e)
				return true
			}
		}
		return pushed
	})
	took := time.Since(start)
	c.Close()
	<-done
	if !pushed || remote.head != local.head {
		b.Fatal("not pushed")
	}
	return took
}

// BenchmarkPush is a first push over loopback TCP, between stores in memory:
// the share of the protocol in what a push takes.
func BenchmarkPush(b *testing.B) {
	for _, c := range []struct{ files, size int }{{1000, 4 << 10}, {512, 128 << 10}, {100_000, 100}} {
		for _, plain := range []bool{true, false} {
			b.Run(fmt.Sprintf("%dx%d/plain=%v", c.files, c.size, plain), func(b *testing.B) {
				local := newMemStore()
				fill(local, c.files, c.size)
				b.SetBytes(int64(c.files * c.size))
				for b.Loop() {
					pushOver(b, local, newMemStore(), plain)
				}
			})
		}
	}
}

func TestPushOverTCP(t *testing.T) {
	local := newMemStore()
	fill(local, 200, 4<<10)
	pushOver(t, local, newMemStore(), false)
}
