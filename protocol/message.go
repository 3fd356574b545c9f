package protocol

// Kind says what an id names.
type Kind uint64

// The kinds.
const (
	KindCommit Kind = 1
	KindNode   Kind = 2
	KindChunk  Kind = 3
)

// Mode is how a tree is sent.
type Mode uint64

// The modes.
const (
	ModeNothing Mode = 0 // the receiver has named the target among its bases
	ModeDelta   Mode = 1 // the edits that lead from the base, or from nothing
	ModeWalk    Mode = 2 // the receiver asks for nodes, from the root down
)

// Class is a class of frames with a credit of its own, so that a receiver can
// hold back the tree while it waits for chunks.
type Class uint64

// The classes; other frames need no credit.
const (
	ClassTree  Class = 1 // commits, edits and nodes
	ClassChunk Class = 2
)

// Rights of a grant.
const (
	RightRead  uint64 = 1
	RightWrite uint64 = 2
)

// FetchLazy is the flag of a fetch that leaves chunks out.
const FetchLazy uint64 = 1

// HelloCreate is the flag of a hello that lets the workspace be new.
const HelloCreate uint64 = 1

// Message is one of the messages below.
type Message interface {
	// id is the number of the message, its first element.
	id() uint64
	// fields hands the other elements to v in order.
	fields(v visitor)
}

// visitor encodes, decodes or describes the fields of a message.
type visitor interface {
	uint(name string, p *uint64, max uint64)
	bool(name string, p *bool)
	digest(name string, p *ID)
	ids(name string, p *[]ID, max int)
	text(name string, p *string, max int)
	bytes(name string, p *[]byte, max int)
	payload(name string, p *Payload, max int)
}

// The numbers of the messages, only ever added to.
const (
	idHello   = 1
	idWelcome = 2
	idFailure = 3
	idPing    = 4
	idPong    = 5
	idCredit  = 6
	idFetch   = 7
	idOffer   = 8
	idPush    = 9
	idCommits = 10
	idEdits   = 11
	idWant    = 12
	idItems   = 13
	idLacks   = 14
	idDone    = 15
	idResult  = 16
	idWatch   = 17
	idHead    = 18
	idGet     = 19
	idCancel  = 20
	idBye     = 21
)

const anyUint = ^uint64(0)

// newMessage returns an empty message by its number, nil if there is none.
func newMessage(id uint64) Message {
	if id >= uint64(len(makers)) || makers[id] == nil {
		return nil
	}
	return makers[id]()
}

var makers = [...]func() Message{
	idHello:   func() Message { return new(Hello) },
	idWelcome: func() Message { return new(Welcome) },
	idFailure: func() Message { return new(Failure) },
	idPing:    func() Message { return new(Ping) },
	idPong:    func() Message { return new(Pong) },
	idCredit:  func() Message { return new(Credit) },
	idFetch:   func() Message { return new(Fetch) },
	idOffer:   func() Message { return new(Offer) },
	idPush:    func() Message { return new(Push) },
	idCommits: func() Message { return new(Commits) },
	idEdits:   func() Message { return new(Edits) },
	idWant:    func() Message { return new(Want) },
	idItems:   func() Message { return new(Items) },
	idLacks:   func() Message { return new(Lacks) },
	idDone:    func() Message { return new(Done) },
	idResult:  func() Message { return new(Result) },
	idWatch:   func() Message { return new(Watch) },
	idHead:    func() Message { return new(Head) },
	idGet:     func() Message { return new(Get) },
	idCancel:  func() Message { return new(Cancel) },
	idBye:     func() Message { return new(Bye) },
}

// Hello opens a session: the client's first message.
type Hello struct {
	Version     uint64 // the highest that the client speaks
	Oldest      uint64 // the lowest
	Caps        uint64
	Flags       uint64 // HelloCreate
	Agent       string // name and version of the program
	Workspace   string
	Path        string // what part of it; "/" is all
	Rights      uint64 // that the client needs
	Token       []byte
	TreeWindow  uint64 // first credit that the client gives
	ChunkWindow uint64
}

// Welcome answers Hello.
type Welcome struct {
	Version     uint64 // that the session speaks
	Caps        uint64
	Agent       string
	Rights      uint64 // that the token gives, of those asked for
	Head        ID     // where the workspace stands; zero if it has no commit yet
	TreeWindow  uint64
	ChunkWindow uint64
}

// Failure ends a request or, with Request 0, the session.
type Failure struct {
	Request uint64
	Code    uint64
	Text    string
}

// Ping asks for a Pong with the same nonce.
type Ping struct{ Nonce uint64 }

// Pong answers Ping.
type Pong struct{ Nonce uint64 }

// Credit allows so many more bytes of frames of a class.
type Credit struct{ Class, Bytes uint64 }

// Fetch asks for a commit, the head if Target is zero.
type Fetch struct {
	Request uint64
	Target  ID
	Flags   uint64 // FetchLazy
	Bases   []ID   // commits whose trees the client has, the likeliest first
}

// Offer answers Fetch: the commit that comes, and how.
type Offer struct {
	Request uint64
	Target  ID
	Base    ID // of a delta: one of the client's bases, or zero for nothing
	Mode    uint64
}

// Push announces a commit and asks to move the head to it.
type Push struct {
	Request uint64
	Expect  ID // where the head must be
	Target  ID
	Base    ID
	Mode    uint64
}

// Commits carries records of commits, the target first, each other one a
// parent of one before it.
type Commits struct {
	Request uint64
	Records Payload // a list
}

// Edits carries a part of a delta.
type Edits struct {
	Request uint64
	Last    bool
	Edits   Payload // see Edit
}

// Want asks the sender of a transfer for what the receiver lacks.
type Want struct {
	Request uint64
	Kind    uint64
	IDs     []ID
}

// Items carries what was asked for. Each item is known by its digest.
type Items struct {
	Request uint64
	Kind    uint64
	Ahead   bool    // sent before it was asked for
	Items   Payload // a list
}

// Lacks names what was asked for and is not there.
type Lacks struct {
	Request uint64
	Kind    uint64
	IDs     []ID
}

// Done tells the sender of a fetch that everything has arrived.
type Done struct{ Request uint64 }

// Result answers Push: the head has moved.
type Result struct {
	Request uint64
	Head    ID
}

// Watch asks for the head, now and whenever it moves, until it is canceled.
type Watch struct{ Request uint64 }

// Head answers Watch.
type Head struct {
	Request uint64
	Commit  ID
}

// Get asks for nodes or chunks outside a transfer.
type Get struct {
	Request uint64
	Kind    uint64
	IDs     []ID
}

// Cancel ends a request that the one who sends it has made.
type Cancel struct{ Request uint64 }

// Bye is the last message of one who leaves.
type Bye struct{}

func (*Hello) id() uint64   { return idHello }
func (*Welcome) id() uint64 { return idWelcome }
func (*Failure) id() uint64 { return idFailure }
func (*Ping) id() uint64    { return idPing }
func (*Pong) id() uint64    { return idPong }
func (*Credit) id() uint64  { return idCredit }
func (*Fetch) id() uint64   { return idFetch }
func (*Offer) id() uint64   { return idOffer }
func (*Push) id() uint64    { return idPush }
func (*Commits) id() uint64 { return idCommits }
func (*Edits) id() uint64   { return idEdits }
func (*Want) id() uint64    { return idWant }
func (*Items) id() uint64   { return idItems }
func (*Lacks) id() uint64   { return idLacks }
func (*Done) id() uint64    { return idDone }
func (*Result) id() uint64  { return idResult }
func (*Watch) id() uint64   { return idWatch }
func (*Head) id() uint64    { return idHead }
func (*Get) id() uint64     { return idGet }
func (*Cancel) id() uint64  { return idCancel }
func (*Bye) id() uint64     { return idBye }

func (m *Hello) fields(v visitor) {
	v.uint("version", &m.Version, anyUint)
	v.uint("oldest", &m.Oldest, anyUint)
	v.uint("caps", &m.Caps, anyUint)
	v.uint("flags", &m.Flags, HelloCreate)
	v.text("agent", &m.Agent, maxAgent)
	v.text("workspace", &m.Workspace, maxName)
	v.text("path", &m.Path, maxPath)
	v.uint("rights", &m.Rights, RightRead|RightWrite)
	v.bytes("token", &m.Token, maxToken)
	v.uint("tree window", &m.TreeWindow, maxWindow)
	v.uint("chunk window", &m.ChunkWindow, maxWindow)
}

func (m *Welcome) fields(v visitor) {
	v.uint("version", &m.Version, anyUint)
	v.uint("caps", &m.Caps, anyUint)
	v.text("agent", &m.Agent, maxAgent)
	v.uint("rights", &m.Rights, RightRead|RightWrite)
	v.digest("head", &m.Head)
	v.uint("tree window", &m.TreeWindow, maxWindow)
	v.uint("chunk window", &m.ChunkWindow, maxWindow)
}

func (m *Failure) fields(v visitor) {
	v.uint("request", &m.Request, anyUint)
	v.uint("code", &m.Code, anyUint)
	v.text("text", &m.Text, maxText)
}

func (m *Ping) fields(v visitor) { v.uint("nonce", &m.Nonce, anyUint) }
func (m *Pong) fields(v visitor) { v.uint("nonce", &m.Nonce, anyUint) }

func (m *Credit) fields(v visitor) {
	v.uint("class", &m.Class, uint64(ClassChunk))
	v.uint("bytes", &m.Bytes, maxWindow)
}

func (m *Fetch) fields(v visitor) {
	v.uint("request", &m.Request, anyUint)
	v.digest("target", &m.Target)
	v.uint("flags", &m.Flags, FetchLazy)
	v.ids("bases", &m.Bases, maxBases)
}

func (m *Offer) fields(v visitor) {
	v.uint("request", &m.Request, anyUint)
	v.digest("target", &m.Target)
	v.digest("base", &m.Base)
	v.uint("mode", &m.Mode, uint64(ModeWalk))
}

func (m *Push) fields(v visitor) {
	v.uint("request", &m.Request, anyUint)
	v.digest("expect", &m.Expect)
	v.digest("target", &m.Target)
	v.digest("base", &m.Base)
	v.uint("mode", &m.Mode, uint64(ModeWalk))
}

func (m *Commits) fields(v visitor) {
	v.uint("request", &m.Request, anyUint)
	v.payload("records", &m.Records, maxRaw)
}

func (m *Edits) fields(v visitor) {
	v.uint("request", &m.Request, anyUint)
	v.bool("last", &m.Last)
	v.payload("edits", &m.Edits, maxRaw)
}

func (m *Want) fields(v visitor) {
	v.uint("request", &m.Request, anyUint)
	v.uint("kind", &m.Kind, uint64(KindChunk))
	v.ids("ids", &m.IDs, maxIDs)
}

func (m *Items) fields(v visitor) {
	v.uint("request", &m.Request, anyUint)
	v.uint("kind", &m.Kind, uint64(KindChunk))
	v.bool("ahead", &m.Ahead)
	v.payload("items", &m.Items, maxRaw)
}

func (m *Lacks) fields(v visitor) {
	v.uint("request", &m.Request, anyUint)
	v.uint("kind", &m.Kind, uint64(KindChunk))
	v.ids("ids", &m.IDs, maxIDs)
}

func (m *Done) fields(v visitor) { v.uint("request", &m.Request, anyUint) }

func (m *Result) fields(v visitor) {
	v.uint("request", &m.Request, anyUint)
	v.digest("head", &m.Head)
}

func (m *Watch) fields(v visitor) { v.uint("request", &m.Request, anyUint) }

func (m *Head) fields(v visitor) {
	v.uint("request", &m.Request, anyUint)
	v.digest("commit", &m.Commit)
}

func (m *Get) fields(v visitor) {
	v.uint("request", &m.Request, anyUint)
	v.uint("kind", &m.Kind, uint64(KindChunk))
	v.ids("ids", &m.IDs, maxIDs)
}

func (m *Cancel) fields(v visitor) { v.uint("request", &m.Request, anyUint) }

func (*Bye) fields(visitor) {}
