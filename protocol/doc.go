// Package protocol is how replicas of a workspace exchange commits: messages,
// their codec, and the state machine of both ends. It does no I/O, reads no
// clock and knows nothing of files: a Store keeps what arrives and yields what
// is asked for.
//
//	s := protocol.NewClient(now, protocol.Config{Store: store, Workspace: "ws", Rights: protocol.RightRead})
//	s.Fetch(protocol.ID{}, false)
//	for !s.Closed() {
//		conn.Write(s.Output(nil, 1<<20))
//		n, _ := conn.Read(buf)
//		s.Receive(time.Now(), buf[:n])
//		for _, e := range s.Events() { ... }
//	}
//
// spec/protocol.md is the reference, with golden vectors. A frame:
//
//	0        4        8
//	+--------+--------+--------------------------------+
//	| length | crc32c | body: msgpack [ number, ... ]  |
//	+--------+--------+--------------------------------+
//
// length and crc are little-endian and about the body.
package protocol
