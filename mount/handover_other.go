//go:build !linux

package mount

import "os"

func adopt(*os.File, string, savedMount) (*attachment, error) { return nil, errNotSupported }

func (at *attachment) saved() savedMount { return savedMount{} }
func (at *attachment) closeFD() error    { return nil }

func (k *kernel) duplicate() (*os.File, error) { return nil, errNotSupported }
