// Package files has the commands that look at files and change them: ls, cp,
// mv, rm, find, stat and their kin, with the options and the words of GNU
// coreutils 9.1, findutils 4.9 and the like. Importing it registers them.
package files
