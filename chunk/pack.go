package chunk

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// packState is where a pack is in its life.
type packState int

const (
	// packOpen: it receives what is stored. At most one pack is open.
	packOpen packState = iota
	// packFull: nothing is added any more; it waits for fsync and footer.
	packFull
	// packSealed: every record is durable and the footer is written.
	packSealed
	// packFailed: an fsync of it failed. What was not durable before is copied
	// to another pack; it is not written again.
	packFailed
)

// pack is a pack file. Its fields are guarded by Packs.w.mu but for those that
// say otherwise.
type pack struct {
	no     uint32 // constant
	path   string // constant
	marker marker // constant

	state packState
	// end is where the next record goes, or the end of the records.
	end int64
	// marked: a mark is due when durable is beyond it. See afterMark.
	marked int64
	// moved is the writer.seq of the last copy that took the place of a record
	// in here. Until that is durable, this record may be all that a power cut
	// leaves of the chunk.
	moved uint64
	// foot is what the footer will say. It is empty once the pack is sealed.
	foot footer

	// doubtful: bytes of it could not be told, and may have been chunks.
	// Constant after recovery.
	doubtful bool

	created bool // the file exists; guarded by Packs.flushMu
	named   bool // its name is durable; guarded by Packs.fsyncMu

	// flushed bytes are in the page cache, durable ones fsynced. Always
	// durable <= flushed <= end.
	flushed atomic.Int64
	durable atomic.Int64

	stored  atomic.Int64 // bytes of all chunk records
	dead    atomic.Int64 // of these, bytes of records that the index does not point to
	damaged atomic.Int64 // damaged places that recovery found

	// mended is the damage to the header that recovery found and undid; nil if
	// there was none. Constant after recovery.
	mended error
}

const packSuffix = ".pack"

func packName(no uint32) string { return fmt.Sprintf("%08x%s", no, packSuffix) }

func packPath(dir string, no uint32) string { return filepath.Join(dir, packName(no)) }

// parsePackName returns the number of a pack by its file name.
func parsePackName(name string) (uint32, bool) {
	hex, ok := strings.CutSuffix(name, packSuffix)
	if !ok || len(hex) != 8 || strings.ToLower(hex) != hex {
		return 0, false
	}
	no, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || no == 0 || no > maxPackNo {
		return 0, false
	}
	return uint32(no), true
}

// full reports whether a record of n bytes must go to another pack.
func (pk *pack) full(n, packSize int64) bool {
	return len(pk.foot.entries) >= maxRecords ||
		len(pk.foot.entries) > 0 && pk.end+n > packSize
}

// dirty reports whether the page cache holds more of it than the disk.
func (pk *pack) dirty() bool { return pk.durable.Load() < pk.flushed.Load() }
