// Package gnulib holds what many GNU tools share, by the names under which
// gnulib has it: argument matching, sizes and their human form, symbolic
// modes, file names, dates read and written. Nothing here touches a file.
package gnulib
