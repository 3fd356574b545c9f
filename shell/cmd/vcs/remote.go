package vcs

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/revlist"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	shellnet "github.com/vfsd/vfsd/shell/cmd/net"
	"github.com/vfsd/vfsd/shell/command"
)

// maxPack bounds what is taken from a remote.
const maxPack = 8 << 30

// remote is the other end of a fetch or a push: another repository of the
// workspace, or a server.
type remote struct {
	*repo
	url   string
	other *repo // nil for a server
	ep    *transport.Endpoint
	http  transport.Transport
	close func()
	refs  []namedRef
	head  string // the branch that its HEAD names
	caps  *capability.List
	adv   *packp.AdvRefs
}

// dial opens the remote at a URL or a path.
func (r *repo) dial(url string) (*remote, error) {
	m := &remote{repo: r, url: url, close: func() {}}
	if strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") {
		ep, err := transport.NewEndpoint(url)
		if err != nil {
			return nil, fatalf("unable to parse '%s': %v", url, err)
		}
		client := shellnet.Client(r.Context, shellnet.ClientOptions{})
		m.ep, m.http, m.close = ep, githttp.NewClientWithOptions(client, &githttp.ClientOptions{}), client.CloseIdleConnections
		return m, nil
	}
	p := url
	if rest, ok := strings.CutPrefix(url, "file://"); ok {
		p = rest
	} else if scheme, _, ok := strings.Cut(url, "://"); ok {
		return nil, fatalf("unable to find remote helper for '%s'", scheme)
	} else if host, _, ok := strings.Cut(url, ":"); ok && !strings.Contains(host, "/") && host != "" {
		return nil, fatalf("ssh remotes are not supported: '%s'", url)
	}
	other, err := r.git.openPath(p)
	if err != nil {
		return nil, err
	}
	m.other = other
	return m, nil
}

// openPath opens another repository of the workspace.
func (g *git) openPath(p string) (*repo, error) {
	full := path.Clean(g.Abs(p))
	for _, dir := range []string{full + "/.git", full, full + ".git"} {
		if to, ok := g.gitFile(dir); ok {
			dir = to
		}
		if g.isGitDir(dir) {
			work := ""
			if path.Base(dir) == ".git" {
				work = path.Dir(dir)
			}
			c := *g
			c.workDir = ""
			return c.openAt(dir, work)
		}
	}
	return nil, fatalf("'%s' does not appear to be a git repository\nfatal: Could not read from remote repository.\n\n"+
		"Please make sure you have the correct access rights\nand the repository exists.", p)
}

// advertise asks for the references.
func (m *remote) advertise(push bool) error {
	if m.other != nil {
		branch, h, born := m.other.head()
		m.head = branch
		if born {
			m.refs = append(m.refs, namedRef{"HEAD", h})
		}
		m.refs = append(m.refs, m.other.allRefs("refs/")...)
		return nil
	}
	var session interface {
		AdvertisedReferencesContext(context.Context) (*packp.AdvRefs, error)
		Close() error
	}
	var err error
	if push {
		session, err = m.http.NewReceivePackSession(m.ep, nil)
	} else {
		session, err = m.http.NewUploadPackSession(m.ep, nil)
	}
	if err != nil {
		return err
	}
	defer session.Close()
	adv, err := session.AdvertisedReferencesContext(m.ctx)
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return nil
	}
	if err != nil {
		return m.netError(err)
	}
	m.adv, m.caps = adv, adv.Capabilities
	all, err := adv.AllReferences()
	if err != nil {
		return err
	}
	for name, ref := range all {
		if ref.Type() == plumbing.SymbolicReference {
			if name == plumbing.HEAD {
				m.head = string(ref.Target())
			}
			continue
		}
		if name != plumbing.HEAD && !validRef(string(name)) {
			continue
		}
		m.refs = append(m.refs, namedRef{string(name), ref.Hash()})
	}
	sortRefs(m.refs)
	return nil
}

// netError puts a failure to reach a server into git's words.
func (m *remote) netError(err error) error {
	var d *shellnet.DialError
	switch {
	case errors.As(err, &d) && errors.Is(err, command.ErrNoHost):
		return fatalf("unable to access '%s/': Could not resolve host: %s", strings.TrimSuffix(m.url, "/"), d.Host)
	case errors.As(err, &d):
		return fatalf("unable to access '%s/': Failed to connect to %s port %d: %s", strings.TrimSuffix(m.url, "/"), d.Host, d.Port, command.Strerror(d.Err))
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fatalf("repository '%s' not found", m.url)
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return fatalf("Authentication failed for '%s'", m.url)
	}
	return fatalf("unable to access '%s': %v", m.url, err)
}

// fetchObjects brings everything reachable from wants.
func (m *remote) fetchObjects(wants []plumbing.Hash) error {
	var missing []plumbing.Hash
	for _, h := range wants {
		if m.st.HasEncodedObject(h) != nil {
			missing = append(missing, h)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var haves []plumbing.Hash
	for _, ref := range m.allRefs("refs/") {
		haves = append(haves, ref.hash)
	}
	if _, h, born := m.repo.head(); born {
		haves = append(haves, h)
	}
	if m.other != nil {
		return m.copyObjects(m.other, m.repo, missing, haves)
	}
	session, err := m.http.NewUploadPackSession(m.ep, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	req := packp.NewUploadPackRequestFromCapabilities(m.caps)
	if m.caps.Supports(capability.NoProgress) {
		if err := req.Capabilities.Set(capability.NoProgress); err != nil {
			return err
		}
	}
	if _, err := session.AdvertisedReferencesContext(m.ctx); err != nil {
		return m.netError(err)
	}
	req.Wants, req.Haves = missing, haves
	resp, err := session.UploadPack(m.ctx, req)
	if err != nil {
		return m.netError(err)
	}
	defer resp.Close()
	var body io.Reader = resp
	switch {
	case req.Capabilities.Supports(capability.Sideband64k):
		body = sideband.NewDemuxer(sideband.Sideband64k, resp)
	case req.Capabilities.Supports(capability.Sideband):
		body = sideband.NewDemuxer(sideband.Sideband, resp)
	}
	return m.repo.storePack(func(w io.Writer) error {
		n, err := io.Copy(w, io.LimitReader(body, maxPack))
		if err == nil && n == maxPack {
			err = fatal("pack is too large")
		}
		return err
	})
}

// copyObjects brings objects from one repository of the workspace to another.
func (m *remote) copyObjects(from, to *repo, wants, haves []plumbing.Hash) error {
	var known []plumbing.Hash
	for _, h := range haves {
		if from.st.HasEncodedObject(h) == nil {
			known = append(known, h)
		}
	}
	ignore, err := revlist.Objects(from.st, known, nil)
	if err != nil {
		return fatalf("%v", err)
	}
	objects, err := revlist.Objects(from.st, wants, ignore)
	if err != nil {
		return fatalf("%v", err)
	}
	if len(objects) == 0 {
		return nil
	}
	return to.storePack(func(w io.Writer) error {
		// No window: deltas would be searched for by goroutines of go-git, whose
		// panics nobody recovers.
		_, err := packfile.NewEncoder(w, from.st, false).Encode(objects, 0)
		return err
	})
}

// storePack writes a pack and its index. It is indexed here and not by go-git's
// writer, which does that in a goroutine that recovers no panic.
func (r *repo) storePack(fill func(io.Writer) error) error {
	fs := newStoreFS(r.FS, r.common)
	f, err := fs.TempFile("objects/pack", "tmp_pack_")
	if err != nil {
		return err
	}
	tmp := f.Name()
	done := false
	defer func() {
		f.Close()
		if !done {
			if err := fs.Remove(tmp); err != nil && !errors.Is(err, syscall.ENOENT) {
				r.complain("warning: " + err.Error())
			}
		}
	}()
	if err := fill(f); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	w := new(idxfile.Writer)
	parser, err := packfile.NewParserWithStorage(packfile.NewScanner(f), r.st, w)
	if err != nil {
		return err
	}
	sum, err := parser.Parse()
	if errors.Is(err, packfile.ErrEmptyPackfile) {
		return nil
	}
	if err != nil {
		return fatalf("index-pack failed: %v", err)
	}
	index, err := w.Index()
	if err != nil {
		return err
	}
	name := "objects/pack/pack-" + sum.String()
	out, err := fs.Create(name + ".idx")
	if err != nil {
		return err
	}
	if _, err = idxfile.NewEncoder(out).Encode(index); err != nil {
		out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	if err := fs.Rename(tmp, name+".pack"); err != nil {
		return err
	}
	done = true
	for _, n := range []string{name + ".pack", name + ".idx"} {
		if err := fs.Chmod(n, 0o444); err != nil {
			return err
		}
	}
	r.st.Reindex()
	return nil
}

// remotes lists the names of the configured remotes, sorted.
func (r *repo) remotes() []string {
	seen := map[string]bool{}
	for _, e := range r.cfg.entries {
		if name, ok := strings.CutPrefix(e.section, "remote."); ok && name != "" {
			seen[name] = true
		}
	}
	return sortedKeys(seen)
}

// mapRef applies a refspec to a name: refs/heads/*:refs/remotes/o/*.
func mapRef(spec, name string) (string, bool) {
	src, dst, _ := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
	before, after, star := strings.Cut(src, "*")
	if !star {
		return dst, src == name
	}
	if len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	return strings.Replace(dst, "*", name[len(before):len(name)-len(after)], 1), true
}

// remoteURL is where a remote is: its configured URL, or the name itself.
func (r *repo) remoteURL(name string, push bool) (string, bool) {
	if push {
		if u := r.cfg.get("remote." + name + ".pushurl"); u != "" {
			return u, true
		}
	}
	if u := r.cfg.get("remote." + name + ".url"); u != "" {
		return u, true
	}
	if strings.ContainsAny(name, "/:.") {
		return name, false
	}
	if _, err := r.FS.Stat(name); err == nil {
		return name, false
	}
	return "", false
}

// push sends objects and moves references of the remote.
func (m *remote) push(cmds []*packp.Command) (map[string]string, error) {
	var wants, haves []plumbing.Hash
	for _, c := range cmds {
		if !c.New.IsZero() {
			wants = append(wants, c.New)
		}
	}
	for _, ref := range m.refs {
		haves = append(haves, ref.hash)
	}
	failed := map[string]string{}
	if m.other != nil {
		if len(wants) > 0 {
			if err := m.copyObjects(m.repo, m.other, wants, haves); err != nil {
				return nil, err
			}
		}
		for _, c := range cmds {
			if why, err := m.updateOther(c); err != nil {
				return nil, err
			} else if why != "" {
				failed[string(c.Name)] = why
			}
		}
		return failed, nil
	}
	return m.pushHTTP(cmds, wants, haves)
}

// updateOther moves a reference of another repository of the workspace.
func (m *remote) updateOther(c *packp.Command) (refused string, err error) {
	branch, _, _ := m.other.head()
	if string(c.Name) == branch && m.other.work != "" {
		switch m.other.cfg.get("receive.denycurrentbranch") {
		case "ignore", "warn", "false", "updateInstead":
		default:
			m.complain(strings.ReplaceAll(denyCurrent, "REF", string(c.Name)))
			return "branch is currently checked out", nil
		}
	}
	if c.New.IsZero() {
		return "", m.other.removeRef(string(c.Name))
	}
	o := *m.other
	return "", o.setRef(string(c.Name), c.New, "push")
}

// denyCurrent is the remote's refusal; git pads what a remote says.
const denyCurrent = "remote: error: refusing to update checked out branch: REF        " + "\n" +
	"remote: error: By default, updating the current branch in a non-bare repository        " + "\n" +
	"remote: is denied, because it will make the index and work tree inconsistent        " + "\n" +
	"remote: with what you pushed, and will require 'git reset --hard' to match        " + "\n" +
	"remote: the work tree to HEAD.        " + "\n" +
	"remote: " + "\n" +
	"remote: You can set the 'receive.denyCurrentBranch' configuration variable        " + "\n" +
	"remote: to 'ignore' or 'warn' in the remote repository to allow pushing into        " + "\n" +
	"remote: its current branch; however, this is not recommended unless you        " + "\n" +
	"remote: arranged to update its work tree to match what you pushed in some        " + "\n" +
	"remote: other way.        " + "\n" +
	"remote: " + "\n" +
	"remote: To squelch this message and still keep the default behaviour, set        " + "\n" +
	"remote: 'receive.denyCurrentBranch' configuration variable to 'refuse'.        "

func (m *remote) pushHTTP(cmds []*packp.Command, wants, haves []plumbing.Hash) (map[string]string, error) {
	var known []plumbing.Hash
	for _, h := range haves {
		if m.st.HasEncodedObject(h) == nil {
			known = append(known, h)
		}
	}
	ignore, err := revlist.Objects(m.st, known, nil)
	if err != nil {
		return nil, err
	}
	objects, err := revlist.Objects(m.st, wants, ignore)
	if err != nil {
		return nil, err
	}
	session, err := m.http.NewReceivePackSession(m.ep, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	if _, err := session.AdvertisedReferencesContext(m.ctx); err != nil && !errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return nil, m.netError(err)
	}
	caps := m.caps
	if caps == nil {
		caps = capability.NewList()
	}
	req := packp.NewReferenceUpdateRequestFromCapabilities(caps)
	req.Commands = cmds
	rd, wr := io.Pipe()
	var done <-chan error
	if len(wants) > 0 {
		req.Packfile = rd
		done = command.Go(func() {
			_, err := packfile.NewEncoder(wr, m.st, false).Encode(objects, 0)
			wr.CloseWithError(err)
		})
	}
	report, err := session.ReceivePack(m.ctx, req)
	rd.Close()
	if done != nil {
		if e := <-done; err == nil {
			err = e
		}
	}
	failed := map[string]string{}
	if report != nil {
		for _, s := range report.CommandStatuses {
			if s.Status != "ok" {
				failed[string(s.ReferenceName)] = s.Status
			}
		}
	}
	if err != nil && len(failed) == 0 {
		return nil, m.netError(err)
	}
	return failed, nil
}
