package vcs

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// logEntry is a line of a reflog.
type logEntry struct {
	from, to plumbing.Hash
	who      string // name <email> seconds zone
	message  string
}

// reflog reads the log of a reference, oldest first.
func (r *repo) reflog(ref string) []logEntry {
	b, err := r.FS.ReadFile(path.Join(r.common, "logs", ref), 64<<20)
	if err != nil {
		return nil
	}
	var log []logEntry
	for _, line := range strings.Split(string(b), "\n") {
		head, message, _ := strings.Cut(line, "\t")
		if len(head) < 82 || !plumbing.IsHash(head[:40]) || !plumbing.IsHash(head[41:81]) {
			continue
		}
		log = append(log, logEntry{plumbing.NewHash(head[:40]), plumbing.NewHash(head[41:81]), head[82:], message})
	}
	return log
}

// logs reports whether changes of a reference are logged.
func (r *repo) logs(ref string) bool {
	if !r.cfg.flag("core.logallrefupdates", r.work != "") {
		return false
	}
	return ref == "HEAD" || strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/remotes/") || ref == "refs/stash"
}

// writeLog appends to the log of a reference.
func (r *repo) writeLog(ref string, from, to plumbing.Hash, message string) error {
	if !r.logs(ref) {
		return nil
	}
	who := "root <root@vfsd> " + formatRaw(r.Now().In(r.Location))
	if s, err := r.quietSignature(); err == nil {
		who = fmt.Sprintf("%s <%s> %s", s.Name, s.Email, formatRaw(s.When))
	}
	return r.appendLog(ref, logEntry{from, to, who, strings.ReplaceAll(message, "\n", " ")})
}

func (r *repo) appendLog(ref string, entries ...logEntry) error {
	p := path.Join(r.common, "logs", ref)
	if err := r.FS.MkdirAll(path.Dir(p), 0o777); err != nil {
		return err
	}
	f, err := r.FS.OpenFile(p, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	for _, e := range entries {
		line := e.from.String() + " " + e.to.String() + " " + e.who
		if e.message != "" {
			line += "\t" + e.message
		}
		if _, err := f.Write([]byte(line + "\n")); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}

// rewriteLog replaces a log.
func (r *repo) rewriteLog(ref string, entries []logEntry) error {
	p := path.Join(r.common, "logs", ref)
	if err := r.FS.Unlink(p); err != nil && !errors.Is(err, syscall.ENOENT) {
		return err
	}
	if len(entries) == 0 {
		return nil
	}
	return r.appendLog(ref, entries...)
}

// setRef moves a reference and logs it. A symbolic HEAD moves its branch, and
// both are logged; a branch that HEAD names is logged for HEAD too.
func (r *repo) setRef(name string, to plumbing.Hash, message string) error {
	target := name
	branch, _, _ := r.head()
	if name == "HEAD" && branch != "" {
		target = branch
	}
	from, _ := r.ref(target)
	if err := r.st.SetReference(plumbing.NewHashReference(plumbing.ReferenceName(target), to)); err != nil {
		return err
	}
	if err := r.writeLog(target, from, to, message); err != nil {
		return err
	}
	if target != "HEAD" && target == branch {
		return r.writeLog("HEAD", from, to, message)
	}
	return nil
}

// attach makes HEAD name a branch, or a commit when branch is "".
func (r *repo) attach(branch string, to plumbing.Hash, message string) error {
	_, from, _ := r.head()
	ref := plumbing.NewHashReference(plumbing.HEAD, to)
	if branch != "" {
		ref = plumbing.NewSymbolicReference(plumbing.HEAD, plumbing.ReferenceName(branch))
	}
	if err := r.st.SetReference(ref); err != nil {
		return err
	}
	if to.IsZero() {
		return nil
	}
	return r.writeLog("HEAD", from, to, message)
}

// removeRef deletes a reference with its log and the directories that become
// empty.
func (r *repo) removeRef(name string) error {
	if err := r.st.RemoveReference(plumbing.ReferenceName(name)); err != nil {
		return err
	}
	for _, top := range []string{path.Join(r.common, "logs"), r.common} {
		p := path.Join(top, name)
		if err := r.FS.Unlink(p); err != nil && !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ENOTDIR) {
			return err
		}
		for d := path.Dir(p); len(d) > len(path.Join(top, "refs/heads")); d = path.Dir(d) {
			if r.FS.Rmdir(d) != nil {
				break
			}
		}
	}
	return nil
}

// cmdReflog is git reflog [show] [REF].
func (g *git) cmdReflog(args []string) error {
	r, err := g.open()
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] == "show" {
		args = args[1:]
	}
	p, err := g.parse(args, "n,max-count= oneline all date=")
	if err != nil {
		return err
	}
	limit := -1
	if p.given("max-count") {
		if limit, err = strconv.Atoi(p.get("max-count")); err != nil {
			return fatalf("'%s': not an integer", p.get("max-count"))
		}
	}
	ref, shown := "HEAD", "HEAD"
	if len(p.operands) > 0 {
		full, _, ok := r.fullRef(p.operands[0])
		if !ok {
			return ambiguous(p.operands[0])
		}
		ref, shown = full, p.operands[0]
	}
	log := r.reflog(ref)
	for i := len(log) - 1; i >= 0 && limit != 0; i-- {
		limit--
		g.printf("%s %s@{%d}: %s\n", r.short(log[i].to), shown, len(log)-1-i, log[i].message)
	}
	return nil
}

// formatRaw is a time as commits have it: seconds and zone.
func formatRaw(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) + t.Format(" -0700") }
