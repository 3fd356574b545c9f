// Package conformance is a black-box POSIX suite that runs against any
// directory: a vfsd mount, ext4, tmpfs, somebody else's file system.
//
// The measure is ext4 on the same kernel: same result, same error number, same
// side effects. Each case is small and named by what it asserts
// ("rename/over-nonempty-directory/is-ENOTEMPTY"); it works in a directory of its
// own and leaves nothing behind. Cases run side by side.
//
//	summary, err := conformance.Run(ctx, conformance.Options{Dir: dir}, func(r conformance.Result) {
//		if r.Status == conformance.Failed {
//			fmt.Println(r.Name, r.Failures)
//		}
//	})
//
// A program that calls Run calls ChildMain first of all in its main function
// (a test, in TestMain): some cases need a second process, and start the
// running binary again.
//
// # Groups
//
//	names        what names and paths may be; resolving them
//	open         open(2) with every flag on every target; creation; O_TMPFILE, O_PATH
//	unlink       unlink, rmdir and link
//	rename       over every kind of target, with every flag
//	directories  listings, link counts, big directories
//	attributes   modes, owners, times, statx, statfs
//	xattr        extended attributes and POSIX ACLs
//	data         read, write, truncate, holes, fallocate, copying
//	mmap         shared and private mappings, executing
//	locks        fcntl, OFD and flock locks, leases
//	special      FIFOs, sockets, devices, symlinks
//	durability   fsync and its relatives, as far as they show from outside
//	notify       inotify
//	coherence    one file by two descriptors, names, mounts, processes
//	lifecycle    mounting over and under, busy unmounts, death with open files
//	identity     who one is: ids, groups, set-id bits, mount flags
//
// # What is counted
//
// A case makes assertions; Passed, Failed and Skipped count these (a case that
// is skipped counts as one). Differs counts the failures of cases whose file
// system is declared to differ (Differences): they are no failures. A declared
// difference that does not show is one.
//
// # Credentials
//
// Cases that act as others need root and are skipped without. They use the
// uids 21001 to 21009 and gids 22001 to 22009, which need not exist. A FUSE
// mount must admit other users (allow_other).
//
// Implementation: internal/harness runs cases, internal/posix has them.
package conformance
