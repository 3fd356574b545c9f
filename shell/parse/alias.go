package parse

// endAliases forgets the aliases whose text has been read.
func (p *Parser) endAliases() {
	for n := len(p.aliases); n > 0 && p.off >= p.aliases[n-1].end; n-- {
		p.checkNext = p.checkNext || p.aliases[n-1].blank
		p.aliases = p.aliases[:n-1]
	}
}

// expandAlias replaces the word just read by its alias in the source; false
// when it is none.
func (p *Parser) expandAlias() bool {
	check := p.checkNext
	p.checkNext = false
	afterAssign := p.last == tAssign && p.prefix
	if p.opt.Alias == nil || !check && !afterAssign && !p.commandStart() {
		return false
	}
	name := p.tok.lit()
	if name == "" {
		return false
	}
	for _, a := range p.aliases {
		if a.name == name && p.tok.off < a.end {
			return false
		}
	}
	text, ok := p.opt.Alias(name)
	if !ok {
		return false
	}
	if len(p.aliases) > MaxDepth || len(p.src)+len(text) > maxSource {
		p.fail(&Error{Line: p.line, Msg: "maximum alias expansion exceeded"})
	}
	start, end := p.tok.off, p.off
	// A word that touches what follows still ends where the alias's text ends.
	p.src = p.src[:start] + text + " " + p.src[end:]
	grown := len(text) + 1 - (end - start)
	for i := range p.aliases {
		if p.aliases[i].end >= end {
			p.aliases[i].end += grown
		}
	}
	blank := text != "" && (text[len(text)-1] == ' ' || text[len(text)-1] == '\t')
	p.aliases = append(p.aliases, aliasText{name: name, end: start + len(text) + 1, blank: blank})
	p.off = start
	return true
}

// maxSource bounds what aliases can make of a source, in bytes.
const maxSource = 64 << 20
