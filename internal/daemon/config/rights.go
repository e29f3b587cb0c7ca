package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/actornode/actornode/internal/strict"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Operators are the nodes that may make changes through the operator's service; all others can only read.
type Operators struct {
	All   bool     // every node that knows the cookie
	Off   bool     // there is no service
	Nodes []string // otherwise: patterns, NAME@HOST or *@HOST
}

// May reports whether peer may make changes.
func (o Operators) May(peer node.Atom) bool {
	if o.Off || o.All {
		return o.All
	}
	for _, p := range o.Nodes {
		if matches(p, peer) {
			return true
		}
	}
	return false
}

// Rights lists what other nodes may start or call by name.
type Rights struct {
	All   bool // exported functions
	Rules []Rule
}

// Rule lets nodes start or call something.
type Rule struct {
	Peer     string // pattern; "": all nodes
	Module   string
	Function string // "": all of the module
	Arity    int
}

// May reports whether peer may start or call e.
func (r Rights) May(peer node.Atom, e wire.Export) bool {
	if r.All {
		return true
	}
	for _, x := range r.Rules {
		if (x.Peer == "" || matches(x.Peer, peer)) && x.Module == string(e.Module) &&
			(x.Function == "" || x.Function == string(e.Function) && x.Arity == e.Arity) {
			return true
		}
	}
	return false
}

// For returns the rules that apply to peer.
func (r Rights) For(peer node.Atom) (all []Rule) {
	for _, x := range r.Rules {
		if x.Peer == "" || matches(x.Peer, peer) {
			all = append(all, x)
		}
	}
	return all
}

// String formats the rule as in the file.
func (r Rule) String() string {
	s := r.Module + ":*"
	if r.Function != "" {
		s = fmt.Sprintf("%s:%s/%d", r.Module, r.Function, r.Arity)
	}
	if r.Peer != "" {
		s = r.Peer + " " + s
	}
	return s
}

// matches reports whether pattern matches peer.
func matches(pattern string, peer node.Atom) bool {
	if host, any := strings.CutPrefix(pattern, "*@"); any {
		_, at, ok := strings.Cut(string(peer), "@")
		return ok && at == host
	}
	return pattern == string(peer)
}

const (
	patternForm = "NAME@HOST or *@HOST"
	ruleForm    = "MODULE:FUNCTION/ARITY or MODULE:*, which NAME@HOST or *@HOST and a space may precede to allow it to these " +
		"nodes only"
)

// checkPattern checks NAME@HOST or *@HOST.
func checkPattern(s string) error {
	name, host, ok := strings.Cut(s, "@")
	switch {
	case s == "*":
		return fmt.Errorf("%w; to allow all nodes, leave the list out or write all", want(s, patternForm))
	case !ok || strings.Contains(host, "*") || name != "*" && strings.Contains(name, "*"):
		return want(s, patternForm)
	}
	return checkName(s)
}

// readRule parses a Rule.
func readRule(s string) (r Rule, err error) {
	words := strings.Fields(s)
	if len(words) == 2 {
		if r.Peer = words[0]; checkPattern(r.Peer) != nil {
			return r, fmt.Errorf("%s: %w", show(s), checkPattern(r.Peer))
		}
		words = words[1:]
	}
	if len(words) != 1 {
		return r, want(s, ruleForm)
	}
	module, rest, ok := strings.Cut(words[0], ":")
	if r.Module = module; !ok || module == "" || rest == "" {
		return r, want(s, ruleForm)
	}
	if module == "*" {
		return r, fmt.Errorf("%w; to allow everything that is exported, leave the list out or write all", want(s, ruleForm))
	}
	if rest == "*" {
		return r, nil
	}
	slash := strings.LastIndexByte(rest, '/')
	if slash < 1 {
		return r, fmt.Errorf("%w; the arity (number of arguments) of %s is missing", want(s, ruleForm), show(rest))
	}
	n, err := strconv.ParseUint(rest[slash+1:], 10, 8)
	if err != nil {
		return r, fmt.Errorf("%s: %s is not an arity: want 0 to 255", show(s), show(rest[slash+1:]))
	}
	r.Function, r.Arity = rest[:slash], int(n)
	return r, nil
}

// operators is the Value of Operators: all, off or a list of patterns.
type operators struct{ p *Operators }

func (v operators) set(l []string) error {
	o := Operators{Nodes: []string{}}
	seen := make(map[string]bool)
	for _, s := range l {
		switch {
		case s == "all" || s == "off":
			return fmt.Errorf("%s cannot be combined with names", s)
		case seen[s]:
			return fmt.Errorf("%s: given twice", show(s))
		}
		if err := checkPattern(s); err != nil {
			return err
		}
		seen[s] = true
		o.Nodes = append(o.Nodes, s)
	}
	*v.p = o
	return nil
}

// Set is part of Value.
func (v operators) Set(s string) error {
	switch strings.TrimSpace(s) {
	case "all":
		*v.p = Operators{All: true}
		return nil
	case "off":
		*v.p = Operators{Off: true}
		return nil
	}
	if s != "" && !strings.ContainsAny(s, "@*,") {
		return want(s, v.Type())
	}
	return v.set(split(s))
}

func (v operators) String() string {
	switch {
	case v.p.All:
		return "all"
	case v.p.Off:
		return "off"
	}
	return strings.Join(v.p.Nodes, ",")
}
func (v operators) Type() string { return "all, off, or list of " + patternForm }
func (v operators) yaml(bool) any {
	if v.p.All || v.p.Off {
		return v.String()
	}
	return v.p.Nodes
}

func (v operators) read(r *strict.Reader, at strict.Value) {
	if !strict.IsList(at) {
		if s, ok := r.Text(at, v.Type()); ok {
			if err := v.Set(s); err != nil {
				r.Fail(at, "%v", err)
			}
		}
		return
	}
	var l []string
	before := r.Failures()
	r.List(at, func(_ int, at strict.Value) {
		s, ok := r.Text(at, patternForm)
		if !ok {
			return
		}
		if err := v.set(append(l, s)); err != nil {
			r.Fail(at, "%v", err)
			return
		}
		l = append(l, s)
	})
	if r.Failures() == before {
		_ = v.set(l) // already checked
	}
}

// rights is the Value of Rights: all, or a list of rules.
type rights struct{ p *Rights }

// Set is part of Value.
func (v rights) Set(s string) error {
	if strings.TrimSpace(s) == "all" {
		*v.p = Rights{All: true}
		return nil
	}
	if s != "" && !strings.ContainsAny(s, ":,") {
		return want(s, v.Type()+"; an empty list allows nothing")
	}
	var all Rights
	for _, w := range split(s) {
		rule, err := readRule(w)
		if err != nil {
			return err
		}
		all.Rules = append(all.Rules, rule)
	}
	*v.p = all
	return nil
}

func (v rights) texts() []string {
	l := []string{}
	for _, r := range v.p.Rules {
		l = append(l, r.String())
	}
	return l
}

func (v rights) String() string {
	if v.p.All {
		return "all"
	}
	return strings.Join(v.texts(), ",")
}
func (v rights) Type() string { return "all, or list of MODULE:FUNCTION/ARITY" }
func (v rights) yaml(bool) any {
	if v.p.All {
		return "all"
	}
	return v.texts()
}

func (v rights) read(r *strict.Reader, at strict.Value) {
	if !strict.IsList(at) {
		if s, ok := r.Text(at, v.Type()); ok {
			if err := v.Set(s); err != nil {
				r.Fail(at, "%v", err)
			}
		}
		return
	}
	var all Rights
	before := r.Failures()
	r.List(at, func(_ int, at strict.Value) {
		s, ok := r.Text(at, ruleForm)
		if !ok {
			return
		}
		rule, err := readRule(s)
		if err != nil {
			r.Fail(at, "%v", err)
			return
		}
		all.Rules = append(all.Rules, rule)
	})
	if r.Failures() == before {
		*v.p = all
	}
}
