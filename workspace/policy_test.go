package workspace

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.o", "a.o", true}, {"*.o", "d/e/a.o", true}, {"*.o", "a.oo", false},
		{"/a", "a", true}, {"/a", "d/a", false}, {"a/b", "a/b", true}, {"a/b", "x/a/b", false},
		{"build/", "build/x", true}, {"build/", "d/build/x/y", true}, {"build/", "build", false},
		{"**/x", "x", true}, {"**/x", "a/b/x", true}, {"a/**", "a/b/c", true}, {"a/**", "a", false},
		{"a/**/b", "a/b", true}, {"a/**/b", "a/x/y/b", true}, {"a/**/b", "a/x/y/c", false},
		{"d", "d/e/f", true}, {"a?c", "abc", true}, {"[ab]c", "bc", true}, {"*", "anything/at/all", true},
	} {
		p, ok := parsePattern(c.pattern)
		if !ok {
			t.Errorf("%q is no pattern", c.pattern)
			continue
		}
		if got := p.covers(c.path); got != c.want {
			t.Errorf("%q covers %q: %v", c.pattern, c.path, got)
		}
	}
	for _, bad := range []string{"", "# comment", "[", "/", "   "} {
		if _, ok := parsePattern(bad); ok {
			t.Errorf("%q is a pattern", bad)
		}
	}
	// It takes no more time than the product of the lengths.
	p, _ := parsePattern(strings.Repeat("**/", 500) + "x")
	if p.covers(strings.Repeat("a/", 500) + "y") {
		t.Error("it matches")
	}
}

func TestPolicy(t *testing.T) {
	p, err := parsePolicy([]byte("# comment\n*.txt text\n\nlog/ theirs\n*.lock ours\nlog/keep both\n"))
	must(t, err)
	for path, want := range map[string]Policy{
		"a.txt": PolicyText, "d/a.txt": PolicyText, "log/a": PolicyTheirs, "log/keep": PolicyBoth, "x": PolicyBoth, "a.lock": PolicyOurs,
	} {
		if got := p.of(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for _, bad := range []string{"x", "x what", "x text more", "!x text", "[ text", strings.Repeat("x text\n", policyRules+1), strings.Repeat("#", policyLimit+1)} {
		if err := CheckPolicy([]byte(bad)); !errors.Is(err, ErrBadPolicy) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

func TestPolicyFile(t *testing.T) {
	ctx := context.Background()
	x := newReplicas(t, 1, nil)
	w := x.w[0]
	if text, err := w.Policy(ctx); err != nil || text != nil {
		t.Errorf("a new workspace has the policy %q, %v", text, err)
	}
	must(t, w.SetPolicy(ctx, nil))
	if err := w.SetPolicy(ctx, []byte("x what")); !errors.Is(err, ErrBadPolicy) {
		t.Errorf("a bad policy: %v", err)
	}
	for _, text := range []string{"*.txt text\n", "* both\n", ""} {
		must(t, w.SetPolicy(ctx, []byte(text)))
		if got, err := w.Policy(ctx); err != nil || string(got) != text {
			t.Errorf("policy %q, %v, want %q", got, err, text)
		}
	}
	must(t, w.SetPolicy(ctx, []byte("* both\n")))
	// The way in that shows snapshots shows it too.
	b := w.Browse()
	dot, err := b.Lookup(rootOp, 1, ".vfsd")
	must(t, err)
	at, err := b.Lookup(rootOp, dot.Ino, "policy")
	must(t, err)
	if got := readFileAt(t, b, at.Ino); got != "* both\n" {
		t.Errorf("through .vfsd: %q", got)
	}
	names := ""
	for _, e := range list(t, b, dot.Ino) {
		names += e.Name + " "
	}
	if names != "policy snapshots " {
		t.Errorf(".vfsd lists %s", names)
	}
}

// TestOursTheirs merges by policies that are not symmetric.
func TestOursTheirs(t *testing.T) {
	ctx := context.Background()
	for policy, want := range map[Policy]string{PolicyOurs: "f=2 g=2", PolicyTheirs: "f=3 g=3"} {
		x := newReplicas(t, 2, func(a *shellActor) { a.write("f", "1") })
		a, b := x.on(0), x.on(1)
		a.write("f", "2")
		a.write("g", "2")
		b.write("f", "3")
		b.write("g", "3")
		_, err := a.w.Merge(ctx, syncHead(t, b.w), MergeOptions{Policy: []byte("* " + string(policy))})
		must(t, err)
		if got := a.tree(); got != want {
			t.Errorf("%s: %s", policy, got)
		}
		if all, err := a.w.Conflicts(ctx); err != nil || len(all) > 0 {
			t.Errorf("%s: conflicts %v, %v", policy, all, err)
		}
		checkClean(t, a.w)
	}
}

// TestResolve lists conflicts on both replicas and ends them in every way.
func TestResolve(t *testing.T) {
	ctx := context.Background()
	for how, want := range map[Resolution]string{KeepBoth: "f.conflict=2 f=3", KeepThis: "f=3", KeepOther: "f=2"} {
		x := newReplicas(t, 2, func(a *shellActor) { a.write("f", "1") })
		a, b := x.on(0), x.on(1)
		a.write("f", "2")
		b.write("f", "3")
		x.exchange(0, 1)
		all, err := a.w.Conflicts(ctx)
		must(t, err)
		if len(all) != 1 || all[0].Path != "f" || !strings.HasPrefix(all[0].Other, "f.conflict-") || all[0].Kind != ConflictEdited {
			t.Fatalf("conflicts: %+v", all)
		}
		if names, err := a.w.Listxattr(rootOp, 1); err != nil || len(names) > 0 {
			t.Errorf("the list shows as attributes %v, %v", names, err)
		}
		if err := a.w.Setxattr(rootOp, 1, conflictPrefix+"0", nil, 0); err == nil {
			t.Error("anyone can list a conflict")
		}
		if err := a.w.ResolveConflict(ctx, "nothing", how); !errors.Is(err, ErrNoSuchConflict) {
			t.Errorf("resolve nothing: %v", err)
		}
		must(t, a.w.ResolveConflict(ctx, all[0].ID, how))
		if got := a.tree(); got != want {
			t.Errorf("%s: %s, want %s", how, got, want)
		}
		// It travels.
		x.exchange(0, 1)
		if got := b.tree(); got != want {
			t.Errorf("%s, there: %s, want %s", how, got, want)
		}
		for _, w := range x.w {
			if all, err := w.Conflicts(ctx); err != nil || len(all) > 0 {
				t.Errorf("%s: left are %+v, %v", how, all, err)
			}
		}
		checkClean(t, a.w)
	}
}
