package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// order is a Go type that keeps its type across nodes.
type order struct {
	Item  string
	Count int
	By    node.PID
	Lines []line
}

type line struct{ Text string }

// unknown is a type that the other node does not know.
type unknown struct{ X int }

// startTwo starts two nodes of a cluster that know order. The first knows more types.
func startTwo(t *testing.T, c *clustertest.Cluster, d node.Distribution, more ...node.Type) (a, b *node.Node) {
	t.Helper()
	start := func(name string, more ...node.Type) *node.Node {
		d := d
		d.Types = &node.Types{}
		require.NoError(t, d.Types.Register(append(more, node.TypeOf[order]("shop.Order"))...))
		return c.StartWith(name, d)
	}
	return start("a", more...), start("b")
}

// Between two Go nodes Go values arrive as they were sent.
func TestNativeTypes(t *testing.T) {
	a, b := startTwo(t, clustertest.NewCluster(t), node.Distribution{}, node.TypeOf[unknown]("x.Unknown"))
	self := nodetest.NewProbe(t, a)
	pid, err := b.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	o := order{"tea", 3, self.Self(), []line{{"green"}, {"black"}}}
	got, err := node.Call[order](testkit.Context(t), self, pid, o)
	require.NoError(t, err)
	assert.Equal(t, o, got)
	p, err := node.Call[*order](testkit.Context(t), self, pid, &o)
	require.NoError(t, err)
	assert.Equal(t, &o, p)
	v, err := node.Call[any](testkit.Context(t), self, pid, wire.Tuple{node.Atom("orders"), wire.List{o, o}})
	require.NoError(t, err)
	assert.Equal(t, wire.Tuple{node.Atom("orders"), wire.List{o, o}}, v)
	protocol, ok := node.FarProtocol(a, b.Name())
	require.True(t, ok)
	assert.Equal(t, "native", protocol)
	// A type that the other node does not know arrives as a map with its name, and comes back as one.
	v, err = node.Call[any](testkit.Context(t), self, pid, unknown{7})
	require.NoError(t, err)
	m, ok := v.(wire.Map)
	require.True(t, ok, "%T", v)
	assert.Contains(t, wire.Format(m), "x.Unknown")
	assert.Contains(t, wire.Format(m), "7")
}

// A bounded mailbox's answer reaches a sender on another node.
func TestNativeReceipts(t *testing.T) {
	a, b := startTwo(t, clustertest.NewCluster(t), node.Distribution{})
	pid, err := b.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	require.NoError(t, node.Deliver(testkit.Context(t), a, pid, 1))
	b.Exit(pid, node.Kill)
	require.ErrorIs(t, node.Deliver(testkit.Context(t), a, pid, 1), node.ErrNoProcess)
	require.ErrorIs(t, node.Deliver(testkit.Context(t), a, node.At{Name: "nobody", Node: b.Name()}, 1), node.ErrNoName)
}

// With Grace, nobody notices when a connection breaks.
func TestNativeGrace(t *testing.T) {
	cut := &clustertest.Cutter{}
	a, b := startTwo(t, clustertest.NewCluster(t), node.Distribution{Timing: node.Timing{Grace: testkit.Limit}, Transport: cut})
	self := nodetest.NewProbe(t, a)
	const n = 10_000
	done := make(chan int, 1)
	next := 0
	pid, err := b.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if msg != next {
			done <- next
			return node.ErrStop
		}
		if next++; next == n {
			done <- next
		}
		return nil
	}))
	require.NoError(t, err)
	require.NoError(t, a.Ping(testkit.Context(t), b.Name()), "both know that they are connected")
	ref := self.Monitor(pid)
	self.MonitorNode(b.Name())
	for i := range n {
		require.NoError(t, self.Send(pid, i))
		if i%1000 == 999 {
			cut.Cut() // with much under way
			require.NoError(t, a.Ping(testkit.Context(t), b.Name()))
		}
	}
	assert.Equal(t, n, testkit.Receive(t, done), "in order, none lost, none twice")
	assert.Equal(t, n/1000, cut.Cuts())
	_, err = self.ReceiveWithin(0, nil)
	require.ErrorIs(t, err, node.ErrTimeout, "no Down, no NodeDown")
	b.Exit(pid, node.Kill)
	assert.Equal(t, node.Down{Ref: ref, PID: pid, Reason: node.Atom("killed")}, self.Receive())
}

type (
	note     struct{ Any any }
	colour   int
	withTags struct {
		N int `etf:"n"`
	}
	says    struct{ N int }
	pointed struct{ N int }
)

func (s says) Term() any     { return wire.Tuple{wire.Atom("says"), s.N} }
func (p *pointed) Term() any { return wire.Tuple{wire.Atom("pointed"), p.N} }

// Values of Go types arrive with their exact types.
func TestNativeExactTypes(t *testing.T) {
	a, b := startTwo(t, clustertest.NewCluster(t), node.Distribution{})
	pid, err := b.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	o := order{Item: "tea"}
	for _, v := range []any{int64(5), uint8(5), float32(1.5), time.Second, []int{1}, map[string]int{"a": 1}, []order{o},
		map[string]*order{"a": &o}, wire.Tuple{uint16(1), []string{"a"}}, []any{1, int8(1)}} {
		got, err := node.Call[any](testkit.Context(t), a, pid, v)
		require.NoError(t, err)
		assert.Equal(t, v, got)
	}
}

// An unregistered type is refused, with the line to add; a type that gives its own term is sent as that term.
func TestNativeNotRegistered(t *testing.T) {
	a, b := startTwo(t, clustertest.NewCluster(t), node.Distribution{}, node.TypeOf[note]())
	pid, err := b.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	_, err = node.Call[any](testkit.Context(t), a, pid, 1)
	require.NoError(t, err)
	dead := a.DeadLetters(16)
	for _, c := range []struct {
		value any
		want  string
	}{
		{unknown{1}, "type node_test.unknown is not registered; at the start of both programs: " +
			"node.RegisterTypes(node.TypeOf[node_test.unknown]())"},
		{&unknown{1}, "node.TypeOf[node_test.unknown]()"},
		{[]unknown{{1}}, "node.TypeOf[node_test.unknown]()"},
		{map[string][]*unknown{}, "node.TypeOf[node_test.unknown]()"},
		{colour(1), "node.TypeOf[node_test.colour]()"},
		{wire.Tuple{1, wire.List{unknown{}}}, "{2}[1]: type node_test.unknown"},
		{note{wire.Tuple{1, unknown{}}}, ".Any{2}: type node_test.unknown"},
		{struct{ N int }{1}, "give the type a name"},
	} {
		_, err := node.Call[any](testkit.Context(t), a, pid, c.value)
		var unfit *wire.EncodeError
		require.ErrorAs(t, err, &unfit, "%T", c.value)
		require.ErrorContains(t, err, c.want)
		<-dead.C
		testkit.UntilTrue(t, func() bool { // otherwise messages waited for the connection
			err = a.Send(pid, c.value)
			assert.Equal(t, deadletter.NotATerm, (<-dead.C).Cause)
			return err != nil
		}, "a send fails at once")
		require.ErrorAs(t, err, &unfit)
		require.ErrorContains(t, err, c.want)
	}
	for _, c := range []struct{ value, want any }{
		{says{1}, wire.Tuple{wire.Atom("says"), 1}},
		{&pointed{2}, wire.Tuple{wire.Atom("pointed"), 2}},
		{withTags{3}, wire.NewMap(wire.Atom("n"), 3)},
		{[]says{{1}}, wire.List{wire.Tuple{wire.Atom("says"), 1}}},
	} {
		got, err := node.Call[any](testkit.Context(t), a, pid, c.value)
		require.NoError(t, err)
		require.True(t, wire.Equal(c.want, got), "%v", got)
	}
	got, err := node.Call[any](testkit.Context(t), a, pid, [2]int{1, 2})
	require.NoError(t, err)
	require.Equal(t, [2]int{1, 2}, got, "an array needs no name")
}
