package control

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Kind classifies an error for programs. The values are append-only.
type Kind string

// The kinds of error.
const (
	KindUsage       Kind = "usage"       // the request can never be right
	KindNotFound    Kind = "not-found"   // a workspace, snapshot, path or mount that is not there
	KindExists      Kind = "exists"      // the name is taken
	KindBusy        Kind = "busy"        // in use now; may go later
	KindInUse       Kind = "in-use"      // the data directory has another user
	KindNotOurs     Kind = "not-ours"    // the directory is no data directory
	KindNewer       Kind = "newer"       // a format of a later version
	KindCorrupt     Kind = "corrupt"     // bytes that are not what was stored
	KindNoSpace     Kind = "no-space"    // disk or quota is full
	KindReadOnly    Kind = "read-only"   // of the file system below
	KindPermission  Kind = "permission"  // the host refuses it
	KindNoRight     Kind = "no-right"    // the daemon refuses the caller
	KindUnsupported Kind = "unsupported" // by this machine or this build
	KindNoDaemon    Kind = "no-daemon"   // it takes a daemon and none runs
	KindInterrupted Kind = "interrupted" // the caller went away
	KindInternal    Kind = "internal"    // everything else
	KindMoved       Kind = "moved"       // another process has taken the daemon's place
)

// statusOf is the HTTP status that goes with a kind.
var statusOf = map[Kind]int{
	KindUsage:       http.StatusBadRequest,
	KindNotFound:    http.StatusNotFound,
	KindExists:      http.StatusConflict,
	KindBusy:        http.StatusConflict,
	KindInUse:       http.StatusConflict,
	KindNotOurs:     http.StatusConflict,
	KindNewer:       http.StatusConflict,
	KindCorrupt:     http.StatusInternalServerError,
	KindNoSpace:     http.StatusInsufficientStorage,
	KindReadOnly:    http.StatusConflict,
	KindPermission:  http.StatusForbidden,
	KindNoRight:     http.StatusForbidden,
	KindUnsupported: http.StatusNotImplemented,
	KindNoDaemon:    http.StatusServiceUnavailable,
	KindInterrupted: 499, // as proxies name a client that went away
	KindInternal:    http.StatusInternalServerError,
	KindMoved:       http.StatusServiceUnavailable,
}

// Kinds returns every kind, for the spec's test.
func Kinds() map[Kind]int {
	m := make(map[Kind]int, len(statusOf))
	for k, s := range statusOf {
		m[k] = s
	}
	return m
}

// Error is what a call fails with, on either end.
type Error struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"` // one line, with the way out
	cause   error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause where the error was made; it does not travel.
func (e *Error) Unwrap() error { return e.cause }

// Errorf makes an error of a kind; %w wraps a cause.
func Errorf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: oneLine(err.Error()), cause: errors.Unwrap(err)}
}

// Wrap gives err a kind, keeping its words.
func Wrap(kind Kind, err error) *Error {
	return &Error{Kind: kind, Message: oneLine(err.Error()), cause: err}
}

// AsError returns err as an Error; what has no kind is internal.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		if m := oneLine(err.Error()); m != e.Message {
			return &Error{Kind: e.Kind, Message: m, cause: err} // what was wrapped around it
		}
		return e
	}
	return Wrap(KindInternal, err)
}

// KindOf returns the kind of an error; "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	return AsError(err).Kind
}

func oneLine(s string) string {
	return Line(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}
