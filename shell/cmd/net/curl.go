package net

import (
	"context"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// IDs of curl's long-only options.
const (
	optDataRaw = 256 + iota
	optDataBinary
	optDataURL
	optJSON
	optRetry
	optRetryDelay
	optRetryAll
	optConnectTimeout
	optMaxRedirs
	optCompressed
	optCreateDirs
	optOutputDir
	optFailBody
	optURL
	optResolve
	optCacert
	optLocationTrusted
	optNoProgress
	optIgnored
	optIgnoredArg
	optMaxFilesize
	optOAuth
	optHelpAll
	optFormString
	optPost301
	optRemoveOnError
	optHTTPVersion
)

func opt(short byte, long, arg, help string, id int) command.Option {
	o := command.Option{Short: short, Long: long, Help: help, ID: id}
	if arg != "" {
		o.Arg, o.ArgName = command.RequiredArgument, arg
	}
	return o
}

func init() {
	options := []command.Option{
		opt('X', "request", "METHOD", "specify the request method to use", 0),
		opt('H', "header", "LINE", "pass a custom header to the server; @FILE reads them", 0),
		opt('d', "data", "DATA", "HTTP POST data; @FILE reads it", 0),
		opt(0, "data-ascii", "DATA", "", 'd'),
		opt(0, "data-raw", "DATA", "HTTP POST data, '@' allowed", optDataRaw),
		opt(0, "data-binary", "DATA", "HTTP POST binary data", optDataBinary),
		opt(0, "data-urlencode", "DATA", "HTTP POST data URL-encoded", optDataURL),
		opt(0, "json", "DATA", "HTTP POST JSON", optJSON),
		opt('F', "form", "NAME=CONTENT", "specify multipart MIME data", 0),
		opt(0, "form-string", "NAME=STRING", "specify multipart MIME data, taken as it stands", optFormString),
		opt('G', "get", "", "put the post data in the URL and use GET", 0),
		opt('I', "head", "", "show the head of the response only", 0),
		opt('i', "include", "", "include the head of the response in the output", 0),
		opt('D', "dump-header", "FILE", "write the received heads to FILE", 0),
		opt('o', "output", "FILE", "write to file instead of stdout", 0),
		opt('O', "remote-name", "", "write output to a file named as the remote file", 0),
		opt('J', "remote-header-name", "", "use the name that the server gives", 0),
		opt(0, "output-dir", "DIR", "directory to save files in", optOutputDir),
		opt(0, "create-dirs", "", "create necessary local directories", optCreateDirs),
		opt(0, "remove-on-error", "", "remove the output file on errors", optRemoveOnError),
		opt('L', "location", "", "follow redirects", 0),
		opt(0, "location-trusted", "", "like --location, and send auth to other hosts", optLocationTrusted),
		opt(0, "max-redirs", "NUM", "maximum number of redirects allowed", optMaxRedirs),
		opt(0, "post301", "", "do not switch to GET after a 301", optPost301),
		opt('f', "fail", "", "fail fast with no output on HTTP errors", 0),
		opt(0, "fail-with-body", "", "fail on HTTP errors but save the body", optFailBody),
		opt('s', "silent", "", "silent mode", 0),
		opt('S', "show-error", "", "show error even when -s is used", 0),
		opt('v', "verbose", "", "make the operation more talkative", 0),
		opt('w', "write-out", "FORMAT", "use output FORMAT after completion", 0),
		opt('u', "user", "USER:PASSWORD", "server user and password", 0),
		opt(0, "oauth2-bearer", "TOKEN", "OAuth 2 bearer token", optOAuth),
		opt('A', "user-agent", "NAME", "send User-Agent NAME to server", 0),
		opt('e', "referer", "URL", "referrer URL", 0),
		opt('b', "cookie", "DATA", "send cookies from the string", 0),
		opt('c', "cookie-jar", "FILE", "", optIgnoredArg),
		opt('T', "upload-file", "FILE", "transfer local FILE to destination", 0),
		opt('r', "range", "RANGE", "retrieve only the bytes within RANGE", 0),
		opt('C', "continue-at", "OFFSET", "resumed transfer offset; - finds it out", 0),
		opt('k', "insecure", "", "allow insecure server connections", 0),
		opt(0, "cacert", "FILE", "CA certificate to verify the peer against", optCacert),
		opt('m', "max-time", "SECONDS", "maximum time allowed for the transfer", 0),
		opt(0, "connect-timeout", "SECONDS", "maximum time allowed for the connection", optConnectTimeout),
		opt(0, "max-filesize", "BYTES", "maximum file size to download", optMaxFilesize),
		opt(0, "retry", "NUM", "retry the request if transient problems occur", optRetry),
		opt(0, "retry-delay", "SECONDS", "wait time between retries", optRetryDelay),
		opt(0, "retry-all-errors", "", "retry all errors", optRetryAll),
		opt(0, "retry-connrefused", "", "", optRetryAll),
		opt(0, "retry-max-time", "SECONDS", "", optIgnoredArg),
		opt(0, "compressed", "", "request a compressed response", optCompressed),
		opt(0, "resolve", "HOST:PORT:ADDR", "resolve HOST:PORT to ADDR", optResolve),
		opt(0, "url", "URL", "URL to work with", optURL),
		opt(0, "no-progress-meter", "", "do not show the progress meter (there is none)", optNoProgress),
		opt('h', "help", "", "get help", optHelpAll),
	}
	for _, name := range strings.Fields("progress-bar:# globoff:g no-buffer:N ipv4:4 ipv6:6 disable:q http1.1: http2: http1.0:0 http3: tcp-nodelay: no-keepalive: path-as-is: basic: anyauth: tlsv1.2: tlsv1.3: ssl-reqd: no-sessionid: styled-output: tr-encoding: remote-time:R fail-early: parallel:Z") {
		long, short, _ := strings.Cut(name, ":")
		o := opt(0, long, "", "", optIgnored)
		if short != "" {
			o.Short = short[0]
		}
		options = append(options, o)
	}
	for _, name := range strings.Fields("keepalive-time limit-rate:Y speed-limit speed-time:y noproxy ciphers tls-max interface stderr proto proto-default proto-redir") {
		long, _, _ := strings.Cut(name, ":")
		options = append(options, opt(0, long, "ARG", "", optIgnoredArg))
	}
	options = append(options, opt('x', "proxy", "URL", "", 'x'))
	command.Register(command.Info{
		Name:        "curl",
		Synopsis:    "curl [options...] <url>",
		Summary:     "Transfer data from or to a server over HTTP or HTTPS, as far as the network policy allows.",
		Options:     options,
		UsageStatus: curlUsage,
		RawArgs:     true,
	}, curl)
}

// Exit statuses of curl.
const (
	curlProtocol   = 1
	curlUsage      = 2
	curlMalformed  = 3
	curlResolve    = 6
	curlConnect    = 7
	curlHTTPError  = 22
	curlWriteError = 23
	curlReadError  = 26
	curlTimeout    = 28
	curlTLS        = 35
	curlRedirects  = 47
	curlEmpty      = 52
	curlReceive    = 56
	curlCert       = 60
	curlFilesize   = 63
	curlProxy      = 5
)

// datum is one piece of what is to be sent.
type datum struct {
	kind byte // d, r(aw), b(inary), u(rlencode), j(son)
	text string
}

// curlOptions are what the command line asks for.
type curlOptions struct {
	method, user, agent, referer, cookie, rng, bearer  string
	headers, forms, formStrings                        []string
	data                                               []datum
	get, head, include, location, trusted              bool
	fail, failBody, silent, showError, verbose         bool
	insecure, compressed, createDirs, remoteHeaderName bool
	retryAll, post301, removeOnError                   bool
	dump, writeOut, upload, outputDir, cacert, resume  string
	proxy                                              string
	maxTime, connectTimeout, retryDelay                float64
	maxRedirs, retry                                   int
	maxSize                                            int64
	resolve                                            map[string]string
	outputs                                            []string // for the URLs in order; "" is standard output
	urls                                               []string
}

// remoteName marks an output named by -O.
const remoteName = "\x00"

// curl is the command.
func curl(ctx context.Context, c *command.Context, args []string) int {
	o := &curlOptions{maxRedirs: 50, maxTime: 0, resolve: map[string]string{}}
	p := &curlArgs{Context: c, o: o}
	if status, done := p.parse(args[1:]); done {
		return status
	}
	if len(o.urls) == 0 {
		c.Errorf("try 'curl --help' or 'curl --manual' for more information")
		return curlUsage
	}
	status := 0
	for i, u := range o.urls {
		t := &transfer{Context: c, ctx: ctx, o: o, url: u}
		if i < len(o.outputs) {
			t.output = o.outputs[i]
		}
		if s := t.run(); s != 0 {
			status = s
		}
		if ctx.Err() != nil || c.Stdout.Err() != nil {
			return status
		}
	}
	return status
}

// curlArgs reads curl's command line, which is not quite getopt's.
type curlArgs struct {
	*command.Context
	o *curlOptions
}

// usage reports a mistake.
func (p *curlArgs) usage(format string, args ...any) (int, bool) {
	p.Errorf(format, args...)
	p.Errorf("try 'curl --help' or 'curl --manual' for more information")
	return curlUsage, true
}

func (p *curlArgs) parse(args []string) (status int, done bool) {
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		switch {
		case a == "--":
			p.o.urls = append(p.o.urls, args...)
			return 0, false
		case a == "--version" || a == "-V":
			p.Stdout.WriteString("curl 7.88.1 (vfsd)\nProtocols: http https\n")
			return 0, true
		case strings.HasPrefix(a, "--"):
			if args, status, done = p.long(a, args); done {
				return status, true
			}
		case len(a) > 1 && a[0] == '-':
			if args, status, done = p.bundle(a[1:], args); done {
				return status, true
			}
		default:
			p.o.urls = append(p.o.urls, a)
		}
	}
	return 0, false
}

func (p *curlArgs) long(a string, args []string) ([]string, int, bool) {
	name := a[2:]
	no := false
	opt := p.find(func(o *command.Option) bool { return o.Long == name })
	if opt == nil {
		if rest, ok := strings.CutPrefix(name, "no-"); ok {
			no = true
			opt = p.find(func(o *command.Option) bool { return o.Long == rest })
		}
	}
	if opt == nil {
		status, done := p.usage("option %s: is unknown", a)
		return nil, status, done
	}
	if opt.Arg == command.NoArgument {
		status, done := p.set(opt, "", !no)
		return args, status, done
	}
	if len(args) == 0 {
		status, done := p.usage("option %s: requires parameter", a)
		return nil, status, done
	}
	status, done := p.set(opt, args[0], true)
	return args[1:], status, done
}

func (p *curlArgs) bundle(letters string, args []string) ([]string, int, bool) {
	for letters != "" {
		c := letters[0]
		letters = letters[1:]
		opt := p.find(func(o *command.Option) bool { return o.Short == c })
		if opt == nil {
			status, done := p.usage("option -%c: is unknown", c)
			return nil, status, done
		}
		arg := ""
		if opt.Arg == command.RequiredArgument {
			if letters == "" {
				if len(args) == 0 {
					status, done := p.usage("option -%c: requires parameter", c)
					return nil, status, done
				}
				letters, args = args[0], args[1:]
			}
			arg, letters = letters, ""
		}
		if status, done := p.set(opt, arg, true); done {
			return nil, status, done
		}
	}
	return args, 0, false
}

func (p *curlArgs) find(ok func(*command.Option) bool) *command.Option {
	for i := range p.Command.Options {
		if ok(&p.Command.Options[i]) {
			return &p.Command.Options[i]
		}
	}
	return nil
}
