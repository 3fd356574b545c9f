package arith

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

// testVars is a set of plain variables; elements are "name[subscript]".
type testVars map[string]string

func key(name, sub string, indexed bool) string {
	if indexed {
		return name + "[" + sub + "]"
	}
	return name
}

func (v testVars) Value(name, sub string, indexed bool) (string, error) {
	if name == "unbound" {
		return "", errUnbound
	}
	return v[key(name, sub, indexed)], nil
}

func (v testVars) Assign(name, sub string, indexed bool, n int64) error {
	v[key(name, sub, indexed)] = strconv.FormatInt(n, 10)
	return nil
}

var errUnbound = errors.New("unbound: unbound variable")

// TestEval holds what Bash 5.2 answers.
func TestEval(t *testing.T) {
	for _, c := range []struct {
		expr string
		want string // the value, or the error
	}{
		{"", "0"},
		{"  ", "0"},
		{"1 2", `1 2: syntax error in expression (error token is "2")`},
		{"1+", `1+: syntax error: operand expected (error token is "+")`},
		{" 1 +  ", `1 +  : syntax error: operand expected (error token is "+  ")`},
		{"3/0", `3/0: division by 0 (error token is "0")`},
		{"3 / (1-1) + 5", `3 / (1-1) + 5: division by 0 (error token is "(1-1) + 5")`},
		{"1?2", "1?2: `:' expected for conditional expression (error token is \"2\")"},
		{"1?", `1?: expression expected (error token is "?")`},
		{"08", `08: value too great for base (error token is "08")`},
		{"1.5", `1.5: syntax error: invalid arithmetic operator (error token is ".5")`},
		{"@", `@: syntax error: operand expected (error token is "@")`},
		{"2**-1", `2**-1: exponent less than 0 (error token is "1")`},
		{"5=x", `5=x: attempted assignment to non-variable (error token is "=x")`},
		{"x++=7", `x++=7: attempted assignment to non-variable (error token is "=7")`},
		{"loop", `other: expression recursion level exceeded (error token is "other")`},
		{"16#fg", `16#fg: value too great for base (error token is "16#fg")`},
		{"65#1", `65#1: invalid arithmetic base (error token is "65#1")`},
		{"++5", "5"},
		{"x ++ + ++ x", "8"},
		{"bad", `1 +: syntax error: operand expected (error token is "+")`},
		{"x = ", `x = : syntax error: operand expected (error token is "= ")`},
		{"! ", `! : syntax error: operand expected (error token is "! ")`},
		{"'2' ", `'2' : syntax error: operand expected (error token is "'2' ")`},
		{"a[", `a[: bad array subscript (error token is "a[")`},
		{"word", "0"},
		{"9223372036854775808", "-9223372036854775808"},
		{"-9223372036854775807-1 == 1<<63", "1"},
		{"(1<<63)/-1", "-9223372036854775808"},
		{"(1<<63)%-1", "0"},
		{"1<<64", "1"},
		{"1 ? 2 : 3,4", "4"},
		{"y=1,y+=2,y<<=3", "24"},
		{"1,", `1,: syntax error: operand expected (error token is ",")`},
		{"3 * * 4", `3 * * 4: syntax error: operand expected (error token is "* 4")`},
		{"1 == = 2", `1 == = 2: syntax error: operand expected (error token is "= 2")`},
		{"1 -- 2", "3"},
		{"1 --x", `1 --x: syntax error in expression (error token is "--x")`},
		{"octal", "8"},
		{"-octal", "-8"},
		{"0x1F + 2#101 + 36#z + 64#_", "134"},
		{"0 && 1/0", "0"},
		{"1 || 1/0", "1"},
		{"1 ? 5 : 1/0", "5"},
		{"0 && (z = 1), z", "0"},
		{"2**3**2", "512"},
		{"-2**2", "4"},
		{"7 - 2 - 1", "4"},
		{"1 + 2 * 3 % 4 << 1 | 1", "7"},
		{"!0 + ~0", "0"},
		{"a[1] + a[x]", "50"},
		{"unbound + 1", "unbound: unbound variable"},
		{"1 < 2 == 2 > 1", "1"},
	} {
		vars := testVars{
			"x": "3", "loop": "other", "other": "loop", "bad": "1 +", "octal": "010", "word": "nothing",
			"a[1]": "20", "a[x]": "30",
		}
		v, err := Eval(c.expr, vars)
		got := strconv.FormatInt(v, 10)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.expr, got, c.want)
		}
	}
}

// TestAssignment shows that what comes before a mistake has happened.
func TestAssignment(t *testing.T) {
	vars := testVars{}
	if _, err := Eval("p = 4, a[p] = q = 5, 1/0", vars); err == nil {
		t.Error("no error")
	}
	if vars["p"] != "4" || vars["q"] != "5" || vars["a[p]"] != "5" {
		t.Errorf("got %v", vars)
	}
}

// TestDepth shows that hostile nesting is an error, not a stack overflow.
func TestDepth(t *testing.T) {
	for _, s := range []string{strings.Repeat("(", 1e6), strings.Repeat("- ", 1e6), strings.Repeat("x=", 1e6), strings.Repeat("!", 1e6)} {
		if _, err := Eval(s, testVars{}); err == nil {
			t.Errorf("%.10s...: no error", s)
		}
	}
}

func FuzzEval(f *testing.F) {
	for _, s := range []string{"1+2*3", "x=y?1:2", "a[1]++ + --b", "16#ff ** 2", "((((", "1 ? 2 : 3 ? 4", "08", "x<<=3,1/0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		Eval(s, testVars{"x": "y+1", "y": "2"})
	})
}
