// Package daemon keeps a data directory and its mounts, and answers the calls
// of package control.
//
//	d, err := daemon.Open(ctx, daemon.Options{Dir: dir, Log: log, Serve: true})
//	...
//	err = d.Close(ctx)
//
// Run is all of a daemon's life: open, socket, mounts, signals, end. Without
// Serve a Daemon answers the same calls for one command and mounts nothing.
//
// # Mounts across a crash
//
// mounts.json in the data directory says what is mounted. An entry is written
// before the mount is made and removed after it is gone, so what a daemon that
// died left behind is in it. The next daemon clears these dead mounts, mounts
// the workspaces again and notes both; what cannot be mounted again is noted
// and forgotten. A daemon that stops in an orderly way leaves none.
//
// # Handing over
//
// A new process can take the mounts over while they are in use, with all that
// is open in them (handover.go, heir.go; spec/handover.md). At each moment one
// of the two may be killed, and what was acknowledged is safe; from the moment
// that the new one has the old one's state, the mounts are too.
//
// # The daemon and its own mounts
//
// Nothing here stats, opens or lists a path at or below a mount point that it
// serves: it would wait for itself. A data directory inside a mount point, or
// a mount point inside the data directory, is refused for the same reason.
//
// # Locks
//
// Daemon.mounting, then tableMu, then mu. mounting is held while something is
// mounted or removed; mu never while anything is waited for.
package daemon
