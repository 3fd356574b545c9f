package conformance

// Requirement is one thing that a mounted workspace must do, and the cases that
// show it. Where it takes more than system calls on a directory (a daemon to
// kill, another way in), Elsewhere names the test that does.
type Requirement struct {
	Group     string
	Text      string
	Cases     []string // patterns as in Options.Match
	Elsewhere string
}

// Checklist is all of it, in the order of the groups.
var Checklist = []Requirement{
	{"names", "255 bytes, not characters", []string{"names/every-length-*", "names/255-bytes-of-*", "names/*/name-of-256-bytes/*"}, ""},
	{"names", "invalid UTF-8 kept; NFC and NFD side by side", []string{"names/bytes/invalid-utf-8/*", "names/bytes/composed-and-decomposed/*"}, ""},
	{"names", "dot, dot-dot and trailing slashes", []string{"names/dots/*"}, ""},
	{"names", "paths beyond PATH_MAX by relative steps", []string{"names/deep/*"}, ""},
	{"names", "ELOOP, ENAMETOOLONG, ENOTDIR of every call", []string{"names/*/symlinks-in-a-circle/*", "names/*/path-of-4096-bytes/*", "names/*/below-file/*"}, ""},

	{"open", "every O_ flag on missing and existing targets", []string{"open/matrix/*"}, ""},
	{"open", "O_EXCL on dangling links", []string{"open/matrix/dangling*"}, ""},
	{"open", "O_TMPFILE and linkat", []string{"open/O_TMPFILE/*"}, ""},
	{"open", "O_PATH", []string{"open/O_PATH/*"}, ""},
	{"open", "a mode of 0000, then writing through that descriptor", []string{"open/mode-0000-then-write-*"}, ""},
	{"open", "umask", []string{"open/creation-mode/*"}, ""},
	{"open", "ETXTBSY", []string{"open/ETXTBSY/*"}, ""},
	{"open", "read-only mounts", []string{"open/read-only-mount/*"}, ""},

	{"unlink", "open unlinked files keep working and give their space back", []string{"unlink/open-unlinked/*"}, ""},
	{"unlink", "a thousand links and unlinks at once", []string{"unlink/crowd/*"}, ""},
	{"unlink", "hard links share data and attributes; inode and count right at once", []string{"unlink/link/*", "mmap/shared/writes-by-another-name/*"}, ""},
	{"unlink", "EMLINK stated", []string{"unlink/link/limit/*"}, ""},

	{"rename", "over every kind of target", []string{"rename/plain/*"}, ""},
	{"rename", "NOREPLACE, EXCHANGE, WHITEOUT", []string{"rename/NOREPLACE/*", "rename/EXCHANGE/*", "rename/WHITEOUT/*"}, ""},
	{"rename", "into itself or below is EINVAL at once", []string{"rename/tree/*-at-once"}, ""},
	{"rename", "over another link of the same inode", []string{"rename/*-over-second-name/*"}, ""},
	{"rename", "with open handles and working directories inside; during readdir", []string{"rename/open-file/*", "rename/tree/*", "directories/under-change/renaming-during-a-listing/*"}, ""},
	{"rename", "parents' times change", []string{"attributes/times/rename-*"}, ""},

	{"directories", "link counts", []string{"directories/links/*"}, ""},
	{"directories", "listing under change gives every surviving name once", []string{"directories/under-change/*", "directories/call/listing-by-4096-bytes/*"}, ""},
	{"directories", "telldir and seekdir", []string{"directories/position/*"}, ""},
	{"directories", "d_type", []string{"directories/entry/*"}, ""},
	{"directories", "100,000 entries", []string{"directories/big/*"}, ""},
	{"directories", "rm -rf in one pass and in parallel", []string{"directories/removing-trees/*"}, ""},
	{"directories", "cached listings never stale", []string{"directories/fresh/*"}, ""},

	{"attributes", "chmod and chown matrix", []string{"attributes/chmod-permission/*", "attributes/chown/*"}, ""},
	{"attributes", "setgid inheritance", []string{"attributes/setgid-directory/*"}, ""},
	{"attributes", "set-id bits cleared on write, truncate and chown", []string{"attributes/write-set-id/*", "attributes/chown-set-id/*"}, ""},
	{"attributes", "utimensat: NOW, OMIT, nanoseconds, before 1970, after 2038", []string{"attributes/utimensat/*", "attributes/utimensat-permission/*"}, ""},
	{"attributes", "mtime and ctime after every operation", []string{"attributes/times/*", "attributes/mtime/*"}, ""},
	{"attributes", "mapped stores move mtime", []string{"attributes/mtime/set-then-mapped-and-stored/*"}, ""},
	{"attributes", "relatime", []string{"attributes/atime/*"}, ""},
	{"attributes", "birth time", []string{"attributes/stat/btime/*"}, ""},
	{"attributes", "statfs is true and moves", []string{"attributes/statfs/*"}, "conformance TestWorkspaceQuota"},

	{"xattr", "user, trusted, security namespaces", []string{"xattr/namespace/*"}, ""},
	{"xattr", "sizes to 64 KiB, flags, ERANGE", []string{"xattr/size/*"}, ""},
	{"xattr", "on links and special files", []string{"xattr/basics*"}, ""},
	{"xattr", "POSIX ACLs, chmod, default inheritance", []string{"xattr/acl/*", "xattr/acl-access/*", "xattr/acl-chmod/*", "xattr/acl-default/*"}, ""},

	{"data", "appends of several processes", []string{"data/append/*"}, ""},
	{"data", "holes, SEEK_HOLE, SEEK_DATA, st_blocks", []string{"data/holes/*", "attributes/stat/size-and-blocks/*"}, ""},
	{"data", "truncate around every boundary", []string{"data/truncate/*"}, ""},
	{"data", "fallocate", []string{"data/fallocate/*"}, ""},
	{"data", "beyond 4 GiB and at 2^63-1", []string{"data/big/*"}, ""},
	{"data", "copy_file_range and clones", []string{"data/copy_file_range/*", "data/clone/*"}, ""},
	{"data", "sendfile and splice", []string{"data/pipe/*"}, ""},
	{"data", "O_DIRECT, O_SYNC, O_DSYNC", []string{"data/O_DIRECT/*", "data/O_SYNC/*", "data/O_DSYNC/*"}, ""},
	{"data", "preadv2 and readahead", []string{"data/vectors/*", "data/advice/*"}, ""},
	{"data", "past space or quota: ENOSPC or EDQUOT, old bytes stay", []string{"data/full/*"}, "conformance TestWorkspaceQuota; conformance TestFullExt4"},

	{"mmap", "shared mappings coherent with read, write and other names", []string{"mmap/shared/*", "mmap/processes/*"}, ""},
	{"mmap", "msync", []string{"mmap/msync/*", "durability/power-cut/store-and-msync/*"}, ""},
	{"mmap", "truncation under a mapping", []string{"mmap/truncate/*", "mmap/bounds/*"}, ""},
	{"mmap", "SQLite's shared memory", []string{"mmap/processes/*"}, "scripts/realworld: SQLite"},
	{"mmap", "executing", []string{"mmap/exec/*"}, ""},
	{"mmap", "private mappings", []string{"mmap/private/*"}, ""},

	{"locks", "fcntl, OFD and flock", []string{"locks/matrix/*", "locks/flock/*", "locks/exclusion/*"}, ""},
	{"locks", "upgrade, overlap, EDEADLK", []string{"locks/range/*", "locks/wait/*"}, ""},
	{"locks", "released on close and on kill", []string{"locks/release/*"}, ""},
	{"locks", "leases or EINVAL", []string{"locks/lease/*"}, ""},

	{"special", "FIFOs, sockets, devices", []string{"special/fifo/*", "special/socket/*", "special/device/*"}, ""},
	{"special", "symlinks to 4095 bytes, dangling, loops", []string{"special/symlink/*"}, ""},

	{"durability", "fsync and fdatasync, sync_file_range, syncfs", []string{"durability/call/*"}, ""},
	{"durability", "after kill -9", []string{"durability/killed/*"}, "scripts/soak kill; workspace TestModel"},
	{"durability", "after power loss", []string{"durability/power-cut/*"}, "conformance TestWorkspacePowerCut; scripts/soak powercut; workspace TestCrash"},
	{"durability", "an error is reported to every open file and stays", []string{"durability/call/fsync/of-what-another-descriptor-wrote/*"}, "conformance TestFsyncError"},

	{"notify", "inotify for local changes", []string{"notify/event/*", "notify/watch/*"}, ""},
	{"notify", "for changes from elsewhere within a second", []string{"notify/elsewhere/*"}, "mount TestWatchersHearOfChangesElsewhere"},

	{"coherence", "another process, mount or way in sees a change at the next call", []string{"coherence/*"}, "mount TestCoherence; conformance TestWorkspaceTwice"},

	{"lifecycle", "mount on a directory that is not empty", []string{"lifecycle/mount/*"}, "mount TestPreflight"},
	{"lifecycle", "unmount while busy", []string{"lifecycle/mount/unmount-with-*"}, "mount TestUnmountBusy"},
	{"lifecycle", "daemon killed with open files", []string{"lifecycle/death/*"}, "cmd/vfsctl TestC01DaemonKilledUnderUsers"},
	{"lifecycle", "32 threads of lookups while unmounting", []string{"lifecycle/crowd/*"}, "mount TestUnmountUnderLookups"},
	{"lifecycle", "the daemon never waits for its own mount", []string{"lifecycle/mount/mounted-on-itself/*"}, "mount TestPreflight"},

	{"identity", "uid and gid as given", []string{"identity/owner/*", "identity/groups/*"}, ""},
	{"identity", "nosuid and nodev by default", []string{"identity/mount-flags/*", "identity/set-id-program/*"}, "conformance TestWorkspacePrivileged"},
	{"identity", "another user denied when not allowed", []string{"identity/owner/another-process-of-another-user/*"}, "cmd/vfsctl TestOtherUsers; mount TestOnlyOwner"},
}

// CrashCase is a failure of the field in crash and recovery, and the tests that
// show that it does not happen here. Tests are "package TestName".
type CrashCase struct {
	ID    string
	Text  string
	Tests []string
	Note  string
}

// CrashCases is the crash and recovery group of the list.
var CrashCases = []CrashCase{
	{"C01", "daemon killed under ten processes; up on the same path", []string{"cmd/vfsctl TestC01DaemonKilledUnderUsers", "cmd/vfsctl TestKillAndUp", "cmd/vfsctl TestContainerBindMount"},
		"a bind mount of the mount point itself stays dead, one of the directory above recovers"},
	{"C02", "listings by many at a time end the mount", []string{"cmd/vfsctl TestC02ListingsByMany"}, ""},
	{"C04", "a snapshot misses acknowledged writes", []string{"cmd/vfsctl TestC04SnapshotsArePrefixes", "workspace TestModel"}, ""},
	{"C06", "a store that refuses to open after a crash, or drops data", []string{"journal TestTruncatedAtEveryByte", "workspace TestCrash"}, ""},
	{"C08", "records behind a torn tail; order of fsyncs", []string{"journal TestAppendAfterTornTailSurvives", "journal TestOrderOfFsyncs", "chunk TestNameNotDurable"}, ""},
	{"C10", "zeroes, noise or an old segment as a tail", []string{"journal TestForeignTail", "chunk TestTails"}, ""},
	{"C12", "wrong bytes of the right length", []string{"chunk TestScrubFindsEveryFlip", "workspace TestDamage", "cmd/vfsctl TestDamagedPack"},
		"vfsctl scrub hashes every stored byte; there is one version of the format, so no migration to verify yet"},
	{"C14", "no space left although there is", []string{"conformance TestWorkspaceQuota", "workspace TestRealFullDisk", "workspace TestFullDisk"}, ""},
	{"C16", "handover during input and output", []string{"cmd/vfsctl TestUpgradeDaemon"}, "ten handovers under a load that verifies what it writes"},
	{"C18", "a writer takes in its own upload as news", []string{"replica TestC18SustainedBothWays", "replica TestC18NoEcho", "replica TestWatchConverges"}, "two replicas follow each other while both are written to: seconds, and ten minutes with VFSD_SOAK=1"},
}
