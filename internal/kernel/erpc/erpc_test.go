package erpc_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/termtest"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// raised is what Raised makes in these tests.
type raised struct{ class, reason, stack any }

func (*raised) Error() string { return "raised" }

// exited stands for the error of a process that has exited.
type exited struct{ why any }

func (e *exited) Error() string { return "exited" }
func (e *exited) Term() any     { return e.why }

func init() {
	erpc.Raised = func(class wire.Atom, reason, stack any) error { return &raised{class, reason, stack} }
}

func atom(s string) wire.Atom { return wire.Atom(s) }

var (
	origin = wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 7})
	pid    = origin.PID(5)
	ref    = origin.RefOf(9)
	args   = []any{1, "x"}
	stack  = wire.List{wire.Tuple{atom("m"), atom("f"), wire.List{1, "x"}, wire.List{}}}
)

// reasonOf returns the exit reason of a process that ends with err.
func reasonOf(t *testing.T, err error) any {
	t.Helper()
	why, ok := calls.ChosenReason(err)
	require.True(t, ok)
	return why
}

// Every way a function can end, and every way to report it: the table in doc.go.
func TestOutcomes(t *testing.T) {
	boom := errors.New("boom")
	for what, c := range map[string]struct {
		call   func() (any, error)
		value  any // of Result
		err    error
		called wire.Tuple // without ref
		cast   any
		spawn  any
		answer any
	}{
		"returns": {
			func() (any, error) { return 5, nil }, 5, nil,
			wire.Tuple{atom("return"), 5}, calls.NormalExit, calls.NormalExit, 5,
		},
		"throws": {
			func() (any, error) { return nil, fmt.Errorf("so: %w", &calls.Throw{Reason: 5}) }, nil, &raised{atom("throw"), 5, nil},
			wire.Tuple{atom("throw"), 5},
			wire.Tuple{wire.Tuple{atom("nocatch"), 5}, castStack()}, wire.Tuple{wire.Tuple{atom("nocatch"), 5}, wire.List{}}, 5,
		},
		"exits": {
			func() (any, error) { return nil, &calls.Exit{Reason: 5} }, nil, &raised{atom("exit"), 5, nil},
			wire.Tuple{atom("exit"), 5}, 5, 5, erpc.BadRPC(5),
		},
		"raises": {
			func() (any, error) { return nil, &calls.Raise{Reason: 5} }, nil, &raised{atom("error"), 5, stack},
			wire.Tuple{atom("error"), 5, stack},
			wire.Tuple{wire.Tuple{atom("exception"), wire.Tuple{5, stack}}, castStack()}, wire.Tuple{5, stack},
			erpc.BadRPC(wire.Tuple{5, stack}),
		},
		"fails": {
			func() (any, error) { return nil, boom }, nil, &raised{atom("error"), "boom", stack},
			wire.Tuple{atom("error"), "boom", stack},
			wire.Tuple{wire.Tuple{atom("exception"), wire.Tuple{"boom", stack}}, castStack()}, wire.Tuple{"boom", stack},
			erpc.BadRPC(wire.Tuple{"boom", stack}),
		},
		"panics": {
			func() (any, error) { panic("ouch") }, nil, &raised{atom("error"), "ouch", stack},
			wire.Tuple{atom("error"), "ouch", stack},
			wire.Tuple{wire.Tuple{atom("exception"), wire.Tuple{"ouch", stack}}, castStack()}, wire.Tuple{"ouch", stack},
			erpc.BadRPC(wire.Tuple{"ouch", stack}),
		},
		"is not there": {
			func() (any, error) { return nil, erpc.UndefExport(wire.Export{Module: "m", Function: "f", Arity: 2}) }, nil,
			&raised{atom("error"), atom("undef"), stack},
			wire.Tuple{atom("error"), atom("undef"), stack},
			wire.Tuple{wire.Tuple{atom("exception"), wire.Tuple{atom("undef"), stack}}, castStack()},
			wire.Tuple{atom("undef"), stack}, erpc.BadRPC(wire.Tuple{atom("undef"), stack}),
		},
	} {
		t.Run(what, func(t *testing.T) {
			o := erpc.Run("m", "f", args, calls.ReasonTerm[*exited], c.call)
			v, err := o.Result()
			require.Equal(t, c.value, v)
			require.Equal(t, c.err, err)
			require.Equal(t, append(wire.Tuple{ref}, c.called...), reasonOf(t, o.Called(ref)))
			require.Equal(t, c.cast, reasonOf(t, o.Cast(wire.List{atom("m"), atom("f"), wire.List{1, "x"}})))
			require.Equal(t, c.spawn, reasonOf(t, o.Spawned()))
			require.Equal(t, c.answer, o.Answer())

			there, ok := erpc.ReadOutcome(ref, reasonOf(t, o.Called(ref)))
			require.True(t, ok)
			require.Equal(t, o, there, "what is told is read")
		})
	}
	require.Equal(t, erpc.Undef("m", "f", args), erpc.Run("m", "f", args, calls.ReasonTerm[*exited], func() (any, error) { return nil, erpc.ErrUndef }))
}

func castStack() wire.List {
	return wire.List{wire.Tuple{atom("erpc"), atom("execute_cast"), wire.List{atom("m"), atom("f"), wire.List{1, "x"}}, wire.List{}}}
}

// Any other exit reason came from outside.
func TestReadOthers(t *testing.T) {
	for _, why := range []any{
		nil, atom("killed"), wire.Tuple{}, wire.Tuple{ref, atom("return")}, wire.Tuple{origin.RefOf(8), atom("return"), 1},
		wire.Tuple{ref, atom("return"), 1, 2}, wire.Tuple{ref, atom("other"), 1}, wire.Tuple{ref, 1, 1}, wire.Tuple{1, atom("return"), 1},
	} {
		_, ok := erpc.ReadOutcome(ref, why)
		require.False(t, ok, "%v", why)
	}
	o, ok := erpc.ReadOutcome(ref, wire.Tuple{ref, atom("error"), wire.Tuple{atom("erpc"), 1}})
	require.True(t, ok, "without a stack")
	_, err := o.Result()
	require.Equal(t, &raised{atom("error"), wire.Tuple{atom("erpc"), 1}, nil}, err)
}

// Requests for calls are read where they arrive.
func TestRequests(t *testing.T) {
	f := erpc.NewFunction("b@h", "m", "f", args)
	require.Equal(t, atom("b@h"), f.Node)
	for _, s := range []*dist.Spawn{f.Call(ref, pid), f.Cast(pid)} {
		require.Equal(t, pid, s.Leader)
		require.Equal(t, s.Function == "execute_cast", erpc.IsCast(s))
		require.Equal(t, !erpc.IsCast(s), s.Monitor)
		r, ok := erpc.Asked(s)
		require.True(t, ok)
		require.False(t, r.Bad)
		require.Equal(t, []any{atom("m"), atom("f"), args}, []any{r.Module, r.Function, r.Args})
		require.Equal(t, erpc.Undef("m", "f", args), r.Refused())
		end := reasonOf(t, r.End(r.Refused()))
		_, ok = erpc.ReadOutcome(ref, end)
		require.Equal(t, !erpc.IsCast(s), ok, "%v", end)
	}
	_, ok := erpc.Asked(erpc.NewBehaviour("b@h", "m", "f", args).Spawn(pid))
	require.False(t, ok)
}

// No spawn makes the reader of requests panic, and a request that names no function is answered with badarg.
func TestAnyRequest(t *testing.T) {
	r := testkit.Rand(t)
	words := []any{1, "x", atom("m"), pid, ref, nil, wire.List{}}
	for range 5000 {
		s := &dist.Spawn{Module: "erpc", Function: atom([]string{"execute_call", "execute_cast", "call"}[r.IntN(3)])}
		for range r.IntN(6) {
			s.Args = append(s.Args, termtest.Of(r, words, 2))
		}
		q, ok := erpc.Asked(s)
		require.Equal(t, s.Function == "execute_call" && len(s.Args) == 4 || s.Function == "execute_cast" && len(s.Args) == 3, ok)
		if !ok {
			continue
		}
		end := reasonOf(t, q.End(q.Refused()))
		require.NotNil(t, end)
		if q.Bad {
			_, err := q.Refused().Result()
			require.Equal(t, atom("badarg"), err.(*raised).reason)
		}
	}
}
