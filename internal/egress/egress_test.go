package egress_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/vfsd/vfsd/internal/egress"
	"github.com/vfsd/vfsd/shell/command"
)

// names answers each question with the next of its answers.
type names struct {
	answers [][]netip.Addr
	asked   int
}

func (n *names) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	if len(n.answers) == 0 {
		return nil, errors.New("nothing")
	}
	a := n.answers[min(n.asked, len(n.answers)-1)]
	n.asked++
	return a, nil
}

func listen(t *testing.T) (port uint16) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	return uint16(l.Addr().(*net.TCPAddr).Port)
}

func dial(n *egress.Network, host string, port uint16) error {
	c, err := n.Dial(context.Background(), host, port)
	if err == nil {
		c.Close()
	}
	return err
}

func TestPolicy(t *testing.T) {
	port := listen(t)
	local := netip.MustParsePrefix("127.0.0.0/8")
	loop := []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	mapped := []netip.Addr{netip.MustParseAddr("::ffff:127.0.0.1")}
	for _, c := range []struct {
		name  string
		rules []egress.Rule
		host  string
		addrs []netip.Addr
		want  error
		asked int
	}{
		{"nothing", nil, "127.0.0.1", nil, command.ErrNetworkDenied, 0},
		{"nothing by name", nil, "h.example", loop, command.ErrNetworkDenied, 0},
		{"address", []egress.Rule{{CIDR: local, Ports: []uint16{port}}}, "127.0.0.1", nil, nil, 0},
		{"port", []egress.Rule{{CIDR: local}}, "127.0.0.1", nil, command.ErrNetworkDenied, 0},
		{"any host is no private one", []egress.Rule{{Host: "*", Ports: []uint16{port}}}, "127.0.0.1", nil, command.ErrNetworkDenied, 0},
		{"a name that leads inside", []egress.Rule{{Host: "h.example", Ports: []uint16{port}}}, "h.example", loop, command.ErrNetworkDenied, 1},
		{"a mapped one", []egress.Rule{{Host: "*", Ports: []uint16{port}}}, "h.example", mapped, command.ErrNetworkDenied, 1},
		{"name and prefix", []egress.Rule{{Host: "*.example", CIDR: local, Ports: []uint16{port}}}, "H.example.", loop, nil, 1},
		{"another name", []egress.Rule{{Host: "*.example", CIDR: local, Ports: []uint16{port}}}, "h.example.org", loop, command.ErrNetworkDenied, 0},
		{"no such name", []egress.Rule{{Host: "*", Ports: []uint16{port}}}, "h.example", nil, command.ErrNoHost, 0},
	} {
		r := &names{}
		if c.addrs != nil {
			r.answers = [][]netip.Addr{c.addrs}
		}
		err := dial(egress.NewWithResolver(egress.Policy{Allow: c.rules}, r), c.host, port)
		if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if r.asked != c.asked {
			t.Errorf("%s: asked %d times, want %d", c.name, r.asked, c.asked)
		}
	}
}

// TestRebinding: the address that is checked is the one that is dialed, though
// the name has another the next time.
func TestRebinding(t *testing.T) {
	port := listen(t)
	r := &names{answers: [][]netip.Addr{{netip.MustParseAddr("203.0.113.1")}, {netip.MustParseAddr("127.0.0.1")}}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n := egress.NewWithResolver(egress.Policy{Allow: []egress.Rule{{Host: "h.example", Ports: []uint16{port}}}}, r)
	// The dial ends at once: what matters is that it asked once only, and that
	// the second answer, when it comes, is denied.
	if _, err := n.Dial(ctx, "h.example", port); err == nil || r.asked != 1 {
		t.Fatalf("%v after %d questions", err, r.asked)
	}
	if err := dial(n, "h.example", port); !errors.Is(err, command.ErrNetworkDenied) {
		t.Fatalf("the second address: %v", err)
	}
}
