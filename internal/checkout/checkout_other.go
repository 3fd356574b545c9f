//go:build !linux

package checkout

import (
	"context"
	"errors"
)

// Checkout needs what only Linux has: paths that are resolved beneath a
// directory, and names that are exchanged.
type Checkout struct{}

// Open refuses.
func Open(context.Context, Options) (*Checkout, error) {
	return nil, errors.ErrUnsupported
}

// Pass is never reached.
func (*Checkout) Pass(context.Context) (Report, error) { return Report{}, errors.ErrUnsupported }

// Watch is never reached.
func (*Checkout) Watch(context.Context, func(Report, error)) error { return errors.ErrUnsupported }

// Close is never reached.
func (*Checkout) Close() error { return nil }
