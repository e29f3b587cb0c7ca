package admin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/rights"
)

// Each kind of request needs the right of its kind, and no other right will do.
func TestPermits(t *testing.T) {
	for _, right := range []string{"connect", "send", "call", "rpc", "signal", "admin_read", "admin_act",
		"trace", "profile", "all"} {
		may := []string{"connect", right}
		if right == "all" {
			may = may[1:]
		}
		p, err := rights.New(rights.Config{Rules: []rights.Rule{{May: may}}})
		require.NoError(t, err)
		g := p.Of(rights.Identity{Name: "a@b"}, nil)
		for kind, has := range map[string]bool{
			"admin_read": permits(g, false, looks),
			"admin_act":  permits(g, true, looks),
			"trace":      permits(g, false, reveals|slow),
			"profile":    permits(g, false, measures|slow),
		} {
			require.Equal(t, right == kind || right == "all", has, "%s with the right %s", kind, right)
		}
	}
}
