// Package egress is the network of a workspace's commands: a policy that says
// which hosts, addresses and ports may be reached, and the dialer behind it.
//
//	net := egress.New(egress.Policy{Allow: []egress.Rule{{Host: "*.example.com", Ports: []uint16{443}}}})
//	sh := shell.New(shell.Config{FS: fs, Network: net})
//
// A name is looked up once, every address of it is checked, and the address
// that was checked is the one that is connected to: a name that changes its
// address between the two gains nothing. Addresses of the machine itself, of its
// links and of private networks need a rule that names them (Rule.CIDR), since a
// name must not lead there by chance.
package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/command"
)

// Rule allows hosts by name or addresses by prefix. One with both demands both.
type Rule struct {
	// Host is a name, "*.NAME" for all below it, or "*"; "" leaves it to CIDR.
	Host string
	// CIDR is what the address must be in; the zero value means any public one.
	CIDR netip.Prefix
	// Ports are those that may be reached; none means 80 and 443.
	Ports []uint16
}

// Policy is what may be reached. The zero value allows nothing.
type Policy struct {
	Allow []Rule
	// Timeout bounds one connection attempt; 0 means 30 seconds.
	Timeout time.Duration
}

// Resolver looks names up; net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Network dials as a policy allows. It is safe for concurrent use.
type Network struct {
	policy   Policy
	resolver Resolver
	dialer   net.Dialer
}

// New returns the network of a policy, with the machine's resolver.
func New(p Policy) *Network { return NewWithResolver(p, net.DefaultResolver) }

// NewWithResolver returns the network of a policy with names from elsewhere.
func NewWithResolver(p Policy, r Resolver) *Network {
	if p.Timeout <= 0 {
		p.Timeout = 30 * time.Second
	}
	return &Network{policy: p, resolver: r, dialer: net.Dialer{Timeout: p.Timeout}}
}

// Dial implements command.Network.
func (n *Network) Dial(ctx context.Context, host string, port uint16) (net.Conn, error) {
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	addrs, err := n.lookup(ctx, host, port)
	if err != nil {
		return nil, err
	}
	denied := true
	var last error
	for _, a := range addrs {
		a = a.Unmap()
		if !n.allowed(host, a, port) {
			continue
		}
		denied = false
		conn, err := n.dialer.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), strconv.Itoa(int(port))))
		if err == nil {
			return conn, nil
		}
		last = err
	}
	if denied {
		return nil, fmt.Errorf("%s port %d: %w", host, port, command.ErrNetworkDenied)
	}
	return nil, last
}

// lookup finds a host's addresses. A name that no rule could allow is not even
// looked up: the question itself would tell something to the outside.
func (n *Network) lookup(ctx context.Context, host string, port uint16) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	possible := false
	for _, r := range n.policy.Allow {
		possible = possible || r.host(host) && r.port(port)
	}
	if !possible {
		return nil, fmt.Errorf("%s port %d: %w", host, port, command.ErrNetworkDenied)
	}
	addrs, err := n.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(addrs) == 0 {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errors.Join(fmt.Errorf("%s: %w", host, command.ErrNoHost), err)
	}
	return addrs, nil
}

// allowed reports whether a rule lets an address through.
func (n *Network) allowed(host string, a netip.Addr, port uint16) bool {
	for _, r := range n.policy.Allow {
		if !r.host(host) || !r.port(port) {
			continue
		}
		if r.CIDR.IsValid() && r.CIDR.Contains(a) || !r.CIDR.IsValid() && public(a) {
			return true
		}
	}
	return false
}

// host matches a name, or an address by its text.
func (r *Rule) host(host string) bool {
	pattern := strings.ToLower(r.Host)
	switch {
	case pattern == "":
		return r.CIDR.IsValid()
	case pattern == "*":
		return true
	case strings.HasPrefix(pattern, "*."):
		return strings.HasSuffix(host, pattern[1:])
	}
	return host == pattern
}

func (r *Rule) port(port uint16) bool {
	if len(r.Ports) == 0 {
		return port == 80 || port == 443
	}
	for _, p := range r.Ports {
		if p == port {
			return true
		}
	}
	return false
}

// special are the prefixes that netip has no question for.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
}

// public reports whether an address is out on the internet.
func public(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.Zone() != "" {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
