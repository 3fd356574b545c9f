package net

import (
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// set takes one option.
func (p *curlArgs) set(opt *command.Option, arg string, on bool) (status int, done bool) {
	o := p.o
	id := opt.ID
	if id == 0 {
		id = int(opt.Short)
	}
	flags := map[int]*bool{
		'G': &o.get, 'I': &o.head, 'i': &o.include, 'L': &o.location, optLocationTrusted: &o.trusted, 'f': &o.fail, optFailBody: &o.failBody,
		's': &o.silent, 'S': &o.showError, 'v': &o.verbose, 'k': &o.insecure, optCompressed: &o.compressed, optCreateDirs: &o.createDirs,
		'J': &o.remoteHeaderName, optRetryAll: &o.retryAll, optPost301: &o.post301, optRemoveOnError: &o.removeOnError,
	}
	if f := flags[id]; f != nil {
		*f = on
		return 0, false
	}
	texts := map[int]*string{
		'X': &o.method, 'D': &o.dump, optOutputDir: &o.outputDir, 'w': &o.writeOut, 'u': &o.user, optOAuth: &o.bearer, 'A': &o.agent,
		'e': &o.referer, 'b': &o.cookie, 'T': &o.upload, 'r': &o.rng, 'C': &o.resume, optCacert: &o.cacert, 'x': &o.proxy,
	}
	if s := texts[id]; s != nil {
		*s = arg
		return 0, false
	}
	numbers := map[int]*float64{'m': &o.maxTime, optConnectTimeout: &o.connectTimeout, optRetryDelay: &o.retryDelay}
	if n := numbers[id]; n != nil {
		v, err := strconv.ParseFloat(arg, 64)
		if err != nil || v < 0 {
			return p.usage("option %s: expected a proper numerical parameter", spelled(opt))
		}
		*n = v
		return 0, false
	}
	switch id {
	case 'H':
		return p.header(arg)
	case 'd', optDataRaw, optDataBinary, optDataURL, optJSON:
		kind := map[int]byte{'d': 'd', optDataRaw: 'r', optDataBinary: 'b', optDataURL: 'u', optJSON: 'j'}[id]
		o.data = append(o.data, datum{kind, arg})
	case 'F':
		o.forms = append(o.forms, arg)
	case optFormString:
		o.formStrings = append(o.formStrings, arg)
	case 'o':
		o.outputs = append(o.outputs, arg)
	case 'O':
		o.outputs = append(o.outputs, remoteName)
	case optURL:
		o.urls = append(o.urls, arg)
	case optMaxRedirs, optRetry, optMaxFilesize:
		v, err := strconv.ParseInt(arg, 10, 64)
		if err != nil {
			return p.usage("option %s: expected a proper numerical parameter", spelled(opt))
		}
		switch id {
		case optMaxRedirs:
			o.maxRedirs = int(v)
		case optRetry:
			o.retry = int(v)
		default:
			o.maxSize = v
		}
	case optResolve:
		parts := strings.SplitN(strings.TrimPrefix(arg, "+"), ":", 3)
		if len(parts) < 3 {
			return p.usage("option --resolve: expected a proper parameter")
		}
		o.resolve[parts[0]+":"+parts[1]] = strings.Trim(parts[2], "[]")
	case optHelpAll:
		p.Stdout.WriteString(p.Command.Help())
		return 0, true
	}
	return 0, false
}

func spelled(o *command.Option) string {
	if o.Long != "" {
		return "--" + o.Long
	}
	return "-" + string(rune(o.Short))
}

// header takes -H: a line, or a file of lines.
func (p *curlArgs) header(arg string) (int, bool) {
	name, ok := strings.CutPrefix(arg, "@")
	if !ok {
		p.o.headers = append(p.o.headers, arg)
		return 0, false
	}
	b, err := readAll(p.Context, name)
	if err != nil {
		p.Errorf("Failed to open %s", name)
		return curlReadError, true
	}
	for _, l := range strings.Split(string(b), "\n") {
		if l = strings.TrimRight(l, "\r"); l != "" {
			p.o.headers = append(p.o.headers, l)
		}
	}
	return 0, false
}
