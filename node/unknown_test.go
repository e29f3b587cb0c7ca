package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/match"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

type unknowing struct{ cups int }

func (u *unknowing) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case node.Request[takeCup]:
		return m.Reply(u.cups)
	default:
		c.Unknown(msg)
	}
	return nil
}

// closedMachine is a state machine that knows no event.
type closedMachine struct{}

func (*closedMachine) closed(*statem.Context, statem.Event) (statem.State[*closedMachine], error) {
	return nil, statem.ErrUnhandled
}

// silentMachine ignores all events.
type silentMachine struct{}

func (*silentMachine) open(*statem.Context, statem.Event) (statem.State[*silentMachine], error) {
	return nil, nil
}

// A request of a type that a process does not know fails at once, with a text that names the type, and nothing ends: in
// each behaviour, and in processes written as the guides say.
func TestUnknownRequests(t *testing.T) {
	behaviours := map[string]func() node.Actor{
		"Unknown": func() node.Actor { return &unknowing{} },
		"server":  func() node.Actor { return genTill() },
		"machine": func() node.Actor { return statem.Define((*closedMachine).closed).New(&closedMachine{}) },
		"silent machine": func() node.Actor {
			return statem.Define((*silentMachine).open).New(&silentMachine{})
		},
		"manager":    func() node.Actor { return event.New(event.Config{}) },
		"object":     func() node.Actor { return active.New(&unknowing{}) },
		"supervisor": func() node.Actor { return supervisor.New(supervisor.Spec{}) },
		"match": func() node.Actor {
			return match.New(match.Do(func(c *node.Context, m any) error { c.Unknown(m); return nil }))
		},
	}
	for _, s := range styles {
		behaviours["Unknown, "+s.Name] = func() node.Actor {
			return s.Actor(func(self actortest.Self, msg any) error {
				switch self := self.(type) {
				case *node.Context:
					self.Unknown(msg)
				case *node.Process:
					self.Unknown(msg)
				}
				return nil
			})
		}
	}
	overEachPlace(t, func(f *failures) {
		for name, b := range behaviours {
			pid, err := f.there.Spawn(b())
			require.NoError(t, err)
			f.call(name, pid, order{}, "node_test.order")
			f.call(name, pid, "what?", "string")
			f.call(name, pid, wire.Tuple{1, 2}, "wire.Tuple")
			require.True(t, f.there.IsAlive(pid), "%s goes on", name)
		}
	})
}

// call makes a request that a process does not know.
func (f *failures) call(to string, pid node.PID, body any, typ string) {
	f.Helper()
	_, err := node.Call[any](f.ctx, f.me, pid, body)
	require.Error(f, err, to)
	require.NotErrorIs(f, err, f.ctx.Err(), to)
	require.Contains(f, err.Error(), typ, to)
}

// A message that is no request is logged with its type, and nobody is told.
func TestUnknownMessages(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		pid, err := f.there.Spawn(&unknowing{cups: 7})
		require.NoError(t, err)
		require.NoError(t, f.me.Send(pid, order{}))
		n, err := node.Call[int](f.ctx, f.me, pid, takeCup{})
		require.NoError(t, err)
		require.Equal(t, 7, n)
		f.log.Await(t, `msg="unexpected message" pid=`+pid.String()+` behaviour=*node_test.unknowing type=node_test.order`)
		require.NoError(t, genserver.Cast(f.me, pid, order{}))
		f.log.Await(t, "type=node.Cast[")
	})
}
