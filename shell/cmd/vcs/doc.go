// Package vcs is git, over go-git's object store and formats.
//
// The plumbing (objects, packs, the index, references, the wire protocol) is
// go-git's. The porcelain is here, because go-git's own reads the user's files
// on the host and starts programs for local remotes, and because its answers
// are not git's words.
//
// # Host
//
// go-git reaches files through a billy.Filesystem over vfs.Walker. Functions of
// it that open host files are never called: PlainOpen, ConfigScoped, the global
// table of transports. Remotes are directories of the workspace, or URLs dialed
// through the command's network policy.
package vcs
