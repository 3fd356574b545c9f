package data

import (
	"bufio"
	"bytes"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/mikefarah/yq/v4/pkg/yqlib"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "yq",
		Synopsis: "yq [flags] [expression] [file]...\nyq eval [flags] [expression] [file]...\nyq eval-all [flags] [expression] [file]...",
		Summary:  "Process YAML, JSON, XML, TOML, CSV, TSV, INI, HCL and properties files.\neval applies the expression to each document; eval-all to all of them at once.",
		RawArgs:  true,
		Notes: "  -i, --inplace         update the first file in place\n  -p, --input-format    auto|yaml|kyaml|json|props|csv|tsv|xml|base64|uri|toml|hcl|ini\n  -o, --output-format   auto|the same, lua and shell\n" +
			"  -P, --prettyPrint     shorthand for '... style = \"\"'\n  -r, --unwrapScalar    print scalars with no quotes or comments (default for yaml)\n  -n, --null-input      evaluate the expression without reading input\n" +
			"  -N, --no-doc          don't print document separators\n  -I, --indent N        indent by N (default 2)\n  -e, --exit-status     fail when there are no matches, or null or false\n  -0, --nul-output      end each value with NUL\n" +
			"  -s, --split-exp E     write each result to the file that E names\n  -f, --front-matter M  extract|process the front matter of the first file\n      --from-file F     read the expression from F\n      --expression E    the expression, when it looks like a file\n" +
			"  -C, --colors          use colors\n  -c, --yaml-compact-seq-indent\n      --xml-..., --csv-..., --lua-..., --properties-..., --ini-...  as in yq v4",
	}, yq)
}

// yqSetup makes the library safe to share: it may neither read the process's
// environment and files nor write to its standard error.
var yqSetup = sync.OnceFunc(func() {
	yqlib.ConfiguredSecurityPreferences = yqlib.SecurityPreferences{DisableEnvOps: true, DisableFileOps: true}
	yqlib.GetLogger().SetLevel(slog.LevelError + 100)
	yqlib.GetLogger().SetSlogger(slog.New(slog.DiscardHandler))
	yqlib.InitExpressionParser()
})

// yqNodes is how many nodes a document may come to when its aliases are
// followed.
const yqNodes = 5_000_000

// yqRun is one run of yq.
type yqRun struct {
	*yqFlags
	ctx     context.Context
	c       *command.Context
	tree    yqlib.DataTreeNavigator
	printer yqlib.Printer
}

func yq(ctx context.Context, c *command.Context, args []string) int {
	yqSetup()
	y := &yqRun{yqFlags: newYqFlags(), ctx: ctx, c: c, tree: yqlib.NewDataTreeNavigator()}
	y.csv.Separator = ','
	if err := y.run(args[1:]); err != nil {
		if _, ok := errors.AsType[*yqlibPanic](err); !ok && ctx.Err() != nil {
			return 130
		}
		fmt.Fprintf(c.Stderr, "Error: %v\n", err)
		return 1
	}
	return 0
}

// yqlibPanic is a panic of the library: hostile documents find them.
type yqlibPanic struct{ value any }

func (p *yqlibPanic) Error() string { return fmt.Sprint(p.value) }

func (y *yqRun) run(args []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &yqlibPanic{r}
		}
	}()
	operands, err := y.parse(args)
	switch {
	case err != nil:
		return err
	case y.help:
		y.c.Stdout.WriteString("Usage:\n  yq [flags] [expression] [file]...\n  yq [command]\n\nAvailable Commands:\n  eval        (default) Apply the expression to each document in each yaml file in sequence\n  eval-all    Loads _all_ yaml documents of _all_ yaml files and runs expression once\n")
		return nil
	case y.version:
		y.c.Stdout.WriteString("yq (https://github.com/mikefarah/yq/) version v4.54.3\n")
		return nil
	}
	if len(operands) > 0 {
		switch operands[0] {
		case "eval-all", "ea":
			y.all = true
			fallthrough
		case "eval", "e":
			operands = operands[1:]
		}
	}
	expression, files, err := y.operands(operands)
	if err != nil {
		return err
	}
	if err := y.check(files); err != nil {
		return err
	}
	if len(files) == 0 && !y.nullInput {
		y.c.Stdout.WriteString("Usage:\n  yq [flags] [expression] [file]...\n")
		return nil
	}
	if y.pretty && expression == "" {
		expression = yqlib.PrettyPrintExp
	} else if y.pretty {
		expression += " | " + yqlib.PrettyPrintExp
	}
	return y.evaluate(expression, files)
}

// operands tells the expression from the files.
func (y *yqRun) operands(args []string) (expression string, files []string, err error) {
	expression = y.expression
	if !y.nullInput && len(args) <= 1 && !(len(args) == 1 && y.isFile(args[0])) && !slices.Contains(args, "-") {
		args = append(args, "-")
	}
	from := y.from
	if from == "" && len(args) > 0 && strings.HasSuffix(args[0], ".yq") && y.isFile(args[0]) {
		from, args = args[0], args[1:]
	}
	if from != "" {
		b, err := y.read(from)
		if err != nil {
			return "", nil, err
		}
		expression = strings.ReplaceAll(string(b), "\r\n", "\n")
	}
	if expression == "" && len(args) > 0 && args[0] != "-" && !y.isFile(args[0]) {
		expression, args = args[0], args[1:]
	}
	return expression, args, nil
}

func (y *yqRun) isFile(name string) bool {
	a, err := y.c.FS.Stat(name)
	return err == nil && !a.IsDir()
}

// check refuses what does not go together, and settles the formats.
func (y *yqRun) check(files []string) error {
	switch {
	case y.inPlace && (len(files) == 0 || files[0] == "-"):
		return errors.New("write in place flag only applicable when giving an expression and at least one file")
	case y.frontMatter != "" && len(files) == 0:
		return errors.New("front matter flag only applicable when giving an expression and at least one file")
	case y.inPlace && (y.split != "" || y.splitFile != ""):
		return errors.New("write in place cannot be used with split file")
	case y.nullInput && len(files) > 0:
		return errors.New("cannot pass files in when using null-input flag")
	case y.indent < 0:
		return errors.New("indent must not be negative")
	}
	auto := func(s string) bool { return s == "" || s == "auto" || s == "a" }
	name := ""
	if len(files) > 0 {
		name = files[0]
	}
	if auto(y.input) {
		y.input = yqlib.FormatStringFromFilename(name)
		if auto(y.output) {
			y.output = y.input
		}
	} else if auto(y.output) {
		y.output = "yaml"
	}
	return nil
}

func (y *yqRun) read(name string) ([]byte, error) {
	var r io.Reader = y.c.Stdin
	if name != "-" {
		f, err := y.c.FS.Open(name)
		if err != nil {
			return nil, fmt.Errorf("open %s: %s", name, strings.ToLower(command.Strerror(err)))
		}
		defer f.Close()
		r = f
	}
	var b bytes.Buffer
	_, err := io.Copy(&b, &accountedReader{cancelReader{y.ctx, r}, y.c.Memory})
	if err != nil && y.ctx.Err() == nil {
		err = fmt.Errorf("read %s: %s", name, strings.ToLower(command.Strerror(err)))
	}
	return b.Bytes(), err
}

// accountedReader announces to an account what a document of the bytes read
// through it will hold.
type accountedReader struct {
	io.Reader
	memory *command.Memory
}

// yqPerByte is how much memory a byte of a document comes to.
const yqPerByte = 24

func (a *accountedReader) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if e := a.memory.Grow(int64(n) * yqPerByte); e != nil {
		return n, e
	}
	return n, err
}

// evaluate runs an expression over the files.
func (y *yqRun) evaluate(expression string, files []string) error {
	format, err := yqlib.FormatFromString(y.output)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	var dst io.Writer = y.c.Stdout
	if y.inPlace {
		if err := y.writable(files[0]); err != nil {
			return err
		}
		dst = &out
	}
	writer := yqlib.NewSinglePrinterWriter(dst)
	var split *yqSplit
	if y.split != "" || y.splitFile != "" {
		if split, err = y.newSplit(format); err != nil {
			return err
		}
		writer = split
	}
	encoder, err := y.encoder(format)
	if err != nil {
		return err
	}
	decoder, err := y.decoder()
	if err != nil {
		return err
	}
	y.printer = yqlib.NewPrinter(encoder, writer)
	y.printer.SetNulSepOutput(y.nul)
	node, err := y.compile(expression)
	if err != nil {
		return err
	}
	if err := y.documents(node, files, decoder); err != nil {
		return err
	}
	if split != nil {
		if err := split.close(); err != nil {
			return err
		}
	}
	if y.inPlace {
		if err := y.replace(files[0], out.Bytes()); err != nil {
			return err
		}
	}
	if y.exitStatus && !y.printer.PrintedAnything() {
		return errors.New("no matches found")
	}
	return nil
}

// documents decodes the files and evaluates a program on each document, or on
// all of them together.
func (y *yqRun) documents(node *yqlib.ExpressionNode, files []string, decoder yqlib.Decoder) error {
	all := list.New()
	total := 0
	for i, name := range files {
		b, err := y.read(name)
		if err != nil {
			return err
		}
		if i == 0 && y.frontMatter != "" {
			b = y.splitFrontMatter(b)
		}
		if err := y.tooDeep(b); err != nil {
			return fmt.Errorf("bad file '%v': %w", name, err)
		}
		if err := decoder.Init(bytes.NewReader(b)); err != nil {
			return err
		}
		for n := uint(0); ; n++ {
			if err := y.ctx.Err(); err != nil {
				return err
			}
			doc, err := decoder.Decode()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = tooManyAliases(doc)
			}
			if err != nil {
				return fmt.Errorf("bad file '%v': %w", name, err)
			}
			total++
			doc.SetDocument(n)
			doc.SetFilename(name)
			doc.SetFileIndex(i)
			if y.all {
				doc.EvaluateTogether = true
				all.PushBack(doc)
				continue
			}
			if err := y.apply(node, doc.AsList()); err != nil {
				return err
			}
		}
	}
	if y.all && total > 0 {
		return y.apply(node, all)
	}
	if total > 0 {
		return nil
	}
	return y.apply(node, (&yqlib.CandidateNode{Kind: yqlib.ScalarNode, Tag: "!!null"}).AsList())
}

func (y *yqRun) apply(node *yqlib.ExpressionNode, input *list.List) error {
	result, err := y.tree.GetMatchingNodes(yqlib.Context{MatchingNodes: input}, node)
	if err != nil {
		return err
	}
	return y.printer.PrintResults(result.MatchingNodes)
}

// splitFrontMatter takes the YAML off the head of a document; with "process"
// the rest follows the results.
func (y *yqRun) splitFrontMatter(b []byte) []byte {
	b = bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))
	for at, line := 0, 0; at < len(b); line++ {
		end := bytes.IndexByte(b[at:], '\n') + 1
		if end == 0 {
			end = len(b) - at
		}
		if line > 0 && bytes.HasPrefix(b[at:], []byte("---")) {
			if y.frontMatter == "process" {
				y.printer.SetAppendix(bufio.NewReader(bytes.NewReader(b[at:])))
			}
			return b[:at]
		}
		at += end
	}
	return b
}
