package statem

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"strings"

	"github.com/actornode/actornode/node"
)

// State is a state of a machine with data M: the function that handles the events that come
// while the machine is in that state. It returns the next state, as a function; nil,
// or itself, keeps the state. Other actions are methods of the Context.
//
// If the event is a call, an error goes to the caller; otherwise it ends the machine.
// node.ExitWith always ends it, [ErrUnhandled] never does.
//
// A State is a method or a named function; its name is the state's name.
type State[M any] func(data M, c *Context, e Event) (State[M], error)

// Kind is a kind of machine: the states that it has. [Define] makes it once,
// for any number of machines.
type Kind[M any] struct {
	states []*stateFunc[M]
	enter  bool
	late   bool
}

// stateFunc is a state with its name.
type stateFunc[M any] struct {
	name node.Atom
	pc   uintptr
	f    State[M]
}

// nameless matches Go's names for function literals, method values, and functions
// with type parameters.
var nameless = regexp.MustCompile(`\.(func)?[0-9]+(\.|-|$)|-fm$|\[\.\.\.\]`)

// Define makes a Kind of machine from its states. A machine starts in the first
// one, unless its Init says otherwise. Define panics if two states
// have the same name, and for functions that Go cannot tell apart when they are
// returned: literals, method values, methods of generic types.
func Define[M any](states ...State[M]) *Kind[M] {
	k := &Kind[M]{}
	if len(states) == 0 {
		panic("statem: Define: no states")
	}
	var none M
	if _, ok := any(none).(interface{ Init(*Context) error }); ok {
		panic(fmt.Sprintf("statem: Define: Init of %T returns only an error: want (statem.State[%T], error)", none, none))
	}
	for _, f := range states {
		if f == nil {
			panic("statem: Define: a state is nil")
		}
		s := &stateFunc[M]{pc: reflect.ValueOf(f).Pointer(), f: f}
		full := runtime.FuncForPC(s.pc).Name()
		name := full[strings.LastIndexByte(full, '.')+1:]
		if nameless.MatchString(full[strings.LastIndexByte(full, '/')+1:]) {
			panic(fmt.Sprintf("statem: Define: %s: want a method of a type that is not generic, or a function with a name", full))
		}
		s.name = node.Atom(name)
		if k.named(s.name) != nil {
			panic(fmt.Sprintf("statem: Define: two states %s", name))
		}
		k.states = append(k.states, s)
	}
	return k
}

// EnterCalls makes machines of this kind call a state's function with an event of type
// [TypeEnter] when they enter the state, before anything else
// happens in it: callback mode state_enter. It returns k.
func (k *Kind[M]) EnterCalls() *Kind[M] {
	k.enter = true
	return k
}

// Late makes machines of this kind also handle requests whose caller no longer waits when their turn comes, as
// [genserver.Kind.Late] does for servers. It returns k.
func (k *Kind[M]) Late() *Kind[M] {
	k.late = true
	return k
}

// find returns the state whose function is f, or nil.
func (k *Kind[M]) find(f State[M]) *stateFunc[M] {
	pc := reflect.ValueOf(f).Pointer()
	for _, s := range k.states {
		if s.pc == pc {
			return s
		}
	}
	return nil
}

func (k *Kind[M]) named(name any) *stateFunc[M] {
	for _, s := range k.states {
		if s.name == name {
			return s
		}
	}
	return nil
}

// New makes a machine of this kind. Spawn it once: with node.SpawnWait, by a
// supervisor, or with Start.
func (k *Kind[M]) New(data M) node.Actor { return &machine[M]{kind: k, data: data} }

// Start starts a machine and waits until its Init has returned: start of gen_statem, or
// start_link with Options.Link. ctx limits how long Init may take: a
// machine whose Init takes longer is killed. The first enter call and what Init
// asked for come afterwards. See [node.SpawnWait] for the errors.
func (k *Kind[M]) Start(ctx context.Context, from node.Caller, data M, o node.Options) (node.PID, error) {
	return node.SpawnWait(ctx, from, o, k.New(data))
}
