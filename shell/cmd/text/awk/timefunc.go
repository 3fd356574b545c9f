package awk

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
)

func doSystime(in *interp, _ *builtinExpr) value { return number(float64(in.c.Now().Unix())) }

func doMktime(in *interp, c *builtinExpr) value {
	zone := in.c.Location
	if len(c.args) > 1 {
		if v := c.value(in, 1); v.bool() {
			zone = time.UTC
		}
	}
	var n [6]int
	parts := strings.Fields(c.string(in, 0))
	if len(parts) < len(n) {
		return number(-1)
	}
	for i := range n {
		v, err := strconv.Atoi(parts[i])
		if err != nil {
			return number(-1)
		}
		n[i] = v
	}
	t := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, zone)
	return number(float64(t.Unix()))
}

// defaultTime is the format of strftime() without one.
const defaultTime = "%a %b %e %H:%M:%S %Z %Y"

func doStrftime(in *interp, c *builtinExpr) value {
	format := defaultTime
	if v := in.special[vPROCINFO].arr.m["strftime"]; v != nil {
		format = v.string(in.convfmt())
	}
	if len(c.args) > 0 {
		format = c.string(in, 0)
	}
	t := in.c.Now()
	if len(c.args) > 1 {
		s := c.float(in, 1)
		if math.IsNaN(s) || math.Abs(s) > 1<<55 {
			in.fatal("strftime: second argument out of range for time_t")
		}
		t = time.Unix(int64(math.Floor(s)), 0)
	}
	t = t.In(in.c.Location)
	if len(c.args) > 2 {
		if v := c.value(in, 2); v.bool() {
			t = t.UTC()
		}
	}
	if format == "" {
		return text("")
	}
	return text(gnulib.Strftime(format, t))
}
