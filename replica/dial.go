package replica

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// dialTime bounds how long a connection may take to come about.
const dialTime = 20 * time.Second

// PeerPath is where a daemon's control socket turns into a session, by an upgrade
// of HTTP.
const (
	PeerPath    = "/v1/peer"
	PeerUpgrade = "vfsd-peer/1"
)

// Dial connects to a peer. trust is for TLS; SSH for ssh.
func Dial(ctx context.Context, a Address, trust *Trust) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	nc, err := dial(ctx, a, trust)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", a, err)
	}
	return nc, nil
}

func dial(ctx context.Context, a Address, trust *Trust) (net.Conn, error) {
	switch a.Scheme {
	case SchemeUnix:
		return dialUnix(ctx, a.Socket)
	case SchemeSSH:
		return dialSSH(a)
	}
	host, _, err := net.SplitHostPort(a.Host)
	if err != nil {
		return nil, err
	}
	d := tls.Dialer{Config: trust.ClientTLS(a.Host, host)}
	return d.DialContext(ctx, "tcp", a.Host)
}

// dialUnix asks a daemon of this machine to be a peer on its control socket.
func dialUnix(ctx context.Context, socket string) (net.Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	conn, err := upgrade(nc)
	if err != nil {
		return nil, errors.Join(err, nc.Close())
	}
	return conn, nil
}

func upgrade(nc net.Conn) (net.Conn, error) {
	req, err := http.NewRequest(http.MethodGet, "http://vfsd"+PeerPath, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", PeerUpgrade)
	if err := req.Write(nc); err != nil {
		return nil, err
	}
	r := bufio.NewReader(nc)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusSwitchingProtocols {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // for the message alone
		return nil, fmt.Errorf("the daemon answers %s: %s", resp.Status, strings.TrimSpace(string(b)))
	}
	return &buffered{Conn: nc, r: r}, nil
}

// buffered is a connection of which some bytes were read already.
type buffered struct {
	net.Conn
	r *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

// dialSSH runs vfsd at the other end of ssh, which brings its own keys, users and
// encryption.
func dialSSH(a Address) (net.Conn, error) {
	args := []string{"-T", "-o", "BatchMode=yes"}
	host := a.Host
	if h, port, err := net.SplitHostPort(a.Host); err == nil {
		host = h
		args = append(args, "-p", port)
	}
	if a.User != "" {
		args = append(args, "-l", a.User)
	}
	program := "ssh"
	if p := os.Getenv("VFSD_SSH"); p != "" {
		program = p
	}
	return Command(exec.Command(program, append(args, "--", host, "vfsd", "serve", "--stdio")...))
}
