package replica

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

func TestAddress(t *testing.T) {
	for s, want := range map[string]Address{
		"vfs://host/ws":              {Scheme: SchemeTLS, Host: "host:9419", Workspace: "ws"},
		"vfs://[::1]:7/ws.2":         {Scheme: SchemeTLS, Host: "[::1]:7", Workspace: "ws.2"},
		"unix:/run/vfsd.sock#ws":     {Scheme: SchemeUnix, Socket: "/run/vfsd.sock", Workspace: "ws"},
		"unix:/a%20b/vfsd.sock#ws":   {Scheme: SchemeUnix, Socket: "/a b/vfsd.sock", Workspace: "ws"},
		"ssh://host/ws":              {Scheme: SchemeSSH, Host: "host", Workspace: "ws"},
		"ssh://me@host.example:2/ws": {Scheme: SchemeSSH, Host: "host.example:2", User: "me", Workspace: "ws"},
	} {
		got, err := ParseAddress(s)
		if err != nil || got != want {
			t.Errorf("%s: %+v %v", s, got, err)
		}
		if again, err := ParseAddress(got.String()); err != nil || again != want {
			t.Errorf("%s written as %s: %+v %v", s, got, again, err)
		}
	}
	for _, s := range []string{
		"", "ws", "vfs://", "vfs://host", "vfs://host/", "vfs://host/a/b", "vfs://host/..", "vfs://user@host/ws",
		"vfs://host/ws?x", "vfs://host/ws#x", "http://host/ws", "unix:sock#ws", "unix:/sock", "unix://host/sock#ws",
		"ssh://-oProxyCommand=x/ws", "ssh://a:b@host/ws", "ssh://-l@host/ws", "vfs://ho st/ws", "unix:/a\x00b#ws", "vfs://host:port/ws",
	} {
		if a, err := ParseAddress(s); err == nil {
			t.Errorf("%q is taken for %+v", s, a)
		}
	}
}

func testKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestToken(t *testing.T) {
	key := testKey(t)
	now := time.Unix(1000, 0)
	g, err := NewGrant(Grant{Workspace: "ws", WorkspaceID: [16]byte{1}, Prefix: "src/lib", Right: Read, Expires: 1001})
	if err != nil {
		t.Fatal(err)
	}
	token, err := Sign(key, g)
	if err != nil {
		t.Fatal(err)
	}
	public := key.Public().(ed25519.PublicKey)
	got, err := Verify(public, token, now)
	if err != nil || got != g {
		t.Fatalf("%+v %v", got, err)
	}
	if err := got.Allows("ws", [16]byte{1}, Read); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		name  string
		id    [16]byte
		right Right
		want  error
	}{
		{"other", [16]byte{1}, Read, ErrOtherToken},
		{"ws", [16]byte{2}, Read, ErrOtherToken}, // another workspace that has the name now
		{"ws", [16]byte{1}, Write, ErrReadOnly},
	} {
		if err := got.Allows(c.name, c.id, c.right); !errors.Is(err, c.want) || !errors.Is(err, vfs.ErrNoRight) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := Verify(public, token, time.Unix(1001, 0)); !errors.Is(err, ErrTokenExpired) {
		t.Errorf("expired: %v", err)
	}
	if _, err := Verify(public, "", now); !errors.Is(err, ErrNoToken) {
		t.Errorf("none: %v", err)
	}
	other := testKey(t)
	forged, err := Sign(other, g)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(public, forged, now); !errors.Is(err, ErrBadToken) {
		t.Errorf("of another daemon: %v", err)
	}
	// No byte can be changed, left out or added.
	for i := range token {
		bad := token[:i] + string(token[i]^1) + token[i+1:]
		if _, err := Verify(public, bad, now); err == nil {
			t.Errorf("byte %d changed and still valid", i)
		}
		if _, err := Verify(public, token[:i], now); err == nil {
			t.Errorf("cut at %d and still valid", i)
		}
	}
	if _, err := Verify(public, token+"A", now); err == nil {
		t.Error("longer and still valid")
	}
	if _, err := Verify(public, tokenPrefix+strings.Repeat("A", maxToken), now); !errors.Is(err, ErrBadToken) {
		t.Errorf("huge: %v", err)
	}
}

func TestGrantRefuses(t *testing.T) {
	for _, g := range []Grant{
		{Right: "all"}, {Right: Read, Prefix: "/abs"}, {Right: Read, Prefix: "a/../b"}, {Right: Read, Prefix: "a//b"},
		{Right: Read, Prefix: "a/"}, {Right: Read, Prefix: ".."}, {Right: Read, Prefix: "a\x00b"},
		{Right: Read, Prefix: strings.Repeat("a", 256)}, {Right: Read, Prefix: strings.Repeat("a/", 3000) + "a"},
	} {
		if _, err := NewGrant(g); err == nil {
			t.Errorf("%.60q is granted", g.Prefix)
		}
	}
}

// shake has a client and a server agree, over a pipe.
func shake(t *testing.T, server *Identity, client *tls.Config) error {
	t.Helper()
	a, b := net.Pipe()
	defer a.Close()
	served := make(chan error, 1)
	go func() {
		defer b.Close()
		served <- tls.Server(b, server.ServerTLS()).Handshake()
	}()
	c := tls.Client(a, client)
	err := c.Handshake()
	if err == nil {
		err = <-served
	}
	return err
}

func TestTrust(t *testing.T) {
	dir := t.TempDir()
	id, err := LoadIdentity(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadIdentity(dir)
	if err != nil || !again.Key.Equal(id.Key) {
		t.Fatalf("loaded again it is another: %v", err)
	}
	other, err := LoadIdentity(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pins := map[string]string{}
	trust := &Trust{
		Pinned: func(host string) (string, error) { return pins[host], nil },
		Pin:    func(host, f string) error { pins[host] = f; return nil },
	}
	if err := shake(t, id, trust.ClientTLS("h:1", "h")); err != nil {
		t.Fatal(err)
	}
	if want, err := id.Fingerprint(); err != nil || pins["h:1"] != want {
		t.Errorf("pinned %q of %q, %v", pins["h:1"], want, err)
	}
	if err := shake(t, id, trust.ClientTLS("h:1", "h")); err != nil {
		t.Errorf("the same peer again: %v", err)
	}
	if err := shake(t, other, trust.ClientTLS("h:1", "h")); !errors.Is(err, ErrOtherPeer) {
		t.Errorf("another peer under its name: %v", err)
	}
	pool := x509.NewCertPool()
	cert, err := x509.ParseCertificate(id.Certificate.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(cert)
	if err := shake(t, id, (&Trust{CA: pool}).ClientTLS("vfsd:1", "vfsd")); err != nil {
		t.Errorf("by CA: %v", err)
	}
	if err := shake(t, other, (&Trust{CA: pool}).ClientTLS("vfsd:1", "vfsd")); err == nil {
		t.Error("a certificate of no CA is taken")
	}
	old := (&Trust{CA: pool}).ClientTLS("vfsd:1", "vfsd")
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	if err := shake(t, id, old); err == nil {
		t.Error("TLS 1.2 is spoken")
	}
}
