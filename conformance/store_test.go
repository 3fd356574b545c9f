//go:build linux

package conformance_test

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// backing is what a server mounts.
type backing interface {
	// tree is what to mount now; another one after each crash.
	tree() vfs.FS
	// crash takes what a power cut would leave at this moment; revive makes
	// that the tree. In between the mount of the old tree ends.
	crash() error
	revive() error
	close() error
}

// newBacking makes a backing of a kind; dir is an empty directory that is its
// own.
func newBacking(kind, dir string) (backing, error) {
	switch kind {
	case "volatile", "durable":
		return newDisk(kind == "durable"), nil
	case "workspace":
		return newStore(dir, false)
	case "crashing-workspace":
		return newStore(dir, true)
	case "quota-workspace":
		s, err := newStore(dir, false)
		if err == nil {
			s.w.SetQuota(workspace.Quota{Bytes: 32 << 20, Inodes: 2000})
		}
		return s, err
	case "failing-workspace":
		return newFailingStore(dir)
	}
	return nil, fmt.Errorf("no backing %q", kind)
}

// store is a workspace in a fresh data directory, on the host itself or on the
// model of one that can lose its power.
type store struct {
	scratch string
	model   *hostfs.Crash // nil on the host itself
	data    *workspace.DataDir
	w       *workspace.Workspace
	copy    string // what the power cut left
	cuts    uint64
	disk    *hostfs.Fault // nil on a host that does not fail
}

func newStore(dir string, crashing bool) (*store, error) {
	s := &store{scratch: dir + "/scratch"}
	root := dir + "/data"
	for _, d := range []string{root, s.scratch} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	if err := s.open(root, crashing); err != nil {
		return nil, err
	}
	var err error
	s.w, err = s.data.Create(context.Background(), "w", 0, 0)
	return s, err
}

// newFailingStore makes a workspace on a host whose fsync can be made to fail.
func newFailingStore(dir string) (*store, error) {
	s := &store{scratch: dir, disk: hostfs.NewFault(hostfs.OS{}, nil)}
	var err error
	if s.data, err = workspace.OpenDataDir(context.Background(), workspace.Options{Dir: dir, FS: s.disk}); err != nil {
		return nil, err
	}
	s.w, err = s.data.Create(context.Background(), "w", 0, 0)
	return s, err
}

// fail makes every fsync of the host fail, or none.
func (s *store) fail(on bool) error {
	switch {
	case s.disk == nil:
		return fmt.Errorf("this host cannot be made to fail")
	case on:
		s.disk.SetHook(hostfs.From(0, syscall.EIO, hostfs.OpSync, hostfs.OpSyncDir))
	default:
		s.disk.SetHook(nil)
	}
	return nil
}

func (s *store) open(root string, crashing bool) (err error) {
	o := workspace.Options{Dir: root}
	if crashing {
		if s.model, err = hostfs.NewCrash(hostfs.CrashOptions{Root: root, Scratch: s.scratch}); err != nil {
			return err
		}
		o.FS = s.model
	}
	s.data, err = workspace.OpenDataDir(context.Background(), o)
	return err
}

func (s *store) tree() vfs.FS { return s.w }

func (s *store) crash() (err error) {
	if s.model == nil {
		return fmt.Errorf("the power of the host cannot be cut")
	}
	s.cuts++
	s.copy, err = s.model.PowerCut(s.cuts)
	return err
}

func (s *store) revive() error {
	if err := s.data.Close(); err != nil {
		return err
	}
	if err := s.open(s.copy, true); err != nil {
		return err
	}
	var err error
	s.w, err = s.data.Open("w")
	return err
}

func (s *store) close() error { return s.data.Close() }
