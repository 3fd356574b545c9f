// Package posix has the cases of the conformance suite, a file or a few per
// group.
//
// Small expectations are written out. Where a rule spans a matrix (who may
// remove what from where; what open does with each set of flags) the case
// compares with a model of the rule in the same file, a few lines of plain Go
// that can be read against the manual page; nothing was recorded from a file
// system.
package posix
