package workspace

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

var update = flag.Bool("update", false, "rewrite the golden vectors")

// vector is a golden encoding: what it is, and its bytes in hex.
type vector struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	What string `json:"what"`
	Hex  string `json:"hex"`
}

const vectorsFile = "../spec/vectors/workspace.json"

func goldens(t testing.TB) []vector {
	t.Helper()
	digest := chunk.Sum([]byte("golden"))
	file := inodeValue{Attr: vfs.Attr{Ino: 5, Mode: 0o100644, Nlink: 1, UID: 1000, GID: 100, Size: 5, Blocks: 8,
		Mtime: 1_700_000_000_123_456_789, Atime: 1_700_000_001_000_000_000, Ctime: 1_700_000_000_123_456_789,
		Btime: 1_600_000_000_000_000_000}, parent: 1, content: contentInline, inline: []byte("hello")}
	big := file
	big.content, big.inline, big.chunk, big.Size, big.flags = contentChunk, nil, digest, 40000, flagXattr|flagACL
	old := inodeValue{Attr: vfs.Attr{Ino: 7, Mode: vfs.ModeSymlink | 0o777, Nlink: 1, Size: 3, Mtime: -1, Atime: math.MinInt64 / 2}, target: "a/b", parent: 9}
	dev := inodeValue{Attr: vfs.Attr{Ino: 8, Mode: vfs.ModeChar | 0o600, Nlink: 1, Rdev: 0x103}, parent: 1}
	enc := newRecordEncoder()
	batch, err := enc.batch(&batchRecord{
		edits: []edit{{inodeKey(5), appendInode(nil, &dev)}, {dentryKey(1, "gone"), nil}},
		pieces: []pieceRecord{
			{ino: 5, p: piece{off: 0, len: 5, src: srcStaging, at: 77}, file: stagingID{3, 1}, crc: 0xdeadbeef},
			{ino: 5, p: piece{off: 4096, len: 10, src: srcChunk, at: 2, id: digest}},
			{ino: 5, p: piece{off: 100, len: vfs.MaxFileSize - 100, src: srcHole}},
		},
	})
	must(t, err)
	batch = bytes.Clone(batch)
	staged, err := enc.staged(&stagedRecord{file: stagingID{3, 1}, at: 77, bytes: []byte("hello")})
	must(t, err)
	staged = bytes.Clone(staged)
	commit, err := encodeCommit(&Commit{Root: digest, Parents: []chunk.ID{digest}, Replica: 77, LSN: 9, Time: 1, Label: "l", Cause: CauseSnapshot, Inodes: 3, Blocks: 4})
	must(t, err)
	h, err := encodeHead(&head{ID: [16]byte{1}, Replica: 77, Next: 12, Commit: digest, Root: digest, Epoch: 4, LSN: 9, Inodes: 3, Blocks: 4,
		Created: 5, Snapshots: []Snapshot{{Name: "s", Commit: digest, Root: digest, Time: 6}}})
	must(t, err)
	synced, err := encodeCommit(&Commit{Root: digest, Parents: []chunk.ID{digest, {1}}, Replica: 78, Time: 2, Cause: CauseMerge, Inodes: 3, Blocks: 4,
		Polynomial: 0x3da3358b4dc173})
	must(t, err)
	lazy, err := encodeHead(&head{ID: [16]byte{2}, Replica: 78, Next: 1 << 35, Commit: digest, Root: digest, Epoch: 1, Inodes: 3, Blocks: 4,
		Created: 5, Polynomial: 0x3da3358b4dc173, Refs: []Ref{{"origin", digest}}, Lazy: true, Pinned: []string{"src"}})
	must(t, err)
	_, listed, err := (&conflictRecord{Kind: ConflictEdited, Ino: 5, Other: 9, Name: "f", Replica: 77, Time: 8}).id()
	must(t, err)
	v := func(name, kind, what string, b []byte) vector { return vector{name, kind, what, hex.EncodeToString(b)} }
	return []vector{
		v("inline file", "inode", "file of inode 5: 5 bytes inline", appendInode(nil, &file)),
		v("file of one chunk", "inode", "40000 bytes, with attributes and an ACL", appendInode(nil, &big)),
		v("symlink", "inode", "times before 1970", appendInode(nil, &old)),
		v("device", "inode", "character device 1:3", appendInode(nil, &dev)),
		v("dentry", "dentry", "directory of inode 300", dentryValue{300, vfs.ModeDir}.encode()),
		v("extent", "extent", "131072 bytes of a chunk", extentValue{length: 131072, id: digest}.encode()),
		v("reserved extent", "extent", "524288 bytes without a chunk", extentValue{length: chunk.MaxSize}.encode()),
		v("batch", "batch", "an inode put, a dentry deleted, three pieces", batch),
		v("staged", "staged", "5 bytes at 77 of staging file 3-1", staged),
		v("commit", "commit", "a snapshot's", commit),
		v("head", "head", "with one snapshot", h),
		v("inode key", "key", "inode 0x1000000002", inodeKey(0x1000000002)),
		v("dentry key", "key", "name in the root", dentryKey(1, "name")),
		v("extent key", "key", "offset 65536 of inode 5", extentKey(5, 65536)),
		v("xattr key", "key", "user.a of inode 5", xattrKey(5, "user.a")),
		v("merge", "commit", "of two parents, with the polynomial", synced),
		v("conflict", "conflict", "both have edited f of inode 5", append([]byte{xattrInline}, listed...)),
		v("lazy head", "head", "of a clone whose chunks are with origin", lazy),
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// recode decodes a vector and encodes what came out.
func recode(kind string, b []byte) ([]byte, error) {
	enc := newRecordEncoder()
	switch kind {
	case "inode":
		v, err := decodeInode(5, b)
		if err != nil {
			return nil, err
		}
		return appendInode(nil, v), nil
	case "dentry":
		v, err := decodeDentry(b)
		return v.encode(), err
	case "extent":
		v, err := decodeExtent(b)
		return v.encode(), err
	case "batch":
		r, err := decodeBatch(b)
		if err != nil {
			return nil, err
		}
		return enc.batch(r)
	case "staged":
		r, err := decodeStaged(b)
		if err != nil {
			return nil, err
		}
		return enc.staged(r)
	case "commit":
		c, err := decodeCommit(b)
		if err != nil {
			return nil, err
		}
		return encodeCommit(c)
	case "conflict":
		r, err := decodeConflict(b)
		if err != nil {
			return nil, err
		}
		_, again, err := r.id()
		return append([]byte{xattrInline}, again...), err
	case "head":
		h, err := decodeHead(b)
		if err != nil {
			return nil, err
		}
		return encodeHead(h)
	}
	if !validKey(b) {
		return nil, vfs.ErrCorrupt
	}
	return b, nil
}

func TestGoldenVectors(t *testing.T) {
	want := goldens(t)
	if *update {
		b, err := json.MarshalIndent(want, "", " ")
		must(t, err)
		must(t, os.WriteFile(vectorsFile, append(b, '\n'), 0o644))
	}
	b, err := os.ReadFile(vectorsFile)
	must(t, err)
	var stored []vector
	must(t, json.Unmarshal(b, &stored))
	if len(stored) != len(want) {
		t.Fatalf("%d vectors in %s, the code makes %d", len(stored), vectorsFile, len(want))
	}
	for i, v := range stored {
		if v != want[i] {
			t.Errorf("%s: the code makes %s, the vector is %s", v.Name, want[i].Hex, v.Hex)
		}
		raw, err := hex.DecodeString(v.Hex)
		must(t, err)
		again, err := recode(v.Kind, raw)
		if err != nil || !bytes.Equal(again, raw) {
			t.Errorf("%s: decoded and encoded again: %x, %v", v.Name, again, err)
		}
	}
}

// TestDecodersRefuseDamage cuts every vector short and lets every decoder see
// every byte changed: an error or another value, never a panic.
func TestDecodersRefuseDamage(t *testing.T) {
	for _, v := range goldens(t) {
		raw, err := hex.DecodeString(v.Hex)
		must(t, err)
		for n := range raw {
			if _, err := recode(v.Kind, raw[:n]); err == nil && v.Kind != "key" {
				t.Errorf("%s cut to %d bytes of %d is accepted", v.Name, n, len(raw))
			}
		}
		for i := range raw {
			bad := bytes.Clone(raw)
			bad[i] ^= 0xff
			_, err := recode(v.Kind, bad)
			if v.Kind == "head" && err == nil {
				t.Errorf("head with byte %d changed is accepted", i)
			}
			if err != nil && !errors.Is(err, vfs.ErrCorrupt) && !errors.Is(err, ErrNewer) {
				t.Errorf("%s with byte %d changed: %v is no corruption", v.Name, i, err)
			}
		}
	}
}

// TestSpecTables holds the limits in the prose and in the code together.
func TestSpecTables(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "spec", "workspace.md"))
	must(t, err)
	for _, want := range []string{
		"`vfsd data directory\\nversion 1\\n`", "`replica:20 | counter:36`",
		"inline up to 128 bytes", "for values above 2048 bytes", "multiples of 524288", "at most 65536 bytes",
		"| flags | 1 has attributes, 2 has an access ACL, 4 has a default ACL, 8 has reserved space past its end |",
		"| content | 0 no bytes, 1 inline, 2 one chunk, 3 extents;",
		"`NAME.conflict-REPLICA-N`", "at most 65536 bytes and 1024 rules", "files of up to 1 MiB", "the oldest of more than 16. At most 1 GiB",
		"`vfsdINCM | version:4 little-endian = 1 |`", "begin with `vfsd.conflict.`",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("spec/workspace.md does not say %q", want)
		}
	}
	if inlineMax != 128 || xattrInlineMax != 2048 || chunk.MaxSize != 524288 || chunk.WholeMax != 65536 || inlineSync != 65536 ||
		policyLimit != 65536 || policyRules != 1024 || textLimit != 1<<20 || maxLedgers != 16 || ledgerLimit != 1<<30 || ledgerVersion != 1 ||
		counterBits != 36 || replicaBits != 20 || flagXattr != 1 || flagACL != 2 || flagDefaultACL != 4 || flagReserved != 8 {
		t.Error("a limit has changed and the prose has not")
	}
}

func fuzzKind(f *testing.F, kind string) {
	for _, v := range goldens(f) {
		if v.Kind == kind {
			raw, err := hex.DecodeString(v.Hex)
			must(f, err)
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		again, err := recode(kind, b)
		if err != nil {
			if !errors.Is(err, vfs.ErrCorrupt) && !errors.Is(err, ErrNewer) {
				t.Fatalf("%v is no corruption", err)
			}
			return
		}
		// What was understood must mean the same when it is written again.
		twice, err := recode(kind, again)
		if err != nil || !bytes.Equal(again, twice) {
			t.Fatalf("%x became %x, then %x, %v", b, again, twice, err)
		}
	})
}

func FuzzInode(f *testing.F)  { fuzzKind(f, "inode") }
func FuzzDentry(f *testing.F) { fuzzKind(f, "dentry") }
func FuzzExtent(f *testing.F) { fuzzKind(f, "extent") }
func FuzzBatch(f *testing.F)  { fuzzKind(f, "batch") }
func FuzzStaged(f *testing.F) { fuzzKind(f, "staged") }
func FuzzCommit(f *testing.F) { fuzzKind(f, "commit") }
func FuzzHead(f *testing.F)   { fuzzKind(f, "head") }

func FuzzConflict(f *testing.F) { fuzzKind(f, "conflict") }

// FuzzEntry lets any entry of a peer's tree be judged: an error of one kind, or
// an entry that the decoders accept.
func FuzzEntry(f *testing.F) {
	for _, v := range goldens(f) {
		raw, err := hex.DecodeString(v.Hex)
		must(f, err)
		switch v.Kind {
		case "inode":
			f.Add(inodeKey(5), raw)
		case "dentry":
			f.Add(dentryKey(1, "name"), raw)
		case "extent":
			f.Add(extentKey(5, 65536), raw)
		case "key":
			f.Add(raw, []byte{0, 1})
		}
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		ids, err := ChunksOf(key, value)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("%v is no refusal", err)
			}
			return
		}
		if again, err := chunksOf(key, value); err != nil || len(again) != len(ids) {
			t.Fatalf("accepted, and then %v", err)
		}
	})
}
