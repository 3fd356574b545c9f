package net

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// writeOut prints -w: text with %{variables} and escapes.
func (t *transfer) writeOut(status int) {
	format := t.o.writeOut
	if name, ok := strings.CutPrefix(format, "@"); ok {
		b, err := readAll(t.Context, name)
		if err != nil {
			t.Errorf("Failed to open %s", name)
			return
		}
		format = string(b)
	}
	out := t.Stdout
	for i := 0; i < len(format); i++ {
		switch {
		case strings.HasPrefix(format[i:], "%{"):
			end := strings.IndexByte(format[i:], '}')
			if end < 0 {
				out.WriteString("%{")
				i++
				continue
			}
			name := format[i+2 : i+end]
			i += end
			if name == "stderr" || name == "stdout" {
				continue
			}
			v, ok := t.variable(name, status)
			if !ok {
				t.Errorf("unknown --write-out variable: '%s'", name)
			}
			out.WriteString(v)
		case strings.HasPrefix(format[i:], "%%"):
			out.WriteByte('%')
			i++
		case format[i] == '\\' && i+1 < len(format):
			i++
			switch format[i] {
			case 'n':
				out.WriteByte('\n')
			case 't':
				out.WriteByte('\t')
			case 'r':
				out.WriteByte('\r')
			default:
				out.WriteString(format[i-1 : i+1])
			}
		default:
			out.WriteByte(format[i])
		}
	}
}

func (t *transfer) variable(name string, status int) (string, bool) {
	switch name {
	case "http_code", "response_code":
		return fmt.Sprintf("%03d", t.code), true
	case "http_connect":
		return "000", true
	case "size_download":
		return strconv.FormatInt(t.received, 10), true
	case "size_upload":
		return strconv.FormatInt(t.sent, 10), true
	case "size_header":
		return strconv.Itoa(t.headSize), true
	case "content_type":
		return t.kind, true
	case "url":
		return t.url, true
	case "url_effective":
		return t.effective, true
	case "redirect_url":
		if t.o.location || t.o.trusted {
			return "", true
		}
		return t.next, true
	case "num_redirects":
		return strconv.Itoa(t.redirects), true
	case "method":
		return t.method, true
	case "scheme":
		scheme, _, _ := strings.Cut(t.effective, ":")
		return strings.ToUpper(scheme), true
	case "http_version":
		return strings.TrimPrefix(t.proto, "HTTP/"), true
	case "filename_effective":
		return t.file, true
	case "remote_ip":
		a := t.heads.Peer()
		return strings.Trim(a[:max(0, strings.LastIndexByte(a, ':'))], "[]"), true
	case "remote_port":
		a := t.heads.Peer()
		return a[strings.LastIndexByte(a, ':')+1:], true
	case "exitcode":
		return strconv.Itoa(status), true
	case "errormsg":
		return t.message, true
	case "num_connects", "num_headers":
		return "1", true
	case "speed_download", "speed_upload", "ssl_verify_result", "urlnum":
		return "0", true
	}
	if strings.HasPrefix(name, "time_") {
		return fmt.Sprintf("%.6f", t.Now().Sub(t.start).Round(time.Microsecond).Seconds()), true
	}
	if h, ok := strings.CutPrefix(name, "header{"); ok {
		return t.headers.Get(h), true
	}
	return "", false
}
