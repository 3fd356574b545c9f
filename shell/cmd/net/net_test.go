package net_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vfsd/vfsd/internal/egress"
	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/shell"
	_ "github.com/vfsd/vfsd/shell/cmd/files"
	_ "github.com/vfsd/vfsd/shell/cmd/net"
	_ "github.com/vfsd/vfsd/shell/cmd/text"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// site is a server of everything that the tests ask for.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	var tries atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/hello", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Date", "Tue, 14 Nov 2023 22:13:20 GMT")
		io.WriteString(w, "hello\n")
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s\n", r.Method, r.URL.RequestURI())
		for _, h := range []string{"Accept", "Authorization", "Content-Type", "Cookie", "Range", "Referer", "User-Agent", "X-A"} {
			if v, ok := r.Header[h]; ok && !strings.HasPrefix(v[0], "multipart") {
				fmt.Fprintf(w, "%s: %s\n", h, strings.Join(v, "|"))
			}
		}
		fmt.Fprintf(w, "\n%s", b)
	})
	mux.HandleFunc("/form", func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		f, h, err := r.FormFile("f")
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		b, _ := io.ReadAll(f)
		fmt.Fprintf(w, "%s|%s|%s|%s\n", r.FormValue("a"), h.Filename, h.Header.Get("Content-Type"), b)
	})
	mux.HandleFunc("/to/", func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/to/"))
		w.Header().Set("Location", "/echo")
		w.WriteHeader(code)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", 302) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/secret", 302)
	})
	mux.HandleFunc("/flaky", func(w http.ResponseWriter, _ *http.Request) {
		if tries.Add(1) < 3 {
			w.WriteHeader(503)
			return
		}
		io.WriteString(w, "at last\n")
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			c.Close()
		}
	})
	mux.HandleFunc("/short", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "few")
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) {
		for range 64 {
			w.Write(make([]byte, 64<<10))
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// loopback allows the test servers, and no name.
func loopback(servers ...*httptest.Server) command.Network {
	var ports []uint16
	for _, s := range servers {
		u, _ := url.Parse(s.URL)
		p, _ := strconv.ParseUint(u.Port(), 10, 16)
		ports = append(ports, uint16(p))
	}
	return egress.New(egress.Policy{Allow: []egress.Rule{{CIDR: netip.MustParsePrefix("127.0.0.0/8"), Ports: ports}}})
}

type outcome struct {
	status         int
	stdout, stderr string
	w              *vfs.Walker
}

func script(t *testing.T, n command.Network, files map[string]string, text string) outcome {
	t.Helper()
	fs := memfs.New()
	w := vfs.NewWalker(fs, &vfs.Op{Umask: 0o022})
	for name, content := range files {
		if err := w.WriteFile("/"+name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ses := shell.New(shell.Config{FS: fs, Network: n}).NewSession(shell.SessionOptions{Env: command.Environ{"PATH=/usr/bin", "http_proxy=http://127.0.0.1:1", "HOME=/"}})
	defer ses.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	res := ses.Exec(ctx, shell.Execution{Script: text, Stdin: strings.NewReader("from stdin"), Stdout: &out, Stderr: &errs})
	return outcome{res.Status, out.String(), errs.String(), w}
}

const plain = "Accept: */*\nUser-Agent: curl/7.88.1\n"
const form = "Accept: */*\nContent-Type: application/x-www-form-urlencoded\nUser-Agent: curl/7.88.1\n"

func TestCurl(t *testing.T) {
	s := site(t)
	host := strings.TrimPrefix(s.URL, "http://")
	name, port, _ := strings.Cut(host, ":")
	for _, c := range []struct {
		script, stdout, stderr string
		status                 int
	}{
		{"curl U/hello", "hello\n", "", 0},
		{"curl -s " + host + "/hello", "hello\n", "", 0},
		{"curl -i U/hello", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\nContent-Length: 6\r\n\r\nhello\n", "", 0},
		{"curl -I U/hello", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\nContent-Length: 6\r\n\r\n", "", 0},
		{"curl U/echo", "GET /echo\n" + plain + "\n", "", 0},
		{"curl -d a=1 -d b=2 U/echo", "POST /echo\n" + form + "\na=1&b=2", "", 0},
		{"curl -d @in U/echo", "POST /echo\n" + form + "\nonetwo", "", 0},
		{"curl --data-binary @in U/echo", "POST /echo\n" + form + "\none\ntwo\n", "", 0},
		{"curl --data-raw @in U/echo", "POST /echo\n" + form + "\n@in", "", 0},
		{"curl -d @- U/echo", "POST /echo\n" + form + "\nfrom stdin", "", 0},
		{"curl --data-urlencode 'q=a b&c' -G U/echo", "GET /echo?q=a%20b%26c\n" + plain + "\n", "", 0},
		{"curl -G -d x=1 'U/echo?y=2'", "GET /echo?y=2&x=1\n" + plain + "\n", "", 0},
		{`curl --json '{"a":1}' U/echo`, "POST /echo\nAccept: application/json\nContent-Type: application/json\nUser-Agent: curl/7.88.1\n\n{\"a\":1}", "", 0},
		{"curl -X DELETE U/echo", "DELETE /echo\n" + plain + "\n", "", 0},
		{"curl -XPUT -d x -H 'X-A: 1' -H 'Accept:' -A me -e ref -b k=v -u u:p -r 0-5 U/echo",
			"PUT /echo\nAuthorization: Basic dTpw\nContent-Type: application/x-www-form-urlencoded\nCookie: k=v\nRange: bytes=0-5\nReferer: ref\nUser-Agent: me\nX-A: 1\n\nx", "", 0},
		{"curl -T in U/echo", "PUT /echo\n" + plain + "\none\ntwo\n", "", 0},
		{"curl -F a=1 -F f=@in U/form", "1|in|application/octet-stream|one\ntwo\n\n", "", 0},
		{"curl -F a=1 -F 'f=@in;type=text/x;filename=n' U/form", "1|n|text/x|one\ntwo\n\n", "", 0},
		{"curl -o x U/hello; cat x", "hello\n", "", 0},
		{"curl -O U/hello; cat hello", "hello\n", "", 0},
		{"curl --create-dirs -o a/b/c U/hello; cat a/b/c", "hello\n", "", 0},
		{"curl -o nodir/x U/hello", "", "Warning: Failed to open the file nodir/x: No such file or directory\ncurl: (23) Failure writing output to destination\n", 23},
		{"curl U/hello U/hello", "hello\nhello\n", "", 0},
		{"curl -w '%{http_code} %{size_download} %{content_type} %{num_redirects}\\n' U/hello", "hello\n200 6 text/plain 0\n", "", 0},
		{"curl -s -o /dev/null -w '%{http_code}' U/nope", "404", "", 0},
		{"curl -f U/nope", "", "curl: (22) The requested URL returned error: 404\n", 22},
		{"curl -fs U/nope", "", "", 22},
		{"curl -fsS U/nope", "", "curl: (22) The requested URL returned error: 404\n", 22},
		{"curl --fail-with-body U/nope", "404 page not found\n", "curl: (22) The requested URL returned error: 404\n", 22},
		{"curl U/to/302", "", "", 0},
		{"curl -L U/to/302", "GET /echo\n" + plain + "\n", "", 0},
		{"curl -L -d x U/to/302", "GET /echo\n" + plain + "\n", "", 0},
		{"curl -L -d x U/to/307", "POST /echo\n" + form + "\nx", "", 0},
		{"curl -s -w '%{redirect_url}' U/to/301", "U/echo", "", 0},
		{"curl -L U/loop", "", "curl: (47) Maximum (50) redirects followed\n", 47},
		{"curl -L --max-redirs 2 U/loop", "", "curl: (47) Maximum (2) redirects followed\n", 47},
		{"curl -L U/away", "", "curl: (7) Failed to connect to 169.254.169.254 port 80 after 0 ms: Couldn't connect to server (denied by the network policy)\n", 7},
		{"curl http://name.example/", "", "curl: (7) Failed to connect to name.example port 80 after 0 ms: Couldn't connect to server (denied by the network policy)\n", 7},
		{"curl -s --retry 3 --retry-delay 0.01 U/flaky", "at last\n", "", 0},
		{"curl -m 0.2 U/slow", "", "curl: (28) Operation timed out after 200 milliseconds with 0 bytes received\n", 28},
		{"curl U/cut", "", "curl: (52) Empty reply from server\n", 52},
		{"curl U/short", "few", "curl: (18) transfer closed with 97 bytes remaining to read\n", 18},
		{"curl -s U/big | head -c 3 | od -An -c | tr -d ' '", "\\0\\0\\0\n", "", 0},
		{"curl -D h -s -o /dev/null U/hello; head -n 1 h", "HTTP/1.1 200 OK\r\n", "", 0},
		{"curl --resolve x.example:" + port + ":" + name + " http://x.example:" + port + "/hello", "hello\n", "", 0},
		{"curl -x http://p:1 U/hello", "", "curl: (5) Could not resolve proxy: http://p:1\n", 5},
		{"curl", "", "curl: try 'curl --help' or 'curl --manual' for more information\n", 2},
		{"curl --foo", "", "curl: option --foo: is unknown\ncurl: try 'curl --help' or 'curl --manual' for more information\n", 2},
		{"curl -d", "", "curl: option -d: requires parameter\ncurl: try 'curl --help' or 'curl --manual' for more information\n", 2},
		{"curl ftp://x", "", "curl: (1) Protocol \"ftp\" not supported or disabled in libcurl\n", 1},
		{"curl 'http://'", "", "curl: (3) URL using bad/illegal format or missing URL\n", 3},
		{"curl -T nope U/echo", "", "curl: (26) Can't open 'nope'!\n", 26},
	} {
		t.Run(c.script, func(t *testing.T) {
			rep := strings.NewReplacer("U/", s.URL+"/")
			got := script(t, loopback(s), map[string]string{"in": "one\ntwo\n"}, rep.Replace(c.script))
			if got.stdout != rep.Replace(c.stdout) || got.stderr != rep.Replace(c.stderr) || got.status != c.status {
				t.Errorf("status %d, want %d\nstdout %q\nwant   %q\nstderr %q\nwant   %q", got.status, c.status, got.stdout, rep.Replace(c.stdout), got.stderr, rep.Replace(c.stderr))
			}
		})
	}
}

// TestDenied: without a policy nothing is reached, whatever is running.
func TestDenied(t *testing.T) {
	s := site(t)
	got := script(t, nil, nil, "curl -sS "+s.URL+"/hello; wget -q "+s.URL+"/hello; echo $?")
	if got.stdout != "4\n" || !strings.Contains(got.stderr, "curl: (7) Failed to connect to 127.0.0.1 port ") {
		t.Errorf("%q %q", got.stdout, got.stderr)
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "safe\n") }))
	defer s.Close()
	pemText := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	files := map[string]string{"ca": pemText}
	for _, c := range []struct {
		script, stdout, stderr string
		status                 int
	}{
		{"curl U", "", "curl: (60) SSL certificate problem: unable to get local issuer certificate\n", 60},
		{"curl -k U", "safe\n", "", 0},
		{"curl --cacert ca U", "safe\n", "", 0},
		{"wget -qO- --no-check-certificate U", "safe\n", "", 0},
		{"wget -q U", "", "", 5},
	} {
		got := script(t, loopback(s), files, strings.Replace(c.script, "U", s.URL, 1))
		if got.stdout != c.stdout || got.stderr != c.stderr || got.status != c.status {
			t.Errorf("%s: %d %q %q", c.script, got.status, got.stdout, got.stderr)
		}
	}
}

func TestWget(t *testing.T) {
	s := site(t)
	for _, c := range []struct {
		script, stdout, stderr string
		status                 int
	}{
		{"wget -q U/hello; cat hello", "hello\n", "", 0},
		{"wget -qO- U/hello", "hello\n", "", 0},
		{"wget -q -O x U/hello U/hello; cat x", "hello\nhello\n", "", 0},
		{"wget -q -P d U/hello; cat d/hello", "hello\n", "", 0},
		{"wget -q U/hello; wget -q U/hello; ls", "hello\nhello.1\nin\n", "", 0},
		{"wget -qO- --post-data a=b U/echo", "POST /echo\nAccept: */*\nContent-Type: application/x-www-form-urlencoded\nUser-Agent: Wget/1.21.3\n\na=b", "", 0},
		{"wget -qO- --header 'X-A: 1' -U me U/echo", "GET /echo\nAccept: */*\nUser-Agent: me\nX-A: 1\n\n", "", 0},
		{"wget -qO- U/to/302", "GET /echo\nAccept: */*\nUser-Agent: Wget/1.21.3\n\n", "", 0},
		{"wget -q U/nope", "", "", 8},
		{"wget -q --spider U/hello", "", "", 0},
		{"wget -q --spider U/nope", "", "", 8},
		{"wget -q U/away", "", "", 4},
		{"wget -q --max-redirect 1 U/loop", "", "", 8},
		{"wget -q -i list; ls", "in\n", "wget: list: No such file or directory\n", 1},
		{"wget", "", "wget: missing URL\nUsage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.\n", 1},
	} {
		rep := strings.NewReplacer("U/", s.URL+"/")
		got := script(t, loopback(s), map[string]string{"in": "x"}, rep.Replace(c.script))
		status := c.status
		if strings.Contains(c.script, "; ls") {
			status = 0
		}
		if got.stdout != c.stdout || got.stderr != c.stderr || got.status != status {
			t.Errorf("%s: status %d, want %d\nstdout %q\nwant   %q\nstderr %q", c.script, got.status, c.status, got.stdout, c.stdout, got.stderr)
		}
	}
}
