// Package js is node, js and js-exec: JavaScript in the process, on QuickJS
// translated to Go. A script has the workspace's files through node:fs, its
// environment, arguments and streams, timers, and nothing else: no network, no
// processes, no host.
//
// QuickJS and not an engine written in Go, because it can be held to a limit of
// memory and stopped at any point, a regular expression included.
package js
