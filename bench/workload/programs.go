package workload

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vfsd/vfsd/bench/data"
)

func programs(s Sizes) []Workload {
	const group = "git and npm"
	return []Workload{
		{
			Name: "git-commit", Title: "git init, add, commit " + count(s.GitFiles) + " files", Group: group, Client: Tools, Limit: 1.1,
			Needs: []string{"git"},
			Setup: func(_ context.Context, e *Env) error {
				return data.WriteTree(e.Work, data.Tree(e.Seed, e.Sizes.GitFiles))
			},
			Run: func(ctx context.Context, e *Env) error { return commitAll(ctx, e, e.Work) },
			Check: func(ctx context.Context, e *Env) error {
				return countTracked(ctx, e, e.Work, e.Sizes.GitFiles)
			},
		},
		{
			Name: "git-clone", Title: "git clone, shallow, about " + size(int64(s.CloneBytes)), Group: group, Client: Tools, Limit: 1.1,
			Needs: []string{"git"},
			Setup: func(ctx context.Context, e *Env) error {
				_, err := origin(ctx, e)
				return err
			},
			Run: clone,
			Check: func(ctx context.Context, e *Env) error {
				return countTracked(ctx, e, e.work("clone"), originFiles)
			},
		},
		{
			Name: "git-status", Title: "git status, " + count(s.Status) + " files, warm", Group: group, Client: Tools, Limit: 1.1,
			Needs: []string{"git"},
			Prepare: func(ctx context.Context, e *Env) error {
				if err := data.WriteTree(e.Kept, data.Tree(e.Base, e.Sizes.Status)); err != nil {
					return err
				}
				return commitAll(ctx, e, e.Kept)
			},
			Setup: status, Run: status,
		},
		{
			Name: "npm-ci", Title: "npm ci, " + count(s.Packages*s.PerPackage) + " files, offline", Group: group, Client: Tools, Limit: 1.1,
			Needs: []string{"npm", "node"},
			Setup: lockPackages, Run: npmCI,
			Check: func(_ context.Context, e *Env) error {
				last := fmt.Sprintf("pkg-%03d", e.Sizes.Packages-1)
				return countEntries(e.work("node_modules", last, "lib"), e.Sizes.PerPackage)
			},
		},
	}
}

// git runs git with the settings that a benchmark needs: nothing in the
// background, and no doubt about whose repository it is.
func git(ctx context.Context, e *Env, dir string, args ...string) ([]byte, error) {
	base := []string{"git", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "safe.directory=*"}
	return e.run(ctx, Command{Dir: dir, Args: append(base, args...)})
}

func commitAll(ctx context.Context, e *Env, dir string) error {
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "All of it"}} {
		if _, err := git(ctx, e, dir, args...); err != nil {
			return err
		}
	}
	return nil
}

func countTracked(ctx context.Context, e *Env, dir string, want int) error {
	out, err := git(ctx, e, dir, "ls-files", "-z")
	if err != nil {
		return err
	}
	if n := bytes.Count(out, []byte{0}); n != want {
		return fmt.Errorf("git tracks %d files, want %d", n, want)
	}
	return nil
}

// originFiles is how many files the repository has that is cloned.
const originFiles = 150

// origin makes a bare repository on the local disk whose newest commit packs to
// about Sizes.CloneBytes, with a little history that a shallow clone leaves.
func origin(ctx context.Context, e *Env) (string, error) {
	return e.input("origin.git", func(path string) error {
		if err := os.Mkdir(path, 0o755); err != nil {
			return err
		}
		r := data.New(e.Base, 12)
		content := make([]byte, max(64, 2*e.Sizes.CloneBytes/originFiles)) // text packs to a half
		for i := range originFiles {
			data.Text(r, content)
			if err := os.WriteFile(filepath.Join(path, fmt.Sprintf("file%d.txt", i)), content, 0o644); err != nil {
				return err
			}
		}
		if err := commitAll(ctx, e, path); err != nil {
			return err
		}
		for i := range 3 {
			if err := os.WriteFile(filepath.Join(path, "file0.txt"), content[i:], 0o644); err != nil {
				return err
			}
			if _, err := git(ctx, e, path, "commit", "-q", "-a", "-m", fmt.Sprintf("Change %d", i)); err != nil {
				return err
			}
		}
		_, err := git(ctx, e, path, "repack", "-adq")
		return err
	})
}

func clone(ctx context.Context, e *Env) error {
	// The protocol makes it a real transfer: from a plain path git would link
	// or copy the files.
	_, err := git(ctx, e, e.Work, "clone", "-q", "--depth", "1", "file://"+filepath.Join(e.Shared, "origin.git"), "clone")
	return err
}

func status(ctx context.Context, e *Env) error {
	out, err := git(ctx, e, e.Kept, "status", "--porcelain")
	if err == nil && len(out) > 0 {
		return fmt.Errorf("git status sees changes: %.200s", out)
	}
	return err
}

// registry is where the lock file says that packages come from. Nothing is
// fetched: npm finds them in its cache by their digests.
const registry = "https://registry.example.org/"

// lockEntry is a package in a lock file.
type lockEntry struct {
	Name         string            `json:"name,omitempty"`
	Version      string            `json:"version"`
	Resolved     string            `json:"resolved,omitempty"`
	Integrity    string            `json:"integrity,omitempty"`
	Dependencies map[string]string `json:"dependencies,omitempty"`
	Bin          map[string]string `json:"bin,omitempty"`
}

// npmPackages makes packages on the local disk: a cache that has them all, and
// the two files that ask for them.
func npmPackages(ctx context.Context, e *Env) (string, error) {
	return e.input("npm", func(path string) error {
		if err := os.MkdirAll(filepath.Join(path, "tarballs"), 0o755); err != nil {
			return err
		}
		root := lockEntry{Name: "bench", Version: "1.0.0", Dependencies: map[string]string{}}
		lock := map[string]lockEntry{}
		args := []string{"npm", "cache", "add", "--offline"}
		for i := range e.Sizes.Packages {
			name := fmt.Sprintf("pkg-%03d", i)
			tarball, err := npmTarball(name, data.New(e.Base, uint64(100+i)).Uint64(), e.Sizes.PerPackage)
			if err != nil {
				return err
			}
			file := filepath.Join(path, "tarballs", name+".tgz")
			if err := os.WriteFile(file, tarball, 0o644); err != nil {
				return err
			}
			digest := sha512.Sum512(tarball)
			root.Dependencies[name] = "1.0.0"
			lock["node_modules/"+name] = lockEntry{
				Version: "1.0.0", Resolved: registry + name + "/-/" + name + "-1.0.0.tgz",
				Integrity: "sha512-" + base64.StdEncoding.EncodeToString(digest[:]),
				Bin:       map[string]string{name: "lib/file0.js"},
			}
			args = append(args, file)
		}
		lock[""] = root
		if err := writeJSON(filepath.Join(path, "package.json"), root); err != nil {
			return err
		}
		whole := map[string]any{"name": root.Name, "version": root.Version, "lockfileVersion": 3, "requires": true, "packages": lock}
		if err := writeJSON(filepath.Join(path, "package-lock.json"), whole); err != nil {
			return err
		}
		_, err := e.run(ctx, Command{Dir: path, Args: args, Env: npmEnv(filepath.Join(path, "cache"))})
		return err
	})
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

func npmEnv(cache string) []string {
	return []string{"npm_config_cache=" + cache, "npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false"}
}

// npmTarball is a package as a registry serves it.
func npmTarball(name string, seed uint64, files int) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	r := data.New(seed, 0)
	add := func(path string, mode int64, content []byte) error {
		if err := t.WriteHeader(&tar.Header{Name: "package/" + path, Mode: mode, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err := t.Write(content)
		return err
	}
	manifest := fmt.Sprintf(`{"name":%q,"version":"1.0.0","main":"lib/file0.js","bin":{%q:"lib/file0.js"}}`, name, name)
	if err := add("package.json", 0o644, []byte(manifest)); err != nil {
		return nil, err
	}
	for i := range files {
		content := make([]byte, 200+r.IntN(6000))
		data.Text(r, content)
		if err := add(fmt.Sprintf("lib/file%d.js", i), 0o644, content); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// lockPackages puts the two files that name the packages into the project.
func lockPackages(ctx context.Context, e *Env) error {
	path, err := npmPackages(ctx, e)
	if err != nil {
		return err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join(path, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(e.work(name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func npmCI(ctx context.Context, e *Env) error {
	_, err := e.run(ctx, Command{
		Dir: e.Work, Args: []string{"npm", "ci", "--offline", "--ignore-scripts"},
		Env: npmEnv(filepath.Join(e.Shared, "npm", "cache")),
	})
	return err
}
