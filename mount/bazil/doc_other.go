//go:build !linux

// Package bazil serves a mount with bazil.org/fuse, on Linux.
package bazil
