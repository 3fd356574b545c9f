package replica

import (
	"fmt"
	"os"
	"testing"
)

// TestCloneCost tells what a first copy of 20,000 files takes, of about 10 KiB
// each in the long form.
func TestCloneCost(t *testing.T) {
	files, size := 2000, 10<<10
	if os.Getenv("VFSD_SOAK") != "" {
		files = 20_000
	}
	a, b := newSite(t, "a"), newSite(t, "b")
	for i := range files {
		a.write(fmt.Sprintf("d%d/f%d", i%200, i), noise(i, size))
	}
	a.root()
	_, dial := a.serve(t, ServerOptions{})
	f := b.measure(dial, func(p *Peer, c *Client) (Outcome, error) { return p.Pull(t.Context(), c) })
	t.Logf("%d files of %d: %d bytes out, %d in, %d round trips, %v", files, size, f.out, f.in, f.trips, f.took)
	if a.root() != b.root() {
		t.Error("the roots differ")
	}
}
