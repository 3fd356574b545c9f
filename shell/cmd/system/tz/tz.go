// Package tz finds time zones by what $TZ says, without a look at the host:
// time.LoadLocation would read the host's zone files and its ZONEINFO.
//
// zoneinfo.zip is the copy of the IANA time zone data (public domain) that
// comes with Go, lib/time/zoneinfo.zip there; take that of a newer Go to
// update it. Its files are stored, not compressed.
package tz

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/binary"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/vfsd/vfsd/shell/command"
)

//go:embed zoneinfo.zip
var zoneinfo []byte

// maxZone bounds a zone's file; the largest has 3.5 KB.
const maxZone = 64 << 10

var archive = sync.OnceValue(func() map[string]*zip.File {
	files := map[string]*zip.File{}
	r, err := zip.NewReader(bytes.NewReader(zoneinfo), int64(len(zoneinfo)))
	if err != nil {
		panic("tz: the embedded zone data is damaged: " + err.Error())
	}
	for _, f := range r.File {
		files[f.Name] = f
	}
	return files
})

var cache sync.Map // name in archive -> *time.Location

// Of is the time zone of a command: that of TZ in its environment when it is
// set, else the workspace's.
func Of(c *command.Context) *time.Location {
	if v, ok := c.Env.Lookup("TZ"); ok {
		return Load(v)
	}
	if c.Location != nil {
		return c.Location
	}
	return time.UTC
}

// Load returns the zone that a value of $TZ names: "Europe/Berlin", ":UTC",
// "EST5EDT", "CET-1CEST,M3.5.0,M10.5.0/3". What names none is UTC, under the
// letters that it starts with, as in the GNU C library.
func Load(name string) *time.Location {
	name = strings.TrimPrefix(name, ":")
	if name == "" {
		return time.UTC
	}
	if l, ok := cache.Load(name); ok {
		return l.(*time.Location)
	}
	if l, ok := fromArchive(name); ok {
		cache.Store(name, l)
		return l
	}
	if l, ok := fromRule(name); ok {
		return l
	}
	letters := len(name)
	for i := range len(name) {
		if c := name[i] | 0x20; c < 'a' || c > 'z' {
			letters = i
			break
		}
	}
	if letters < 3 {
		return time.UTC
	}
	return time.FixedZone(name[:letters], 0)
}

// Exists reports whether the zone data has the zone.
func Exists(name string) bool { return archive()[name] != nil }

func fromArchive(name string) (*time.Location, bool) {
	f := archive()[name]
	if f == nil || strings.HasSuffix(name, "/") {
		return nil, false
	}
	r, err := f.Open()
	if err != nil {
		return nil, false
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxZone))
	if err != nil {
		return nil, false
	}
	l, err := time.LoadLocationFromTZData(name, data)
	return l, err == nil
}

// fromRule makes a zone of a rule of POSIX. Package time reads such rules only
// in the last line of a zone file, so one is made around it: a single
// transition before all time, after which the rule holds.
func fromRule(rule string) (*time.Location, bool) {
	rest, std, off, ok := ruleZone(rule)
	if !ok {
		return nil, false
	}
	if rest == "" {
		return time.FixedZone(std, off), true
	}
	if !strings.Contains(rest, ",") {
		rule += ",M3.2.0,M11.1.0"
	}
	abbr := std + "\x00"
	header := func(transitions, chars uint32) []byte {
		b := append([]byte("TZif2"), make([]byte, 15)...)
		for _, n := range []uint32{0, 0, 0, transitions, 1, chars} {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		return b
	}
	// The first half, of 32-bit times, is there to be skipped.
	data := append(header(0, 1), 0, 0, 0, 0, 0, 0, 0)
	data = append(data, header(1, uint32(len(abbr)))...)
	start := int64(-1 << 59)
	data = binary.BigEndian.AppendUint64(data, uint64(start))
	data = append(data, 0) // the transition's type
	data = binary.BigEndian.AppendUint32(data, uint32(int32(off)))
	data = append(data, 0, 0) // no summer time; the abbreviation's place
	data = append(data, abbr...)
	data = append(data, "\n"+rule+"\n"...)
	l, err := time.LoadLocationFromTZData(rule, data)
	return l, err == nil
}

// ruleZone reads the name and the offset that a rule starts with, in seconds
// east.
func ruleZone(s string) (rest, name string, off int, ok bool) {
	if strings.HasPrefix(s, "<") {
		end := strings.IndexByte(s, '>')
		if end < 0 {
			return "", "", 0, false
		}
		name, s = s[1:end], s[end+1:]
	} else {
		i := 0
		for i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
			i++
		}
		name, s = s[:i], s[i:]
	}
	if len(name) < 3 {
		return "", "", 0, false
	}
	sign := -1 // POSIX counts westwards
	if s != "" && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = 1
		}
		s = s[1:]
	}
	unit := 3600
	digits := false
	for n := 0; unit > 0; unit /= 60 {
		i := 0
		for n = 0; i < len(s) && s[i] >= '0' && s[i] <= '9' && n < 1000; i++ {
			n = n*10 + int(s[i]-'0')
		}
		if i == 0 {
			break
		}
		digits = true
		off += n * unit
		s = s[i:]
		if s == "" || s[0] != ':' {
			break
		}
		s = s[1:]
	}
	return s, name, sign * off, digits && off <= 24*3600+59*60+59
}
