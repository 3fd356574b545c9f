package posix

// Groups names the groups in their order.
var Groups = []string{
	"names", "open", "unlink", "rename", "directories", "attributes", "xattr", "data", "mmap",
	"locks", "special", "durability", "notify", "coherence", "lifecycle", "identity",
}
