package control

import "time"

// The calls of synchronisation. Package replica has what they mean.
var (
	RemotesCall      = newCall[RemotesRequest, Remotes]("remotes")
	SetRemoteCall    = newCall[SetRemoteRequest, Remote]("set-remote")
	RemoveRemoteCall = newCall[RemoveRemoteRequest, Empty]("remove-remote")
	ShareCall        = newCall[ShareRequest, Shared]("share")
	SharesCall       = newCall[SharesRequest, Shares]("shares")
	RevokeCall       = newCall[RevokeRequest, Share]("revoke")
	SyncStream       = newStream[SyncRequest, SyncProgress, Synced]("sync")
	CloneStream      = newStream[CloneRequest, SyncProgress, Synced]("clone")
	WatchStream      = newStream[WatchRequest, Synced, Empty]("watch")
	ConflictsCall    = newCall[ConflictsRequest, Conflicts]("conflicts")
	ResolveCall      = newCall[ResolveRequest, Conflicts]("resolve")
	PolicyCall       = newCall[PolicyRequest, Policy]("policy")
)

// Direction says which way an exchange goes.
type Direction string

// The directions.
const (
	Pull Direction = "pull" // the peer's changes come here and are merged
	Push Direction = "push" // the changes here go to the peer, which must have none of its own
	Both Direction = "both"
)

// SyncRequest asks for an exchange with a remote; "" is the only one, or origin.
type SyncRequest struct {
	Workspace string    `json:"workspace"`
	Remote    string    `json:"remote,omitempty"`
	Direction Direction `json:"direction"`
}

// SyncProgress is what has passed so far. ChunksHad are those that what arrives
// refers to and that were here already.
type SyncProgress struct {
	BytesIn       uint64 `json:"bytes_in"`
	BytesOut      uint64 `json:"bytes_out"`
	ChunksIn      uint64 `json:"chunks_in"`
	ChunksOut     uint64 `json:"chunks_out"`
	ChunkBytesIn  uint64 `json:"chunk_bytes_in"` // before compression
	ChunkBytesOut uint64 `json:"chunk_bytes_out"`
	ChunksHad     uint64 `json:"chunks_had"`
	NodesIn       uint64 `json:"nodes_in"`
	NodesOut      uint64 `json:"nodes_out"`
	EditsIn       uint64 `json:"edits_in"`
	EditsOut      uint64 `json:"edits_out"`
}

// Synced says what an exchange did. Head is the commit here, Peer the remote's.
// In a watch, Lost says why there is no connection just now.
type Synced struct {
	Workspace string       `json:"workspace,omitempty"` // of a clone
	Remote    string       `json:"remote"`
	Head      string       `json:"head,omitempty"`
	Peer      string       `json:"peer,omitempty"`
	Pulled    bool         `json:"pulled"`
	Pushed    bool         `json:"pushed"`
	Merged    bool         `json:"merged"`    // both had changed
	Conflicts int          `json:"conflicts"` // that the merge has listed
	Passed    SyncProgress `json:"passed"`
	Took      int64        `json:"took"` // ns
	Lost      string       `json:"lost,omitempty"`
}

// CloneRequest makes a workspace that is a replica of a peer's; "" names it as the
// peer does. Lazy leaves the bytes of files there until they are used.
type CloneRequest struct {
	URL       string `json:"url"`
	Workspace string `json:"workspace,omitempty"`
	Lazy      bool   `json:"lazy,omitempty"`
	Token     string `json:"token,omitempty"`
	CA        string `json:"ca,omitempty"` // PEM
}

// WatchRequest keeps a workspace and a remote equal until the connection ends. An
// item is an exchange that moved something.
type WatchRequest struct {
	Workspace string `json:"workspace"`
	Remote    string `json:"remote,omitempty"`
}

// ConflictsRequest asks for the conflicts of a workspace.
type ConflictsRequest struct {
	Workspace string `json:"workspace"`
}

// Conflicts are those that nobody has resolved, by path.
type Conflicts struct {
	Conflicts []Conflict `json:"conflicts"`
}

// Conflict is something that a merge could not decide. Kind is "edited" (both have
// written: the other version is Other), "named" (both have given a name: Other got
// one beside it), "deleted" (one has deleted what the other has edited: it is
// kept), "renamed" (both have: it has both names), "moved" (one of two moves of
// directories was taken back) or "attribute" (both have set Name).
type Conflict struct {
	ID         string    `json:"id"`
	Kind       string    `json:"kind"`
	Path       string    `json:"path"`
	Other      string    `json:"other,omitempty"`
	Name       string    `json:"name,omitempty"`
	Replica    string    `json:"replica"` // whose version did not keep the name
	Time       time.Time `json:"time"`    // by that replica's clock
	PathBytes  []byte    `json:"path_bytes,omitempty"`
	OtherBytes []byte    `json:"other_bytes,omitempty"`
	NameBytes  []byte    `json:"name_bytes,omitempty"`
}

// ResolveRequest ends conflicts: those of IDs, of which the first digits will do,
// or all. Keep is "both" (everything stays where it is), "this" (the version
// beside the file goes) or "other" (it takes the file's place).
type ResolveRequest struct {
	Workspace string   `json:"workspace"`
	IDs       []string `json:"ids,omitempty"`
	All       bool     `json:"all,omitempty"`
	Keep      string   `json:"keep"`
}

// RemotesRequest asks where a workspace is synced with.
type RemotesRequest struct {
	Workspace string `json:"workspace"`
}

// Remotes are a workspace's, by name.
type Remotes struct {
	Remotes []Remote `json:"remotes"`
}

// Remote is a workspace of a peer. Fingerprint is that of the peer's key since it
// was first met.
type Remote struct {
	Name        string `json:"name"`
	URL         string `json:"url"`
	HasToken    bool   `json:"has_token"`
	CA          bool   `json:"ca"` // the peer is known by a certificate authority
	Fingerprint string `json:"fingerprint,omitempty"`
}

// SetRemoteRequest names a workspace of a peer, or changes what is said of it.
// Token is what the peer's share gave; CA is certificates in PEM. With Forget the
// fingerprint is forgotten: the next key that the peer shows is taken.
type SetRemoteRequest struct {
	Workspace string `json:"workspace"`
	Name      string `json:"name"`
	URL       string `json:"url"`
	Token     string `json:"token,omitempty"`
	CA        string `json:"ca,omitempty"`
	Forget    bool   `json:"forget,omitempty"`
}

// RemoveRemoteRequest forgets a remote.
type RemoveRemoteRequest struct {
	Workspace string `json:"workspace"`
	Name      string `json:"name"`
}

// ShareRequest makes a token. Path is for tokens of a part of a workspace, which are
// "unsupported" so far; "" is all of it. Lifetime is in nanoseconds; 0 is for ever.
type ShareRequest struct {
	Workspace string `json:"workspace"`
	Path      string `json:"path,omitempty"`
	Write     bool   `json:"write"`
	Lifetime  int64  `json:"lifetime,omitempty"`
	Rate      int64  `json:"rate,omitempty"`  // bytes a second of all its sessions together; 0 is no bound
	Label     string `json:"label,omitempty"` // for people and the audit log
}

// Shared is a new token: whoever has it has the right. URLs are what the daemon
// can be reached at; there are none if it does not listen.
type Shared struct {
	Share       Share    `json:"share"`
	Token       string   `json:"token"`
	Fingerprint string   `json:"fingerprint"` // of the daemon's key
	URLs        []string `json:"urls"`
}

// Share is what is known of a token.
type Share struct {
	ID        string    `json:"id"`
	Workspace string    `json:"workspace"`
	Path      string    `json:"path,omitempty"`
	Write     bool      `json:"write"`
	Rate      int64     `json:"rate,omitempty"` // bytes a second
	Label     string    `json:"label,omitempty"`
	Made      time.Time `json:"made"`
	Expires   time.Time `json:"expires,omitzero"`
	Revoked   time.Time `json:"revoked,omitzero"`
}

// SharesRequest asks for the tokens of a workspace, or of all.
type SharesRequest struct {
	Workspace string `json:"workspace,omitempty"`
}

// Shares are the tokens that were made, oldest first.
type Shares struct {
	Shares []Share `json:"shares"`
}

// RevokeRequest ends a token, of which the first digits of the ID will do.
type RevokeRequest struct {
	ID string `json:"id"`
}

// PolicyRequest asks for the merge policy of a workspace or, when Set is there,
// stores it; "" removes it.
type PolicyRequest struct {
	Workspace string  `json:"workspace"`
	Set       *string `json:"set,omitempty"`
}

// Policy is a merge policy, "" when there is none; docs/sync.md has its form.
type Policy struct {
	Text string `json:"text"`
}
