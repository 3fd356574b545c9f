// Package bench compares two directories: the same work, in turn, in a
// workspace's mount and on the disk below it.
//
//	r, err := bench.Run(ctx, bench.Options{Dir: "/mnt/w", Baseline: "/data/plain"}, nil)
//	r.WriteMarkdown(os.Stdout, "")
//
// What is measured is in bench/workload, what it is measured on in bench/data,
// how it is shown in bench/report. bench/scale follows figures over sizes.
//
// # How a figure comes about
//
// Each workload runs in one directory and then in the other, the order changing
// from run to run, so that a machine that drifts drifts for both. Before each
// timed part everything dirty is written to disk and the machine is left to
// become idle, so that the work that one directory put off (write-back,
// chunking, checkpoints) is not paid for by the other. Work that was put off is
// not hidden either: the CPU time until idleness is a column of the report.
//
// The figures of a run are kept, the table shows the median with the least and
// the greatest. No time is ever asserted by a test: the machine decides it.
//
// What runs make is removed at the end of everything, large files excepted: ext4
// does not use an inode again until minutes after its deletion and steps over it
// meanwhile, which made its creates up to thirty times slower in trials, so a
// benchmark that tidies up as it goes flatters whatever it compares with ext4. For
// the same reason the rows that remove files come last, and before the first run a
// few files are made to see whether the baseline is itself.
//
// # Cold
//
// A cold row drops the kernel's page cache, dentries and inodes first, which
// needs root on Linux; without it the row is left out. What a daemon keeps in
// its own memory survives: Options.BeforeCold can make it forget, or make it
// pack what it has staged.
//
// # The floor
//
// One row is not against the baseline but against a filesystem in memory,
// mounted through the same driver with the same options: what is above 1 there
// is the engine's, what both share is FUSE's. It is served by a child process,
// because a process must not wait for a mount that it serves.
package bench
