package replica

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"strings"

	"github.com/vfsd/vfsd/workspace"
)

// Scheme says how a peer is reached.
type Scheme string

// The schemes of addresses.
const (
	SchemeTLS  Scheme = "vfs"  // vfs://HOST[:PORT]/WORKSPACE, TLS over TCP
	SchemeUnix Scheme = "unix" // unix:/PATH/vfsd.sock#WORKSPACE, a daemon of this machine
	SchemeSSH  Scheme = "ssh"  // ssh://[USER@]HOST[:PORT]/WORKSPACE, vfsd's stdio through ssh
)

// DefaultPort is where vfsd listens for peers unless told otherwise.
const DefaultPort = "9419"

// Address is where a workspace of a peer is.
type Address struct {
	Scheme    Scheme
	Host      string // host:port of vfs and ssh; the port of ssh may be missing
	User      string // of ssh, may be empty
	Socket    string // the path of unix
	Workspace string
}

// ParseAddress reads an address. Errors name what is wrong with it.
func ParseAddress(s string) (Address, error) {
	a, err := parseAddress(s)
	if err != nil {
		return Address{}, fmt.Errorf("address %q: %w; it is vfs://HOST[:PORT]/WORKSPACE, unix:/PATH/vfsd.sock#WORKSPACE or ssh://HOST/WORKSPACE", s, err)
	}
	return a, nil
}

func parseAddress(s string) (Address, error) {
	u, err := url.Parse(s)
	if err != nil {
		return Address{}, err
	}
	if u.RawQuery != "" || u.ForceQuery {
		return Address{}, fmt.Errorf("it takes no query")
	}
	a := Address{Scheme: Scheme(u.Scheme)}
	switch a.Scheme {
	case SchemeUnix:
		a.Socket, a.Workspace = u.Path, u.Fragment
		if u.Host != "" || !path.IsAbs(a.Socket) || strings.ContainsRune(a.Socket, 0) {
			return Address{}, fmt.Errorf("the path of the socket is absolute")
		}
		return a, workspace.ValidName(a.Workspace)
	case SchemeTLS, SchemeSSH:
	default:
		return Address{}, fmt.Errorf("no such scheme")
	}
	if u.Fragment != "" || u.Opaque != "" {
		return Address{}, fmt.Errorf("after the host comes a slash and the workspace")
	}
	a.Workspace = strings.TrimPrefix(u.Path, "/")
	if err := workspace.ValidName(a.Workspace); err != nil {
		return Address{}, err
	}
	return a, a.readHost(u)
}

func (a *Address) readHost(u *url.URL) error {
	host, port := u.Hostname(), u.Port()
	if host == "" || strings.HasPrefix(host, "-") {
		return fmt.Errorf("no host is named")
	}
	if a.Scheme == SchemeTLS {
		if u.User != nil {
			return fmt.Errorf("it takes no user: rights come with a token")
		}
		if port == "" {
			port = DefaultPort
		}
		a.Host = net.JoinHostPort(host, port)
		return nil
	}
	if u.User != nil {
		if _, secret := u.User.Password(); secret {
			return fmt.Errorf("it takes no password: ssh has its own ways")
		}
		a.User = u.User.Username()
		if strings.HasPrefix(a.User, "-") {
			return fmt.Errorf("that is no user")
		}
	}
	a.Host = host
	if port != "" {
		a.Host = net.JoinHostPort(host, port)
	}
	return nil
}

// String is the inverse of ParseAddress.
func (a Address) String() string {
	switch a.Scheme {
	case SchemeUnix:
		return (&url.URL{Scheme: "unix", Path: a.Socket, OmitHost: true, Fragment: a.Workspace}).String()
	case SchemeSSH:
		u := url.URL{Scheme: "ssh", Host: a.Host, Path: "/" + a.Workspace}
		if a.User != "" {
			u.User = url.User(a.User)
		}
		return u.String()
	}
	return (&url.URL{Scheme: "vfs", Host: a.Host, Path: "/" + a.Workspace}).String()
}
