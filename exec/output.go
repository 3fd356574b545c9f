package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// Stream says which output bytes belong to. The values are in files.
type Stream uint8

// The streams.
const (
	Stdout Stream = 1
	Stderr Stream = 2
)

// Event is a piece of output, or a gap.
type Event struct {
	// Pos is the position of its first byte.
	Pos    int64
	Stream Stream // 0 for a gap
	// Data are the bytes; they are valid until the callback returns.
	Data []byte
	// Lost counts the bytes of a gap.
	Lost int64
}

const (
	frameHeader = 5
	maxFrame    = 64 << 10
	pendingMax  = 64 << 10  // bytes of the newest segment that are not in its file yet
	batchMax    = 256 << 10 // bytes that a follower is handed at once
)

// outputCaps bound what is kept; sizes are in bytes of the files.
type outputCaps struct {
	head    int64 // of the first segment, which is never dropped
	segment int64 // of each later one
	tail    int   // how many later ones are kept beside the newest
	window  int64 // how far an execution may be ahead of the reader that paces it
}

var defaultCaps = outputCaps{head: 4 << 20, segment: 2 << 20, tail: 5, window: 1 << 20}

// segment is a run of frames. Its size counts the pending bytes too.
type segment struct {
	N     int   `json:"n"`     // in the file's name
	Start int64 `json:"start"` // position of its first byte
	End   int64 `json:"end"`   // position past its last byte
	Size  int64 `json:"size"`  // of the frames
}

// output keeps what an execution wrote.
type output struct {
	fs   hostfs.FS
	path string // of the segments, without the number
	caps outputCaps

	mu      sync.Mutex
	segs    []segment       // guarded by mu: the newest last
	file    hostfs.File     // guarded by mu: of the newest segment; nil before it is written
	pending []byte          // guarded by mu: the end of the newest segment
	ended   bool            // guarded by mu
	failed  error           // guarded by mu: why bytes could not be kept
	waiters []chan struct{} // guarded by mu: closed with the next change
	paced   bool            // guarded by mu
	pace    int64           // guarded by mu: position of the reader that paces
}

func newOutput(fs hostfs.FS, path string, caps outputCaps, paced bool) *output {
	return &output{fs: fs, path: path, caps: caps, paced: paced, segs: []segment{{}}}
}

func (o *output) name(n int) string { return fmt.Sprintf("%s.%d", o.path, n) }

// last is the newest segment. mu is held.
func (o *output) last() *segment { return &o.segs[len(o.segs)-1] }

// changed wakes those who wait. mu is held.
func (o *output) changed() {
	for _, w := range o.waiters {
		close(w)
	}
	o.waiters = o.waiters[:0]
}

// wait returns a channel that is closed with the next change. mu is held.
func (o *output) wait() chan struct{} {
	w := make(chan struct{})
	o.waiters = append(o.waiters, w)
	return w
}

// write appends to a stream. It waits for the reader that paces, until ctx
// ends; without a ctx it does not wait.
func (o *output) write(ctx context.Context, s Stream, p []byte) (int, error) {
	n := 0
	for n < len(p) {
		part := p[n:min(n+maxFrame, len(p))]
		if err := o.append(ctx, s, part); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

func (o *output) append(ctx context.Context, s Stream, p []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for ctx != nil && o.paced && o.last().End-o.pace > o.caps.window {
		w := o.wait()
		o.mu.Unlock()
		select {
		case <-w:
		case <-ctx.Done():
		}
		o.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if o.full(len(p)) {
		o.next()
	}
	var h [frameHeader]byte
	h[0] = byte(s)
	binary.LittleEndian.PutUint32(h[1:], uint32(len(p)))
	o.pending = append(append(o.pending, h[:]...), p...)
	g := o.last()
	g.Size += int64(frameHeader + len(p))
	g.End += int64(len(p))
	if len(o.pending) > pendingMax {
		o.flush()
	}
	o.changed()
	return nil
}

// full reports whether n bytes do not go into the newest segment. mu is held.
func (o *output) full(n int) bool {
	most := o.caps.segment
	if o.last().N == 0 {
		most = o.caps.head
	}
	return o.last().Size > 0 && o.last().Size+int64(frameHeader+n) > most
}

// next begins a segment, and drops one when there are too many. mu is held.
func (o *output) next() {
	o.flush()
	o.closeFile()
	g := o.last()
	o.segs = append(o.segs, segment{N: g.N + 1, Start: g.End, End: g.End})
	if len(o.segs)-2 > o.caps.tail {
		if err := o.fs.Remove(o.name(o.segs[1].N)); err != nil && !errors.Is(err, os.ErrNotExist) {
			o.failed = err
		}
		o.segs = append(o.segs[:1], o.segs[2:]...)
	}
}

// flush puts the pending bytes where they are kept. What cannot be is lost: the
// execution goes on, and the segment ends up empty, which shows as a gap. mu is
// held.
func (o *output) flush() {
	if len(o.pending) == 0 {
		return
	}
	err := o.failed
	if err == nil && o.file == nil {
		o.file, err = o.fs.OpenFile(o.name(o.last().N), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	}
	if err == nil {
		_, err = o.file.WriteAt(o.pending, o.last().Size-int64(len(o.pending)))
	}
	o.pending = o.pending[:0]
	if err != nil {
		o.failed = err
		g := o.last()
		*g = segment{N: g.N, Start: g.End, End: g.End}
	}
}

// closeFile lets go of the newest segment's file. mu is held.
func (o *output) closeFile() {
	if o.file == nil {
		return
	}
	if err := o.file.Close(); err != nil && o.failed == nil {
		o.failed = err
	}
	o.file, o.pending = nil, nil
}

// smallOutput is how much stays in the record, in bytes of frames.
const smallOutput = 4 << 10

// end says that nothing more comes. Output that is small is returned, to be kept
// in the record, and has no file.
func (o *output) end() (segs []segment, small []byte, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if len(o.segs) > 1 || o.file != nil || len(o.pending) > smallOutput {
		o.flush()
		o.closeFile()
	}
	o.changed()
	return append([]segment(nil), o.segs...), append([]byte(nil), o.pending...), o.failed
}

// unpace stops waiting for a reader.
func (o *output) unpace() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paced = false
	o.changed()
}

// cursor is where a follower is.
type cursor struct {
	pos   int64 // what it has been handed
	n     int   // the segment that off is in
	off   int64 // of a frame that is not handed yet, or not wholly
	base  int64 // the position of that frame
	known bool  // off is right
	buf   []byte
}

// follow hands on what is there from a position, and what comes, to f, until
// the output has ended, ctx ends, or f returns an error. With wait false it ends
// with what is there now.
func (o *output) follow(ctx context.Context, from int64, wait, pacing bool, f func(Event) error) error {
	c := &cursor{pos: max(from, 0)}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		ev, frames, w, err := o.read(c, wait)
		switch {
		case err != nil:
			return err
		case ev.Lost > 0:
			err = f(ev)
		case len(frames) > 0:
			err = c.emit(frames, f)
		case w == nil:
			return nil
		default:
			select {
			case <-w:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err != nil {
			return err
		}
		if pacing {
			o.mu.Lock()
			o.pace = c.pos
			o.changed()
			o.mu.Unlock()
		}
	}
}

// read returns the next gap, or frames, or a channel to wait on; none of them at
// the end.
func (o *output) read(c *cursor, wait bool) (gap Event, frames []byte, w chan struct{}, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.segs {
		g := o.segs[i]
		if g.End <= c.pos || g.Size == 0 {
			continue
		}
		if g.Start > c.pos {
			gap = Event{Pos: c.pos, Lost: g.Start - c.pos}
			c.pos, c.known = g.Start, false
			return gap, nil, nil, nil
		}
		if !c.known || c.n != g.N {
			c.n, c.off, c.base, c.known = g.N, 0, g.Start, true
		}
		frames, err = o.bytes(i, c)
		return gap, frames, nil, err
	}
	if end := o.last().End; end > c.pos { // bytes that could not be kept
		gap = Event{Pos: c.pos, Lost: end - c.pos}
		c.pos = end
		return gap, nil, nil, nil
	}
	if !o.ended && wait {
		w = o.wait()
	}
	return gap, nil, w, nil
}

// bytes reads whole frames of segment i from the cursor's offset on. mu is held.
func (o *output) bytes(i int, c *cursor) ([]byte, error) {
	g := o.segs[i]
	stored := g.Size
	if i == len(o.segs)-1 {
		stored -= int64(len(o.pending))
	}
	if c.off >= stored {
		return append(c.buf[:0], o.pending[c.off-stored:]...), nil
	}
	if c.buf == nil {
		c.buf = make([]byte, batchMax)
	}
	c.buf = c.buf[:cap(c.buf)]
	n := min(int64(len(c.buf)), stored-c.off)
	file := o.file
	if file == nil || i < len(o.segs)-1 {
		var err error
		if file, err = o.fs.OpenFile(o.name(g.N), os.O_RDONLY, 0); err != nil {
			return nil, err
		}
		defer file.Close()
	}
	if _, err := file.ReadAt(c.buf[:n], c.off); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return wholeFrames(c.buf[:n], o.name(g.N), c.off)
}

// errFrame is the error of a file that holds no frames.
var errFrame = errors.New("it is not what was written there")

// wholeFrames cuts off an incomplete frame at the end.
func wholeFrames(b []byte, name string, off int64) ([]byte, error) {
	whole := 0
	for whole+frameHeader <= len(b) {
		n := int(binary.LittleEndian.Uint32(b[whole+1:]))
		if s := Stream(b[whole]); s != Stdout && s != Stderr || n == 0 || n > maxFrame {
			return nil, fmt.Errorf("output %s at offset %d: %w", name, off+int64(whole), errFrame)
		}
		if whole+frameHeader+n > len(b) {
			break
		}
		whole += frameHeader + n
	}
	if whole == 0 {
		return nil, fmt.Errorf("output %s at offset %d: %w", name, off, errFrame)
	}
	return b[:whole], nil
}

// emit hands frames on, neighbours of one stream together, without what is
// before the cursor's position.
func (c *cursor) emit(frames []byte, f func(Event) error) error {
	out := Event{}
	put := 0 // the bytes of out are frames[:put], moved together
	flush := func() error {
		if put == 0 {
			return nil
		}
		out.Data = frames[:put]
		err := f(out)
		c.pos = out.Pos + int64(put)
		put = 0
		return err
	}
	for at := 0; at < len(frames); {
		s := Stream(frames[at])
		n := int(binary.LittleEndian.Uint32(frames[at+1:]))
		data := frames[at+frameHeader : at+frameHeader+n]
		at += frameHeader + n
		start := c.base
		c.off += int64(frameHeader + n)
		c.base += int64(n)
		if c.base <= c.pos {
			continue
		}
		if start < c.pos {
			data, start = data[c.pos-start:], c.pos
		}
		if put > 0 && s != out.Stream {
			if err := flush(); err != nil {
				return err
			}
		}
		if put == 0 {
			out = Event{Pos: start, Stream: s}
		}
		put += copy(frames[put:], data)
	}
	return flush()
}
