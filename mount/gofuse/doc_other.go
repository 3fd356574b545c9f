//go:build !linux

// Package gofuse serves a mount with github.com/hanwen/go-fuse/v2, on Linux.
package gofuse
