// Package scale follows figures over sizes: how long a workspace takes to open,
// snapshot and fork, and how much memory a daemon keeps, with ten thousand
// files, a hundred thousand, a million.
//
//	s, err := scale.Run(ctx, scale.Options{Dir: dir, Command: self}, nil)
//	s.WriteTable(os.Stdout)
//
// # Processes
//
// Memory is a process's, and what filled a workspace leaves its garbage behind.
// So each step is a child process that does one thing: Options.Command runs
// this program so that it calls Child, with the step as JSON in its last
// argument. The child writes its figures as one line of JSON. A step that
// serves a mount is a child too, because a process must not wait for a mount
// that it serves; it answers "memory" lines until its input ends.
//
// # What is run through which way in
//
// Filling, opening, snapshots, forks and memory go through the Go API: they are
// the engine's. Listings and walks go through a mount as well, next to the same
// directory on the local disk, because that is where people feel them.
package scale
