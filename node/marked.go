package node

import (
	"reflect"
	"slices"

	"github.com/actornode/actornode/internal/pack"
	"github.com/actornode/actornode/internal/termof"
	"github.com/actornode/actornode/node/internal/failure"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/etf"
)

// What values of registered types, errors and crashes are as terms, towards nodes of OTP, is read
// back where such a term comes from one.

// typeMark is the key under which a map has the name of a registered type.
const typeMark wire.Atom = "$type"

// marks are the atoms by which such terms are known.
var marks = []wire.Atom{typeMark, failure.ErrorMark, failure.PanicMark}

// marked is the map of a value of a registered type, or of a pointer to one: its fields, see
// package etf, and the name of the type. False: the type is not registered, or its values stand
// for a term that is no map.
func (t *Types) marked(v any) (term any, ok bool, err error) {
	typ := reflect.TypeOf(v)
	if typ.Kind() == reflect.Pointer {
		if typ = typ.Elem(); reflect.ValueOf(v).IsNil() {
			return nil, false, nil
		}
	}
	name := t.all.NameOf(typ)
	if name == "" || typ.Kind() != reflect.Struct {
		return nil, false, nil
	}
	if _, stands := termof.Of(v); stands {
		return nil, false, nil
	}
	if term, err = etf.ToTerm(v); err != nil {
		return nil, false, err
	}
	m, ok := term.(wire.Map)
	if ok {
		m.Put(typeMark, wire.Atom(name))
	}
	return m, ok, nil
}

// maxMarkDepth is how deep in a term marks are looked for. What is deeper stays a term.
const maxMarkDepth = 64

// unmark is a term that holds marks, with the values, errors and crashes in it. What has a mark
// and does not fit stays as it is. The term is changed.
func (t *Types) unmark(term any) any { return t.unmarkAt(term, 0) }

func (t *Types) unmarkAt(term any, depth int) any {
	if depth > maxMarkDepth {
		return term
	}
	switch x := term.(type) {
	case wire.Tuple:
		if panicked, cause, stack, ok := failure.ReadCrash(x, known{t}); ok {
			return &Crash{Reason: cause, Panic: panicked, Stack: stack}
		}
		t.unmarkAll(x, depth)
		if err, ok := failure.ReadError(x, known{t}); ok {
			return err
		}
	case wire.List:
		t.unmarkAll(x, depth)
	case wire.ImproperList:
		t.unmarkAll(x.Head, depth)
	case wire.Map:
		var changed []any // keys and values
		for k, v := range x.Unordered() {
			if isCompound(v) {
				changed = append(changed, k, t.unmarkAt(v, depth+1))
			}
		}
		for i := 0; i < len(changed); i += 2 {
			x.Put(changed[i], changed[i+1])
		}
		return t.registeredOf(x)
	}
	return term
}

func (t *Types) unmarkAll(terms []any, depth int) {
	for i, x := range terms {
		if isCompound(x) {
			terms[i] = t.unmarkAt(x, depth+1)
		}
	}
}

func isCompound(term any) bool {
	switch term.(type) {
	case wire.Tuple, wire.List, wire.ImproperList, wire.Map:
		return true
	}
	return false
}

// registeredOf is the value of a registered type that a map stands for. A map that names none, or
// does not fit, stays one. Of a type whose pointer is an error it is the pointer.
func (t *Types) registeredOf(m wire.Map) (v any) {
	name, ok := m.Get(typeMark)
	if !ok {
		return m
	}
	as, _ := wire.Text(name)
	typ := t.all.Type(as)
	if typ == nil || typ.Kind() != reflect.Struct {
		return m
	}
	defer func() {
		if recover() != nil { // a method of the type
			v = m
		}
	}()
	p := reflect.New(typ)
	if etf.FromTerm(m, p.Interface()) != nil {
		return m
	}
	if _, isError := p.Interface().(error); isError && !typ.Implements(reflect.TypeFor[error]()) {
		return p.Interface()
	}
	return p.Elem().Interface()
}

// values are a node's types as the Erlang protocol uses them: see [erldist.Values].
type values struct{ t *Types }

// Append is part of erldist.Values, and so are the others.
func (v values) Append(dst []byte, value any) ([]byte, error) {
	e := pack.Encoder{Types: v.t.packed(), Foreign: v.t.standIn}
	return e.Append(dst, value)
}

// Decode reads a value of another node of this kind.
func (v values) Decode(b []byte, host any) (value any, rest []byte, err error) {
	d := pack.Decoder{Types: v.t.packed(), Host: host}
	return d.Term(b)
}

// IsMark reports whether terms with the atom are for Unmark.
func (values) IsMark(a Atom) bool { return slices.Contains(marks, a) }

// Unmark reads what is marked in a term of a node of OTP.
func (v values) Unmark(term any) any { return v.t.unmark(term) }

var _ erldist.Values = values{}
