// Package net is curl and wget, and the HTTP client that git shares. Whatever
// leaves the workspace goes through command.Network; by default that denies
// everything.
package net
