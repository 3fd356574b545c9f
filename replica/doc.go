// Package replica drives package protocol over connections: it serves workspaces
// to peers, and clones, pushes, pulls, watches and merges for the commands.
//
// Addresses are in url.go, what a peer may do in token.go, who it is in tls.go.
package replica
