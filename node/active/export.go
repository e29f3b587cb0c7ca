package active

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/actornode/actornode/node"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// Export lets other nodes call a method of all objects of type T. A Go node calls it by [Go] and
// [Call], as this one does, if its program exports the method, too. An Erlang node calls it by its name:
//
//	gen_server:call(Pid, {Name, Argument})
//	gen_server:call(Pid, Name)                      where A is struct{}, and by ExportDo
//	gen_server:call(Pid, {Name, Argument, Object})  for an object that In has made: see [Addr]
//
// Argument and result must have types that can be sent to other nodes; [etf.FromTerm] says how an Erlang
// term becomes an A. Programs call Export when they start, before they start a node.
//
// A method of a generic type has no name in Go by which a Go node could identify it: only Erlang can call
// it.
//
// Export panics if the name is already exported for T, or the method under another name.
func Export[T, A, R any](name wire.Atom, method func(T, *Context, A) (R, error)) {
	export(name, callee[T, A, R]{with: method})
}

// ExportDo is [Export] for a method without an argument, which Go nodes call by [Do].
func ExportDo[T, R any](name wire.Atom, method func(T, *Context) (R, error)) {
	export(name, callee[T, struct{}, R]{without: method})
}

func export[T, A, R any](name wire.Atom, f callee[T, A, R]) {
	exports.add(&exportedMethod{
		name: name, object: reflect.TypeFor[T](),
		isFor: func(object any) bool { _, ok := object.(T); return ok },
		begin: func(g *group, object uint64, arg any, from node.From) (*activation, error) {
			a, err := argument[A](arg)
			if err != nil {
				return nil, fmt.Errorf("active: the argument of %s: %w", name, err)
			}
			return call[T, A, R]{object, f, a}.begin(g, from), nil
		},
	}, f.name())
}

// exportedMethod is an exported method.
type exportedMethod struct {
	name   wire.Atom
	object reflect.Type
	isFor  func(object any) bool
	begin  func(g *group, object uint64, arg any, from node.From) (*activation, error)
}

// exports are the exported methods of the program.
var exports = exported{byName: map[wire.Atom][]*exportedMethod{}, byMethod: map[string]*exportedMethod{}}

type exported struct {
	sync.RWMutex
	byName   map[wire.Atom][]*exportedMethod // in the order in which they have been exported
	byMethod map[string]*exportedMethod      // by callee.name
}

func (x *exported) add(e *exportedMethod, method string) {
	x.Lock()
	defer x.Unlock()
	for _, other := range x.byName[e.name] {
		if other.object == e.object {
			panic(fmt.Sprintf("active: Export: %s is exported for %v already", e.name, e.object))
		}
	}
	if other := x.byMethod[method]; other != nil {
		panic(fmt.Sprintf("active: Export: %s is exported as %s already", method, other.name))
	}
	x.byName[e.name] = append(x.byName[e.name], e)
	x.byMethod[method] = e
}

// find returns the export of a name for an object, or nil.
func (x *exported) find(name wire.Atom, object any) *exportedMethod {
	x.RLock()
	defer x.RUnlock()
	for _, e := range x.byName[name] {
		if e.isFor(object) {
			return e
		}
	}
	return nil
}

// nameOf returns the name under which a method is exported.
func (x *exported) nameOf(method string) (wire.Atom, bool) {
	x.RLock()
	defer x.RUnlock()
	if e := x.byMethod[method]; e != nil {
		return e.name, true
	}
	return "", false
}

// farCall is what a Go node sends to call a method of an object on another node.
type farCall struct {
	Method wire.Atom
	Arg    any // nil: the method takes a struct{}
	Object uint64
}

// CallType is the type of a call to an object of another node. If a node's Distribution has types of its
// own, it must be one of them.
func CallType() node.Type { return node.TypeOf[farCall]("active.Call") }

func init() { node.RegisterTypes(CallType()) }

func newFarCall[T, A any](to Addr[T], goName string, arg A) (*farCall, error) {
	name, ok := exports.nameOf(goName)
	if !ok {
		return nil, fmt.Errorf("active: a call of an object on %s: %s is not exported (see Export): %w", to.where(), goName,
			node.ErrNotHere)
	}
	call := &farCall{Method: name, Object: to.Object}
	if _, none := any(arg).(struct{}); !none {
		call.Arg = arg
	}
	return call, nil
}

// parseCall reads the body of a call of an exported method; false: it is not one.
func parseCall(body any) (call farCall, ok bool) {
	switch b := body.(type) {
	case *farCall:
		return *b, true
	case farCall:
		return b, true
	case wire.Atom:
		return farCall{Method: b}, true
	case wire.Tuple:
		if len(b) != 2 && len(b) != 3 {
			return call, false
		}
		call.Method, ok = b[0].(wire.Atom)
		call.Arg = b[1]
		if len(b) == 3 {
			n, isInt := wire.AsInt(b[2])
			call.Object, ok = uint64(n), ok && isInt && n > 0
		}
	}
	return call, ok
}

// exported begins the call of an exported method. It reports false if msg is not such a call.
func (g *group) exported(msg any) bool {
	r, ok := g.node.AsRequest(msg)
	if !ok {
		return false
	}
	call, ok := parseCall(r.Body)
	if !ok {
		return false
	}
	e := exports.find(call.Method, g.object(call.Object))
	if e == nil {
		return false
	}
	a, err := e.begin(g, call.Object, call.Arg, r.From)
	if err != nil {
		_ = r.Fail(err) // the caller may have given up
		return true
	}
	g.Ready(a)
	return true
}

// argument makes an A from what another node has sent.
func argument[A any](arg any) (a A, err error) {
	if a, ok := arg.(A); ok {
		return a, nil
	}
	if _, none := any(a).(struct{}); none && arg == nil {
		return a, nil
	}
	return a, etf.FromTerm(arg, &a)
}
