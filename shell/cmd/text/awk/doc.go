// Package awk is awk, as GNU awk has it.
//
// A program is read (lex.go, parse.go, expr.go) into a tree whose variables are
// already places in memory, and the tree is run (run.go, eval.go) over records
// (record.go, field.go). Streams to files and commands are in stream.go.
//
// An error of the running program unwinds by a panic of type *failure, which
// run recovers; nothing else is thrown.
//
// The elements of an array come in the order in which gawk yields them
// (array.go), since scripts that print them without sorting are common.
package awk
