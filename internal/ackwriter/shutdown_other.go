//go:build !linux

package main

import "errors"

func shutdown(string) error { return errors.New("only ext4 on Linux can be shut down so") }
