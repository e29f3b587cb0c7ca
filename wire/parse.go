package wire

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxParseDepth is the maximum nesting depth of a term that [Parse] reads.
const maxParseDepth = 10_000

// SyntaxError is the error that [Parse] returns for text that is not a term.
type SyntaxError struct {
	Offset int // in bytes, from 0
	Line   int // from 1
	Column int // in characters, from 1
	Msg    string
}

// AtomError returns the position and what was expected there.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("wire: line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// Parse reads one term in Erlang syntax, with white space, comments and a final
// dot where Erlang allows them:
//
//	atom 'quoted atom' 42 -1_000 16#ff $a 1.5e-3 "text" <<"text">> <<"é"/utf8>>
//	<<1,2:3>> <<1:16/little>> {a,b} [a,b|c] #{k => v} fun lists:map/2
//
// It returns the forms that decoders use: "text" is a List of code points as in Erlang, a binary is a []byte, true is an
// Atom, an integer is an int or, if that is too small, a *big.Int. Segments of a bitstring are integers, floats and
// strings, with size, little, big, signed, unsigned, utf8, utf16 and utf32. Variables, operators and calls are not terms;
// pids, ports, references and other funs have no syntax. The error is a [*SyntaxError].
func Parse(text string) (any, error) {
	p := parser{text: text}
	t, err := p.term()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.accept(".") {
		p.space()
	}
	if p.pos < len(text) {
		return nil, p.expected("the end, or a dot and the end")
	}
	return t, nil
}

// parser reads text by recursive descent. Each method starts at pos and moves pos behind what it has read; after an error
// pos is undefined.
type parser struct {
	text  string
	pos   int
	depth int
	sized int // total bits of the segments with an explicit size
}

// failAt returns an error for the text at pos.
func (p *parser) failAt(pos int, format string, args ...any) error {
	before := p.text[:pos]
	return &SyntaxError{
		Offset: pos,
		Line:   1 + strings.Count(before, "\n"),
		Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
		Msg:    fmt.Sprintf(format, args...),
	}
}

// expected returns the error for text other than what at pos.
func (p *parser) expected(what string) error {
	if p.pos >= len(p.text) {
		return p.failAt(p.pos, "expected %s, found the end of the text", what)
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return p.failAt(p.pos, "expected %s, found %q", what, r)
}

// space skips white space and comments.
func (p *parser) space() {
	for p.pos < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.pos:])
		switch {
		case r == '%':
			n = strings.IndexByte(p.text[p.pos:], '\n')
			if n < 0 {
				p.pos = len(p.text)
				return
			}
		case r > ' ' && r < 0x80 || r > 0xa0:
			return
		}
		p.pos += n
	}
}

// accept skips token if it is next.
func (p *parser) accept(token string) bool {
	if strings.HasPrefix(p.text[p.pos:], token) {
		p.pos += len(token)
		return true
	}
	return false
}

// next skips white space and accepts token.
func (p *parser) next(token string) bool {
	p.space()
	return p.accept(token)
}

// peek returns the next character, or false at the end.
func (p *parser) peek() (rune, bool) {
	if p.pos >= len(p.text) {
		return 0, false
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return r, true
}

// term reads a term and the white space before it.
func (p *parser) term() (any, error) {
	if p.depth++; p.depth > maxParseDepth {
		return nil, p.failAt(p.pos, "terms nested deeper than %d levels", maxParseDepth)
	}
	defer func() { p.depth-- }()
	p.space()
	r, ok := p.peek()
	switch {
	case !ok:
		return nil, p.expected("a term")
	case p.accept("{"):
		elements, _, err := p.sequence("}", "")
		return Tuple(elements), err
	case p.accept("["):
		return p.list()
	case p.accept("<<"):
		return p.bits()
	case r == '#':
		return p.mapping()
	case r == '"':
		return p.strings()
	case r == '+' || r == '-' || r == '$' || '0' <= r && r <= '9':
		return p.number()
	case r == '\'' || startsAtom(r):
		return p.atomOrFun()
	case startsVariable(r):
		return nil, p.failAt(p.pos, "a variable is not a term; an atom that starts with %q is written in single quotes", r)
	case r == '<':
		return nil, p.noSyntax(p.pos)
	}
	return nil, p.expected("a term: a number, $c, an atom, \"text\", {, [, #{, <<, or fun m:f/a")
}

// noSyntax returns the error for text that starts like <0.1.0> or #Ref<0.1.2.3>.
func (p *parser) noSyntax(pos int) error {
	return p.failAt(pos, "pids, ports, references and funs cannot be written; only <<…>> and #{…} start like this")
}

// sequence reads comma-separated terms up to the bracket end, or up to the token bar if that is not empty; barred reports
// that it found bar. Before end there may be no terms.
func (p *parser) sequence(end, bar string) (terms []any, barred bool, err error) {
	terms = []any{}
	if p.next(end) {
		return terms, false, nil
	}
	for {
		t, err := p.term()
		if err != nil {
			return nil, false, err
		}
		terms = append(terms, t)
		switch {
		case p.next(","):
		case p.accept(end):
			return terms, false, nil
		case bar == "":
			return nil, false, p.expected(fmt.Sprintf("%q or %q", ",", end))
		case p.accept(bar):
			return terms, true, nil
		default:
			return nil, false, p.expected(fmt.Sprintf("%q, %q or %q", ",", bar, end))
		}
	}
}

func (p *parser) list() (any, error) {
	head, barred, err := p.sequence("]", "|")
	if err != nil || !barred {
		return List(head), err
	}
	tail, err := p.term()
	if err != nil {
		return nil, err
	}
	if !p.next("]") {
		return nil, p.expected(`"]"`)
	}
	return cons(head, tail), nil
}

func (p *parser) mapping() (any, error) {
	start := p.pos
	p.accept("#")
	if !p.next("{") {
		return nil, p.noSyntax(start)
	}
	m := MakeMap(0)
	if p.next("}") {
		return m, nil
	}
	for {
		key, err := p.term()
		if err != nil {
			return nil, err
		}
		if !p.next("=>") {
			return nil, p.expected(`"=>"`)
		}
		value, err := p.term()
		if err != nil {
			return nil, err
		}
		m.Put(key, value)
		if p.next("}") {
			return m, nil
		}
		if !p.accept(",") {
			return nil, p.expected(`"," or "}"`)
		}
	}
}

// strings reads adjacent strings, which form one string.
func (p *parser) strings() (any, error) {
	l := List{}
	for {
		runes, err := p.quoted('"')
		if err != nil {
			return nil, err
		}
		for _, r := range runes {
			l = append(l, int(r))
		}
		p.space()
		if r, _ := p.peek(); r != '"' {
			return l, nil
		}
	}
}

// atomOrFun reads an atom or fun m:f/a.
func (p *parser) atomOrFun() (any, error) {
	start := p.pos
	a, quoted, err := p.name()
	if err != nil || quoted || !isReserved(string(a)) || a == "maybe" || a == "else" {
		return a, err
	}
	if a != "fun" {
		return nil, p.failAt(start, "%s is a reserved word; the atom is written '%s'", a, a)
	}
	module, err := p.atom("a module's name")
	if err != nil {
		return nil, err
	}
	if !p.next(":") {
		return nil, p.expected(`":" of fun m:f/a`)
	}
	function, err := p.atom("a function's name")
	if err != nil {
		return nil, err
	}
	if !p.next("/") {
		return nil, p.expected(`"/" of fun m:f/a`)
	}
	p.space()
	start = p.pos
	if p.accept("$") {
		return nil, p.failAt(start, "expected an arity from 0 to 255")
	}
	arity, err := p.unsigned()
	if err != nil {
		return nil, err
	}
	n, ok := arity.(int)
	if !ok || n > 255 {
		return nil, p.failAt(start, "expected an arity from 0 to 255")
	}
	return Export{Module: module, Function: function, Arity: n}, nil
}

// atom reads an atom and the white space before it.
func (p *parser) atom(what string) (Atom, error) {
	p.space()
	start := p.pos
	if r, _ := p.peek(); r != '\'' && !startsAtom(r) {
		return "", p.expected(what)
	}
	a, quoted, err := p.name()
	if err == nil && !quoted && isReserved(string(a)) && a != "maybe" && a != "else" {
		err = p.failAt(start, "%s is a reserved word; the atom is written '%s'", a, a)
	}
	return a, err
}

// name reads an atom, quoted or not, or a reserved word.
func (p *parser) name() (a Atom, quoted bool, err error) {
	start := p.pos
	if r, _ := p.peek(); r == '\'' {
		runes, err := p.quoted('\'')
		if err == nil && len(runes) > MaxAtomRunes {
			err = p.failAt(start, "an atom has at most %d characters", MaxAtomRunes)
		}
		return Atom(runes), true, err
	}
	n := 0
	for r, ok := p.peek(); ok && inName(r); r, ok = p.peek() {
		p.pos += utf8.RuneLen(r)
		n++
	}
	if n > MaxAtomRunes {
		return "", false, p.failAt(start, "an atom has at most %d characters", MaxAtomRunes)
	}
	return Atom(p.text[start:p.pos]), false, nil
}
