package protocol

// EventKind says what happened.
type EventKind uint8

// The kinds of events.
const (
	EventOpen    EventKind = 1  // the session is open; Commit is the server's head, Text the peer's program
	EventFetched EventKind = 2  // Commit is here in full; Mode says how it came
	EventPushed  EventKind = 3  // the server's head has moved to Commit
	EventHead    EventKind = 4  // the server's head is Commit
	EventItem    EventKind = 5  // an item of a get: Item is KindNode or KindChunk, ID its name, Data its bytes
	EventLacks   EventKind = 6  // the server lacks the item ID of a get
	EventFailed  EventKind = 7  // a request failed: Err
	EventClosed  EventKind = 8  // the session is closed: Err, nil after a bye
	EventServed  EventKind = 9  // of a server: Commit was sent in full
	EventMoved   EventKind = 10 // of a server: the head was moved to Commit
	EventWatched EventKind = 11 // of a server: the peer watches the head from now on
)

// Event is something that the user of a session waits for.
type Event struct {
	Kind    EventKind
	Request uint64
	Commit  ID
	Mode    Mode
	Item    Kind
	ID      ID
	Data    []byte
	Text    string
	Err     error
}

// Events returns what happened since the last call, oldest first. It should be
// called after each Receive: what a get brings is held until then.
func (s *Session) Events() []Event {
	e := s.events
	s.events = nil
	return e
}

func (s *Session) emit(e Event) { s.events = append(s.events, e) }
