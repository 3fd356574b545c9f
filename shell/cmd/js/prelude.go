package js

import _ "embed"

// The JavaScript side: what node has beyond the language.
var (
	//go:embed lib/inspect.js
	preludeInspect string
	//go:embed lib/path.js
	preludePath string
	//go:embed lib/fs.js
	preludeFS string
	//go:embed lib/node.js
	preludeNode string
)
