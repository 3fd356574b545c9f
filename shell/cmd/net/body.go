package net

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"path"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// maxBody is the largest body that is gathered in memory.
const maxBody = 256 << 20

// readAll reads a file, or standard input for "-".
func readAll(c *command.Context, name string) ([]byte, error) {
	f, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	buf := make([]byte, 32<<10)
	for {
		n, err := f.Read(buf)
		if e := c.Memory.Grow(int64(n)); e != nil {
			return nil, e
		}
		b.Write(buf[:n])
		if b.Len() > maxBody {
			return nil, io.ErrShortBuffer
		}
		if err == io.EOF {
			return b.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// gather joins what -d and its kin give, and tells the type of it.
func (o *curlOptions) gather(c *command.Context) (body []byte, kind string, err error) {
	kind = "application/x-www-form-urlencoded"
	for i, d := range o.data {
		piece, err := o.piece(c, d)
		if err != nil {
			return nil, "", err
		}
		if i > 0 && d.kind != 'j' {
			body = append(body, '&')
		}
		body = append(body, piece...)
		if d.kind == 'j' {
			kind = "application/json"
		}
	}
	return body, kind, nil
}

func (o *curlOptions) piece(c *command.Context, d datum) ([]byte, error) {
	switch d.kind {
	case 'r':
		return []byte(d.text), nil
	case 'u':
		return encoded(c, d.text)
	}
	name, ok := strings.CutPrefix(d.text, "@")
	if !ok {
		return []byte(d.text), nil
	}
	b, err := readAll(c, name)
	if err == nil && d.kind == 'd' {
		b = bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r"), nil), []byte("\n"), nil)
	}
	return b, err
}

// encoded is --data-urlencode: CONTENT, =CONTENT, NAME=CONTENT, @FILE or
// NAME@FILE.
func encoded(c *command.Context, text string) ([]byte, error) {
	i := strings.IndexAny(text, "=@")
	if i < 0 {
		return []byte(escape(text)), nil
	}
	name, content := text[:i], text[i+1:]
	if text[i] == '@' {
		b, err := readAll(c, content)
		if err != nil {
			return nil, err
		}
		content = string(b)
	}
	if name != "" {
		name += "="
	}
	return []byte(name + escape(content)), nil
}

// escape is curl's: all but letters, digits and -._~ as %XX.
func escape(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// multipartBody makes the body of -F. It is gathered whole: forms are small.
func (o *curlOptions) multipartBody(c *command.Context) ([]byte, string, error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range o.forms {
		if err := formPart(c, w, f, true); err != nil {
			return nil, "", err
		}
	}
	for _, f := range o.formStrings {
		if err := formPart(c, w, f, false); err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), w.FormDataContentType(), nil
}

func formPart(c *command.Context, w *multipart.Writer, form string, special bool) error {
	name, content, _ := strings.Cut(form, "=")
	head := textproto.MIMEHeader{}
	quote := func(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
	disposition := "form-data; name=" + quote(name)
	data := []byte(content)
	if special && content != "" && (content[0] == '@' || content[0] == '<') {
		file, rest, _ := strings.Cut(content[1:], ";")
		b, err := readAll(c, file)
		if err != nil {
			return err
		}
		data = b
		shown, kind := path.Base(file), "application/octet-stream"
		for _, p := range strings.Split(rest, ";") {
			if v, ok := strings.CutPrefix(p, "type="); ok {
				kind = v
			}
			if v, ok := strings.CutPrefix(p, "filename="); ok {
				shown = v
			}
		}
		if content[0] == '@' {
			disposition += "; filename=" + quote(shown)
			head.Set("Content-Type", kind)
		}
	} else if special {
		if text, rest, ok := strings.Cut(content, ";type="); ok {
			data = []byte(text)
			head.Set("Content-Type", rest)
		}
	}
	head.Set("Content-Disposition", disposition)
	part, err := w.CreatePart(head)
	if err != nil {
		return err
	}
	_, err = part.Write(data)
	return err
}
