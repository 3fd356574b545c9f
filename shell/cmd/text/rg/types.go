package rg

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// knownTypes are the file types of -t, each with its globs.
var knownTypes = map[string]string{
	"asciidoc": "*.adoc *.asc *.asciidoc", "asm": "*.S *.asm *.s", "awk": "*.awk", "bazel": "*.BUILD *.bazel *.bzl BUILD WORKSPACE",
	"c": "*.[chH] *.[chH].in *.cats", "clojure": "*.clj *.cljc *.cljs *.cljx", "cmake": "*.cmake CMakeLists.txt", "coffeescript": "*.coffee",
	"config": "*.cfg *.conf *.config *.ini", "cpp": "*.[ChH] *.[ChH].in *.[ch]pp *.[ch]pp.in *.[ch]xx *.[ch]xx.in *.cc *.cc.in *.hh *.hh.in *.inl",
	"crystal": "*.cr Projectfile", "cs": "*.cs", "csharp": "*.cs", "css": "*.css *.scss", "csv": "*.csv", "cython": "*.pxd *.pxi *.pyx", "d": "*.d", "dart": "*.dart",
	"diff": "*.diff *.patch", "docker": "*Dockerfile*", "elisp": "*.el", "elixir": "*.eex *.ex *.exs", "elm": "*.elm", "erb": "*.erb", "erlang": "*.erl *.hrl", "fish": "*.fish",
	"fortran": "*.F *.F77 *.F90 *.F95 *.f *.f77 *.f90 *.f95 *.pfo", "fsharp": "*.fs *.fsi *.fsx", "go": "*.go", "gradle": "*.gradle", "graphql": "*.graphql *.graphqls", "groovy": "*.gradle *.groovy",
	"gzip": "*.gz *.tgz", "h": "*.h *.hpp", "haml": "*.haml", "haskell": "*.c2hs *.cpphs *.hs *.hsc *.lhs", "hs": "*.hs *.lhs", "html": "*.ejs *.htm *.html", "java": "*.java *.jsp *.jspx *.properties",
	"jinja": "*.j2 *.jinja *.jinja2", "jl": "*.jl", "js": "*.js *.jsx *.vue", "json": "*.json composer.lock", "jsonl": "*.jsonl", "julia": "*.jl", "jupyter": "*.ipynb *.jpynb", "kotlin": "*.kt *.kts", "less": "*.less",
	"license": "COPYING COPYING[.-]* COPYRIGHT COPYRIGHT[.-]* LICEN[CS]E LICEN[CS]E[.-]* NOTICE NOTICE[.-]* UNLICEN[CS]E licen[cs]e licen[cs]e.*", "lisp": "*.el *.jl *.lisp *.lsp *.sc *.scm", "lock": "*.lock package-lock.json",
	"log": "*.log", "lua": "*.lua", "m4": "*.ac *.m4", "make": "*.mak *.mk [Gg][Nn][Uu]makefile [Gg][Nn][Uu]makefile.am [Gg][Nn][Uu]makefile.in [Mm]akefile [Mm]akefile.am [Mm]akefile.in",
	"man": "*.[0-9][cEFMmpSx] *.[0-9lnpx]", "markdown": "*.markdown *.md *.mdown *.mkdn", "md": "*.markdown *.md *.mdown *.mkdn", "matlab": "*.m", "meson": "meson.build meson_options.txt", "minified": "*.min.css *.min.html *.min.js",
	"ml": "*.ml", "nim": "*.nim *.nimble *.nimf *.nims", "nix": "*.nix", "objc": "*.h *.m", "ocaml": "*.ml *.mli *.mll *.mly", "org": "*.org *.org_archive", "pascal": "*.dpr *.inc *.lpr *.pas *.pp", "pdf": "*.pdf",
	"perl": "*.PL *.perl *.pl *.plh *.plx *.pm *.t", "php": "*.php *.php3 *.php4 *.php5 *.phtml", "po": "*.po", "pod": "*.pod", "protobuf": "*.proto", "ps": "*.cdxml *.ps1 *.ps1xml *.psd1 *.psm1", "puppet": "*.erb *.pp *.rb",
	"py": "*.py", "qml": "*.qml", "r": "*.R *.Rmd *.Rnw *.r", "readme": "*README README*", "rst": "*.rst", "ruby": "*.gemspec *.rb *.rbw .irbrc Gemfile Rakefile config.ru", "rust": "*.rs", "sass": "*.sass *.scss", "scala": "*.sbt *.scala",
	"sh":   "*.bash *.bashrc *.csh *.cshrc *.ksh *.kshrc *.sh *.tcsh *.zsh .bash_login .bash_logout .bash_profile .bashrc .cshrc .kshrc .login .logout .profile .tcshrc .zlogin .zlogout .zprofile .zshenv .zshrc bash_login bash_logout bash_profile bashrc profile zlogin zlogout zprofile zshenv zshrc",
	"slim": "*.skim *.slim *.slime", "sml": "*.sig *.sml", "sql": "*.psql *.sql", "stylus": "*.styl", "svg": "*.svg", "svelte": "*.svelte", "swift": "*.swift", "systemd": "*.automount *.conf *.device *.link *.mount *.path *.scope *.service *.slice *.socket *.swap *.target *.timer",
	"tcl": "*.tcl", "tex": "*.bib *.cls *.dtx *.ins *.ltx *.sty *.tex", "textile": "*.textile", "tf": "*.tf", "thrift": "*.thrift", "toml": "*.toml Cargo.lock", "ts": "*.ts *.tsx", "twig": "*.twig", "txt": "*.txt", "vb": "*.vb",
	"verilog": "*.sv *.svh *.v *.vh", "vhdl": "*.vhd *.vhdl", "vim": "*.vim", "vue": "*.vue", "xml": "*.dtd *.rng *.sch *.xhtml *.xjb *.xml *.xml.dist *.xsd *.xsl *.xslt", "xz": "*.txz *.xz", "yacc": "*.y", "yaml": "*.yaml *.yml",
	"zig": "*.zig", "zsh": "*.zsh .zlogin .zlogout .zprofile .zshenv .zshrc zlogin zlogout zprofile zshenv zshrc", "zstd": "*.zst *.zstd",
}

// typeTable is the types as the options have changed them.
type typeTable map[string][]string

func newTypeTable() typeTable {
	t := typeTable{}
	for name, globs := range knownTypes {
		t[name] = strings.Fields(globs)
	}
	return t
}

// add takes a NAME:GLOB of --type-add, or NAME:include:OTHER,...
func (t typeTable) add(spec string) error {
	invalid := errors.New("invalid definition (format is type:glob, e.g., html:*.html)")
	name, g, ok := strings.Cut(spec, ":")
	if !ok || name == "" || g == "" {
		return invalid
	}
	others, included := strings.CutPrefix(g, "include:")
	if !included {
		t[name] = append(t[name], g)
		return nil
	}
	for other := range strings.SplitSeq(others, ",") {
		globs, ok := t[other]
		if !ok {
			return invalid
		}
		t[name] = append(t[name], globs...)
	}
	return nil
}

// list writes the table.
func (t typeTable) list() string {
	names := make([]string, 0, len(t))
	for name := range t {
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		globs := slices.Clone(t[name])
		sort.Strings(globs)
		b.WriteString(name + ": " + strings.Join(slices.Compact(globs), ", ") + "\n")
	}
	return b.String()
}

// typeRule is a selection: the files of a type, or those of others.
type typeRule struct {
	globs []*glob
	not   bool
}

// typeRules are the selections in the order of the command line; the last that
// matches decides.
type typeRules struct {
	rules  []typeRule
	wanted bool // there is a -t
}

// compile makes rules of the selections.
func (t typeTable) compile(selections []typeArg) (*typeRules, error) {
	rs := &typeRules{}
	for _, s := range selections {
		r := typeRule{not: s.not}
		rs.wanted = rs.wanted || !s.not
		names := []string{s.name}
		if s.name == "all" {
			names = names[:0]
			for name := range t {
				names = append(names, name)
			}
		}
		for _, name := range names {
			globs, ok := t[name]
			if !ok {
				return nil, fmt.Errorf("unrecognized file type: %s", name)
			}
			for _, pattern := range globs {
				g, err := compileGlob("**/"+pattern, false)
				if err != nil {
					return nil, err
				}
				r.globs = append(r.globs, g)
			}
		}
		rs.rules = append(rs.rules, r)
	}
	return rs, nil
}

// decide judges a file by its name.
func (rs *typeRules) decide(name string, dir bool) verdict {
	if dir || len(rs.rules) == 0 {
		return undecided
	}
	for i := len(rs.rules) - 1; i >= 0; i-- {
		for _, g := range rs.rules[i].globs {
			if !g.match(name) {
				continue
			}
			if rs.rules[i].not {
				return ignored
			}
			return kept
		}
	}
	if rs.wanted {
		return ignored
	}
	return undecided
}
