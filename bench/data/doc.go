// Package data makes what benchmarks read and write: text that looks like
// source code, bytes that do not compress, and trees of files of the sizes that
// people have.
//
// Everything follows from a seed, so that the two directories of a comparison
// get the same bytes and a later run can have them again. Nothing is all
// zeroes: a filesystem that finds holes, compresses or deduplicates must not be
// flattered by its input.
package data
