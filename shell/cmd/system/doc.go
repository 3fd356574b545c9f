// Package system has the commands about time, identity, processes and
// conditions: date, sleep, timeout, env, id, uname, test, expr, bc and their
// kin, with the options and the words of the GNU tools. Nothing that they tell
// comes from the host. Importing the package registers them.
package system
