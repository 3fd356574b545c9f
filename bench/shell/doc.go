// Package shell measures scripts in the daemon's shell, over a workspace on
// disk, beside bash with the GNU tools on the file system below, and beside
// just-bash, an interpreter in JavaScript over files in memory.
//
//	r, err := shell.Run(ctx, shell.Options{Dir: "/var/tmp", Runs: 10})
//	err = r.WriteMarkdown(os.Stdout)
//
// All three run the same scripts over the same files, in turn, and must print
// the same. Each run of vfsd and of just-bash is a new session in a process that
// is warm; each run of bash is a process of its own, as there is no other way
// to have it.
package shell
