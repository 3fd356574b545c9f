package shell

import (
	"sort"
	"strings"
)

// option is one of set -o.
type option uint8

const (
	optAllexport option = iota
	optBraceexpand
	optEmacs
	optErrexit
	optErrtrace
	optFunctrace
	optHashall
	optHistexpand
	optHistory
	optIgnoreeof
	optInteractiveComments
	optKeyword
	optMonitor
	optNoclobber
	optNoexec
	optNoglob
	optNolog
	optNotify
	optNounset
	optOnecmd
	optPhysical
	optPipefail
	optPosix
	optPrivileged
	optVerbose
	optVi
	optXtrace
	optionCount
)

// optionNames are the names of set -o, sorted, and their letters; 0 means none.
var optionNames = [optionCount]struct {
	name   string
	letter byte
}{
	{"allexport", 'a'}, {"braceexpand", 'B'}, {"emacs", 0}, {"errexit", 'e'}, {"errtrace", 'E'},
	{"functrace", 'T'}, {"hashall", 'h'}, {"histexpand", 'H'}, {"history", 0}, {"ignoreeof", 0},
	{"interactive-comments", 0}, {"keyword", 'k'}, {"monitor", 'm'}, {"noclobber", 'C'}, {"noexec", 'n'},
	{"noglob", 'f'}, {"nolog", 0}, {"notify", 'b'}, {"nounset", 'u'}, {"onecmd", 't'}, {"physical", 'P'},
	{"pipefail", 0}, {"posix", 0}, {"privileged", 'p'}, {"verbose", 'v'}, {"vi", 0}, {"xtrace", 'x'},
}

// shoptNames are the names of shopt, sorted, with their defaults.
var shoptNames = []struct {
	name string
	on   bool
}{
	{"autocd", false}, {"assoc_expand_once", false}, {"cdable_vars", false}, {"cdspell", false}, {"checkhash", false},
	{"checkjobs", false}, {"checkwinsize", true}, {"cmdhist", true}, {"compat31", false}, {"compat32", false},
	{"compat40", false}, {"compat41", false}, {"compat42", false}, {"compat43", false}, {"compat44", false},
	{"complete_fullquote", true}, {"direxpand", false}, {"dirspell", false}, {"dotglob", false}, {"execfail", false},
	{"expand_aliases", false}, {"extdebug", false}, {"extglob", false}, {"extquote", true}, {"failglob", false},
	{"force_fignore", true}, {"globasciiranges", true}, {"globskipdots", true}, {"globstar", false},
	{"gnu_errfmt", false}, {"histappend", false}, {"histreedit", false}, {"histverify", false}, {"hostcomplete", true},
	{"huponexit", false}, {"inherit_errexit", false}, {"interactive_comments", true}, {"lastpipe", false},
	{"lithist", false}, {"localvar_inherit", false}, {"localvar_unset", false}, {"login_shell", false},
	{"mailwarn", false}, {"no_empty_cmd_completion", false}, {"nocaseglob", false}, {"nocasematch", false},
	{"noexpand_translation", false}, {"nullglob", false}, {"patsub_replacement", true}, {"progcomp", true},
	{"progcomp_alias", false}, {"promptvars", true}, {"restricted_shell", false}, {"shift_verbose", false},
	{"sourcepath", true}, {"varredir_close", false}, {"xpg_echo", false},
}

// shopt numbers of those that the evaluator asks for.
var (
	shoptDotglob         = shoptNumber("dotglob")
	shoptExpandAliases   = shoptNumber("expand_aliases")
	shoptExecfail        = shoptNumber("execfail")
	shoptExtdebug        = shoptNumber("extdebug")
	shoptExtglob         = shoptNumber("extglob")
	shoptFailglob        = shoptNumber("failglob")
	shoptGlobskipdots    = shoptNumber("globskipdots")
	shoptGlobstar        = shoptNumber("globstar")
	shoptInheritErrexit  = shoptNumber("inherit_errexit")
	shoptLastpipe        = shoptNumber("lastpipe")
	shoptLocalvarInherit = shoptNumber("localvar_inherit")
	shoptLocalvarUnset   = shoptNumber("localvar_unset")
	shoptNocaseglob      = shoptNumber("nocaseglob")
	shoptNocasematch     = shoptNumber("nocasematch")
	shoptNullglob        = shoptNumber("nullglob")
	shoptPatsub          = shoptNumber("patsub_replacement")
	shoptRedirClose      = shoptNumber("varredir_close")
	shoptShiftVerbose    = shoptNumber("shift_verbose")
	shoptSourcepath      = shoptNumber("sourcepath")
	shoptXpgEcho         = shoptNumber("xpg_echo")
	shoptCdableVars      = shoptNumber("cdable_vars")
	shoptCheckhash       = shoptNumber("checkhash")
	shoptGnuErrfmt       = shoptNumber("gnu_errfmt")
)

// shoptNumber is the bit of a shopt option; -1 when there is no such option.
func shoptNumber(name string) int {
	for i := range shoptNames {
		if shoptNames[i].name == name {
			return i
		}
	}
	return -1
}

// options are the options of a state: two sets of bits.
type options struct {
	set   uint32
	shopt uint64
}

func defaultOptions() options {
	o := options{set: 1<<optBraceexpand | 1<<optHashall | 1<<optInteractiveComments}
	for i := range shoptNames {
		if shoptNames[i].on {
			o.shopt |= 1 << i
		}
	}
	return o
}

func (o *options) on(n option) bool { return o.set&(1<<n) != 0 }

func (o *options) put(n option, on bool) {
	if on {
		o.set |= 1 << n
	} else {
		o.set &^= 1 << n
	}
	switch {
	case n == optVi && on:
		o.set &^= 1 << optEmacs
	case n == optEmacs && on:
		o.set &^= 1 << optVi
	}
}

func (o *options) shopts(n int) bool { return o.shopt&(1<<n) != 0 }

func (o *options) putShopt(n int, on bool) {
	if on {
		o.shopt |= 1 << n
	} else {
		o.shopt &^= 1 << n
	}
}

// optionByName finds a set -o option.
func optionByName(name string) (option, bool) {
	for i := range optionNames {
		if optionNames[i].name == name {
			return option(i), true
		}
	}
	return 0, false
}

// optionByLetter finds an option by the letter of set -x.
func optionByLetter(c byte) (option, bool) {
	for i := range optionNames {
		if optionNames[i].letter == c && c != 0 {
			return option(i), true
		}
	}
	return 0, false
}

// flags is the value of $-: the letters in Bash's order.
func (s *state) flags() string {
	var b strings.Builder
	for _, c := range []byte("abefhkmnptuvxBCEHPT") {
		if n, ok := optionByLetter(c); ok && s.opts.on(n) {
			b.WriteByte(c)
		}
	}
	b.WriteString(s.invocation)
	return b.String()
}

// shellopts is the value of SHELLOPTS.
func (o *options) shellopts() string {
	var names []string
	for i := range optionNames {
		if o.on(option(i)) {
			names = append(names, optionNames[i].name)
		}
	}
	sort.Strings(names)
	return strings.Join(names, ":")
}

// bashopts is the value of BASHOPTS.
func (o *options) bashopts() string {
	var names []string
	for i := range shoptNames {
		if o.shopts(i) {
			names = append(names, shoptNames[i].name)
		}
	}
	return strings.Join(names, ":")
}
