package observe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/observe"
)

func TestStateString(t *testing.T) {
	names := []string{"idle", "scheduled", "running", "waiting", "exiting", "dead", "invalid"}
	for s, name := range names {
		require.Equal(t, name, observe.State(s).String())
	}
}
