package tree

import (
	"encoding/binary"
	"math/bits"
)

// The rule that cuts a level into nodes. All of it is integer arithmetic:
// floating point differs between machines in its last bits, and one such bit
// would give equal content two roots. These values are part of the format.
const (
	targetSize = 4 << 10        // about the mean weight of a node
	minSize    = targetSize / 8 // a lighter node never ends
	capSize    = targetSize * 8 // a node this heavy ends
	minFanout  = 4              // an inner node with fewer entries never ends
	entryCost  = 4              // weight of an entry besides its key and value

	// hazardScale makes targetSize the mean: a Weibull distribution of shape
	// 4 and mean m has the scale m/Gamma(5/4), whose fourth power is close
	// to 2^32 times this.
	hazardScale = 3 << 15
)

// weight is what an entry adds to its node. It ignores prefix compression,
// which depends on the neighbours.
func weight(keyLen, valueLen int) uint64 {
	return uint64(keyLen + valueLen + entryCost)
}

// endsNode reports whether a node of the given level ends with an entry, where
// before and after are the weights of the node without and with it, and n the
// number of entries with it.
//
// The probability that it does grows with the weight, as after^4 - before^4,
// which makes weights Weibull distributed with shape 4: far more even than the
// waiting times that a constant probability gives, yet still cut by content, so
// that after an edit the old boundaries are soon met again. (Shapes from 1.5
// to 8 were tried; 4 rewrites the fewest bytes an edit.) It reaches certainty,
// below four times the target for entries of 30 bytes. With a constant one,
// keys picked for their hash would keep a node from ever ending; here no choice
// of keys carries it far.
func endsNode(level uint8, key []byte, before, after uint64, n int) bool {
	if after < minSize || level > 0 && n < minFanout {
		return false
	}
	if after >= capSize {
		return true
	}
	return pow4(after)-pow4(before) > keyHash(level, key)>>32*hazardScale
}

// pow4 does not overflow: weights stay below 2^16.
func pow4(x uint64) uint64 { return x * x * x * x }

// keyHash is SipHash-2-4 of the key under the hash key (level, version). Each
// level needs its own hash: every key that reaches level 1 has been selected
// by the hash of level 0. The value takes no part, so that a new value of the
// same length moves no boundary.
func keyHash(level uint8, key []byte) uint64 {
	return sipHash(uint64(level), version, key)
}

func sipHash(k0, k1 uint64, key []byte) uint64 {
	v0 := k0 ^ 0x736f6d6570736575
	v1 := k1 ^ 0x646f72616e646f6d
	v2 := k0 ^ 0x6c7967656e657261
	v3 := k1 ^ 0x7465646279746573
	last := uint64(len(key)) << 56
	for ; len(key) >= 8; key = key[8:] {
		m := binary.LittleEndian.Uint64(key)
		v3 ^= m
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0 ^= m
	}
	for i, c := range key {
		last |= uint64(c) << (8 * i)
	}
	v3 ^= last
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= last
	v2 ^= 0xff
	for range 4 {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	}
	return v0 ^ v1 ^ v2 ^ v3
}

func sipRound(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}
