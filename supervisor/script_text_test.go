package supervisor_test

import (
	"slices"
	"strings"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Text, as supervision.erl prints it. The caller of show and shown holds p.mu.

func (p *play) show(term any) string { return text(p.shown(term)) }

func (p *play) showArgs(args []any) string {
	if len(args) == 0 {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return " " + p.show(wire.List(args))
}

func text(term any) string {
	var parts []string
	switch v := term.(type) {
	case wire.Atom:
		if v == "maybe" { // a reserved word since OTP 27
			return "maybe"
		}
	case wire.Map:
		for k, e := range v.All() {
			parts = append(parts, text(k)+" => "+text(e))
		}
		return "#{" + strings.Join(parts, ",") + "}"
	case wire.Tuple:
		for _, e := range v {
			parts = append(parts, text(e))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case wire.List:
		if len(v) == 0 {
			break
		}
		switch v[0].(type) {
		case wire.Map, wire.Tuple:
			for _, e := range v {
				parts = append(parts, text(e))
			}
			return "[" + strings.Join(parts, ",") + "]"
		}
	}
	return wire.Format(term)
}

// shown replaces processes and functions with names.
func (p *play) shown(term any) any {
	switch v := term.(type) {
	case *node.Crash:
		return p.shown(v.Reason)
	case node.PID:
		if l := p.runs[v]; l != nil && l.name != "" {
			return wire.Atom(l.name)
		}
	case wire.Atom:
		if v == module || v == goCode {
			return wire.Atom("mod")
		}
	case wire.Tuple:
		switch {
		case len(v) == 3 && (v[0] == module && v[1] == wire.Atom("start") || v[0] == goCode):
			return wire.Atom("mfa")
		case len(v) == 2 && v[0] == wire.AtomError:
			if e, ok := v[1].(wire.Tuple); ok && len(e) == 2 {
				if k, ok := e[1].(wire.Tuple); ok && len(k) > 0 && k[0] == wire.Atom("child") {
					return wire.Tuple{wire.AtomError, p.shown(e[0])}
				}
			}
		case len(v) == 2 && v[0] == wire.Atom("bad_start_spec"):
			ids := wire.List{}
			for _, k := range v[1].(wire.List) {
				id, _ := k.(wire.Map).Get(wire.Atom("id"))
				ids = append(ids, id)
			}
			return wire.Tuple{v[0], ids}
		case len(v) == 2: // with a stack
			if l, ok := v[1].(wire.List); ok && len(l) > 0 {
				if at, ok := l[0].(wire.Tuple); ok && len(at) == 4 {
					return p.shown(v[0])
				}
			}
		}
		return wire.Tuple(p.shownEach(v))
	case wire.List:
		l := wire.List(p.shownEach(v))
		if len(v) > 0 {
			if t, ok := v[0].(wire.Tuple); ok && len(t) == 4 && t[0] == wire.AtomUndefined {
				slices.SortFunc(l, wire.Compare)
			}
		}
		return l
	case wire.Map:
		m := wire.NewMap()
		for k, e := range v.All() {
			m.Put(k, p.shown(e))
		}
		return m
	}
	return term
}

func (p *play) shownEach(l []any) []any {
	all := make([]any, len(l))
	for i, e := range l {
		all[i] = p.shown(e)
	}
	return all
}
