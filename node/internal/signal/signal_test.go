package signal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/internal/signal"
	"github.com/actornode/actornode/wire"
)

// The rules, as Erlang's Reference Manual has them. A reason may be a value that cannot be compared.
func TestRules(t *testing.T) {
	other := []any{wire.Atom("boom"), wire.Tuple{wire.Atom("a"), wire.List{1}}, map[any]any{}, nil, "normal"}
	for _, reason := range other {
		require.Equal(t, signal.End, signal.Link(reason, false))
		require.Equal(t, signal.Message, signal.Link(reason, true))
		for _, self := range []bool{false, true} {
			effect, why := signal.Exit(reason, false, self)
			require.Equal(t, signal.End, effect)
			require.Equal(t, reason, why)
			effect, _ = signal.Exit(reason, true, self)
			require.Equal(t, signal.Message, effect)
		}
	}
	require.Equal(t, signal.None, signal.Link(signal.Normal, false))
	require.Equal(t, signal.Message, signal.Link(signal.Normal, true))
	require.Equal(t, signal.End, signal.Link(signal.Kill, false), "kill is a reason like others over a link")
	require.Equal(t, signal.Message, signal.Link(signal.Kill, true))
	for _, traps := range []bool{false, true} {
		for _, self := range []bool{false, true} {
			effect, why := signal.Exit(signal.Kill, traps, self)
			require.Equal(t, signal.End, effect)
			require.Equal(t, signal.Killed, why)
		}
	}
	effect, _ := signal.Exit(signal.Normal, false, false)
	require.Equal(t, signal.None, effect)
	effect, why := signal.Exit(signal.Normal, false, true)
	require.Equal(t, signal.End, effect)
	require.Equal(t, signal.Normal, why)
}
