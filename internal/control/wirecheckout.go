package control

// The calls of checkouts. Package checkout has what they mean.
var (
	CheckoutStream     = newStream[CheckoutRequest, CheckedOut, CheckedOut]("checkout")
	CheckoutsCall      = newCall[CheckoutsRequest, Checkouts]("checkouts")
	RemoveCheckoutCall = newCall[RemoveCheckoutRequest, Empty]("remove-checkout")
)

// CheckoutRequest makes a directory and a workspace equal, once, or with Watch
// until the connection ends. Dir is absolute and there.
type CheckoutRequest struct {
	Workspace string `json:"workspace"`
	Dir       string `json:"dir"`
	DirBytes  []byte `json:"dir_bytes,omitempty"`
	Watch     bool   `json:"watch"`
}

// CheckedOut says what one pass did. Error is why it did not end, in a watch: it
// is tried again.
type CheckedOut struct {
	Added     int                `json:"added"` // from the directory to the workspace
	Changed   int                `json:"changed"`
	Removed   int                `json:"removed"`
	Moved     int                `json:"moved"`
	Emitted   int                `json:"emitted"` // changes of the workspace that the directory got
	Conflicts []CheckoutConflict `json:"conflicts"`
	Problems  []CheckoutProblem  `json:"problems"`
	Error     string             `json:"error,omitempty"`
}

// CheckoutConflict is a file of the directory that changed while the workspace's
// took its place: it was kept as Beside.
type CheckoutConflict struct {
	Path        string `json:"path"`
	Beside      string `json:"beside"`
	PathBytes   []byte `json:"path_bytes,omitempty"`
	BesideBytes []byte `json:"beside_bytes,omitempty"`
}

// CheckoutProblem is a path that was left out, and why.
type CheckoutProblem struct {
	Path      string `json:"path"`
	PathBytes []byte `json:"path_bytes,omitempty"`
	Why       string `json:"why"`
}

// CheckoutsRequest asks for all checkouts.
type CheckoutsRequest struct{}

// Checkouts are the directories that are kept equal with workspaces.
type Checkouts struct {
	Checkouts []Checkout `json:"checkouts"`
}

// Checkout is one of them. Busy says that a pass or a watch is under way.
type Checkout struct {
	Workspace string `json:"workspace"`
	Dir       string `json:"dir"`
	DirBytes  []byte `json:"dir_bytes,omitempty"`
	Busy      bool   `json:"busy"`
}

// RemoveCheckoutRequest ends a checkout. The directory stays as it is.
type RemoveCheckoutRequest struct {
	Dir      string `json:"dir"`
	DirBytes []byte `json:"dir_bytes,omitempty"`
}
