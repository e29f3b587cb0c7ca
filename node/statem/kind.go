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
// while the machine is in it. It returns the next state, as a function; nil,
// or itself, keeps the state. Other actions are methods of the Context.
//
// An error goes to the caller, if the event is a call, and ends the machine
// otherwise; node.ExitWith ends it in any case. [ErrUnhandled] does not.
//
// A State is a method or a function with a name, which is the state's name.
type State[M any] func(data M, c *Context, e Event) (State[M], error)

// Kind is a sort of machine: what states it has. It is made once, by [Define],
// and may be used by any number of machines.
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

// nameless matches what Go calls function literals, method values, and functions
// with type parameters.
var nameless = regexp.MustCompile(`\.(func)?[0-9]+(\.|-|$)|-fm$|\[\.\.\.\]`)

// Define makes a Kind of machine from its states. The first is the one that a
// machine starts in, unless its Init says otherwise. Define panics where two states
// have one name, and for functions that Go cannot tell apart when they are
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

// EnterCalls makes a machine of this kind call each state's function when the
// state is entered, with an event of type [TypeEnter], before anything else
// happens in it: callback mode state_enter. It returns k.
func (k *Kind[M]) EnterCalls() *Kind[M] {
	k.enter = true
	return k
}

// Late makes machines of this kind handle requests, too, whose callers no longer wait when their turn comes, as
// [genserver.Kind.Late] does for servers. It returns k.
func (k *Kind[M]) Late() *Kind[M] {
	k.late = true
	return k
}

// find returns the state that a function is; nil: it is none.
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

// New makes a machine of this kind, to be spawned once: by node.SpawnWait, by a
// supervisor, or by Start.
func (k *Kind[M]) New(data M) node.Actor { return &machine[M]{kind: k, data: data} }

// Start starts a machine and waits until its Init has returned: start, or with
// Options.Link start_link, of gen_statem. ctx bounds how long that may take: a
// machine whose Init takes longer is killed. The first enter call and what Init
// has asked for come afterwards. See [node.SpawnWait] for the errors.
func (k *Kind[M]) Start(ctx context.Context, from node.Caller, data M, o node.Options) (node.PID, error) {
	return node.SpawnWait(ctx, from, o, k.New(data))
}
