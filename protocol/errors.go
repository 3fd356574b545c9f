package protocol

import (
	"errors"
	"fmt"
)

// Code is the kind of a failure. The numbers are part of the protocol and only
// ever added to.
type Code uint64

// The codes.
const (
	CodeProtocol    Code = 1  // a message that may not come, or not now
	CodeLimit       Code = 2  // a limit was exceeded
	CodeVersion     Code = 3  // no common version
	CodeDenied      Code = 4  // the token does not give the right
	CodeExpired     Code = 5  // the token is not valid any more, or was used up
	CodeNotFound    Code = 6  // no such workspace, commit, node or chunk
	CodeHeadMoved   Code = 7  // the head is another commit than expected
	CodeNoBase      Code = 8  // the base is not here: offer the nodes
	CodeDigest      Code = 9  // bytes that do not hash to what was asked for
	CodeRoot        Code = 10 // the delta does not lead to the announced root
	CodeInvalid     Code = 11 // bytes with the right digest that the formats do not allow
	CodeRefused     Code = 12 // quota, space, policy
	CodeTimeout     Code = 13 // too slow, or silent
	CodeInternal    Code = 14 // a failure of the one who reports it
	CodeBusy        Code = 15 // too many sessions or requests: try later
	CodeCanceled    Code = 16 // the one who asked does not want it any more
	CodeUnsupported Code = 17 // the other end has not named the capability
)

var codeNames = map[Code]string{
	CodeProtocol: "protocol", CodeLimit: "limit", CodeVersion: "version", CodeDenied: "denied",
	CodeExpired: "expired", CodeNotFound: "not-found", CodeHeadMoved: "head-moved", CodeNoBase: "no-base",
	CodeDigest: "digest", CodeRoot: "root", CodeInvalid: "invalid", CodeRefused: "refused",
	CodeTimeout: "timeout", CodeInternal: "internal", CodeBusy: "busy", CodeCanceled: "canceled",
	CodeUnsupported: "unsupported",
}

func (c Code) String() string {
	if s := codeNames[c]; s != "" {
		return s
	}
	return fmt.Sprintf("code %d", uint64(c))
}

// Error is a failure that one end tells the other.
type Error struct {
	Code   Code
	Text   string
	Remote bool // the other end found it
	cause  error
}

func (e *Error) Error() string {
	who := ""
	if e.Remote {
		who = "peer: "
	}
	return fmt.Sprintf("%s%s: %s", who, e.Code, e.Text)
}

// Unwrap returns the error of the store that is behind it, if any.
func (e *Error) Unwrap() error { return e.cause }

// Is lets errors.Is find the errors of a Store that a code stands for.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrHeadMoved:
		return e.Code == CodeHeadMoved
	case ErrNotFound:
		return e.Code == CodeNotFound
	case ErrInvalid:
		return e.Code == CodeInvalid || e.Code == CodeDigest || e.Code == CodeRoot
	case ErrRefused:
		return e.Code == CodeRefused
	}
	return false
}

func fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Text: fmt.Sprintf(format, args...)}
}

// Fail returns a failure for the peer, as an accept function may.
func Fail(code Code, text string) error { return &Error{Code: code, Text: text} }

// failStore turns an error of a store into what the peer is told. The text of
// an internal one stays here: it may name what the peer has no right to know.
func failStore(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	code, text := CodeInternal, "the store failed"
	switch {
	case errors.Is(err, ErrHeadMoved):
		code, text = CodeHeadMoved, ErrHeadMoved.Error()
	case errors.Is(err, ErrInvalid):
		code, text = CodeInvalid, err.Error()
	case errors.Is(err, ErrRefused):
		code, text = CodeRefused, err.Error()
	case errors.Is(err, ErrNotFound):
		code, text = CodeNotFound, ErrNotFound.Error()
	}
	return &Error{Code: code, Text: cut(text, maxText), cause: err}
}

// cut shortens s to at most n bytes without splitting a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}
