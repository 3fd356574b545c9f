package conformance

import (
	"slices"
	"strings"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// Difference declares that a file system does not do what some cases ask.
// A case that it names must fail; one that passes is reported, so that no
// declaration outlives its reason.
type Difference struct {
	FS     string // as in Summary.FS
	Case   string // a pattern, see Match
	Reason string
	// Before and Since bound the kernel releases that differ, "6.6"; empty is
	// unbounded.
	Since, Before string
}

// Differences is every declared difference. vfsd's default driver has none;
// "vfsd-bazil" is a workspace behind the other driver.
var Differences = slices.Concat(
	differs("ext4", "without the ea_inode feature an inode's attributes share one 4 KiB block", "xattr/size/value-of-*/is-kept-too"),
	differs("ext4", "ext4 with 4 KiB units ends files at 16 TiB", "data/big/truncate-to-2^63-1/*"),
	differs("tmpfs", "tmpfs has no FALLOC_FL_ZERO_RANGE", "data/fallocate/ZERO_RANGE*"),
	differs("tmpfs", "tmpfs allocates the pages that a mapping reads", "mmap/shared/a-hole/*"),
	differs("tmpfs", "tmpfs has no limit of links", "unlink/link/limit/*"),
	differs("vfsd-bazil", "the driver has no RENAME2: renameat2 with a flag is EINVAL",
		"rename/EXCHANGE/*-over-file/*", "rename/EXCHANGE/*-over-directory/*", "rename/EXCHANGE/*-over-nonempty-directory/*",
		"rename/EXCHANGE/*-over-symlink/*", "rename/EXCHANGE/*-over-fifo/*", "rename/EXCHANGE/*-over-socket/*",
		"rename/EXCHANGE/*-over-char-device/*", "rename/EXCHANGE/*-over-block-device/*", "rename/NOREPLACE/*-over-missing/*",
		"rename/WHITEOUT/*/leaves-a-whiteout", "rename/flags/EXCHANGE/twice-is-as-before",
		"rename/flags/EXCHANGE/directory-and-file-across-parents-*", "rename/permission/EXCHANGE/*",
		"rename/permission/both-writable/NOREPLACE/*", "rename/permission/both-writable/EXCHANGE/*",
		"rename/permission/*-read-only/NOREPLACE/*", "rename/permission/*-read-only/EXCHANGE/*",
		"rename/race/EXCHANGE-by-many/*", "rename/race/NOREPLACE-by-many/*", "notify/event/exchange"),
	differs("vfsd-bazil", "the driver has no LSEEK: all of a file counts as data",
		"data/big/write-at-*", "data/fallocate/PUNCH_HOLE/gives-space-back-*", "data/holes/filled-in/*", "data/holes/only-a-hole/*",
		"data/holes/seek/*/data-from-the-hole/*", "data/holes/seek/*/data-in-the-last-hole/*", "data/holes/seek/*/hole-from-data/*",
		"data/holes/seek/*/hole-from-the-hole/*", "data/holes/seek/*/hole-from-the-last-data/*",
		"durability/keeps/hole/*", "mmap/shared/a-hole/*"),
	differs("vfsd-bazil", "the driver has no TMPFILE",
		"open/O_TMPFILE/chmod-and-xattr-before-the-name/*", "open/O_TMPFILE/has-no-name-and-no-links",
		"open/O_TMPFILE/in-a-setgid-directory/*", "open/O_TMPFILE/linkat*", "open/O_TMPFILE/named-then-unlinked/*",
		"open/O_TMPFILE/umask-*", "open/O_TMPFILE/with-O_EXCL/*", "open/permission/directory/*", "identity/owner/O_TMPFILE/*",
		"xattr/acl-default/O_TMPFILE/*"),
	differs("vfsd-bazil", "the library reports no sticky bit",
		"attributes/chmod/*/every-mode-*", "attributes/chmod-permission/*/owner*/1777/*", "attributes/chmod-permission/*/root/1777/*",
		"attributes/chown-set-id/*/1777-*", "attributes/write-set-id/owner/*", "attributes/write-set-id/owner-not-in-it/*",
		"attributes/write-set-id/writer/*", "attributes/write-set-id/writer-in-a-group/*", "attributes/write-set-id/root/*",
		"open/creation-mode/open/*", "open/creation-mode/mk*", "xattr/acl-chmod/chmod-1777/*"),
	differs("vfsd-bazil", "the driver has no STATX: no birth time", "attributes/stat/*/is-complete"),
	differs("vfsd-bazil", "the library has no fractions of seconds before 1970", "attributes/utimensat/*/1969/*", "attributes/utimensat/*/before-1970/*"),
	differs("vfsd-bazil", "the kernel applies the umask before the file system sees a mode",
		"xattr/acl-default/*-of-mode-0640/*", "xattr/acl-default/*-of-mode-0666/*", "xattr/acl-default/*-of-mode-0777/*", "xattr/acl-default/without-names/*"),
)

// differs declares one reason for many cases.
func differs(fs, reason string, cases ...string) []Difference {
	list := make([]Difference, len(cases))
	for i, c := range cases {
		list[i] = Difference{FS: fs, Case: c, Reason: reason}
	}
	return list
}

// declared finds the difference that covers a case.
func declared(fs, name string, env *harness.Env) *Difference {
	for i := range Differences {
		d := &Differences[i]
		if d.FS != fs || !Match(d.Case, name) {
			continue
		}
		if d.Since != "" && !atLeast(env, d.Since) || d.Before != "" && atLeast(env, d.Before) {
			continue
		}
		return d
	}
	return nil
}

func atLeast(env *harness.Env, release string) bool {
	asked := harness.Env{Kernel: release}
	major, minor := asked.Release()
	return env.KernelAtLeast(major, minor)
}

// Match reports whether name matches a pattern in which * stands for any run
// of characters.
func Match(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	if !strings.HasPrefix(name, parts[0]) {
		return false
	}
	name = name[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}
