package vcs

import (
	"bytes"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/vfsd/vfsd/vfs"
)

// objectCache is how many bytes of objects a run keeps.
const objectCache = 16 << 20

// maxBlob is the largest file that is read whole.
const maxBlob = 1 << 30

// repo is an open repository.
type repo struct {
	*git
	dir    string // the .git directory
	common string // where objects and references are
	work   string // the top of the work tree; "" in a bare repository
	prefix string // the working directory below it: "" or "a/b/"
	st     *filesystem.Storage
	cfg    *settings
}

// find looks for the repository: --git-dir, or upwards from the working
// directory.
func (g *git) find() (dir, work string, err error) {
	if g.gitDir != "" {
		dir = path.Clean(g.Abs(g.gitDir))
		if !g.isGitDir(dir) {
			return "", "", fatalf("not a git repository: '%s'", g.gitDir)
		}
		work = g.Dir
		if g.workDir != "" {
			work = g.Abs(g.workDir)
		}
		return dir, path.Clean(work), nil
	}
	top := g.Env.Get("GIT_CEILING_DIRECTORIES")
	for d := path.Clean(g.Dir); ; d = path.Dir(d) {
		dot := path.Join(d, ".git")
		if to, ok := g.gitFile(dot); ok {
			dot = to
		}
		if g.isGitDir(dot) {
			if g.workDir != "" {
				d = path.Clean(g.Abs(g.workDir))
			}
			return dot, d, nil
		}
		if g.isGitDir(d) {
			return d, "", nil
		}
		if d == "/" || d == top {
			return "", "", fatal("not a git repository (or any of the parent directories): .git")
		}
	}
}

// gitFile reads a .git that is a file and names the directory.
func (g *git) gitFile(file string) (string, bool) {
	a, err := g.FS.Stat(file)
	if err != nil || !a.IsRegular() {
		return "", false
	}
	b, err := g.FS.ReadFile(file, 4096)
	to, ok := strings.CutPrefix(string(b), "gitdir: ")
	if err != nil || !ok {
		return "", false
	}
	to = strings.TrimRight(to, "\n")
	if !path.IsAbs(to) {
		to = path.Join(path.Dir(file), to)
	}
	return to, true
}

func (g *git) isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := g.FS.Lstat(path.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// open opens the repository of the working directory.
func (g *git) open() (*repo, error) {
	dir, work, err := g.find()
	if err != nil {
		return nil, err
	}
	r, err := g.openAt(dir, work)
	if err != nil {
		return nil, err
	}
	if work != "" {
		switch cwd := path.Clean(g.Dir); {
		case cwd == work, work == "/":
			r.prefix = strings.TrimPrefix(cwd+"/", work)
			r.prefix = strings.TrimPrefix(r.prefix, "/")
		case strings.HasPrefix(cwd, work+"/"):
			r.prefix = cwd[len(work)+1:] + "/"
		}
	}
	return r, nil
}

// openAt opens the repository in dir.
func (g *git) openAt(dir, work string) (*repo, error) {
	c := *g
	c.gitDir = dir
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if v := cfg.get("core.repositoryformatversion"); v != "" && v != "0" && v != "1" {
		return nil, fatalf("Expected git repo version <= 1, found %s", v)
	}
	if f := cfg.get("extensions.objectformat"); f != "" && f != "sha1" {
		return nil, fatalf("unsupported object format '%s'", f)
	}
	if cfg.flag("core.bare", false) && g.workDir == "" {
		work = ""
	}
	r := &repo{git: g, dir: dir, common: dir, work: work, cfg: cfg}
	if b, err := g.FS.ReadFile(path.Join(dir, "commondir"), 4096); err == nil {
		if r.common = strings.TrimSpace(string(b)); !path.IsAbs(r.common) {
			r.common = path.Join(dir, r.common)
		}
	}
	r.st = filesystem.NewStorageWithOptions(newStoreFS(g.FS, r.common), cache.NewObjectLRU(objectCache),
		filesystem.Options{AlternatesFS: newStoreFS(g.FS, "/")})
	return r, nil
}

// openWork opens the repository and demands a work tree.
func (g *git) openWork() (*repo, error) {
	r, err := g.open()
	if err == nil && r.work == "" {
		err = fatal("this operation must be run in a work tree")
	}
	return r, err
}

// file is a path in the git directory.
func (r *repo) file(name string) string { return path.Join(r.dir, name) }

// abs is the absolute path of a name of the work tree.
func (r *repo) abs(name string) string { return path.Join(r.work, name) }

// relative shows a name of the work tree from the working directory.
func (r *repo) relative(name string) string {
	if r.prefix == "" {
		return name
	}
	up := strings.TrimSuffix(r.prefix, "/")
	back := ""
	for up != "." && up != "" {
		if name == up {
			return back + "./"
		}
		if rest, ok := strings.CutPrefix(name, up+"/"); ok {
			if back+rest == "" {
				return "./"
			}
			return back + rest
		}
		back += "../"
		up = path.Dir(up)
	}
	return back + name
}

// writeGitFile writes a small file of the git directory.
func (r *repo) writeGitFile(name, text string) error {
	p := r.file(name)
	if err := r.FS.MkdirAll(path.Dir(p), 0o777); err != nil {
		return err
	}
	return r.FS.WriteFile(p, []byte(text), 0o666)
}

// readGitFile reads a small file of the git directory; "" when it is not there.
func (r *repo) readGitFile(name string) string {
	b, err := r.FS.ReadFile(r.file(name), maxConfig)
	if err != nil {
		return ""
	}
	return string(b)
}

func (r *repo) exists(name string) bool {
	_, err := r.FS.Lstat(r.file(name))
	return err == nil
}

func (r *repo) removeGitFile(name string) error {
	err := r.FS.Unlink(r.file(name))
	if errors.Is(err, syscall.ENOENT) {
		return nil
	}
	return err
}

// store writes an object.
func (r *repo) store(t plumbing.ObjectType, data []byte) (plumbing.Hash, error) {
	o := r.st.NewEncodedObject()
	o.SetType(t)
	o.SetSize(int64(len(data)))
	w, err := o.Writer()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if _, err := w.Write(data); err != nil {
		return plumbing.ZeroHash, err
	}
	if err := w.Close(); err != nil {
		return plumbing.ZeroHash, err
	}
	if r.st.HasEncodedObject(o.Hash()) == nil {
		return o.Hash(), nil
	}
	return r.st.SetEncodedObject(o)
}

// encode writes an object of go-git.
func (r *repo) encode(v interface {
	Encode(plumbing.EncodedObject) error
}) (plumbing.Hash, error) {
	o := r.st.NewEncodedObject()
	if err := v.Encode(o); err != nil {
		return plumbing.ZeroHash, err
	}
	if r.st.HasEncodedObject(o.Hash()) == nil {
		return o.Hash(), nil
	}
	return r.st.SetEncodedObject(o)
}

// load reads an object whole.
func (r *repo) load(h plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	o, err := r.st.EncodedObject(plumbing.AnyObject, h)
	if err != nil {
		return 0, nil, fatalf("unable to read object %s: %v", h, err)
	}
	if o.Size() > maxBlob {
		return 0, nil, fatalf("object %s is too large", h)
	}
	if err := r.Memory.Grow(o.Size()); err != nil {
		return 0, nil, err
	}
	defer r.Memory.Shrink(o.Size())
	rd, err := o.Reader()
	if err != nil {
		return 0, nil, err
	}
	defer rd.Close()
	b, err := io.ReadAll(io.LimitReader(rd, maxBlob))
	return o.Type(), b, err
}

// blob reads a blob; the zero hash is an empty one.
func (r *repo) blob(h plumbing.Hash) ([]byte, error) {
	if h.IsZero() {
		return nil, nil
	}
	t, b, err := r.load(h)
	if err == nil && t != plumbing.BlobObject {
		err = fatalf("object %s is a %s, not a blob", h, t)
	}
	return b, err
}

func (r *repo) commit(h plumbing.Hash) (*object.Commit, error) {
	c, err := object.GetCommit(r.st, h)
	if err != nil {
		return nil, fatalf("bad object %s", h)
	}
	return c, nil
}

// short abbreviates a hash: seven digits, or as many as tell it apart.
func (r *repo) short(h plumbing.Hash) string {
	s := h.String()
	if h.IsZero() {
		return s[:7]
	}
	for n := 7; n < len(s); n++ {
		if len(r.withPrefix(s[:n])) <= 1 {
			return s[:n]
		}
	}
	return s
}

// withPrefix lists the objects whose names begin so.
func (r *repo) withPrefix(prefix string) []plumbing.Hash {
	if r.st == nil {
		return nil
	}
	even := prefix[:len(prefix)&^1]
	raw := make([]byte, 0, len(even)/2)
	for i := 0; i < len(even); i += 2 {
		v, err := strconv.ParseUint(even[i:i+2], 16, 8)
		if err != nil {
			return nil
		}
		raw = append(raw, byte(v))
	}
	hs, err := r.st.HashesWithPrefix(raw)
	if err != nil {
		return nil
	}
	seen := map[plumbing.Hash]bool{}
	var found []plumbing.Hash
	for _, h := range hs {
		if strings.HasPrefix(h.String(), prefix) && !seen[h] {
			seen[h] = true
			found = append(found, h)
		}
	}
	return found
}

// signature is who does it and when: role is AUTHOR or COMMITTER.
func (r *repo) signature(role string) (object.Signature, error) {
	s := object.Signature{Name: r.Env.Get("GIT_" + role + "_NAME"), Email: r.Env.Get("GIT_" + role + "_EMAIL")}
	if s.Name == "" {
		s.Name = r.cfg.get("user.name")
	}
	if s.Email == "" {
		s.Email = r.cfg.get("user.email")
	}
	if s.Email == "" {
		s.Email = r.Env.Get("EMAIL")
	}
	s.Name, s.Email = cleanIdent(s.Name), cleanIdent(s.Email)
	if s.Email == "" || s.Name == "" {
		return s, r.noIdentity(role, s.Email == "")
	}
	s.When = r.Now().In(r.Location).Truncate(time.Second)
	if d := r.Env.Get("GIT_" + role + "_DATE"); d != "" {
		t, ok := r.parseDate(d)
		if !ok {
			return s, fatalf("invalid date format: %s", d)
		}
		s.When = t
	}
	return s, nil
}

// cleanIdent removes what cannot stand in an identity.
func cleanIdent(s string) string {
	s = strings.Map(func(c rune) rune {
		if c == '<' || c == '>' || c == '\n' {
			return -1
		}
		return c
	}, s)
	return strings.Trim(s, " .,:;<>\"\\'\t")
}

// noIdentity asks for the user's name in git's words.
func (r *repo) noIdentity(role string, email bool) error {
	word := map[string]string{"AUTHOR": "Author", "COMMITTER": "Committer"}[role]
	r.complain(word + ` identity unknown

*** Please tell me who you are.

Run

  git config --global user.email "you@example.com"
  git config --global user.name "Your Name"

to set your account's default identity.
Omit --global to set the identity only in this repository.
`)
	if email {
		name := "root"
		if u, ok := r.System.UserByID(r.FS.Op.UID); ok {
			name = u.Name
		}
		return fatalf("unable to auto-detect email address (got '%s@%s.(none)')", name, r.System.Host().Name)
	}
	return fatal("unable to auto-detect name")
}

// fileData reads a file or a link of the work tree as git stores it.
func (r *repo) fileData(name string, a *vfs.Attr) ([]byte, error) {
	if a.IsSymlink() {
		s, err := r.FS.Readlink(r.abs(name))
		return []byte(s), err
	}
	if err := r.Memory.Grow(int64(a.Size)); err != nil {
		return nil, err
	}
	defer r.Memory.Shrink(int64(a.Size))
	return r.FS.ReadFile(r.abs(name), maxBlob)
}

// hashData is the name that data would have as a blob.
func hashData(data []byte) plumbing.Hash { return plumbing.ComputeHash(plumbing.BlobObject, data) }

// isBinary says what git thinks of a file: a NUL in its first 8000 bytes.
func isBinary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 }
