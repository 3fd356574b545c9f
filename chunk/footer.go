package chunk

import "encoding/binary"

// entry is a chunk in a footer.
type entry struct {
	id     ID
	off    uint32 // of the record
	length uint32 // stored bytes, without the header
	raw    uint32
}

func (e *entry) size() int64 { return recordHeaderSize + int64(e.length) }

func (e *entry) loc(pack uint32) loc {
	return loc{pack: pack, off: e.off, n: recordHeaderSize + e.length}
}

// extent is a range of bytes of a pack.
type extent struct{ off, n uint32 }

// footer lists what a sealed pack holds: its chunks in the order of their
// offsets, and the gaps, which are bytes that a power cut left unwritten and
// that were never promised to anyone.
type footer struct {
	entries []entry
	gaps    []extent
}

func appendFooter(b []byte, f *footer) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.entries)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.gaps)))
	for i := range f.entries {
		e := &f.entries[i]
		b = append(b, e.id[:]...)
		b = binary.LittleEndian.AppendUint32(b, e.off)
		b = binary.LittleEndian.AppendUint32(b, e.length)
		b = binary.LittleEndian.AppendUint32(b, e.raw)
	}
	for _, g := range f.gaps {
		b = binary.LittleEndian.AppendUint32(b, g.off)
		b = binary.LittleEndian.AppendUint32(b, g.n)
	}
	return b
}

// decodeFooter decodes the body of a footer record that begins at end. What it
// returns lies in [packHeaderSize, end), ordered and without overlap.
func decodeFooter(p []byte, end int64) (*footer, error) {
	if len(p) < footerHeadSize {
		return nil, errBadFooter
	}
	n, g := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
	if n > maxRecords || g > maxGaps ||
		len(p) != footerHeadSize+int(n)*footerEntrySize+int(g)*footerGapSize {
		return nil, errBadFooter
	}
	f := &footer{entries: make([]entry, n), gaps: make([]extent, g)}
	p = p[footerHeadSize:]
	at := int64(packHeaderSize)
	for i := range f.entries {
		e := &f.entries[i]
		*e = entry{
			id:     ID(p[:32]),
			off:    binary.LittleEndian.Uint32(p[32:]),
			length: binary.LittleEndian.Uint32(p[36:]),
			raw:    binary.LittleEndian.Uint32(p[40:]),
		}
		if int64(e.off) < at || e.raw > MaxChunk || e.length > e.raw || int64(e.off)+e.size() > end {
			return nil, errBadFooter
		}
		at = int64(e.off) + e.size()
		p = p[footerEntrySize:]
	}
	at = packHeaderSize
	for i := range f.gaps {
		x := extent{off: binary.LittleEndian.Uint32(p), n: binary.LittleEndian.Uint32(p[4:])}
		if int64(x.off) < at || x.n == 0 || int64(x.off)+int64(x.n) > end {
			return nil, errBadFooter
		}
		at = int64(x.off) + int64(x.n)
		f.gaps[i] = x
		p = p[footerGapSize:]
	}
	return f, nil
}

// trailer is the last bytes of a sealed pack: it finds the footer, and the
// marker if the pack's header is damaged.
type trailer struct {
	marker marker
	footer uint32 // offset of the footer record
}

func appendTrailer(b []byte, t trailer) []byte {
	at := len(b)
	b = append(b, t.marker[:]...)
	b = binary.LittleEndian.AppendUint32(b, t.footer)
	b = binary.LittleEndian.AppendUint32(b, crc(b[at:]))
	return append(b, trailerMagic...)
}

func decodeTrailer(p []byte) (trailer, error) {
	if len(p) != trailerSize || string(p[16:]) != trailerMagic ||
		binary.LittleEndian.Uint32(p[12:]) != crc(p[:12]) {
		return trailer{}, errNoTrailer
	}
	return trailer{marker: marker(p[:8]), footer: binary.LittleEndian.Uint32(p[8:])}, nil
}
