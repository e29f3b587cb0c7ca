package demo

import (
	"fmt"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
)

// Add, as a call, adds N and returns the new total; as a cast it only adds.
type Add struct {
	genserver.Returns[int]
	N int
}

// Term is {add, N}: the form of an Add in Erlang.
func (a Add) Term() any { return wire.Tuple{wire.Atom("add"), a.N} }

// Get returns the total.
type Get struct{ genserver.Returns[int] }

// Term is get.
func (Get) Term() any { return wire.Atom("get") }

// counter is the state of a server. It needs no lock: a server handles one request at a time.
type counter struct{ total int }

// counters lists the method for each type of request.
var counters = genserver.Define(
	genserver.OnCall((*counter).add),
	genserver.OnCall((*counter).get),
	genserver.OnCast((*counter).added),
	// The same as plain terms, as Erlang sends them.
	genserver.OnAnyCall((*counter).callTerm),
	genserver.OnCast((*counter).castTerm),
)

func (s *counter) add(_ *genserver.Context, a Add) (int, error) {
	s.total += a.N
	return s.total, nil
}

func (s *counter) get(*genserver.Context, Get) (int, error) { return s.total, nil }

func (s *counter) added(_ *genserver.Context, a Add) error {
	s.total += a.N
	return nil
}

// callTerm handles a call that is a term.
func (s *counter) callTerm(c *genserver.Context, term any) (any, error) {
	if a, ok := parseAdd(term); ok {
		return s.add(c, a)
	}
	switch term {
	case wire.Atom("get"):
		return s.total, nil
	case wire.Atom("crash"):
		return nil, errCrash // exit: the caller sees it like any other exit
	}
	return nil, &genserver.UnhandledError{Server: "counter", Request: term}
}

// castTerm handles a cast that is a term. Go's counterpart of a missing
// handle_cast clause is an error: the server exits, and is started again.
func (s *counter) castTerm(c *genserver.Context, term any) error {
	if a, ok := parseAdd(term); ok {
		return s.added(c, a)
	}
	return fmt.Errorf("demo: counter does not handle the cast %s", sysmsg.Words(term))
}

func parseAdd(term any) (Add, bool) {
	t, ok := term.(wire.Tuple)
	if !ok || len(t) != 2 || t[0] != wire.Atom("add") {
		return Add{}, false
	}
	n, ok := wire.AsInt(t[1])
	return Add{N: int(n)}, ok
}

// State is the result of sys:get_state.
func (s *counter) State() any { return s.total }

// SetState is called by sys:replace_state.
func (s *counter) SetState(term any) error {
	n, ok := wire.AsInt(term)
	if !ok {
		return fmt.Errorf("demo: the state of counter is an integer, not %s", sysmsg.Words(term))
	}
	s.total = int(n)
	return nil
}
