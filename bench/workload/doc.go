// Package workload holds what bench measures: each Workload is one thing that
// people or programs do in a directory, with its preparation before and its
// check after.
//
//	Prepare   once in each directory        not timed
//	Setup     before each run               not timed
//	Run       the work                      timed
//	Check     that Run did what it says     not timed
//
// Two kinds of client do the work. A *tight* one makes the plain system calls
// and nothing else: it is the floor of what a program can feel, and the hardest
// case for a FUSE mount, because nothing dilutes the requests. *Tools* are what
// people run: a shell loop, git, npm; most of their time is their own.
//
// A Workload must not know whether its directory is the subject or the
// baseline: it has an Env and nothing more.
package workload
