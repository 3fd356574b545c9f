package hostfs

import "errors"

// faultFile is a file of a Fault.
type faultFile struct {
	File
	fault *Fault
}

func (f *faultFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fault.try(OpRead, f.Name()); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *faultFile) WriteAt(p []byte, off int64) (int, error) {
	err := f.fault.try(OpWrite, f.Name())
	if err == nil {
		return f.File.WriteAt(p, off)
	}
	var short *ShortWrite
	if !errors.As(err, &short) {
		return 0, err
	}
	n, werr := f.File.WriteAt(p[:min(short.Bytes, len(p))], off)
	if werr != nil {
		return n, werr
	}
	return n, err
}

func (f *faultFile) Sync() error {
	if err := f.fault.try(OpSync, f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultFile) Truncate(size int64) error {
	if err := f.fault.try(OpTruncate, f.Name()); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *faultFile) Size() (int64, error) {
	if err := f.fault.try(OpSize, f.Name()); err != nil {
		return 0, err
	}
	return f.File.Size()
}

func (f *faultFile) Allocate(off, n int64) error {
	if err := f.fault.try(OpAllocate, f.Name()); err != nil {
		return err
	}
	return f.File.Allocate(off, n)
}

func (f *faultFile) Punch(off, n int64) error {
	if err := f.fault.try(OpPunch, f.Name()); err != nil {
		return err
	}
	return f.File.Punch(off, n)
}

func (f *faultFile) Lock() error {
	if err := f.fault.try(OpLock, f.Name()); err != nil {
		return err
	}
	return f.File.Lock()
}

// Close asks the hook after the file is closed: close(2) gives the descriptor
// up whatever it returns.
func (f *faultFile) Close() error {
	if err := f.File.Close(); err != nil {
		return err
	}
	return f.fault.try(OpClose, f.Name())
}
