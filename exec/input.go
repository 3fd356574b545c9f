package exec

import (
	"context"
	"io"
	"sync"
)

// inputMax is how much input waits to be read, in bytes.
const inputMax = 1 << 20

// input is an execution's standard input, fed from outside.
type input struct {
	mu      sync.Mutex
	buf     []byte        // guarded by mu
	ended   bool          // guarded by mu: nothing more comes
	closed  bool          // guarded by mu: nobody reads any more
	changed chan struct{} // guarded by mu: closed and made anew with each change

	once  sync.Once
	wants chan struct{} // closed with the first Read
}

func newInput() *input { return &input{changed: make(chan struct{}), wants: make(chan struct{})} }

// wake tells of a change. mu is held.
func (in *input) wake() {
	close(in.changed)
	in.changed = make(chan struct{})
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	in.once.Do(func() { close(in.wants) })
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.buf) == 0 {
		if in.ended || in.closed {
			return 0, io.EOF
		}
		w := in.changed
		in.mu.Unlock()
		<-w
		in.mu.Lock()
	}
	n := copy(p, in.buf)
	in.buf = in.buf[n:]
	if len(in.buf) == 0 {
		in.buf = nil
	}
	in.wake()
	return n, nil
}

// Close ends reading; it is the shell's.
func (in *input) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed, in.buf = true, nil
	in.wake()
	return nil
}

// feed adds bytes, and waits for room until ctx ends. It reports false when
// nobody reads any more.
func (in *input) feed(ctx context.Context, p []byte) (reads bool, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for !in.closed && len(in.buf) > 0 && len(in.buf)+len(p) > inputMax {
		w := in.changed
		in.mu.Unlock()
		select {
		case <-w:
		case <-ctx.Done():
		}
		in.mu.Lock()
		if err := ctx.Err(); err != nil {
			return true, err
		}
	}
	if in.closed || in.ended {
		return false, nil
	}
	in.buf = append(in.buf, p...)
	in.wake()
	return true, nil
}

// end says that nothing more comes.
func (in *input) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.wake()
}
