package replica

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/vfsd/vfsd/vfs"
)

// Errors of tokens. All of them mean that the peer has no right.
var (
	ErrNoToken      = fmt.Errorf("%w: a token is needed; vfsctl share makes one", vfs.ErrNoRight)
	ErrBadToken     = fmt.Errorf("%w: the token is malformed or not of this daemon", vfs.ErrNoRight)
	ErrTokenExpired = fmt.Errorf("%w: the token has expired; vfsctl share makes a new one", vfs.ErrNoRight)
	ErrTokenRevoked = fmt.Errorf("%w: the token was revoked", vfs.ErrNoRight)
	ErrOtherToken   = fmt.Errorf("%w: the token is for another workspace", vfs.ErrNoRight)
	ErrReadOnly     = fmt.Errorf("%w: the token is for reading", vfs.ErrNoRight)
)

// Right is what a token allows.
type Right string

// The rights. Who may write may read.
const (
	Read  Right = "read"
	Write Right = "write"
)

// Grant is what a token says. It is signed, not secret; the token as a whole is
// the secret.
type Grant struct {
	ID        string `msgpack:"id"`        // 16 hexadecimal digits, to revoke it by and for the audit log
	Workspace string `msgpack:"workspace"` // its name
	// WorkspaceID is the identity of the workspace, so that a token is none for
	// a later one of the same name.
	WorkspaceID [16]byte `msgpack:"workspace_id"`
	// Prefix is the directory that it is limited to, "" for all of the workspace:
	// names joined by slashes, none before the first.
	Prefix  string `msgpack:"prefix"`
	Right   Right  `msgpack:"right"`
	Expires int64  `msgpack:"expires"` // seconds since 1970; 0 is never
}

// Tokens begin so, whatever their version.
const tokenPrefix = "vfsd1."

// maxToken bounds a token in bytes.
const maxToken = 4096

// signContext keeps a signature from being one for anything else.
const signContext = "vfsd token 1\x00"

// NewGrant completes a grant with an ID and checks it.
func NewGrant(g Grant) (Grant, error) {
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return Grant{}, err
	}
	g.ID = hex.EncodeToString(id)
	return g, g.check()
}

func (g *Grant) check() error {
	if g.Right != Read && g.Right != Write {
		return fmt.Errorf("right %q: it is read or write", g.Right)
	}
	if len(g.ID) != 16 {
		return errors.New("the id of a token has 16 digits")
	}
	if g.Prefix == "" {
		return nil
	}
	if path.Clean("/"+g.Prefix) != "/"+g.Prefix || len(g.Prefix) >= vfs.MaxPath {
		return fmt.Errorf("path %q: it is a path inside the workspace", g.Prefix)
	}
	for _, name := range strings.Split(g.Prefix, "/") {
		if err := vfs.ValidName(name); err != nil {
			return fmt.Errorf("path %q: %w", g.Prefix, err)
		}
	}
	return nil
}

// Sign makes the token of a grant.
func Sign(key ed25519.PrivateKey, g Grant) (string, error) {
	if err := g.check(); err != nil {
		return "", err
	}
	var b bytes.Buffer
	enc := msgpack.NewEncoder(&b)
	if err := enc.Encode(g); err != nil {
		return "", err
	}
	sig := ed25519.Sign(key, append([]byte(signContext), b.Bytes()...))
	text := base64.RawURLEncoding
	return tokenPrefix + text.EncodeToString(b.Bytes()) + "." + text.EncodeToString(sig), nil
}

// Verify returns what a token grants at a time. The signature is checked before
// anything is decoded.
func Verify(key ed25519.PublicKey, token string, now time.Time) (Grant, error) {
	if token == "" {
		return Grant{}, ErrNoToken
	}
	rest, ok := strings.CutPrefix(token, tokenPrefix)
	payload, signature, dot := strings.Cut(rest, ".")
	if !ok || !dot || len(token) > maxToken {
		return Grant{}, ErrBadToken
	}
	text := base64.RawURLEncoding.Strict()
	b, err := text.DecodeString(payload)
	if err != nil {
		return Grant{}, ErrBadToken
	}
	sig, err := text.DecodeString(signature)
	if err != nil || !ed25519.Verify(key, append([]byte(signContext), b...), sig) {
		return Grant{}, ErrBadToken
	}
	var g Grant
	dec := msgpack.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields(true)
	if err := dec.Decode(&g); err != nil || g.check() != nil {
		return Grant{}, ErrBadToken
	}
	if g.Expires != 0 && now.Unix() >= g.Expires {
		return Grant{}, ErrTokenExpired
	}
	return g, nil
}

// Allows reports why a grant does not allow to use a workspace with a right.
func (g *Grant) Allows(name string, id [16]byte, right Right) error {
	switch {
	case g.Workspace != name || g.WorkspaceID != id:
		return ErrOtherToken
	case right == Write && g.Right != Write:
		return ErrReadOnly
	}
	return nil
}
