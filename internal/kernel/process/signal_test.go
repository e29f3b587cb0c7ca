package process_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// The rules of Erlang's Reference Manual. A reason may be a value that cannot be compared.
func TestRules(t *testing.T) {
	other := []any{wire.Atom("boom"), wire.Tuple{wire.Atom("a"), wire.List{1}}, map[any]any{}, nil, "normal"}
	for _, reason := range other {
		require.Equal(t, process.End, process.Link(reason, false))
		require.Equal(t, process.Message, process.Link(reason, true))
		for _, self := range []bool{false, true} {
			effect, why := process.Exit(reason, false, self)
			require.Equal(t, process.End, effect)
			require.Equal(t, reason, why)
			effect, _ = process.Exit(reason, true, self)
			require.Equal(t, process.Message, effect)
		}
	}
	require.Equal(t, process.None, process.Link(process.NormalReason, false))
	require.Equal(t, process.Message, process.Link(process.NormalReason, true))
	require.Equal(t, process.End, process.Link(process.Kill, false), "kill is a reason like others over a link")
	require.Equal(t, process.Message, process.Link(process.Kill, true))
	for _, traps := range []bool{false, true} {
		for _, self := range []bool{false, true} {
			effect, why := process.Exit(process.Kill, traps, self)
			require.Equal(t, process.End, effect)
			require.Equal(t, process.Killed, why)
		}
	}
	effect, _ := process.Exit(process.NormalReason, false, false)
	require.Equal(t, process.None, effect)
	effect, why := process.Exit(process.NormalReason, false, true)
	require.Equal(t, process.End, effect)
	require.Equal(t, process.NormalReason, why)
}
