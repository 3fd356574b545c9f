package replica

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// Names of what makes a daemon itself, in its data directory.
const (
	keyFile         = "peer.key"  // an ed25519 key, PKCS 8 in PEM: its certificate's and its tokens'
	certificateFile = "peer.cert" // X.509 in PEM
)

// protocolName is agreed on with ALPN, so that no other protocol is taken for it.
const protocolName = "vfsd/1"

// Identity is the key of a daemon and the certificate that it shows.
type Identity struct {
	Key         ed25519.PrivateKey
	Certificate tls.Certificate
}

// LoadIdentity reads the identity of a data directory, or makes one. Both files
// can be replaced by a key and a certificate that a CA has signed.
func LoadIdentity(dir string) (*Identity, error) {
	keyName, certName := filepath.Join(dir, keyFile), filepath.Join(dir, certificateFile)
	if _, err := os.Stat(keyName); errors.Is(err, fs.ErrNotExist) {
		if err := makeIdentity(keyName, certName); err != nil {
			return nil, err
		}
	}
	pair, err := tls.LoadX509KeyPair(certName, keyName)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", keyName, certName, err)
	}
	key, ok := pair.PrivateKey.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: it is no ed25519 key", keyName)
	}
	return &Identity{Key: key, Certificate: pair}, nil
}

func makeIdentity(keyName, certName string) error {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "vfsd"}, DNSNames: []string{"vfsd"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.AddDate(100, 0, 0), // it is known by its key
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		return err
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	// The certificate first: a key without one would stay without.
	if err := writePEM(certName, "CERTIFICATE", cert, 0o644); err != nil {
		return err
	}
	return writePEM(keyName, "PRIVATE KEY", pkcs, 0o600)
}

func writePEM(name, kind string, b []byte, mode os.FileMode) error {
	b = pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b})
	return hostfs.ReplaceFile(hostfs.OS{}, name, b, mode)
}

// Fingerprint names a certificate: the SHA-256 of its public key.
func Fingerprint(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return "SHA256:" + hex.EncodeToString(sum[:])
}

// Fingerprint names the identity as a peer sees it.
func (i *Identity) Fingerprint() (string, error) {
	cert, err := x509.ParseCertificate(i.Certificate.Certificate[0])
	if err != nil {
		return "", err
	}
	return Fingerprint(cert), nil
}

// ServerTLS is how a daemon listens.
func (i *Identity) ServerTLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{i.Certificate}, NextProtos: []string{protocolName}}
}

// ErrOtherPeer says that the certificate of a host is not the one it had.
var ErrOtherPeer = errors.New("the peer's key has changed: somebody may be in between")

// Trust decides whether a certificate is the peer's.
type Trust struct {
	// CA, if set, must have signed the certificate for the host's name.
	CA *x509.CertPool
	// Pinned returns the fingerprint that a host had before, "" for none, and
	// Pin keeps the first one. Both are asked only without CA.
	Pinned func(host string) (string, error)
	Pin    func(host, fingerprint string) error
}

// ClientTLS is how a daemon connects to a host.
func (t *Trust) ClientTLS(host, serverName string) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{protocolName}, ServerName: serverName}
	if t.CA != nil {
		c.RootCAs = t.CA
		return c
	}
	// The chain says nothing of a key that is known by itself.
	c.InsecureSkipVerify = true
	c.VerifyConnection = func(s tls.ConnectionState) error {
		fingerprint := Fingerprint(s.PeerCertificates[0])
		want, err := t.Pinned(host)
		switch {
		case err != nil:
			return err
		case want == "":
			return t.Pin(host, fingerprint)
		case want != fingerprint:
			return fmt.Errorf("%s: %w; it was %s and is %s", host, ErrOtherPeer, want, fingerprint)
		}
		return nil
	}
	return c
}
