package peers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/wire/dist"
)

// proto is a protocol that has a name and nothing else.
type proto struct {
	dist.Protocol
	name string
}

func (p *proto) Name() string { return p.name }

func TestAddresses(t *testing.T) {
	quick, common := &proto{name: "quick"}, &proto{name: "common"}
	all := []dist.Protocol{quick, common}
	for _, c := range []struct {
		listen    string
		listeners map[string]string
		want      [2]string
	}{
		{"h:5", nil, [2]string{"h:0", "h:5"}},
		{"h:5", map[string]string{"quick": "k:6"}, [2]string{"k:6", "h:5"}},
		{"h:5", map[string]string{"common": "k:6"}, [2]string{"h:0", "k:6"}},
		{"-", nil, [2]string{"-", "-"}},
		{"-", map[string]string{"quick": "k:6"}, [2]string{"k:6", "-"}},
		{"", nil, [2]string{"error", ""}},
	} {
		a := peers.Addresses{Protocols: all, Listen: c.listen, Listeners: c.listeners}
		require.NoError(t, a.Check())
		for i, p := range all {
			addr, err := a.Of(p)
			if err != nil {
				addr = "error"
				require.ErrorContains(t, err, "want host:port")
			}
			require.Equal(t, c.want[i], addr, "%+v", c)
		}
	}
	require.ErrorContains(t, peers.Addresses{Protocols: append(all, quick)}.Check(), "lists quick twice")
	require.ErrorContains(t, peers.Addresses{Protocols: all, Listeners: map[string]string{"slow": "h:1"}}.Check(), `"slow"`)
}

func TestFirstStep(t *testing.T) {
	require.Equal(t, 2*time.Second, peers.FirstStep(dist.TCP{}, 7*time.Second, 7*time.Second))
	require.Equal(t, 4*time.Second, peers.FirstStep(dist.TCP{}, 14*time.Second, 7*time.Second))
	require.Equal(t, 2*time.Second, peers.FirstStep(dist.TCP{}, time.Second, 7*time.Second))
}
