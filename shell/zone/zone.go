// Package zone finds time zones by the value of $TZ without touching the host:
// the zones of the IANA database are part of the program.
//
//	loc := zone.Load("Europe/Paris")
//	loc = zone.Load("EST5EDT") // of the database
//	loc = zone.Load("XYZ-3:30") // POSIX: 3:30 east of Greenwich
//
// zoneinfo.zip is the database as the Go distribution carries it (public
// domain); each file in it is stored uncompressed and in TZif format.
package zone

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"io"
	"strings"
	"sync"
	"time"
)

//go:embed zoneinfo.zip
var archive []byte

var (
	mu    sync.Mutex
	cache = map[string]*time.Location{} // guarded by mu
)

// maxCache bounds the zones that are kept.
const maxCache = 128

// Load returns the location that a value of $TZ names. "" and what nobody knows
// are UTC, as the C library has it.
func Load(tz string) *time.Location {
	tz = strings.TrimPrefix(tz, ":")
	if tz == "" || tz == "UTC" {
		return time.UTC
	}
	mu.Lock()
	defer mu.Unlock()
	if loc := cache[tz]; loc != nil {
		return loc
	}
	loc := load(tz)
	if loc == nil {
		loc = posix(tz)
	}
	if len(cache) >= maxCache {
		clear(cache)
	}
	cache[tz] = loc
	return loc
}

var open = sync.OnceValue(func() *zip.Reader {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil
	}
	return r
})

// load finds a zone in the database.
func load(name string) *time.Location {
	r := open()
	if r == nil || strings.Contains(name, "..") || strings.HasSuffix(name, "/") || strings.HasPrefix(name, "/") {
		return nil
	}
	f, err := r.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil
	}
	loc, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil
	}
	return loc
}

// posix reads a zone of POSIX form, NAME[+-]hh[:mm[:ss]]; its offset is west of
// Greenwich. Rules for summer time are not looked at.
func posix(tz string) *time.Location {
	name, rest := zoneName(tz)
	if len(name) < 3 {
		return time.UTC
	}
	sign := -1
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		if rest[0] == '-' {
			sign = 1
		}
		rest = rest[1:]
	}
	if rest == "" || rest[0] < '0' || rest[0] > '9' {
		return time.UTC
	}
	secs, unit := 0, 3600
	for unit > 0 {
		n, k := 0, 0
		for k < len(rest) && rest[k] >= '0' && rest[k] <= '9' && k < 3 {
			n = n*10 + int(rest[k]-'0')
			k++
		}
		secs += n * unit
		rest = rest[k:]
		if k == 0 || rest == "" || rest[0] != ':' {
			break
		}
		rest = rest[1:]
		unit /= 60
	}
	return time.FixedZone(name, sign*secs)
}

// zoneName takes the name off a POSIX zone: letters, or anything in <>.
func zoneName(tz string) (name, rest string) {
	if strings.HasPrefix(tz, "<") {
		if i := strings.IndexByte(tz, '>'); i > 0 {
			return tz[1:i], tz[i+1:]
		}
		return "", tz
	}
	i := 0
	for i < len(tz) && (tz[i] >= 'A' && tz[i] <= 'Z' || tz[i] >= 'a' && tz[i] <= 'z') {
		i++
	}
	return tz[:i], tz[i:]
}
