package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
)

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

// Values of Go types arrive as what they are.
func TestNativeExactTypes(t *testing.T) {
	a, b := nativePair(t, func(*node.Types) {}, node.Distribution{})
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

// What is not registered is refused, with the line to add; what says its term is sent as that.
func TestNativeNotRegistered(t *testing.T) {
	a, b := nativePair(t, func(ts *node.Types) { require.NoError(t, ts.Register(node.TypeOf[note]())) }, node.Distribution{})
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
		testkit.UntilTrue(t, func() bool { // else messages waited for the connection
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
