package cformat

import (
	"math"
	"math/big"
	"testing"
)

func spec(t *testing.T, format string) *Spec {
	t.Helper()
	s, n := Parse(format)
	if n != len(format) {
		t.Fatalf("%q: read %d bytes", format, n)
	}
	return &s
}

// The answers are those of the C library.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		format string
		v      any
		want   string
	}{
		{"d", int64(-5), "-5"}, {"5d", int64(42), "   42"}, {"-5d", int64(42), "42   "}, {"05d", int64(-42), "-0042"}, {"+d", int64(42), "+42"}, {" d", int64(42), " 42"}, {".3d", int64(7), "007"}, {"06.3d", int64(7), "   007"}, {".0d", int64(0), ""},
		{"d", int64(math.MinInt64), "-9223372036854775808"},
		{"x", uint64(255), "ff"}, {"#X", uint64(255), "0XFF"}, {"#o", uint64(8), "010"}, {"#x", uint64(0), "0"}, {"#.0o", uint64(0), "0"}, {"08x", uint64(255), "000000ff"}, {"#08x", uint64(255), "0x0000ff"}, {"u", uint64(math.MaxUint64), "18446744073709551615"},
		{"s", "abc", "abc"}, {"5s", "abc", "  abc"}, {"-5s", "abc", "abc  "}, {".2s", "abc", "ab"}, {"5.1s", "abc", "    a"},
		{"f", 3.14159265, "3.141593"}, {".2f", 2.675, "2.67"}, {".0f", 0.5, "0"}, {".0f", 1.5, "2"}, {"#.0f", 1.5, "2."}, {"10.3f", -3.14159, "    -3.142"}, {"010.3f", -3.14159, "-00003.142"}, {"+f", 1.0, "+1.000000"},
		{"e", 12345.678, "1.234568e+04"}, {".0e", 12345.678, "1e+04"}, {"E", 1e-100, "1.000000E-100"}, {"e", 0.0, "0.000000e+00"},
		{"g", 100000.0, "100000"}, {"g", 1000000.0, "1e+06"}, {"g", 0.0001, "0.0001"}, {"g", 0.00001, "1e-05"}, {"#g", 1.0, "1.00000"}, {".3g", 1234.0, "1.23e+03"}, {"g", 0.0, "0"}, {"G", 1e-10, "1E-10"}, {".10g", 0.1, "0.1"}, {"g", 123456789.0, "1.23457e+08"},
		{"f", math.Inf(1), "inf"}, {"F", math.Inf(-1), "-INF"}, {"05f", math.Inf(1), "  inf"}, {"f", math.NaN(), "nan"},
		{"a", 1.0, "0x1p+0"}, {"a", 0.5, "0x1p-1"}, {".2a", 3.14159, "0x1.92p+1"}, {"A", 255.0, "0X1.FEP+7"}, {"a", 0.0, "0x0p+0"},
		{"f", big.NewFloat(0.1).SetPrec(64), "0.100000"}, {"a", big.NewFloat(1).SetPrec(64), "0x8p-3"}, {".1a", big.NewFloat(3.5).SetPrec(64), "0xe.0p-2"}, {"g", big.NewFloat(1e10).SetPrec(64), "1e+10"},
	} {
		s := spec(t, c.format)
		var got string
		switch v := c.v.(type) {
		case int64:
			got = s.Int(v)
		case uint64:
			got = s.Uint(v)
		case string:
			got = s.String(v)
		case float64:
			got = s.Float(v)
		case *big.Float:
			got = s.BigFloat(v)
		}
		if got != c.want {
			t.Errorf("%%%s of %v: %q, want %q", c.format, c.v, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	s, n := Parse("-+ #0'12.34lldxx")
	if n != len("-+ #0'12.34lld") || !s.Minus || !s.Plus || !s.Space || !s.Alt || !s.Zero || !s.Group || s.Width != 12 || s.Prec != 34 || s.Verb != 'd' {
		t.Errorf("%+v %d", s, n)
	}
	if s, n = Parse("*.*f"); n != 4 || !s.StarWidth || !s.StarPrec {
		t.Errorf("%+v %d", s, n)
	}
	s.SetWidth(-5)
	s.SetPrec(-1)
	if !s.Minus || s.Width != 5 || s.Prec != -1 {
		t.Errorf("%+v", s)
	}
	if _, n = Parse("12"); n != 0 {
		t.Errorf("no verb, %d", n)
	}
	if s, _ = Parse("99999999999d"); !s.TooWide() {
		t.Errorf("%+v", s)
	}
}
