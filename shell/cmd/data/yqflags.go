package data

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mikefarah/yq/v4/pkg/yqlib"
)

// yqFlags is what the command line of yq asks for.
type yqFlags struct {
	all, nullInput, noDoc, inPlace, nul, pretty, exitStatus, color bool
	help, version                                                  bool
	unwrap                                                         *bool
	input, output, frontMatter, expression, split, splitFile, from string
	indent                                                         int

	yaml     yqlib.YamlPreferences
	xml      yqlib.XmlPreferences
	csv, tsv yqlib.CsvPreferences
	props    yqlib.PropertiesPreferences
	lua      yqlib.LuaPreferences
	ini      yqlib.INIPreferences
}

// yqFlag is one flag: where its value goes, and its one-letter name.
type yqFlag struct {
	short byte
	flag  *bool
	text  *string
	other func(v string) error // for what is neither
	alone string               // the value when none is given, for other
}

func newYqFlags() *yqFlags {
	return &yqFlags{
		indent: 2, yaml: yqlib.NewDefaultYamlPreferences(), xml: yqlib.NewDefaultXmlPreferences(),
		csv: yqlib.NewDefaultCsvPreferences(), tsv: yqlib.NewDefaultTsvPreferences(),
		props: yqlib.NewDefaultPropertiesPreferences(), lua: yqlib.NewDefaultLuaPreferences(), ini: yqlib.NewDefaultINIPreferences(),
	}
}

func (f *yqFlags) table() map[string]yqFlag {
	var ignored bool
	return map[string]yqFlag{
		"verbose": {short: 'v', flag: &ignored}, "tojson": {short: 'j', other: func(string) error { f.output = "json"; return nil }, alone: "true"},
		"output-format": {short: 'o', text: &f.output}, "input-format": {short: 'p', text: &f.input},
		"null-input": {short: 'n', flag: &f.nullInput}, "no-doc": {short: 'N', flag: &f.noDoc},
		"indent": {short: 'I', other: f.setIndent}, "version": {short: 'V', flag: &f.version}, "help": {short: 'h', flag: &f.help},
		"inplace": {short: 'i', flag: &f.inPlace}, "unwrapScalar": {short: 'r', other: f.setUnwrap, alone: "true"},
		"nul-output": {short: '0', flag: &f.nul}, "prettyPrint": {short: 'P', flag: &f.pretty},
		"exit-status": {short: 'e', flag: &f.exitStatus}, "colors": {short: 'C', flag: &f.color}, "no-colors": {short: 'M', flag: &ignored},
		"front-matter": {short: 'f', text: &f.frontMatter}, "expression": {text: &f.expression},
		"split-exp": {short: 's', text: &f.split}, "split-exp-file": {text: &f.splitFile}, "from-file": {text: &f.from},
		"header-preprocess": {flag: &f.yaml.LeadingContentPreProcessing}, "yaml-fix-merge-anchor-to-spec": {flag: &f.yaml.FixMergeAnchorToSpec},
		"yaml-compact-seq-indent": {short: 'c', flag: &f.yaml.CompactSequenceIndent},
		"xml-attribute-prefix":    {text: &f.xml.AttributePrefix}, "xml-content-name": {text: &f.xml.ContentName},
		"xml-strict-mode": {flag: &f.xml.StrictMode}, "xml-keep-namespace": {flag: &f.xml.KeepNamespace}, "xml-raw-token": {flag: &f.xml.UseRawToken},
		"xml-proc-inst-prefix": {text: &f.xml.ProcInstPrefix}, "xml-directive-name": {text: &f.xml.DirectiveName},
		"xml-skip-proc-inst": {flag: &f.xml.SkipProcInst}, "xml-skip-directives": {flag: &f.xml.SkipDirectives},
		"csv-auto-parse": {flag: &f.csv.AutoParse}, "csv-separator": {other: f.setSeparator}, "tsv-auto-parse": {flag: &f.tsv.AutoParse},
		"lua-prefix": {text: &f.lua.DocPrefix}, "lua-suffix": {text: &f.lua.DocSuffix}, "lua-unquoted": {flag: &f.lua.UnquotedKeys}, "lua-globals": {flag: &f.lua.Globals},
		"ini-preserve-quotes": {flag: &f.ini.PreserveSurroundedQuote}, "ini-key-value-delimiters": {text: &f.ini.KeyValueDelimiters},
		"properties-separator": {text: &f.props.KeyValueSeparator}, "properties-array-brackets": {flag: &f.props.UseArrayBrackets},
		"security-disable-env-ops": {flag: &ignored}, "security-disable-file-ops": {flag: &ignored}, "debug-node-info": {flag: &ignored},
	}
}

func (f *yqFlags) setIndent(v string) (err error) {
	f.indent, err = strconv.Atoi(v)
	if err != nil {
		return fmt.Errorf("strconv.ParseInt: parsing %q: invalid syntax", v)
	}
	return nil
}

func (f *yqFlags) setUnwrap(v string) error {
	b, err := strconv.ParseBool(v)
	f.unwrap = &b
	return err
}

func (f *yqFlags) setSeparator(v string) error {
	v = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\f`, "\f", `\v`, "\v").Replace(v)
	if len(v) != 1 {
		return fmt.Errorf("[%v] is not a valid character. Must be length 1 was %v", v, len(v))
	}
	f.csv.Separator = rune(v[0])
	return nil
}

func (o *yqFlag) takesValue() bool { return o.flag == nil && o.alone == "" }

func (o *yqFlag) set(v string, given bool) (err error) {
	switch {
	case o.text != nil:
		*o.text = v
	case o.other != nil:
		if !given {
			v = o.alone
		}
		return o.other(v)
	default:
		*o.flag = true
		if given {
			if *o.flag, err = strconv.ParseBool(v); err != nil {
				return fmt.Errorf("strconv.ParseBool: parsing %q: invalid syntax", v)
			}
		}
	}
	return nil
}

// parse takes the flags out of a command line, as the flag package of yq does:
// flags may come anywhere, and a value may follow an equals sign.
func (f *yqFlags) parse(args []string) (operands []string, err error) {
	table := f.table()
	short := map[byte]string{}
	for name, o := range table {
		if o.short != 0 {
			short[o.short] = name
		}
	}
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		switch {
		case a == "--":
			return append(operands, args...), nil
		case strings.HasPrefix(a, "--"):
			name, v, given := strings.Cut(a[2:], "=")
			o, ok := table[name]
			if !ok {
				return nil, fmt.Errorf("unknown flag: --%s", name)
			}
			if !given && o.takesValue() {
				if len(args) == 0 {
					return nil, fmt.Errorf("flag needs an argument: %s", a)
				}
				v, args, given = args[0], args[1:], true
			}
			if err := o.set(v, given); err != nil {
				return nil, invalidFlag(name, &o, v, err)
			}
		case len(a) > 1 && a[0] == '-':
			if args, err = f.letters(a[1:], args, table, short); err != nil {
				return nil, err
			}
		default:
			operands = append(operands, a)
		}
	}
	return operands, nil
}

func invalidFlag(name string, o *yqFlag, v string, err error) error {
	if o.short != 0 {
		name = string(o.short) + ", --" + name
		return fmt.Errorf("invalid argument %q for \"-%s\" flag: %w", v, name, err)
	}
	return fmt.Errorf("invalid argument %q for \"--%s\" flag: %w", v, name, err)
}

func (f *yqFlags) letters(s string, args []string, table map[string]yqFlag, short map[byte]string) ([]string, error) {
	for whole := s; s != ""; {
		name, ok := short[s[0]]
		if !ok {
			return nil, fmt.Errorf("unknown shorthand flag: %q in -%s", s[0], whole)
		}
		o := table[name]
		v, given := "", false
		switch rest := s[1:]; {
		case len(rest) > 1 && rest[0] == '=':
			v, given, s = rest[1:], true, ""
		case !o.takesValue():
			s = rest
		case rest != "":
			v, given, s = rest, true, ""
		case len(args) == 0:
			return nil, fmt.Errorf("flag needs an argument: %q in -%s", s[0], whole)
		default:
			v, args, given, s = args[0], args[1:], true, ""
		}
		if err := o.set(v, given); err != nil {
			return nil, invalidFlag(name, &o, v, err)
		}
	}
	return args, nil
}
