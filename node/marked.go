package node

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/actornode/actornode/internal/linkopt"
	"github.com/actornode/actornode/internal/pack"
	"github.com/actornode/actornode/internal/termof"
	"github.com/actornode/actornode/node/internal/failure"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/etf"
)

// What values of registered types, errors and crashes are as terms, towards nodes of OTP, is read
// back where such a term comes from one.

// marks are the atoms by which such terms are known.
var marks = []wire.Atom{termof.TypeMark, failure.ErrorMark, failure.PanicMark}

// marked is the term of a Go value, see package etf. The maps of registered structs in it, and of
// pointers to them, have the names of their types.
func (t *Types) marked(v any) (any, error) {
	return etf.ToTerm(termof.Marked{Value: v, Name: t.all.NameOf})
}

// isMarked reports whether an error is a map of its fields: its type, or what it points to, is a
// registered struct that stands for no other term.
func (t *Types) isMarked(err error) bool {
	typ := reflect.TypeOf(err)
	if typ.Kind() == reflect.Pointer {
		if typ = typ.Elem(); reflect.ValueOf(err).IsNil() {
			return false
		}
	}
	if typ.Kind() != reflect.Struct || t.all.NameOf(typ) == "" {
		return false
	}
	_, stands := termof.Of(err)
	return !stands
}

// maxMarkDepth is how deep in a term marks are looked for. What is deeper stays a term.
const maxMarkDepth = 64

// unmark is a term that holds marks, with the values, errors and crashes in it. What has a mark
// and does not fit stays as it is. The term is changed.
func (t *Types) unmark(term, host any) any { return unmarking{t, host}.at(term, 0) }

// unmarking reads a term on a node.
type unmarking struct {
	*Types
	host any // a *Node
}

func (t unmarking) at(term any, depth int) any {
	if depth > maxMarkDepth {
		return term
	}
	switch x := term.(type) {
	case wire.Tuple:
		if panicked, cause, stack, ok := failure.ReadCrash(x, known{t.Types}); ok {
			return &Crash{Reason: cause, Panic: panicked, Stack: stack}
		}
		t.all(x, depth)
		if err, ok := failure.ReadError(x, known{t.Types}); ok {
			return err
		}
	case wire.List:
		t.all(x, depth)
	case wire.ImproperList:
		t.all(x.Head, depth)
	case wire.Map:
		var changed []any // keys and values
		for k, v := range x.Unordered() {
			if isCompound(v) {
				changed = append(changed, k, t.at(v, depth+1))
			}
		}
		for i := 0; i < len(changed); i += 2 {
			x.Put(changed[i], changed[i+1])
		}
		return t.value(x)
	}
	return term
}

func (t unmarking) all(terms []any, depth int) {
	for i, x := range terms {
		if isCompound(x) {
			terms[i] = t.at(x, depth+1)
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

// value is the Go value that a map stands for: of a registered type, of a pointer to one, a
// time or a future. A map that names none, or does not fit, stays one. Of a type whose pointer is an error it is
// the pointer.
func (t unmarking) value(m wire.Map) (v any) {
	name, ok := m.Get(termof.TypeMark)
	if !ok {
		return m
	}
	text, _ := wire.Text(name)
	if text == string(termof.TimeName) {
		return timeOf(m)
	}
	if text == string(termof.FutureName) {
		return readFuture(t.host, m)
	}
	as, pointer := strings.CutPrefix(text, "*")
	typ := t.Types.all.Type(as)
	if typ == nil || typ.Kind() != reflect.Struct {
		return m
	}
	defer func() {
		if recover() != nil { // a method of the type
			v = m
		}
	}()
	p := reflect.New(typ)
	if etf.FromTerm(termof.Hosted{Term: m, Host: t.host}, p.Interface()) != nil {
		return m
	}
	if _, isError := p.Interface().(error); pointer || isError && !typ.Implements(reflect.TypeFor[error]()) {
		return p.Interface()
	}
	return p.Elem().Interface()
}

func timeOf(m wire.Map) any {
	text, _ := m.Get(termof.TimeKey)
	var at time.Time
	if m.Len() != 2 || etf.FromTerm(text, &at) != nil {
		return m
	}
	return at
}

// values are a node's types as the Erlang protocol uses them: see [erldist.Values].
type values struct{ t *Types }

// Append is part of erldist.Values, and so are the others.
func (v values) Append(dst []byte, value any) ([]byte, error) { return v.append(dst, value, nil) }

func (v values) append(dst []byte, value any, peer *pack.Shapes) ([]byte, error) {
	e := pack.Encoder{Types: &v.t.codec, Foreign: v.t.standIn, Peer: peer}
	return e.Append(dst, value)
}

// Decode reads a value of another node of this kind.
func (v values) Decode(b []byte, host any) (value any, rest []byte, err error) {
	d := pack.Decoder{Types: &v.t.codec, Host: host, Strict: true}
	if value, rest, err = d.Term(b); err != nil {
		value, _, _ = d.Rescue(b)
	}
	return value, rest, err
}

// IsMark reports whether terms with the atom are for Unmark.
func (values) IsMark(a Atom) bool { return slices.Contains(marks, a) }

// Unmark reads what is marked in a term of a node of OTP.
func (v values) Unmark(term, host any) any { return v.t.unmark(term, host) }

// ForPeer is part of linkopt.ForPeers.
func (v values) ForPeer() linkopt.PeerValues { return &peerValues{values: v} }

// peerValues are the values that are sent to one peer.
type peerValues struct {
	values
	told pack.Shapes
}

// Append is part of linkopt.PeerValues, and so are the others.
func (v *peerValues) Append(dst []byte, value any) ([]byte, error) {
	return v.append(dst, value, &v.told)
}

// AppendShape appends what the peer is told of a type.
func (v *peerValues) AppendShape(dst []byte, n int) (_ []byte, more bool) {
	return v.t.codec.AppendShape(dst, n)
}

// Put takes what the peer has told.
func (v *peerValues) Put(shape []byte) error { return v.told.Put(shape) }

var (
	_ erldist.Values   = values{}
	_ linkopt.ForPeers = values{}
)
