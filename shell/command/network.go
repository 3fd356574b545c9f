package command

import (
	"context"
	"errors"
	"net"
)

// Network is the way out of the workspace. Commands dial by name and leave it
// to the policy behind it to resolve names, so that the address that was
// allowed is the one that is connected to.
type Network interface {
	// Dial connects to a TCP port of a host, which is a name or an address.
	// Errors wrap ErrNetworkDenied when the policy forbids it, ErrNoHost when
	// the name has no address; others are those of connect(2).
	Dial(ctx context.Context, host string, port uint16) (net.Conn, error)
}

// Errors of Network.Dial.
var (
	ErrNetworkDenied = errors.New("denied by the network policy")
	ErrNoHost        = errors.New("no such host")
)

// noNetwork is the default: nothing may be reached.
type noNetwork struct{}

// Dial implements Network.
func (noNetwork) Dial(context.Context, string, uint16) (net.Conn, error) {
	return nil, ErrNetworkDenied
}

// Net is the command's way out; never nil.
func (c *Context) Net() Network {
	if c.Network == nil {
		return noNetwork{}
	}
	return c.Network
}
