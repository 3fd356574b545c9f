// Package control is how programs talk to a daemon: HTTP/1.1 with JSON over
// the unix socket of a data directory.
//
//	c := control.Dial(dir)
//	s, err := control.StatusCall.Do(ctx, c, control.StatusRequest{})
//
// # Calls
//
// Each thing that can be asked is a Call or a Stream, a value that both ends
// use: the client to ask, the server to answer. Calls are POST requests to
// /v1/NAME whose body is the request as JSON; the reply is the result as JSON,
// or {"error": {"kind", "message"}} with a status that is not 200.
//
// A Stream replies with one JSON value a line:
//
//	{"progress": {"done": 4096, "total": 100000}}
//	{"item": {...}}
//	{"result": {...}}      the last line, or
//	{"error": {...}}
//
// A reply that ends without one of the last two was cut off.
//
// The reference is spec/control.md. Fields are only ever added within /v1.
//
// # Who is served
//
// The socket has mode 0600, and the server asks the kernel for the peer's
// user: its own and root are served, everybody else gets "no-right".
//
// # Without a daemon
//
// Local is a client of a handler in the same process, so that a command runs
// the same code whether a daemon answers it or not.
package control
