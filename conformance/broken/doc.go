// Package broken makes file systems that are wrong in one point, to test the
// conformance suite: for each rule that a file system may break there are
// cases that must notice.
//
//	fs, err := broken.New(memfs.New(), "chmod-leaves-ctime")
//	... mount fs, run the cases of broken.Find("chmod-leaves-ctime"): all fail
//
// A rule is a name, a sentence that says what is wrong, the cases that must
// fail, and the functions of vfs.FS that it puts in the place of the right
// ones; everything else passes through.
//
// The kernel checks many rules itself before it asks a file system (that a
// directory is not unlinked, that nothing moves below itself). Those cannot be
// broken from here and are not in the list.
package broken
