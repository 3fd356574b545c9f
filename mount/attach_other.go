//go:build !linux

package mount

import "github.com/vfsd/vfsd/vfs"

// attachment does not exist where there is no attach.
type attachment struct {
	fd     int
	notify *kernel
}

func attach(*Options) (*attachment, error) { return nil, errNotSupported }

func (at *attachment) detach(bool) error { return errNotSupported }
func (at *attachment) abort()            {}
func (at *attachment) gone() bool        { return true }
func (at *attachment) cut() bool         { return false }
func (at *attachment) tune(*Options)     {}
func (at *attachment) holders() string   { return "" }

// Preflight finds out whether o can be mounted: here it cannot.
func Preflight(Options) (string, error) { return "", errNotSupported }

// ClearDead unmounts what a dead daemon left at mountPoint: here there is none.
func ClearDead(string) (bool, error) { return false, nil }

func describeUsers(string) string { return "some process" }

func aboutToWatch(uint32) bool { return false }

func useOf(uint32) (mask uint32, isUse bool) { return 0, false }

func (at *attachment) device() uint64 { return 0 }

func mountedOn(uint64) bool { return false }

func watchedInodes(uint64) map[vfs.Ino]bool { return nil }

// toucher does not exist where there is no attach.
type toucher struct{}

func (*toucher) touch(*touches, touchKind, string) error { return errNotSupported }
func (*toucher) kill()                                   {}
func (*toucher) stop(*touches)                           {}

func effective(uint32) (caps uint64, ok bool) { return 0, false }

func reaches(uint32, uint32, *vfs.Attr) bool { return false }

func groupsOf(_ uint32, groups []uint32) []uint32 { return groups }
