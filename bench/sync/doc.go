// Package syncbench measures what it takes to bring edits of a tree to another
// machine: bytes in each direction, and seconds over links with different round
// trips, for vfsd and the programs that people use instead.
//
//	report, err := syncbench.Run(ctx, syncbench.Options{Dir: scratch, Vfsctl: program, RTTs: []time.Duration{0, 20 * time.Millisecond}})
//
// Every program talks through a proxy in this process (link.go) that counts and
// delays; the other machine is another directory of this one. The edits are the
// same for all, on trees that are made from one seed.
package syncbench
