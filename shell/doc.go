// Package shell runs Bash scripts inside the process, over a vfs.FS, with no
// host file, no host process and no host environment.
//
//	sh := shell.New(shell.Config{FS: fs})
//	session := sh.NewSession(shell.SessionOptions{Env: env, Dir: "/"})
//	defer session.Close()
//	res := session.Exec(ctx, shell.Execution{
//		Script: "for f in *.go; do wc -l < $f; done",
//		Stdout: out, Stderr: errs,
//	})
//
// The measure is Bash 5.2: the same bytes on both outputs, the same exit
// status, the same files afterwards.
//
// # Parts
//
//   - parse reads source into the syntax tree of mvdan.cc/sh/v3/syntax
//   - arith and pattern evaluate arithmetic and match patterns
//   - command is what commands (cat, sed, ...) are written against
//   - this package is the evaluator: expansion, redirection, control flow,
//     functions, traps, jobs, builtins
//
// # Words
//
//   - Shell: what all sessions of one workspace share: its files, process IDs,
//     FIFOs, users.
//   - Session: a login: variables, functions, options and working directory
//     that live from one execution to the next.
//   - execution: one Exec; it owns limits, processes, open files and goroutines,
//     and ends them all.
//   - state: one shell process, the main one or a subshell.
//   - process: an entry of the process table: a state or a command.
//   - openFile: what descriptors of any number of processes share.
//
// # Subshells
//
// A subshell is a copy of its parent's state that shares variables and functions
// until either side writes them: each state has an owner token, a variable or
// map that carries another token is copied before it is changed (see owner).
//
// # Ends
//
// A state that must stop where it stands (exit, a fatal expansion error, a
// signal, a limit, cancellation) unwinds by a panic with an unwind value, which
// the function that started the state recovers; no other panic passes there
// either: it becomes an error of that execution, never of the daemon. break,
// continue and return are no panics: they set state.ctl.
//
// # Locks
//
// Each state belongs to one goroutine. What states share is guarded by:
// execution.mu (processes, FIFOs, jobs' results), pipe.mu, limitFS.mu. None is
// held while another is taken, and none across a call out of the package.
package shell
