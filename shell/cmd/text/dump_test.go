package text

import (
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var dumps = commandtest.Case{
	Stdin: "stdin text\n",
	Files: map[string]string{
		"a":    "hello, world\nabcdefghijklmnop\x00\x01\x7f\x80\xff\t\r\n",
		"b":    "short",
		"z":    strings.Repeat("\x00", 64) + "end",
		"rep":  strings.Repeat("abcdefghijklmnop", 5) + "x",
		"e":    "",
		"nums": "\x01\x02\x03\x04\x05\x06\x07\x08\xff\xff\xff\xff\x00\x00\x80\x3f",
		"dump": "00000000: 6865 6c6c 6f0a                           hello.\n",
		"gap":  "00000002: 4142  AB\n00000008: 43 C\n",
		"pl":   "68656c6c6f\n0a 41\n",
		"d/":   "",
	},
}

func TestOd(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(dumps,
		"od a", "od", "od -", "od -c a", "od -a a", "od -b a", "od -x a", "od -d a", "od -o a", "od -s a", "od -i nums", "od -l nums", "od -f nums", "od -e nums", "od -h a", "od -B a", "od -D nums", "od -F nums", "od -H a", "od -I nums", "od -L nums", "od -O nums", "od -X nums", "od -t x1 a", "od -t x1z a", "od -t x2 a", "od -t x4 a", "od -t x8 nums", "od -t d1 a", "od -t d2 a", "od -t d4 nums", "od -t d8 nums",
		"od -t u1 a", "od -t u8 nums", "od -t o1 a", "od -t o4 nums", "od -t o8 nums", "od -t f4 nums", "od -t f8 nums", "od -t fF nums", "od -t fD nums", "od -t xC a", "od -t dS a", "od -t dI nums", "od -t dL nums", "od -t c a", "od -t a a", "od -t x1c a", "od -t x1 -t c a", "od -tx1 -ta -tu2 a", "od -t x1z -t d4 a", "od -cx a", "od -A d a", "od -A x a", "od -A n a", "od -An -tx1 a", "od -A o -c b", "od -j 3 b", "od -j 0x2 b", "od -j 010 a", "od -N 4 a", "od -N 0 a",
		"od -j 2 -N 3 -c a", "od -v rep", "od rep", "od -c z", "od -w8 a", "od -w4 -tx1 a", "od -w -tx1 a", "od -w3 -tx2 a", "od -w0 a", "od --width=8 -c a", "od b a", "od e", "od -S 4 a", "od -S a", "od --strings=3 a", "od --endian=big -tx2 a", "od --endian=little -tx4 a", "od --endian=big -td8 nums", "od -t x3 a", "od -t y a", "od -t f1 a", "od -t x1q a", "od -A q a", "od -j x a", "od -N 1x a", "od -w x a", "od -j 100 b", "od nope", "od b nope", "od d", "od -Q", "od -j 1k a", "od -t '' b", "od --format=x1 --address-radix=d --skip-bytes=1 --read-bytes=2 a",
	))
}

func TestXxd(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(dumps,
		"xxd a", "xxd", "xxd -", "xxd b", "xxd -p a", "xxd -ps a", "xxd -plain a", "xxd -p -c 8 a", "xxd -p -c 0 a", "xxd -u a", "xxd -u -p a", "xxd -b a", "xxd -b -c 4 a", "xxd -c 8 a", "xxd -c8 a", "xxd -g 1 a", "xxd -g 4 a", "xxd -g 0 a", "xxd -g 8 a", "xxd -l 5 a", "xxd -l 0x10 a", "xxd -s 3 a", "xxd -s -5 a", "xxd -s 2 -l 4 a", "xxd -i b", "xxd -i -u b", "xxd -i a", "xxd -i", "xxd -C -i b", "xxd -i e", "xxd -a z", "xxd z", "xxd -e a", "xxd -e -g 2 a", "xxd -e -c 8 a", "xxd -d rep", "xxd -o 16 b", "xxd e", "xxd -r dump", "xxd -r gap", "xxd -r -p pl", "xxd -p -r pl", "xxd -c 3 -g 1 a", "xxd -r -s 2 dump", "xxd a out", "xxd -r dump out", "xxd -u -c 4 -g 1 b", "xxd nope", "xxd -cols 4 b", "xxd -seek 2 b", "xxd -len 3 b",
	))
}

func TestHexdump(t *testing.T) {
	commandtest.Run(t, commandtest.Lines(dumps,
		"hexdump a", "hexdump", "hexdump -C a", "hd a", "hexdump -b a", "hexdump -c a", "hexdump -d a", "hexdump -o a", "hexdump -x a", "hexdump -C b", "hexdump b", "hexdump -x b", "hexdump -b b", "hexdump -c b", "hexdump -n 5 -C a", "hexdump -s 3 -C a", "hexdump -s 0x4 -n 4 a", "hexdump -v -C rep", "hexdump -C rep", "hexdump -C z", "hexdump e", "hexdump -C e", "hexdump b a", "hexdump -Cb b", "hexdump nope", "hexdump b nope", "hexdump -n x a", "hexdump -s 100 b",
		"hexdump -e '16/1 \"%02x \" \"\\n\"' a", "hexdump -v -e '1/1 \"%02x\"' a", "hexdump -ve '1/1 \"%.2x \"' b", "hexdump -e '\"%08_ax  \" 8/1 \"%02x \" \"\\n\"' a", "hexdump -e '4/4 \"%08x \" \"\\n\"' nums", "hexdump -e '8/1 \"%_p\" \"\\n\"' a", "hexdump -e '1/2 \"%d\\n\"' nums", "hexdump -e '8/1 \"%3d \" \"\\n\"' a", "hexdump -e '4/1 \"%_c \" \"\\n\"' a", "hexdump -e 'x' a", "hexdump -e '\"%q\"' a", "hexdump -s 1K a",
	))
}

func TestStrings(t *testing.T) {
	w := commandtest.Case{Stdin: "ab\x00input\x00\n", Files: map[string]string{"a": "abc\x00hello world\x01\x02xyz12\tq\x00four\n\x80\xffnext\xe9accent\nlast", "w": "a\nb\nc\nd\n\x00wide\r\nok", "u16": "h\x00e\x00l\x00l\x00o\x00\x00\x00x", "u16b": "\x00h\x00e\x00l\x00l\x00o\x00\x00", "e": "", "d/": ""}}
	commandtest.Run(t, commandtest.Lines(w, "strings a", "strings", "strings -n 3 a", "strings -3 a", "strings -12 a", "strings -t d a", "strings -t x a", "strings -t o a", "strings -o a", "strings -f a", "strings -f -t d a w", "strings -w w", "strings w", "strings -e l u16", "strings -e b u16b", "strings -e S a", "strings -e s a", "strings -s : a", "strings -a a", "strings - a", "strings e", "strings -n 0 a", "strings -n x a", "strings --bytes=5 --radix=x a", "strings nope", "strings d", "strings a nope"))
}

func TestCmp(t *testing.T) {
	w := commandtest.Case{Stdin: "abc\ndef\n", Files: map[string]string{"a": "abc\ndef\n", "b": "abc\ndXf\n", "c": "abc\n", "p": "abc\nd", "e": "", "bin": "a\x00\xff\t", "bin2": "b\x01\xfe\n", "d/": ""}}
	commandtest.Run(t, commandtest.Lines(w, "cmp a a", "cmp a b", "cmp a c", "cmp c a", "cmp a p", "cmp a e", "cmp e e", "cmp a -", "cmp b", "cmp - a", "cmp -s a b", "cmp -s a a", "cmp -s a c", "cmp -l a b", "cmp -l bin bin2", "cmp -b a b", "cmp -bl bin bin2", "cmp -l a p", "cmp -n 5 a b", "cmp -n 6 a b", "cmp -i 4 a b", "cmp -i 1:1 a b", "cmp -i 0:4 c a", "cmp a b 4", "cmp a b 5 5", "cmp a b 6 6", "cmp a nope", "cmp -s a nope", "cmp", "cmp a b 1 2 3", "cmp -l -s a b", "cmp -n x a b", "cmp -i x a b", "cmp -Q a b", "cmp a d", "cmp --bytes=3 --verbose a b", "cmp --quiet a b", "cmp -l -n 1 bin bin2", "cmp -i 100 a b"))
}

func TestLook(t *testing.T) {
	w := commandtest.Case{Files: map[string]string{"w": "Apple\napple pie\napply\nbanana\nband\nzoo\n", "d": "a-b\na.c\nab\n"}}
	commandtest.Run(t, commandtest.Lines(w, "look ban w", "look app w", "look zz w", "look b w", "look -f band w", "look -t a band w", "look x nope", "look zoo w"))
}

func TestEnvsubst(t *testing.T) {
	w := commandtest.Case{Env: []string{"FOO=foo val", "BAR=bar"}, Stdin: "a $FOO ${BAR} $NONE ${FOO}x $FOOx $1 $ ${ ${FOO:-d} $$BAR \\$FOO\nno newline $BAR"}
	commandtest.Run(t, commandtest.Lines(w, "envsubst", "envsubst '$FOO'", "envsubst '$BAR $NONE'", "envsubst -v '$FOO ${BAR} x'", "envsubst ''", "envsubst a b", "envsubst -v", "envsubst -Q"))
}

func TestShuf(t *testing.T) {
	w := commandtest.Case{Stdin: "only\n", Files: map[string]string{"one": "x\n", "e": "", "rnd": "random bytes"}}
	commandtest.Run(t, commandtest.Lines(w, "shuf", "shuf one", "shuf e", "shuf -e a", "shuf -i 3-3", "shuf -i 5-4", "shuf -n 0 one", "shuf -n 0 -i 1-10", "shuf -e -n 1 q", "shuf -r -n 3 one", "shuf -o out one", "shuf -z -e a", "shuf -i 1-2 x", "shuf -i x", "shuf -i 3-1", "shuf -n x one", "shuf -e -i 1-2", "shuf one two", "shuf nope", "shuf -Q", "shuf -i 1-2 -i 1-2", "shuf -r e", "shuf -r -n 0 e", "shuf --random-source=nope one", "shuf -o a -o b one"))
	c := commandtest.Case{Args: []string{"shuf", "-i", "1-100"}}
	got := strings.Fields(commandtest.Inside(t, &c).Stdout)
	if sort.StringsAreSorted(got) || len(got) != 100 {
		t.Errorf("%q", got)
	}
	slices.Sort(got)
	if len(slices.Compact(got)) != 100 {
		t.Error("numbers came twice")
	}
	c = commandtest.Case{Args: []string{"shuf", "-n", "3", "-i", "1-18446744073709551615"}}
	if got := strings.Fields(commandtest.Inside(t, &c).Stdout); len(got) != 3 {
		t.Errorf("%q", got)
	}
}
