package workspace

import (
	"crypto/rand"
	"encoding/binary"
)

// newIdentity draws a workspace's id and its replica number, which tells its
// inode numbers from those that others make.
func newIdentity() (id [16]byte, replica uint32, err error) {
	var b [4]byte
	for replica == 0 {
		if _, err = rand.Read(b[:]); err != nil {
			return id, 0, err
		}
		replica = binary.LittleEndian.Uint32(b[:]) & (1<<replicaBits - 1)
	}
	_, err = rand.Read(id[:])
	return id, replica, err
}

// newCounter draws where a replica of what exists begins to count its inodes.
// A replica number alone has 20 bits: among 200 replicas of a workspace two
// would be equal with a probability of 2%. With a random beginning in the
// counter's 36 bits, two replicas of the same number meet only if one makes as
// many inodes as lie between their beginnings: for a million inodes each that
// leaves 2^-35 for a pair, and no registry to ask. What is left above the
// beginning is four thousand million inodes or more.
func newCounter() (uint64, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, err
	}
	return 1 + binary.LittleEndian.Uint64(b[:])%(1<<counterBits-1<<32), nil
}
