package archive

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

var past = time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)

func join(lists ...[]commandtest.Case) []commandtest.Case {
	var out []commandtest.Case
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func TestSums(t *testing.T) {
	w := commandtest.Case{Files: map[string]string{"f": "hello\n", "e": "", "g": strings.Repeat("x", 100000), "with space": "s", "back\\slash": "b", "new\nline": "n", "d/": "",
		"good.md5": "b1946ac92492d2347c6235b4d2611184  f\nd41d8cd98f00b204e9800998ecf8427e *e\n", "bad.md5": "b1946ac92492d2347c6235b4d2611185  f\nnonsense\nb1946ac92492d2347c6235b4d2611184  nope\n", "none": "nothing here\n",
		"tag.md5": "MD5 (f) = b1946ac92492d2347c6235b4d2611184\n", "gone.md5": "b1946ac92492d2347c6235b4d2611184  nope\n", "many.sum": "MD5 (f) = b1946ac92492d2347c6235b4d2611184\nSHA1 (f) = f572d396fae9206628714fb2ce00f72e94f2258f\n", "esc.md5": "\\7b8b965ad4bca0e41ab51de7b31363a1  new\\nline\n", "up.md5": "B1946AC92492D2347C6235B4D2611184  f\n", "one.md5": "b1946ac92492d2347c6235b4d2611184 f\n"}, Stdin: "from stdin\n"}
	var lines []string
	for _, name := range []string{"md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"} {
		lines = append(lines, name+" f e g", name+" --tag f", name)
	}
	lines = append(lines, "md5sum -b f", "md5sum -t f", "md5sum -z f e", "md5sum nope f", "md5sum d", "md5sum 'with space'", "md5sum 'back\\\\slash' 'new\nline'", "md5sum --tag 'new\nline'", "md5sum -z 'new\nline'", "md5sum -c good.md5", "md5sum -c bad.md5", "md5sum -c none", "md5sum -c tag.md5", "md5sum --status -c bad.md5", "md5sum --quiet -c good.md5", "md5sum -w -c bad.md5", "md5sum --strict -c bad.md5", "md5sum --ignore-missing -c bad.md5", "md5sum --ignore-missing -c gone.md5", "md5sum -c gone.md5", "md5sum -c nope", "md5sum -c good.md5 none", "md5sum -c", "md5sum --tag -c good.md5", "md5sum --quiet f", "md5sum --tag -t f", "md5sum -bc good.md5", "md5sum -zc good.md5", "md5sum -c esc.md5", "md5sum -c up.md5", "md5sum -c one.md5", "md5sum -x", "md5sum -", "b2sum -l 128 f", "b2sum -l 128 --tag f", "b2sum -l 7 f", "b2sum -l 1024 f", "b2sum -l x f", "md5sum --strict f", "md5sum --status f", "sha256sum -c good.md5",
		"cksum f e g", "cksum", "cksum nope", "cksum -a md5 f", "cksum -a sha256 f e", "cksum -a bsd f g", "cksum -a sysv f g", "cksum -a crc f", "cksum -a bogus f", "cksum -a blake2b f", "cksum -a blake2b -l 128 f", "cksum -a md5 --untagged f", "cksum -a md5 -c tag.md5", "cksum -c many.sum", "cksum -c none", "cksum -a md5 -l 8 f", "cksum -a sha1 -z f", "cksum -a crc -c none", "sum f e g", "sum", "sum -s f g", "sum -r f", "sum nope", "sum f", "sum -s", "cksum -a bsd", "cksum - f")
	commandtest.Run(t, commandtest.Lines(w, lines...))
}

// b3sum is not in Debian: its answers are those of the BLAKE3 test vectors.
func TestB3sum(t *testing.T) {
	w := commandtest.Case{Files: map[string]string{"e": "", "one": "\x00", "list": "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262  e\n"}}
	for line, want := range map[string]string{
		"b3sum e":            "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262  e\n",
		"b3sum --no-names e": "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262\n",
		"b3sum one":          "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213  one\n",
		"b3sum -l 4 e":       "af1349b9  e\n",
		"b3sum -c list":      "e: OK\n",
	} {
		if r := commandtest.Inside(t, &commandtest.Lines(w, line)[0]); r.Stdout != want || r.Status != 0 {
			t.Errorf("%s: status %d, %q, want %q", line, r.Status, r.Stdout, want)
		}
	}
}

func TestBase(t *testing.T) {
	bin := ""
	for i := range 256 {
		bin += string([]byte{byte(i)})
	}
	w := commandtest.Case{Files: map[string]string{"f": "Hello, World!\n", "bin": bin, "e": "", "a": "a", "ab": "ab", "abcd": "abcd", "big": strings.Repeat(bin, 300), "d/": "",
		"ok64": "SGVsbG8s\nIFdvcmxkIQo=\n", "nopad": "SGVsbG8", "bad64": "SGVs!bG8=\n", "two": "YQ==Yg==\n", "trail": "YQ==\nx", "ok32": "JBSWY3DPEBLW64TMMQQQU===\n", "bad32": "JBSW1===", "hex": "48656C6C6F", "lowhex": "48656c6c6f", "bits": "0100100001101001", "z": "HelloWorld", "short": "Y", "bad1": "Y!"}, Stdin: "stdin\n"}
	var lines []string
	for _, f := range []string{"f", "bin", "e", "a", "ab", "abcd", "big"} {
		for _, enc := range []string{"base64", "base32", "basenc --base64url", "basenc --base32hex", "basenc --base16", "basenc --base2msbf", "basenc --base2lsbf"} {
			lines = append(lines, enc+" "+f)
		}
	}
	lines = append(lines, "base64", "base64 -", "base64 -w 0 bin", "base64 -w 10 bin", "base64 -w 1 a", "base64 -w x f", "base64 nope", "base64 d", "base64 f e", "base64 -d ok64", "base64 -d nopad", "base64 -d bad64", "base64 -di bad64", "base64 -d two", "base64 -d trail", "base64 -d short", "base64 -d bad1", "base64 -d e", "base64 -d bin", "base64 -x", "base32 -d ok32", "base32 -d bad32", "base32 -w 0 bin", "base32 -di ok32", "basenc f", "basenc --z85 abcd", "basenc --z85 f", "basenc --z85 -d z", "basenc --base16 -d hex", "basenc --base16 -d lowhex", "basenc --base2msbf -d bits", "basenc --base2lsbf -d bits", "basenc --base64 -d ok64", "basenc --base16 -w 4 abcd", "base64 --wrap=76 bin", "base64 --decode ok64", "base32", "base64 -w 4 abcd")
	commandtest.Run(t, commandtest.Lines(w, lines...))
}

func unquote(s string) (string, error) { return strconv.Unquote(s) }
