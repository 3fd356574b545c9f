package control

import (
	"context"
	"net/http"
	"time"
)

// Ping finds out whether a daemon that listens also answers: one that was
// stopped, or hangs, takes connections and says nothing. It asks for nothing
// that waits for a lock, so patience is for a loaded machine alone. The error
// is nil, too, when there is another reason not to answer: the call itself
// tells it better.
func Ping(ctx context.Context, dir string, patience time.Duration) error {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := Dial(dir)
	defer c.Close()
	r, err := http.NewRequestWithContext(short, http.MethodGet, "http://vfsd/", nil)
	if err != nil {
		return Wrap(KindInternal, err)
	}
	resp, err := c.transport.RoundTrip(r)
	switch {
	case err == nil:
		return resp.Body.Close() // whatever it says, it answers
	case ctx.Err() != nil:
		return cutOff(ctx, "connect", err)
	case short.Err() != nil:
		return Errorf(KindBusy, "the daemon does not answer for %v", patience)
	}
	return nil
}
