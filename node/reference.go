package node

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/actornode/actornode/internal/termof"
	"github.com/actornode/actornode/node/internal/failure"
	"github.com/actornode/actornode/node/internal/gencall"
	"github.com/actornode/actornode/wire"
)

// The kinds of references that Go nodes have of what lives on others, as they are on the wire.
const (
	referFrom   wire.Atom = "from"   // with {Pid, Tag} as in Erlang; []: the zero From
	referFuture wire.Atom = "future" // with {Type, Ref}: see nameFor
)

var (
	fromType = reflect.TypeFor[From]()
	ownPath  = fromType.PkgPath()
)

// own are the types of this module that all nodes know: what processes get as messages and replies, and
// may send on.
var own = []Type{TypeOf[Result]("$result"), TypeOf[Down]("$down"), TypeOf[Exited]("$exited"), TypeOf[NodeUp]("$nodeup"),
	TypeOf[NodeDown]("$nodedown"), TypeOf[At]("$at")}

// know is nodehook.Know.
func know(all ...any) {
	for _, one := range all {
		switch one := one.(type) {
		case Type:
			own = append(own, one)
		case error:
			failure.Enter(one)
		}
	}
}

// enterOwn registers what all nodes know.
func (t *Types) enterOwn() {
	if err := t.Register(own...); err != nil {
		panic(err) // the types are ours
	}
}

func init() {
	termof.EnterReferences(termof.References{Is: isReference, Give: giveReference, Term: termReference,
		Take: takeReference, Read: readReference})
}

// isReference reports whether t is From, or a pointer to a Future.
func isReference(t reflect.Type) bool {
	return t == fromType ||
		t.Kind() == reflect.Pointer && t.Elem().PkgPath() == ownPath && strings.HasPrefix(t.Elem().Name(), "Future[")
}

func giveReference(v any) (name wire.Atom, term any, err error) {
	switch v := v.(type) {
	case From:
		if v.t.p == nil {
			return referFrom, nil, nil
		}
		return referFrom, v.term(), nil
	case anyFuture:
		if reflect.ValueOf(v).IsNil() {
			return "", nil, fmt.Errorf("a nil %T cannot travel", v)
		}
		term, err = giveFuture(v, v.home())
		return referFuture, term, err
	}
	return "", nil, fmt.Errorf("a %T cannot travel", v)
}

func takeReference(host any, name wire.Atom, term any) (any, error) {
	n := host.(*Node)
	switch name {
	case referFrom:
		if term == nil {
			return From{}, nil
		}
		if f, ok := n.readFrom(nil, term); ok {
			return f, nil
		}
	case referFuture:
		if f, ok := takeFuture(n, term); ok {
			return f, nil
		}
	}
	return nil, fmt.Errorf("no reference of the kind %s: %s", name, wire.Format(term))
}

// termReference is what a reference is in a message to a node of OTP.
func termReference(v any) (any, error) {
	name, term, err := giveReference(v)
	if err != nil || name != referFuture {
		return term, err
	}
	of := term.(wire.Tuple)
	return wire.NewMap(termof.TypeMark, termof.FutureName, termof.FutureOf, of[0], termof.FutureRef, of[1]), nil
}

// readReference reads a reference where a node of OTP has had it.
func readReference(host any, t reflect.Type, term any) (any, error) {
	if t != fromType {
		if term == any(wire.Undefined) {
			return reflect.Zero(t).Interface(), nil
		}
		m, _ := term.(wire.Map)
		f := readFuture(host, m)
		if reflect.TypeOf(f) != t {
			return nil, fmt.Errorf("no %v: %s", t, wire.Format(term))
		}
		return f, nil
	}
	if wire.Equal(term, gencall.GoFrom(PID{})) {
		return From{}, nil
	}
	return takeReference(host, referFrom, term)
}

// readFuture is the future that a map of termReference stands for; another map stays one.
func readFuture(host any, m wire.Map) any {
	mark, _ := m.Get(termof.TypeMark)
	of, _ := m.Get(termof.FutureOf)
	ref, _ := m.Get(termof.FutureRef)
	name, isText := wire.Text(of)
	if n, ok := host.(*Node); ok && isText && mark == termof.FutureName && m.Len() == 3 {
		if f, ok := takeFuture(n, wire.Tuple{name, ref}); ok {
			return f
		}
	}
	return m
}
