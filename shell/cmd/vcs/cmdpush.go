package vcs

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

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
