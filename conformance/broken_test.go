//go:build linux

package conformance_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/conformance"
	"github.com/vfsd/vfsd/conformance/broken"
	"github.com/vfsd/vfsd/internal/figures"
)

// atATime is how many broken file systems are mounted at a time: they wait
// for ticks of the clock more than they work.
const atATime = 4

// TestBroken: for each rule that a file system can break, the cases that must
// notice do fail; and on the same mount with nothing broken they pass.
func TestBroken(t *testing.T) {
	rules := broken.Rules()
	if len(rules) < 60 {
		t.Fatalf("%d rules, want 60 and more", len(rules))
	}
	t.Run("none", func(t *testing.T) { breaksNothing(t, rules) })
	slots := make(chan struct{}, atATime)
	for i, r := range rules {
		if !soak() && i%3 != 0 {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			breaks(t, r)
		})
	}
}

// brokenRun begins what the figures call a rule that was broken.
const brokenRun = "broken rule "

// powerCuts are the cases that need a durable tree.
const powerCuts = "durability/power-cut/*"

// breaksNothing runs the cases of all rules on a file system that keeps them.
func breaksNothing(t *testing.T, rules []broken.Rule) {
	var cut, rest []string
	for _, r := range rules {
		for _, p := range r.Cases {
			if conformance.Match(powerCuts, p) {
				cut = append(cut, p)
			} else {
				rest = append(rest, p)
			}
		}
	}
	runOn(t, conformance.Options{Dir: serve(t, server{suid: true}).dir, FS: "memfs", Match: rest})
	s := serve(t, server{backing: "durable", suid: true})
	runOn(t, conformance.Options{Dir: s.dir, FS: "memfs", Match: cut, PowerCut: s.cut})
}

// breaks runs a rule's cases on a file system that breaks it.
func breaks(t *testing.T, r broken.Rule) {
	o := server{rule: r.Name, suid: true}
	if slices.ContainsFunc(r.Cases, func(p string) bool { return conformance.Match(powerCuts, p) }) {
		o.backing = "durable"
	}
	s := serve(t, o)
	seen := make(map[string]bool)
	cases := int64(0)
	_, err := conformance.Run(t.Context(), conformance.Options{
		Dir: s.dir, FS: "memfs", Match: r.Cases, PowerCut: s.cut, Timeout: 5 * time.Second,
		// One at a time: a kernel that meets two first copy_file_range at
		// once may stop asking the file system for any.
		Workers: 1,
	}, func(res conformance.Result) {
		cases++
		for _, p := range r.Cases {
			if conformance.Match(p, res.Name) {
				seen[p] = true
			}
		}
		if res.Status != conformance.Failed {
			t.Errorf("%s: %s does not notice: %s (%s)", r.Name, res.Name, res.Status, res.Reason)
		}
	})
	// What a broken file system leaves behind cannot always be removed.
	if err != nil && !strings.Contains(err.Error(), s.dir) {
		t.Error(err)
	}
	for _, p := range r.Cases {
		if !seen[p] {
			t.Errorf("%s: no case is named %q", r.Name, p)
		}
	}
	figures.Note(t, brokenRun+r.Name, figures.Count{What: "cases", N: cases})
}
