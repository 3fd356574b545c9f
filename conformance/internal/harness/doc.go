// Package harness runs small file system cases, each on a thread of its own.
//
// A case works in a fresh directory, which is its working directory: every
// path in a case is relative. The thread has a working directory and a umask
// that it shares with nobody (unshare(CLONE_FS)), starts with umask 0, and ends
// with the case; so a case may chdir, change its credentials (T.As), its umask
// or its mount namespace (T.Private) without another case noticing. What a
// case must not do is change what the whole process shares: resource limits,
// signal handlers, and the set of open descriptors below its own.
//
// Goroutines that a case starts would run on other threads, in another
// directory: T.Parallel starts threads that are set up like the case's own.
// What needs another process (locks, kill, resource limits, exec) asks for one
// with T.Child, which starts the running binary again in a registered role.
//
// # Assertions
//
// OK, Errno, Check, Equal, Unchanged, Mark.Moved and their like count one
// assertion each and go on after a failure. Must and the makers (File, Dir,
// Open, Stat, ...) are the setup: they count nothing when they work, and stop
// the case when they do not. Skip and the Need methods stop it as skipped.
//
// # Time
//
// The kernel stamps most changes from a clock that ticks every few
// milliseconds, so a change right after a stat may rightly leave the same
// time behind. A Mark therefore waits for the next tick after it has looked;
// no case sleeps for a fixed time.
package harness
