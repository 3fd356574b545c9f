package conformance

// FieldCase is a failure that users of comparable systems met, of the list
// that the project keeps (the mount group), and the cases of this suite that
// show it or its kind. Where an application is needed to show it (git, SQLite),
// or a daemon to kill, Elsewhere says which check of the project does.
type FieldCase struct {
	ID        string
	Text      string
	Cases     []string // patterns as in Options.Match
	Elsewhere string
}

// FieldCases is the mount group of that list.
var FieldCases = []FieldCase{
	{ID: "M02", Text: "getcwd after work in a sibling directory", Cases: []string{"rename/tree/getcwd-after-work-in-siblings/*", "names/deep/getcwd/*"}},
	{ID: "M04", Text: "git index checksum after adding an empty file", Cases: []string{"data/rw/0-bytes/*", "rename/replaced/write-temporary-and-rename-over/*"}, Elsewhere: "scripts/realworld: git"},
	{ID: "M06", Text: "old size after a file grew elsewhere", Cases: []string{"coherence/*/grow-in-place/*", "coherence/*/replace-by-rename/*", "coherence/*/rewrite-whole/*"}},
	{ID: "M08", Text: "create allowed but unlink denied in the same directory", Cases: []string{"unlink/create-write-rename-unlink-rmdir/*", "open/permission/directory/*"}},
	{ID: "M10", Text: "stale bytes of a truncated log in a live handle", Cases: []string{"coherence/kept-open/*/descriptor/*", "data/truncate/*", "mmap/processes/*"}, Elsewhere: "scripts/realworld: SQLite"},
	{ID: "M11", Text: "acknowledged commits missing after reopen", Cases: []string{"durability/killed/*", "data/append/write-only-and-rapid/*"}, Elsewhere: "scripts/realworld: SQLite"},
	{ID: "M12", Text: "EEXIST from fsync of a log that another truncated; slow growth of a big file", Cases: []string{"durability/call/fsync/after-another-truncated-the-file/*", "data/big/write-at-2-GiB/*"}},
	{ID: "M14", Text: "locks that do not conflict", Cases: []string{"locks/matrix/*", "locks/flock/*", "locks/exclusion/*"}},
	{ID: "M16", Text: "size wrong right after link", Cases: []string{"unlink/link/size-and-count-by-both-names/*", "unlink/link/*/is-one-inode-with-two-links-at-once"}},
	{ID: "M18", Text: "renaming a directory into itself hangs", Cases: []string{"rename/tree/*-at-once"}},
	{ID: "M20", Text: "mount point inside its own lower layer", Cases: []string{"lifecycle/overlay/mounted-inside-its-own-base/*", "lifecycle/mount/mounted-on-itself/*"}},
	{ID: "M22", Text: "deleted file of the base comes back", Cases: []string{"lifecycle/overlay/deleted-in-a-copied-up-directory/*", "directories/fresh/*"}},
	{ID: "M24", Text: "a byte past 2 GiB fills the hole", Cases: []string{"data/big/write-at-2-GiB/*", "data/holes/*"}},
	{ID: "M26", Text: "O_CREAT|O_TRUNC on an existing file gives EEXIST", Cases: []string{"open/existing-with-O_CREAT|O_TRUNC/*", "open/matrix/file/*", "lifecycle/overlay/open-with-O_CREAT|O_TRUNC-of-a-lower-file/*"}},
	{ID: "M28", Text: "rename over a name that was linked, unlinked and linked again", Cases: []string{"rename/replaced/name-linked-unlinked-and-linked-again/*"}},
	{ID: "M30", Text: "rapid appends give EBADF", Cases: []string{"data/append/*"}},
	{ID: "M32", Text: "new path leads to the old inode after a directory rename", Cases: []string{"rename/tree/new-path/*", "coherence/*/rename-a-directory/*"}},
	{ID: "M34", Text: "rename over a file that is being written loses the new bytes", Cases: []string{"rename/replaced/over-a-file-that-is-being-written/*", "rename/open-file/dirty-when-renamed/*"}},
	{ID: "M36", Text: "temporary file with an over-tight mode", Cases: []string{"open/create-with-mode-0000-then-fchmod-and-rename/*", "open/mode-0000-then-write-through-that-descriptor/*"}},
	{ID: "M38", Text: "listing skips or repeats entries under change", Cases: []string{"directories/under-change/*", "directories/position/*"}},
	{ID: "M40", Text: "parallel lookups make unmounting impossible", Cases: []string{"lifecycle/crowd/*"}, Elsewhere: "mount: lifecycle tests"},
	{ID: "M42", Text: "very many small files in one directory", Cases: []string{"directories/big/*"}, Elsewhere: "bench: a million files"},
}
