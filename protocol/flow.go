package protocol

import "time"

// flow counts credit. A frame of a class may be sent while the credit of the
// class is above zero, whatever the frame costs, so that no frame is larger
// than a window. Cost is by uncompressed size: what a peer is given credit for
// is what it can make this end hold.
type flow struct {
	credit [3]int64  // that the peer has given, less what was sent
	given  [3]int64  // that the peer has, less what arrived
	owed   [3]uint64 // handled and not given again
	window [3]uint64
}

// costOf returns the class of a message, 0 if it needs no credit, and its cost.
func costOf(m Message) (Class, uint64) {
	switch m := m.(type) {
	case *Commits:
		return ClassTree, frameCost + m.Records.Size
	case *Edits:
		return ClassTree, frameCost + m.Edits.Size
	case *Items:
		if Kind(m.Kind) == KindChunk {
			return ClassChunk, frameCost + m.Items.Size
		}
		return ClassTree, frameCost + m.Items.Size
	}
	return 0, 0
}

func (f *flow) give(c Class, n uint64) {
	f.given[c] += int64(n)
	f.window[c] = n
}

// allow adds credit from the peer.
func (f *flow) allow(c Class, n uint64) error {
	if c == 0 || f.credit[c]+int64(n) > maxWindow {
		return fail(CodeLimit, "credit of class %d beyond %d", c, maxWindow)
	}
	f.credit[c] += int64(n)
	return nil
}

func (f *flow) may(c Class) bool { return c == 0 || f.credit[c] > 0 }

func (f *flow) spend(c Class, cost uint64) {
	if c != 0 {
		f.credit[c] -= int64(cost)
	}
}

// take charges the peer for a frame that arrived.
func (f *flow) take(c Class, cost uint64) error {
	if c == 0 {
		return nil
	}
	if f.given[c] <= 0 {
		return fail(CodeLimit, "a frame of class %d without credit", c)
	}
	f.given[c] -= int64(cost)
	return nil
}

// used notes that a frame was handled.
func (f *flow) used(c Class, cost uint64) {
	if c != 0 {
		f.owed[c] += cost
	}
}

// due returns credit to give again, once half the window was used.
func (f *flow) due(c Class) uint64 {
	n := f.owed[c]
	if n < f.window[c]/2 {
		return 0
	}
	f.owed[c] = 0
	f.given[c] += int64(n)
	return n
}

// clock knows when the peer was heard and what it still owes.
type clock struct {
	started time.Time
	last    time.Time // a whole frame, or the beginning
	frame   time.Time // a frame began; zero if none is under way
	pinged  bool
	nonce   uint64
}

func (c *clock) begin(now time.Time) { c.started, c.last = now, now }

// heard notes bytes; within says that a frame has begun and not ended.
func (c *clock) heard(now time.Time, within bool) {
	switch {
	case !within:
		c.last, c.frame, c.pinged = now, time.Time{}, false
	case c.frame.IsZero():
		c.frame = now
	}
}

// Deadline returns when Tick should be called at the latest.
func (s *Session) Deadline() time.Time {
	c := &s.clock
	at := c.last.Add(silence)
	earlier := func(t time.Time) {
		if t.Before(at) {
			at = t
		}
	}
	if s.state == opening {
		earlier(c.started.Add(s.openingTime()))
	}
	if !c.frame.IsZero() {
		earlier(c.frame.Add(frameTime))
	}
	if s.state == open && !c.pinged {
		earlier(c.last.Add(pingAfter))
	}
	return at
}

// openingTime is how long the other end's first message may take: a server has
// to find a workspace and commit what is dirty in it, a client has nothing to do.
func (s *Session) openingTime() time.Duration {
	if s.server {
		return helloTime
	}
	return welcomeTime
}

// KeepAlive returns a frame that may be sent between any two others of an open
// session, by a driver whose session is busy in the store for long: the peer is
// not to take that for silence.
func KeepAlive() []byte { return AppendFrame(nil, &Ping{}) }

// Tick tells the time. It pings a silent peer and gives up a lost one. A clock
// that was set back only makes it more patient.
func (s *Session) Tick(now time.Time) error {
	c := &s.clock
	switch {
	case s.state == closed:
	case s.state == opening && now.Sub(c.started) >= s.openingTime():
		s.end(fail(CodeTimeout, "the session was not opened within %v", s.openingTime()))
	case !c.frame.IsZero() && now.Sub(c.frame) >= frameTime:
		s.end(fail(CodeTimeout, "a frame took more than %v", frameTime))
	case now.Sub(c.last) >= silence:
		s.end(fail(CodeTimeout, "nothing was heard for %v", silence))
	case s.state == open && !c.pinged && now.Sub(c.last) >= pingAfter:
		c.pinged = true
		c.nonce++
		s.send(&Ping{Nonce: c.nonce})
	}
	return s.Err()
}
