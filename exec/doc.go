// Package exec runs scripts over workspaces and keeps what became of them: an
// execution has an ID, its output can be followed while it runs, read again
// from any position, and read by others; it can be signalled and killed.
//
//	e := exec.New(exec.Options{Open: open, Dir: dir})
//	defer e.Close()
//	x, err := e.Start(ctx, exec.Request{Workspace: "ws", Script: "make test"})
//	...
//	err = x.Follow(ctx, 0, func(ev exec.Event) error { ... })
//	rec, err := x.Wait(ctx)
//
// # Output
//
// Both outputs of an execution are one sequence of bytes, each of which belongs
// to standard output or to standard error; a position is an offset in it. What
// is written goes to files of Options.Dir, up to a cap: the beginning is kept
// and the end, and what lay between is told of as a gap. A follower reads those
// files, so a slow one keeps nobody waiting, with one exception that is asked
// for: with Request.Paced the execution waits for the reader of Execution.Pace,
// as a process waits for its pipe, and that reader misses nothing.
//
//	ID.json    the record: a line of JSON when it starts, another when it has
//	           ended; the last whole one counts
//	ID.N       segment N of the output: frames, one after another
//
//	frame   +--------+-----------------+-----------+
//	        | stream | length, 4 bytes | bytes ... |
//	        | 1 or 2 | little-endian   |           |
//	        +--------+-----------------+-----------+
//
// # Sessions
//
// A request with a session's name runs in that shell session, after whatever
// runs there already: variables, functions, options and the working directory
// stay. Without a name it gets a session of its own.
//
// # Locks
//
// Engine.mu before Execution.mu before output.mu; none is held across a call of
// the shell or of Options.Open.
package exec
