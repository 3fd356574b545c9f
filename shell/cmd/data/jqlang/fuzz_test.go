package jqlang

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// FuzzJq runs programs with little time and memory on inputs: they may fail,
// but not crash.
func FuzzJq(f *testing.F) {
	for _, s := range []string{".", ".a[1:]?", "[.[]|tostring]", "reduce .[] as [$a,{b:$c}] (0;.+1)", "path(..)", "limit(3;repeat(1))", "gsub(\"a\";\"b\")", "@sh \"\\(.)\"", "def f(x): x|f(x); f(.)", "label $x|1,break $x", "try error({a:1}) catch .a", ".a|=empty", "ltrimstr(1)|@base64d", "input|strptime(\"%Y\")|mktime", "tojson|fromjson|tostream", "[range(1e9)]", "\"a\"*1e9", "getpath([1e9])=1"} {
		f.Add(s, `{"a":[1,"é",null,{"b":1e1000}]}`)
	}
	f.Fuzz(func(t *testing.T, program, input string) {
		code, err := Compile(program, nil)
		if err != nil {
			return
		}
		v, err := NewDecoder(strings.NewReader(input)).Next()
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		left := int64(64 << 20)
		started := time.Now()
		_ = code.Run(ctx, &Options{Now: time.Now, Location: time.UTC, Grow: func(n int64) error {
			if left -= n; left < 0 {
				return errors.New("out of memory")
			}
			return nil
		}}, v, func(v any) error {
			JSON(v)
			return ctx.Err()
		})
		if d := time.Since(started); d > 10*time.Second {
			t.Errorf("it went on for %v", d)
		}
	})
}
