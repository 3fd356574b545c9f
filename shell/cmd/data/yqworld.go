package data

import (
	"bufio"
	"bytes"
	"container/list"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/mikefarah/yq/v4/pkg/yqlib"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/vfs"
)

// encoder returns what writes a format as the flags ask for.
func (y *yqRun) encoder(format *yqlib.Format) (e yqlib.Encoder, err error) {
	unwrap := format == yqlib.YamlFormat || format == yqlib.PropertiesFormat
	if y.unwrap != nil {
		unwrap = *y.unwrap
	}
	switch format {
	case yqlib.YamlFormat:
		p := y.yaml
		p.Indent, p.UnwrapScalar, p.ColorsEnabled, p.PrintDocSeparators = y.indent, unwrap, y.color, !y.noDoc
		return yqlib.NewYamlEncoder(p), nil
	case yqlib.KYamlFormat:
		p := yqlib.NewDefaultKYamlPreferences()
		p.Indent, p.UnwrapScalar, p.ColorsEnabled, p.PrintDocSeparators = y.indent, unwrap, y.color, !y.noDoc
		return yqlib.NewKYamlEncoder(p), nil
	case yqlib.JSONFormat:
		p := yqlib.NewDefaultJsonPreferences()
		p.Indent, p.UnwrapScalar, p.ColorsEnabled = y.indent, unwrap, y.color
		return yqlib.NewJSONEncoder(p), nil
	case yqlib.XMLFormat:
		y.xml.Indent = y.indent
		return yqlib.NewXMLEncoder(y.xml), nil
	case yqlib.PropertiesFormat:
		y.props.UnwrapScalar = unwrap
		return yqlib.NewPropertiesEncoder(y.props), nil
	case yqlib.CSVFormat:
		return yqlib.NewCsvEncoder(y.csv), nil
	case yqlib.TSVFormat:
		return yqlib.NewCsvEncoder(y.tsv), nil
	case yqlib.LuaFormat:
		return yqlib.NewLuaEncoder(y.lua), nil
	case yqlib.TomlFormat:
		p := yqlib.NewDefaultTomlPreferences()
		p.ColorsEnabled = y.color
		return yqlib.NewTomlEncoderWithPrefs(p), nil
	}
	if format.EncoderFactory != nil {
		e = format.EncoderFactory()
	}
	if e == nil {
		return nil, fmt.Errorf("no support for %s output format", y.output)
	}
	return e, nil
}

// decoder returns what reads the input format as the flags ask for.
func (y *yqRun) decoder() (d yqlib.Decoder, err error) {
	format, err := yqlib.FormatFromString(y.input)
	if err != nil {
		return nil, err
	}
	y.yaml.EvaluateTogether = y.all
	switch format {
	case yqlib.YamlFormat, yqlib.KYamlFormat:
		return yqlib.NewYamlDecoder(y.yaml), nil
	case yqlib.XMLFormat:
		return yqlib.NewXMLDecoder(y.xml), nil
	case yqlib.CSVFormat:
		return yqlib.NewCSVObjectDecoder(y.csv), nil
	case yqlib.TSVFormat:
		return yqlib.NewCSVObjectDecoder(y.tsv), nil
	case yqlib.INIFormat:
		return yqlib.NewINIDecoder(y.ini), nil
	case yqlib.LuaFormat: // the library runs it, and a program may not end
		return nil, fmt.Errorf("no support for %s input format", y.input)
	}
	if format.DecoderFactory != nil {
		d = format.DecoderFactory()
	}
	if d == nil {
		return nil, fmt.Errorf("no support for %s input format", y.input)
	}
	return d, nil
}

// compile parses an expression, and answers from the workspace what it asks of
// its surroundings: env(NAME), strenv(NAME) and load("file").
func (y *yqRun) compile(expression string) (*yqlib.ExpressionNode, error) {
	node, err := yqlib.ExpressionParser.ParseExpression(expression)
	if err != nil || node == nil {
		return node, err
	}
	constant, err := yqlib.ExpressionParser.ParseExpression("1")
	if err != nil {
		return nil, err
	}
	return node, y.resolve(node, constant.Operation)
}

func (y *yqRun) resolve(n *yqlib.ExpressionNode, constant *yqlib.Operation) error {
	if n == nil || n.Operation == nil {
		return nil
	}
	var value *yqlib.CandidateNode
	var err error
	switch n.Operation.OperationType.Type {
	case "ENV":
		value, err = y.environment(n.Operation)
	case "LOAD", "LOAD_STRING":
		name, ok := constantString(n.RHS)
		if !ok {
			return errors.New("the operand of load must be a string without \\(...)")
		}
		value, err = y.load(n.Operation, name)
	}
	if err != nil {
		return err
	}
	if value != nil {
		op := *constant
		op.Value, op.StringValue, op.CandidateNode = value.Value, value.Value, value
		n.Operation, n.LHS, n.RHS = &op, nil, nil
		return nil
	}
	if err := y.resolve(n.LHS, constant); err != nil {
		return err
	}
	return y.resolve(n.RHS, constant)
}

// constantString returns the value of an expression that is but a string.
func constantString(n *yqlib.ExpressionNode) (string, bool) {
	if n == nil || n.Operation == nil {
		return "", false
	}
	op := n.Operation
	if op.CandidateNode != nil && op.OperationType.Type == "VALUE" {
		return op.CandidateNode.Value, true
	}
	return op.StringValue, op.OperationType.Type == "STRING_INT" && !strings.Contains(op.StringValue, `\(`)
}

func (y *yqRun) environment(op *yqlib.Operation) (*yqlib.CandidateNode, error) {
	name := op.CandidateNode.Value
	v := y.c.Env.Get(name)
	if reflect.ValueOf(op.Preferences).FieldByName("StringValue").Bool() {
		return &yqlib.CandidateNode{Kind: yqlib.ScalarNode, Tag: "!!str", Value: v}, nil
	}
	if v == "" {
		return nil, fmt.Errorf("value for env variable '%v' not provided in env()", name)
	}
	return y.decodeOne([]byte(v), yqlib.NewYamlDecoder(y.yaml))
}

func (y *yqRun) load(op *yqlib.Operation, name string) (*yqlib.CandidateNode, error) {
	b, err := y.read(name)
	if err != nil {
		return nil, fmt.Errorf("failed to load %v: %w", name, err)
	}
	if op.OperationType.Type == "LOAD_STRING" {
		return &yqlib.CandidateNode{Kind: yqlib.ScalarNode, Tag: "!!str", Value: string(b)}, nil
	}
	d := yqlib.NewYamlDecoder(yqlib.LoadYamlPreferences)
	switch kind := op.StringValue; {
	case strings.Contains(kind, "xml"):
		d = yqlib.NewXMLDecoder(y.xml)
	case strings.Contains(kind, "base64"):
		d = yqlib.NewBase64Decoder()
	case strings.Contains(kind, "props"):
		d = yqlib.NewPropertiesDecoder()
	}
	return y.decodeOne(b, d)
}

// decodeOne returns a file's document; a sequence of them when there are more.
func (y *yqRun) decodeOne(b []byte, d yqlib.Decoder) (*yqlib.CandidateNode, error) {
	if err := d.Init(bytes.NewReader(b)); err != nil {
		return nil, err
	}
	docs := []*yqlib.CandidateNode{}
	for {
		doc, err := d.Decode()
		if err != nil {
			break
		}
		if err := tooManyAliases(doc); err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	switch len(docs) {
	case 0:
		return &yqlib.CandidateNode{Kind: yqlib.ScalarNode, Tag: "!!null"}, nil
	case 1:
		return docs[0], nil
	}
	seq := &yqlib.CandidateNode{Kind: yqlib.SequenceNode}
	seq.AddChildren(docs)
	return seq, nil
}

// tooManyAliases refuses a document whose aliases multiply.
func tooManyAliases(doc *yqlib.CandidateNode) error {
	sizes := map[*yqlib.CandidateNode]int64{}
	var size func(n *yqlib.CandidateNode) int64
	size = func(n *yqlib.CandidateNode) int64 {
		if n == nil {
			return 0
		}
		if s, ok := sizes[n]; ok {
			return s
		}
		sizes[n] = 1 // for an alias within its own anchor
		s := 1 + size(n.Alias)
		for _, e := range n.Content {
			s = min(s+size(e), yqNodes+1)
		}
		if n.Anchor == "" && n.Alias == nil {
			delete(sizes, n)
		} else {
			sizes[n] = s
		}
		return s
	}
	if size(doc) > yqNodes {
		return errors.New("document contains excessive aliasing")
	}
	return nil
}

// yqDepth is how deep a document may nest where the library sets no limit.
const yqDepth = 1000

// tooDeep refuses what would take the library time that grows with the square
// of its depth: long dotted keys, and nested elements and tables.
func (y *yqRun) tooDeep(b []byte) error {
	deep := errors.New("exceeded max depth")
	switch format, _ := yqlib.FormatFromString(y.input); format {
	case yqlib.TomlFormat, yqlib.PropertiesFormat, yqlib.HclFormat:
		for line := range bytes.Lines(b) {
			key, _, _ := bytes.Cut(line, []byte{'='})
			if bytes.Count(key, []byte{'.'}) > yqDepth || format == yqlib.HclFormat && bytes.ContainsFunc(line, isOpening) && bytes.Count(line, []byte{'['})+bytes.Count(line, []byte{'{'})+bytes.Count(line, []byte{'('}) > yqDepth {
				return deep
			}
		}
	case yqlib.XMLFormat:
		depth := 0
		for i, c := range b {
			switch {
			case c == '<' && i+1 < len(b) && b[i+1] != '/' && b[i+1] != '!' && b[i+1] != '?':
				depth++
			case c == '/' && i > 0 && (b[i-1] == '<' || i+1 < len(b) && b[i+1] == '>'):
				depth--
			}
			if depth > yqDepth {
				return deep
			}
		}
	}
	return nil
}

func isOpening(r rune) bool { return r == '[' || r == '{' || r == '(' }

// writable checks that a file may be written in place.
func (y *yqRun) writable(name string) error {
	a, err := y.c.FS.Stat(name)
	if err != nil {
		return fmt.Errorf("lstat %s: no such file or directory", name)
	}
	if l, _ := y.c.FS.Lstat(name); !l.IsSymlink() && a.Mode&0o222 == 0 {
		return fmt.Errorf("cannot write in place to read-only file %q", name)
	}
	return nil
}

// replace gives a file new content in one step, with its mode and owner.
func (y *yqRun) replace(name string, data []byte) error {
	fs := y.c.FS
	a, err := fs.Stat(name)
	if err != nil {
		return err
	}
	tmp := ""
	for i := y.c.Now().UnixNano(); ; i++ {
		tmp = gnulib.Join(gnulib.Dir(name), ".yq-inplace-"+strconv.FormatUint(uint64(i)%1e10, 10))
		if _, err := fs.Lstat(tmp); err != nil {
			break
		}
	}
	if err = fs.WriteFile(tmp, data, 0o600); err == nil {
		fs.Chown(tmp, int64(a.UID), int64(a.GID), true)
		if err = fs.Chmod(tmp, a.Mode&0o7777); err == nil {
			err = fs.Rename(tmp, name, 0)
		}
	}
	if err != nil {
		fs.Unlink(tmp)
	}
	return err
}

// yqSplit writes every result to a file of its own.
type yqSplit struct {
	y         *yqRun
	name      *yqlib.ExpressionNode
	extension string
	index     int
	file      vfs.File
	w         *bufio.Writer
}

func (y *yqRun) newSplit(format *yqlib.Format) (*yqSplit, error) {
	if y.splitFile != "" {
		b, err := y.read(y.splitFile)
		if err != nil {
			return nil, err
		}
		y.split = string(b)
	}
	node, err := y.compile(y.split)
	if err != nil {
		return nil, fmt.Errorf("bad split document expression: %w", err)
	}
	extension := format.FormalName
	if format == yqlib.YamlFormat {
		extension = "yml"
	}
	if format == yqlib.PropertiesFormat {
		extension = "properties"
	}
	return &yqSplit{y: y, name: node, extension: extension}, nil
}

var hasExtension = regexp.MustCompile(`\.[a-zA-Z0-9]+$`)

// GetWriter opens the file for a result.
func (s *yqSplit) GetWriter(node *yqlib.CandidateNode) (*bufio.Writer, error) {
	if err := s.close(); err != nil {
		return nil, err
	}
	index := yqlib.CandidateNode{Kind: yqlib.ScalarNode, Tag: "!!int", Value: strconv.Itoa(s.index)}
	in := yqlib.Context{MatchingNodes: node.AsList()}
	in.SetVariable("index", index.AsList())
	result, err := s.y.tree.GetMatchingNodes(in, s.name)
	if err != nil {
		return nil, err
	}
	name := firstValue(result.MatchingNodes)
	if !hasExtension.MatchString(name) {
		name += "." + s.extension
	}
	if dir := gnulib.Dir(name); dir != "." {
		if err := s.y.c.FS.MkdirAll(dir, 0o750); err != nil {
			return nil, err
		}
	}
	if s.file, err = s.y.c.FS.Create(name, 0o666); err != nil {
		return nil, err
	}
	s.index++
	s.w = bufio.NewWriter(s.file)
	return s.w, nil
}

func firstValue(l *list.List) string {
	if l.Len() == 0 {
		return ""
	}
	return l.Front().Value.(*yqlib.CandidateNode).Value
}

func (s *yqSplit) close() error {
	if s.file == nil {
		return nil
	}
	err := s.w.Flush()
	if e := s.file.Close(); err == nil {
		err = e
	}
	s.file = nil
	return err
}
