package gossip_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/gossip"
)

const cookie = "a cookie of the tests"

// config returns the config of a member on a free port of 127.0.0.1, with short pauses.
func config(log *logtest.Text, seeds ...string) gossip.Config {
	c := gossip.Config{Cookie: cookie, Bind: "127.0.0.1:0", Seeds: seeds, Pace: "local", Retry: 200 * time.Millisecond,
		Log: log.Logger()}
	gossip.Hurry(&c)
	return c
}

// finder returns a new finder.
func finder(t *testing.T, cfg gossip.Config) *gossip.Finder {
	t.Helper()
	f, err := gossip.New(cfg)
	require.NoError(t, err)
	return f
}

// announce makes a name known that belongs to no node, with an endpoint of its own.
func announce(t *testing.T, f *gossip.Finder, name node.Atom, creation uint32, addr string) (stop func()) {
	t.Helper()
	stop, err := f.Announce(t.Context(), discovery.Announcement{Name: name, Creation: creation,
		Endpoints: []discovery.Endpoint{{Protocol: "erlang", Addr: addr}}})
	require.NoError(t, err)
	t.Cleanup(stop)
	return stop
}

// lists checks what a finder lists.
func lists(t *testing.T, f *gossip.Finder, want ...node.Atom) string {
	got, err := f.List(t.Context())
	require.NoError(t, err)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		return fmt.Sprintf("got %v, want %v", got, want)
	}
	return ""
}

// at returns where a finder finds a node first; empty: nowhere.
func at(f *gossip.Finder, name node.Atom) string {
	ends, err := f.Find(context.Background(), name)
	if err != nil {
		return ""
	}
	return ends[0].String()
}

// reserve returns an address on 127.0.0.1 at which no process listens, and none will.
func reserve(t *testing.T) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(porttest.Reserve(t)))
}

// meshed says which connections are missing for a full mesh.
func meshed(nodes []*node.Node) string {
	for _, a := range nodes {
		if got := len(a.AllNodes()); got != len(nodes)-1 {
			return fmt.Sprintf("%s has %d of %d nodes", a.Name(), got, len(nodes)-1)
		}
	}
	return ""
}

// split is a network that can be cut in two; each address is on one side.
type split struct {
	side map[string]int // by address; set before cut
	cut  atomic.Bool
}

// loses reports whether what from sends to the address to is lost.
func (s *split) loses(from, to string) bool { return s.cut.Load() && s.side[from] != s.side[to] }
