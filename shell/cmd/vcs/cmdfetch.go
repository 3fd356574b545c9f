package vcs

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
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

// cmdPull is git pull.
func (g *git) cmdPull(args []string) error {
	p, err := g.parse(args, fetchTable+`ff ff-only rebase? r no-rebase commit no-commit e,edit no-edit s,strategy= X,strategy-option= squash no-squash stat no-stat
 allow-unrelated-histories autostash no-autostash m= signoff`)
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	if p.has("rebase") && p.get("rebase") != "false" || p.has("r") {
		return fatal("pull --rebase is not supported; use --no-rebase or --ff-only")
	}
	name, specs := r.defaultRemote(), p.operands
	if len(specs) > 0 {
		name, specs = specs[0], specs[1:]
	}
	if url, _ := r.remoteURL(name, false); url == "" && len(p.operands) == 0 {
		return r.noTracking("<remote>")
	}
	list, err := r.fetch(name, specs, p)
	if err != nil {
		return err
	}
	var from *fetched
	for i := range list {
		if list[i].merge {
			from = &list[i]
		}
	}
	if from == nil {
		return r.noTracking(name)
	}
	c, err := r.peelCommit(from.hash)
	if err != nil {
		return err
	}
	if err := r.divergent(c, p); err != nil {
		return err
	}
	url, _ := r.remoteURL(name, false)
	m := &mergeRun{repo: r, p: p, their: c, name: c.Hash.String(), message: p.get("m")}
	m.whole = "Merge branch '" + branchName(from.name) + "' of " + url
	if b, _, _ := r.head(); branchName(b) != "master" && branchName(b) != "main" {
		m.whole += " into " + branchName(b)
	}
	return m.run()
}

// noTracking says that pull does not know what to merge.
func (r *repo) noTracking(remote string) error {
	branch, _, _ := r.head()
	r.complain("There is no tracking information for the current branch.\nPlease specify which branch you want to merge with.\n" +
		"See git-pull(1) for details.\n\n    git pull <remote> <branch>\n\nIf you wish to set tracking information for this branch you can do so with:\n\n" +
		"    git branch --set-upstream-to=" + remote + "/<branch> " + branchName(branch) + "\n")
	return status(1)
}

// divergent asks how to reconcile, when the branches diverged and nothing says.
func (r *repo) divergent(c *object.Commit, p *parsed) error {
	_, head, born := r.head()
	if !born || p.given("rebase") || p.has("no-rebase") || p.given("ff") || p.has("ff-only") || r.cfg.get("pull.rebase") != "" || r.cfg.get("pull.ff") != "" {
		return nil
	}
	for _, pair := range [][2]plumbing.Hash{{head, c.Hash}, {c.Hash, head}} {
		in, err := r.isAncestor(pair[0], pair[1])
		if in || err != nil {
			return err
		}
	}
	r.complain(`hint: You have divergent branches and need to specify how to reconcile them.
hint: You can do so by running one of the following commands sometime before
hint: your next pull:
hint:
hint:   git config pull.rebase false  # merge
hint:   git config pull.rebase true   # rebase
hint:   git config pull.ff only       # fast-forward only
hint:
hint: You can replace "git config" with "git config --global" to set a default
hint: preference for all repositories. You can also pass --rebase, --no-rebase,
hint: or --ff-only on the command line to override the configured default per
hint: invocation.`)
	return fatal("Need to specify how to reconcile divergent branches.")
}

// cmdPush is git push.
func (g *git) cmdPush(args []string) error {
	p, err := g.parse(args, `q,quiet v,verbose u,set-upstream f,force force-with-lease? tags all mirror d,delete n,dry-run progress no-progress follow-tags
 porcelain atomic no-verify o,push-option= prune`)
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	name, specs := r.defaultRemote(), p.operands
	if len(specs) > 0 {
		name, specs = specs[0], specs[1:]
	}
	url, _ := r.remoteURL(name, true)
	if url == "" {
		if len(p.operands) == 0 {
			return fatal("No configured push destination.\nEither specify the URL from the command-line or configure a remote repository using\n\n" +
				"    git remote add <name> <url>\n\nand then push using the remote name\n\n    git push <name>\n")
		}
		return fatalf("'%s' does not appear to be a git repository\nfatal: Could not read from remote repository.\n\n"+
			"Please make sure you have the correct access rights\nand the repository exists.", name)
	}
	m, err := r.dial(url)
	if err != nil {
		return err
	}
	defer m.close()
	if err := m.advertise(true); err != nil {
		return err
	}
	ps := &pusher{repo: r, p: p, m: m, remote: name, url: url}
	return ps.run(specs)
}

// pusher is one push.
type pusher struct {
	*repo
	p           *parsed
	m           *remote
	remote, url string
	cmds        []*packp.Command
	lines       []string
	rejected    bool
	unseen      bool              // the remote has commits that are not here
	sources     map[string]string // the local name of each reference
}

func (ps *pusher) run(specs []string) error {
	specs, err := ps.expand(specs)
	if err != nil {
		return err
	}
	ps.sources = map[string]string{}
	for _, s := range specs {
		if err := ps.add(s); err != nil {
			return err
		}
	}
	failed := map[string]string{}
	if len(ps.cmds) > 0 && !ps.p.has("dry-run") {
		if failed, err = ps.m.push(ps.cmds); err != nil {
			return err
		}
	}
	if err := ps.tell(failed); err != nil {
		return err
	}
	if err := ps.track(specs, failed); err != nil {
		return err
	}
	if ps.rejected || len(failed) > 0 {
		ps.complain("error: failed to push some refs to '" + ps.url + "'")
		if ps.rejected && ps.unseen {
			ps.complain("hint: Updates were rejected because the remote contains work that you do\nhint: not have locally. This is usually caused by another repository pushing\n" +
				"hint: to the same ref. You may want to first integrate the remote changes\nhint: (e.g., 'git pull ...') before pushing again.\n" +
				"hint: See the 'Note about fast-forwards' in 'git push --help' for details.")
		} else if ps.rejected {
			ps.complain("hint: Updates were rejected because the tip of your current branch is behind\nhint: its remote counterpart. Integrate the remote changes (e.g.\n" +
				"hint: 'git pull ...') before pushing again.\nhint: See the 'Note about fast-forwards' in 'git push --help' for details.")
		}
		return status(1)
	}
	return nil
}

// expand makes refspecs of what was given: SRC:DST with full names.
func (ps *pusher) expand(specs []string) ([]string, error) {
	var out []string
	branch, _, _ := ps.head()
	switch {
	case ps.p.has("all") || ps.p.has("mirror"):
		for _, ref := range ps.allRefs("refs/heads/") {
			out = append(out, ref.name+":"+ref.name)
		}
	case len(specs) == 0 && !ps.p.has("tags"):
		if branch == "" {
			return nil, fatal("You are not currently on a branch.\nTo push the history leading to the current (detached HEAD)\nstate now, use\n\n" +
				"    git push " + ps.remote + " HEAD:<name-of-remote-branch>\n")
		}
		merge := ps.cfg.get("branch." + branchName(branch) + ".merge")
		if merge == "" && !ps.p.has("set-upstream") && ps.cfg.get("push.autosetupremote") != "true" && ps.cfg.get("push.default") != "current" {
			name := branchName(branch)
			return nil, fatalf("The current branch %s has no upstream branch.\nTo push the current branch and set the remote as upstream, use\n\n"+
				"    git push --set-upstream %s %s\n\nTo have this happen automatically for branches without a tracking\nupstream, see 'push.autoSetupRemote' in 'git help config'.\n", name, ps.remote, name)
		}
		if merge == "" {
			merge = branch
		}
		out = append(out, branch+":"+merge)
	}
	if ps.p.has("tags") || ps.p.has("mirror") {
		for _, ref := range ps.allRefs("refs/tags/") {
			out = append(out, ref.name+":"+ref.name)
		}
	}
	for _, s := range specs {
		full, err := ps.fullSpec(s, branch)
		if err != nil {
			return nil, err
		}
		out = append(out, full)
	}
	return out, nil
}

func (ps *pusher) fullSpec(s, branch string) (string, error) {
	force := ""
	if rest, ok := strings.CutPrefix(s, "+"); ok {
		force, s = "+", rest
	}
	src, dst, two := strings.Cut(s, ":")
	if ps.p.has("delete") {
		src, dst, two = "", s, true
	}
	full := ""
	if src != "" {
		if src == "HEAD" && branch != "" && !two {
			full = branch
		} else if f, _, ok := ps.fullRef(src); ok {
			full = f
		} else if _, ok := ps.resolve(src); ok {
			full = src
		} else {
			ps.complain("error: src refspec " + src + " does not match any")
			return "", failf("failed to push some refs to '%s'", ps.url)
		}
	}
	if !two {
		dst = full
	}
	if !strings.HasPrefix(dst, "refs/") {
		prefix := "refs/heads/"
		for _, ref := range ps.m.refs {
			if ref.name == "refs/tags/"+dst {
				prefix = "refs/tags/"
			}
		}
		if strings.HasPrefix(full, "refs/tags/") {
			prefix = "refs/tags/"
		}
		dst = prefix + dst
	}
	if !validRef(dst) {
		return "", fatalf("invalid refspec '%s'", s)
	}
	return force + full + ":" + dst, nil
}

// add checks one refspec against what the remote has.
func (ps *pusher) add(s string) error {
	force := ps.p.has("force") || ps.p.given("force-with-lease") || strings.HasPrefix(s, "+")
	src, dst, _ := strings.Cut(strings.TrimPrefix(s, "+"), ":")
	var old, now plumbing.Hash
	for _, ref := range ps.m.refs {
		if ref.name == dst {
			old = ref.hash
		}
	}
	from := shortRef(src)
	if src != "" {
		var ok bool
		if now, ok = ps.resolve(src); !ok {
			return failf("src refspec %s does not match any", src)
		}
	}
	ps.sources[dst] = src
	say := func(flag byte, summary, note string) {
		line := fmt.Sprintf(" %c %-17s %s -> %s", flag, summary, from, shortRef(dst))
		if src == "" {
			line = fmt.Sprintf(" %c %-17s %s", flag, summary, shortRef(dst))
		}
		if note != "" {
			line += " " + note
		}
		ps.lines = append(ps.lines, line)
	}
	cmd := &packp.Command{Name: plumbing.ReferenceName(dst), Old: old, New: now}
	switch {
	case src == "" && old.IsZero():
		return failf("unable to delete '%s': remote ref does not exist\nerror: failed to push some refs to '%s'", shortRef(dst), ps.url)
	case src == "":
		say('-', "[deleted]", "")
	case old == now:
		if ps.p.has("verbose") {
			say('=', "[up to date]", "")
		}
		return nil
	case old.IsZero():
		word := "branch"
		if strings.HasPrefix(dst, "refs/tags/") {
			word = "tag"
		}
		say('*', "[new "+word+"]", "")
	default:
		ff := false
		if ps.st.HasEncodedObject(old) == nil && !strings.HasPrefix(dst, "refs/tags/") {
			var err error
			if ff, err = ps.isAncestor(old, now); err != nil {
				return err
			}
		}
		switch {
		case ff:
			say(' ', ps.short(old)+".."+ps.short(now), "")
		case force:
			say('+', ps.short(old)+"..."+ps.short(now), "(forced update)")
		default:
			why := "(non-fast-forward)"
			if ps.st.HasEncodedObject(old) != nil {
				why = "(fetch first)"
				ps.unseen = true
			}
			if strings.HasPrefix(dst, "refs/tags/") {
				why = "(already exists)"
			}
			say('!', "[rejected]", why)
			ps.rejected = true
			return nil
		}
	}
	ps.cmds = append(ps.cmds, cmd)
	return nil
}

// tell reports what was pushed and keeps the tracking branches up to date.
func (ps *pusher) tell(failed map[string]string) error {
	if len(ps.lines) == 0 {
		if !ps.p.has("quiet") {
			ps.complain("Everything up-to-date")
		}
		return nil
	}
	if !ps.p.has("quiet") || ps.rejected || len(failed) > 0 {
		ps.complain("To " + ps.url)
		for _, l := range ps.lines {
			for name, why := range failed {
				if strings.HasSuffix(l, " -> "+shortRef(name)) {
					l = fmt.Sprintf(" ! [remote rejected] %s -> %s (%s)", shortRef(ps.sources[name]), shortRef(name), why)
				}
			}
			ps.complain(l)
		}
	}
	if ps.p.has("dry-run") {
		return nil
	}
	for _, c := range ps.cmds {
		for _, s := range ps.cfg.all("remote." + ps.remote + ".fetch") {
			to, ok := mapRef(s, string(c.Name))
			if !ok || failed[string(c.Name)] != "" {
				continue
			}
			var err error
			if c.New.IsZero() {
				if _, have := ps.ref(to); have {
					err = ps.removeRef(to)
				}
			} else {
				err = ps.setRef(to, c.New, "update by push")
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// track sets the upstream of the branches that were pushed.
func (ps *pusher) track(specs []string, failed map[string]string) error {
	if !ps.p.has("set-upstream") || ps.p.has("dry-run") {
		return nil
	}
	for _, s := range specs {
		src, dst, _ := strings.Cut(strings.TrimPrefix(s, "+"), ":")
		if !strings.HasPrefix(src, "refs/heads/") || failed[dst] != "" || ps.rejected {
			continue
		}
		branch := branchName(src)
		if err := ps.editConfig(ps.common+"/config", func(f *configFile) error {
			if err := f.set("branch."+branch+".remote", ps.remote); err != nil {
				return err
			}
			return f.set("branch."+branch+".merge", dst)
		}); err != nil {
			return err
		}
		ps.printf("branch '%s' set up to track '%s'.\n", branch, ps.remote+"/"+branchName(dst))
	}
	return nil
}
