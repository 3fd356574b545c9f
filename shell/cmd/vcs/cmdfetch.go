package vcs

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

const fetchTable = `q,quiet v,verbose all p,prune t,tags no-tags n f,force depth= unshallow progress no-progress dry-run multiple a,append u,update-head-ok
 recurse-submodules? j,jobs= P,prune-tags deepen= k,keep set-upstream `

// cmdFetch is git fetch.
func (g *git) cmdFetch(args []string) error {
	p, err := g.parse(args, fetchTable)
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	if p.has("all") {
		for _, name := range r.remotes() {
			if !p.has("quiet") {
				g.printf("Fetching %s\n", name)
			}
			if _, err := r.fetch(name, nil, p); err != nil {
				return err
			}
		}
		return nil
	}
	name := r.defaultRemote()
	specs := p.operands
	if len(specs) > 0 {
		name, specs = specs[0], specs[1:]
	}
	_, err = r.fetch(name, specs, p)
	return err
}

// defaultRemote is the one that the branch follows, or origin.
func (r *repo) defaultRemote() string {
	branch, _, _ := r.head()
	if name := r.cfg.get("branch." + branchName(branch) + ".remote"); name != "" {
		return name
	}
	if all := r.remotes(); len(all) == 1 {
		return all[0]
	}
	return "origin"
}

// fetched is a reference that was brought, with what it is for.
type fetched struct {
	name  string // at the remote
	hash  plumbing.Hash
	local string // where it is kept; "" only in FETCH_HEAD
	merge bool
}

// fetch brings references and their objects.
func (r *repo) fetch(name string, specs []string, p *parsed) ([]fetched, error) {
	url, configured := r.remoteURL(name, false)
	if name == "." {
		url, configured = r.dir, false
	}
	if url == "" {
		return nil, fatalf("'%s' does not appear to be a git repository\nfatal: Could not read from remote repository.\n\n"+
			"Please make sure you have the correct access rights\nand the repository exists.", name)
	}
	m, err := r.dial(url)
	if err != nil {
		return nil, err
	}
	defer m.close()
	if err := m.advertise(false); err != nil {
		return nil, err
	}
	list, err := r.plan(m, name, specs, configured)
	if err != nil {
		return nil, err
	}
	var wants []plumbing.Hash
	for _, f := range list {
		wants = append(wants, f.hash)
	}
	if err := m.fetchObjects(wants); err != nil {
		return nil, err
	}
	list = append(list, r.followTags(m, list, p)...)
	u := &updater{repo: r, quiet: p.has("quiet"), url: url, force: p.has("force"), dry: p.has("dry-run")}
	if p.has("prune") && configured {
		if err := u.prune(m, name); err != nil {
			return nil, err
		}
	}
	for _, f := range list {
		if err := u.update(f); err != nil {
			return nil, err
		}
	}
	if err := r.writeFetchHead(list, url); err != nil {
		return nil, err
	}
	if u.failed {
		return list, status(1)
	}
	return list, nil
}

// plan says what to fetch, by the refspecs given or configured.
func (r *repo) plan(m *remote, name string, specs []string, configured bool) ([]fetched, error) {
	var list []fetched
	branch, _, _ := r.head()
	merge := r.cfg.get("branch." + branchName(branch) + ".merge")
	own := r.cfg.get("branch."+branchName(branch)+".remote") == name
	tracking := r.cfg.all("remote." + name + ".fetch")
	if len(specs) == 0 && configured {
		for _, ref := range m.refs {
			for _, s := range tracking {
				if to, ok := mapRef(s, ref.name); ok && validRef(to) {
					list = append(list, fetched{ref.name, ref.hash, to, own && ref.name == merge})
				}
			}
		}
		return list, nil
	}
	if len(specs) == 0 {
		specs = []string{"HEAD"}
	}
	for _, s := range specs {
		src, dst, _ := strings.Cut(strings.TrimPrefix(s, "+"), ":")
		found := false
		for _, ref := range m.refs {
			to, ok := mapRef(src+":"+dst, ref.name)
			if !ok && (ref.name == "refs/heads/"+src || ref.name == "refs/tags/"+src) {
				to, ok = dst, true
			}
			if !ok {
				continue
			}
			found = true
			if to != "" && !strings.HasPrefix(to, "refs/") {
				to = "refs/heads/" + to
			}
			if to == "" && configured {
				for _, t := range tracking {
					if x, ok := mapRef(t, ref.name); ok {
						list = append(list, fetched{ref.name, ref.hash, x, false})
					}
				}
			}
			list = append(list, fetched{ref.name, ref.hash, to, true})
		}
		if !found {
			return nil, fatalf("couldn't find remote ref %s", src)
		}
	}
	return list, nil
}

// followTags adds the tags that point at what is here now.
func (r *repo) followTags(m *remote, list []fetched, p *parsed) []fetched {
	if p.has("no-tags") || len(list) == 0 {
		return nil
	}
	var tags []fetched
	for _, ref := range m.refs {
		if !strings.HasPrefix(ref.name, "refs/tags/") || !validRef(ref.name) {
			continue
		}
		if _, have := r.ref(ref.name); have {
			continue
		}
		if r.st.HasEncodedObject(ref.hash) != nil {
			if !p.has("tags") && m.other == nil {
				continue
			}
			if m.other != nil && !p.has("tags") {
				t, _, err := m.other.peel(ref.hash)
				if err != nil || r.st.HasEncodedObject(t) != nil {
					continue
				}
			}
			if m.fetchObjects([]plumbing.Hash{ref.hash}) != nil {
				continue
			}
		}
		tags = append(tags, fetched{ref.name, ref.hash, ref.name, false})
	}
	return tags
}

// updater sets references after a fetch and tells of it.
type updater struct {
	*repo
	url               string
	quiet, force, dry bool
	headed, failed    bool
}

func (u *updater) say(flag byte, summary, from, to, note string) {
	if u.quiet {
		return
	}
	if !u.headed {
		u.headed = true
		u.complain("From " + strings.TrimSuffix(strings.TrimSuffix(u.url, ".git"), "/"))
	}
	line := fmt.Sprintf(" %c %-17s %-10s -> %s", flag, summary, from, to)
	if note != "" {
		line += "  " + note
	}
	u.complain(line)
}

func (u *updater) update(f fetched) error {
	from, what := shortRef(f.name), "branch"
	if f.name == "HEAD" {
		from = "HEAD"
	}
	if strings.HasPrefix(f.name, "refs/tags/") {
		what = "tag"
	}
	if f.local == "" {
		u.say('*', what, from, "FETCH_HEAD", "")
		return nil
	}
	old, had := u.ref(f.local)
	to := shortRef(f.local)
	set := func(message string) error {
		if u.dry {
			return nil
		}
		return u.setRef(f.local, f.hash, "fetch: "+message)
	}
	switch {
	case !had:
		if what == "branch" && strings.HasPrefix(f.local, "refs/") {
			what = "branch"
		}
		u.say('*', "[new "+what+"]", from, to, "")
		return set("storing head")
	case old == f.hash:
		return nil
	case what == "tag":
		return nil
	}
	ff, err := u.isAncestor(old, f.hash)
	if err != nil {
		return err
	}
	if ff {
		u.say(' ', u.short(old)+".."+u.short(f.hash), from, to, "")
		return set("fast-forward")
	}
	if !strings.HasPrefix(f.local, "refs/remotes/") && !u.force {
		u.say('!', "[rejected]", from, to, "(non-fast-forward)")
		u.failed = true
		return nil
	}
	u.say('+', u.short(old)+"..."+u.short(f.hash), from, to, "(forced update)")
	return set("forced-update")
}

// prune removes tracking branches whose branch is gone.
func (u *updater) prune(m *remote, name string) error {
	live := map[string]bool{}
	for _, s := range u.cfg.all("remote." + name + ".fetch") {
		for _, ref := range m.refs {
			if to, ok := mapRef(s, ref.name); ok {
				live[to] = true
			}
		}
	}
	for _, ref := range u.allRefs("refs/remotes/" + name + "/") {
		if live[ref.name] || strings.HasSuffix(ref.name, "/HEAD") {
			continue
		}
		u.say('-', "[deleted]", "(none)", shortRef(ref.name), "")
		if err := u.removeRef(ref.name); err != nil {
			return err
		}
	}
	return nil
}

func (r *repo) writeFetchHead(list []fetched, url string) error {
	var b strings.Builder
	for _, wanted := range []bool{true, false} {
		for _, f := range list {
			if f.merge != wanted || strings.HasPrefix(f.name, "refs/tags/") && !f.merge {
				continue
			}
			note := "not-for-merge"
			if f.merge {
				note = ""
			}
			what := "branch '" + branchName(f.name) + "' of "
			if f.name == "HEAD" {
				what = ""
			}
			fmt.Fprintf(&b, "%s\t%s\t%s%s\n", f.hash, note, what, url)
		}
	}
	return r.writeGitFile("FETCH_HEAD", b.String())
}
