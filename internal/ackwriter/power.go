package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// verifyPower looks for the moment that the files show: names and sizes as
// after some change, not before the last fsync.
func verifyPower(dir, log string) error {
	changes, err := readLog(log)
	if err != nil {
		return err
	}
	got, err := readFiles(dir)
	if err != nil {
		return err
	}
	last := -1
	for i, c := range changes {
		if c.verb == "sync" {
			last = i
		}
	}
	files := map[string][]byte{}
	synced := map[string]bool{} // fsynced, and not changed since
	best := ""
	for i, c := range changes {
		c.apply(files)
		c.note(synced)
		if i < last {
			continue
		}
		diff := compareSizes(got, files)
		if diff == "" {
			return compareBytes(got, files, synced, i+1, len(changes))
		}
		if best == "" {
			best = diff
		}
	}
	// One more change may have happened that has no line.
	if diff := compareBut(got, files, 2); diff == "" {
		return compareBytes(got, files, synced, len(changes), len(changes))
	}
	return fmt.Errorf("after %d changes, the last fsync at %d: the files show no moment since: %s", len(changes), last+1, best)
}

// note keeps track of which files are as they were fsynced.
func (c change) note(synced map[string]bool) {
	switch c.verb {
	case "sync":
		synced[c.name] = true
	case "put", "add", "drop":
		delete(synced, c.name)
	case "move":
		if synced[c.name] {
			synced[c.to] = true
		} else {
			delete(synced, c.to)
		}
		delete(synced, c.name)
	}
}

func readFiles(dir string) (map[string][]byte, error) {
	got := map[string][]byte{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || rel == "temp" {
			return err
		}
		got[rel], err = os.ReadFile(p)
		return err
	})
	return got, err
}

func compareSizes(got, want map[string][]byte) string { return compareBut(got, want, 0) }

// compareBut compares names and sizes and forgives so many names that differ.
func compareBut(got, want map[string][]byte, forgiven int) string {
	diff := ""
	for name, b := range want {
		if g, ok := got[name]; !ok || len(g) != len(b) {
			diff = fmt.Sprintf("%s has %d bytes (there: %v), want %d", name, len(g), ok, len(b))
			forgiven--
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			diff = name + " is too many"
			forgiven--
		}
	}
	if forgiven >= 0 {
		return ""
	}
	return diff
}

func compareBytes(got, want map[string][]byte, synced map[string]bool, at, all int) error {
	for name := range synced {
		g, ok := got[name]
		if w, there := want[name]; ok && there && !bytes.Equal(g, w) {
			return fmt.Errorf("%s was fsynced and differs", name)
		}
	}
	fmt.Printf("ackwriter: the files are as after change %d of %d, %d fsynced files verified\n", at, all, len(synced))
	return nil
}
