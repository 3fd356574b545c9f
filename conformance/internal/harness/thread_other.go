//go:build !linux

package harness

import "errors"

// processState is what cases share because the process has one of it.
type processState struct{}

func newProcessState() *processState { return &processState{} }

func onThread(done chan<- struct{}, fn func()) {
	defer close(done)
	fn()
}

func (t *T) enter() error {
	return errors.New("threads have no working directory of their own on this system")
}

func (t *T) closeAll() {}

// NewEnv fails: there is nothing to find out where no case runs.
func NewEnv(string) (*Env, error) {
	return nil, errors.New("not on this system")
}

// Spread does nothing: it is for Linux' ext4.
func Spread(string) error { return nil }
