package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

var errOwn = errors.New("own: gone")

type (
	// ring is a value that can refer to itself.
	ring struct {
		Next *ring
		By   map[string]any
	}
	// causeError is an error with another error in a field.
	causeError struct{ Err error }
	holder     struct {
		Err error
		All []error
		Any any
	}
	// One node has one of these types under the name x.Shape, the other node the other.
	shapeHere  struct{ ID int }
	shapeThere struct{ ID string }
)

func (e causeError) Error() string { return fmt.Sprintf("cause: %.20v", e.Err) }
func (e causeError) Unwrap() error { return e.Err }

// farPairs runs f with a process of one node and an echo on another, for each protocol between Go nodes. Each
// node has Types of its own.
func farPairs(t *testing.T, f func(t *testing.T, self *node.Process, echo node.PID)) {
	farNodes(t, nil, func(t *testing.T, a, b *node.Node) {
		pid, err := b.Spawn(node.ActorFunc(echo))
		require.NoError(t, err)
		self := nodetest.NewProbe(t, a)
		_, err = node.Call[int](testkit.Context(t), self, pid, 1)
		require.NoError(t, err)
		f(t, self.Process, pid)
	})
}

// farNodes runs f with two nodes, for each protocol between Go nodes. Each node has Types of its own.
func farNodes(t *testing.T, log *slog.Logger, f func(t *testing.T, a, b *node.Node)) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Log = log
		start := func(name string, own node.Type) *node.Node {
			types := &node.Types{}
			require.NoError(t, types.Register(node.TypeOf[ring]("x.Ring"), node.TypeOf[causeError]("x.Cause"),
				node.TypeOf[holder]("x.Holder"), node.TypeOf[bomb]("x.Bomb"), node.ErrorOf(errOwn, "x.gone"), own))
			return c.StartWith(name, node.Distribution{Types: types})
		}
		a, b := start("a", node.TypeOf[shapeHere]("x.Shape")), start("b", node.TypeOf[shapeThere]("x.Shape"))
		require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
		f(t, a, b)
	})
}

// Send and Call refuse a value that refers to itself, with its path, and a value that is too deep. The connection goes
// on.
func TestCycleIsRefused(t *testing.T) {
	farPairs(t, func(t *testing.T, self *node.Process, echo node.PID) {
		r := &ring{}
		r.Next = &ring{Next: r}
		m := map[string]any{"a": 1}
		m["b"] = m
		deep := &ring{}
		for range 100_000 {
			deep = &ring{Next: deep}
		}
		for _, c := range []struct {
			v     any
			where string
		}{
			{r, ".Next.Next: a cycle: this *node_test.ring refers to itself"},
			{wire.Tuple{1, r}, "{2}(x.Ring).Next.Next"},
			{&ring{By: map[string]any{"m": m}}, "a cycle: this map[string]interface {} refers to itself"},
			{deep, "nested deeper than 10000 levels"},
		} {
			require.ErrorContains(t, self.Send(echo, c.v), c.where)
			_, err := node.Call[any](testkit.Context(t), self, echo, c.v)
			require.ErrorContains(t, err, c.where[strings.LastIndex(c.where, ": ")+1:])
		}
		n, err := node.Call[int](testkit.Context(t), self, echo, 7)
		require.NoError(t, err)
		require.Equal(t, 7, n)
	})
}

// nowhere finds no node while a test goes on.
type nowhere struct{ clustertest.Places }

func (*nowhere) Find(ctx context.Context, _ node.Atom) ([]discovery.Endpoint, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// Send refuses a value that no peer takes before the peer is connected, and it becomes a dead letter; a value that a
// peer may take is not refused.
func TestCycleIsRefusedBeforeTheConnection(t *testing.T) {
	for _, protocols := range [][]string{{"native"}, {"erlang"}, {"native", "erlang"}} {
		t.Run(strings.Join(protocols, "+"), func(t *testing.T) {
			types := &node.Types{}
			require.NoError(t, types.Register(node.TypeOf[ring]("x.Ring")))
			d := &node.Distribution{Cookie: "secret", Finder: &nowhere{}, Types: types}
			var err error
			d.Protocols, err = d.ProtocolsByName(protocols...)
			require.NoError(t, err)
			n := nodetest.Start(t, node.Config{Name: "a@127.0.0.1", Distribution: d})
			self := nodetest.NewProbe(t, n)
			r := &ring{}
			r.Next = r
			far := wire.NewOrigin(wire.NodeID{Name: "b@127.0.0.1", Creation: 1})
			for _, to := range []node.Dest{far.PID(7), far.RefOf(3), node.At{Name: "name", Node: "b@127.0.0.1"}} {
				const cycle = "Next: a cycle: this *node_test.ring refers to itself"
				require.ErrorContains(t, self.Send(to, r), cycle)
				require.ErrorContains(t, self.SendOpt(node.SendOptions{NoWait: true}, to, r), cycle)
				require.ErrorContains(t, node.Send(n, to, node.Cast[*ring]{Body: r}), cycle)
				require.NoError(t, self.Send(to, &ring{}))
				require.NoError(t, self.Send(to, wire.Tuple{1, "plain"}))
				err := self.Send(to, wire.Tuple{unknown{1}})
				if protocols[len(protocols)-1] == "erlang" {
					require.NoError(t, err, "a node of OTP takes it")
				} else {
					require.ErrorContains(t, err, "node.RegisterTypes(node.TypeOf[node_test.unknown]())")
				}
			}
		})
	}
}

// Errors in fields, and deep in messages, are read with the node's own Types.
func TestErrorsInFields(t *testing.T) {
	farPairs(t, func(t *testing.T, self *node.Process, echo node.PID) {
		h := holder{Err: errOwn, All: []error{fmt.Errorf("first: %w", errOwn), causeError{errOwn}, &node.ExitError{Reason: errOwn}},
			Any: fmt.Errorf("any: %w", errOwn)}
		got, err := node.Call[holder](testkit.Context(t), self, echo, h)
		require.NoError(t, err)
		require.Equal(t, errOwn, got.Err)
		require.EqualError(t, got.All[0], "first: own: gone")
		require.ErrorIs(t, got.All[0], errOwn)
		require.ErrorIs(t, got.All[1], errOwn)
		var cause causeError
		require.ErrorAs(t, got.All[1], &cause)
		require.Equal(t, errOwn, cause.Err)
		var exit *node.ExitError
		require.ErrorAs(t, got.All[2], &exit)
		require.Equal(t, errOwn, exit.Reason)
		require.ErrorIs(t, got.Any.(error), errOwn)

		list, err := node.Call[wire.Tuple](testkit.Context(t), self, echo, wire.Tuple{[]error{errOwn}, map[string]error{"a": errOwn}, errOwn, [2]int8{1, 2}})
		require.NoError(t, err)
		require.Equal(t, []error{errOwn}, list[0])
		require.Equal(t, map[string]error{"a": errOwn}, list[1])
		require.ErrorIs(t, list[2].(error), errOwn)
		require.Equal(t, [2]int8{1, 2}, list[3], "an array")

		// Errors that contain each other without end: the message stays bounded.
		long := errOwn
		for range 40 {
			long = fmt.Errorf("%.20w", causeError{long})
		}
		got, err = node.Call[holder](testkit.Context(t), self, echo, holder{Err: long})
		require.NoError(t, err)
		require.Equal(t, long.Error(), got.Err.Error())
		require.ErrorAs(t, got.Err, &cause)
	})
}
