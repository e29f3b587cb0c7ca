package node_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/certtest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/native"
	"github.com/actornode/actornode/wire/tlsdist"
)

const fallsBack = "trying a less preferred protocol: the preferred one failed"

// A node that is known to speak native, from its announcement or from an earlier connection, but is reached by Erlang's
// protocol only, is logged once for as long as that lasts.
func TestFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := clustertest.NewCluster(t)
		a, log := w.StartLogged("a", node.Distribution{})
		b := w.Start("b")
		at := slices.Clone(b.Endpoints())
		require.Equal(t, "native", at[0].Protocol)
		broken := slices.Clone(at)
		broken[0].Addr = "127.0.0.1:9"
		connect := func(ends []discovery.Endpoint, protocol string, warnings int) {
			t.Helper()
			w.Places.Put(b.Name(), ends)
			require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
			p, _ := node.FarProtocol(a, b.Name())
			require.Equal(t, protocol, p)
			require.True(t, a.Disconnect(b.Name()))
			synctest.Wait()
			require.Equal(t, warnings, strings.Count(log.String(), fallsBack), log)
		}
		connect(broken, "erlang", 1)
		require.Contains(t, log.String(), "dial tcp 127.0.0.1:9: connection refused")
		require.Contains(t, log.String(), "remove erlang from protocols")
		connect(broken, "erlang", 1)
		connect(at, "native", 1)
		connect(at[1:], "erlang", 2)
		require.Contains(t, log.String(), "the peer no longer announces the preferred protocol")
		connect(at[1:], "erlang", 2)
		require.EqualValues(t, 4, a.Stats().Fallbacks)

		// The peer itself connects with Erlang's protocol.
		connect(at, "native", 2)
		w.Places.Put(a.Name(), a.Endpoints()[1:])
		require.NoError(t, b.Connect(testkit.Context(t), a.Name()))
		synctest.Wait()
		require.Equal(t, 1, strings.Count(log.String(), "a peer connected with a less preferred protocol"), log)
		require.EqualValues(t, 5, a.Stats().Fallbacks)
	})
}

// A node that speaks only native never falls back, whatever is announced.
func TestNoFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := clustertest.NewCluster(t)
		only, err := (&node.Distribution{}).ProtocolsByName("native")
		require.NoError(t, err)
		a, b := w.StartWith("a", node.Distribution{Protocols: only}), w.Start("b")
		common := b.Endpoints()[1]
		require.Equal(t, "erlang", common.Protocol)
		for _, ends := range [][]discovery.Endpoint{{{Protocol: "native", Addr: "127.0.0.1:9"}, common}, {common}} {
			w.Places.Put(b.Name(), ends)
			require.Error(t, a.Connect(testkit.Context(t), b.Name()))
		}
		// An endpoint without a protocol is dialled, as native.
		w.Places.Put(b.Name(), []discovery.Endpoint{{Addr: common.Addr}})
		require.Error(t, a.Connect(testkit.Context(t), b.Name()))
		require.Empty(t, b.AllNodes())
		require.Equal(t, 1, w.Pipes.Dialed(common.Addr))
		require.Zero(t, a.Stats().Fallbacks)
		require.Len(t, a.Endpoints(), 1)
	})
}

// A node whose listeners other machines can reach logs at its start what that means.
func TestWarnsOfListeners(t *testing.T) {
	const open, cookie = "are not encrypted", "cookie protects against mistakes"
	for _, c := range []struct {
		listen       string
		protocols    []string
		tls          bool
		open, cookie int
	}{
		{"127.0.0.1:0", []string{"native", "erlang"}, false, 0, 0},
		{"[::1]:0", []string{"erlang"}, false, 0, 0},
		{"0.0.0.0:0", []string{"native", "erlang"}, false, 1, 1},
		{"10.0.0.1:0", []string{"native"}, false, 1, 0},
		{"0.0.0.0:0", []string{"native", "erlang"}, true, 0, 0},
		{"-", []string{"native"}, false, 0, 0},
	} {
		w, log := clustertest.NewCluster(t), &logtest.Text{}
		d := node.Distribution{Listen: c.listen}
		var err error
		d.Protocols, err = d.ProtocolsByName(c.protocols...)
		require.NoError(t, err)
		if c.tls {
			files := certtest.New(t, "ca").Write(t.TempDir(), certtest.Host("127.0.0.1"))
			d.Transport, err = tlsdist.New(tlsdist.Config{Cert: files.Cert, Key: files.Key, CA: files.CA, Under: w.Pipes})
			require.NoError(t, err)
			require.Implements(t, (*dist.Encrypter)(nil), d.Transport)
		}
		cfg := w.ConfigWith("n", d)
		cfg.Log = log.Logger()
		nodetest.Start(t, cfg)
		assert.Equal(t, c.open, strings.Count(log.String(), open), "%+v %s", c, log)
		assert.Equal(t, c.cookie, strings.Count(log.String(), cookie), "%+v %s", c, log)
	}
}

// speak returns the protocol of the connection between a and b.
func speak(t *testing.T, a, b *node.Node) string {
	t.Helper()
	require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
	p, ok := node.FarProtocol(a, b.Name())
	require.True(t, ok)
	return p
}

// Two nodes use the protocol that the dialling node prefers, of those that both have and that can be reached.
func TestPeersChooseProtocol(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	common := &erldist.Protocol{}
	start := func(name string, protocols ...dist.Protocol) *node.Node {
		cfg := c.Config(name)
		cfg.Distribution.Protocols = protocols
		n := nodetest.Start(t, cfg)
		return n
	}
	a, b := start("a", c.Memory, common), start("b", c.Memory, common)
	old := start("old", common)
	other := start("other", c.Memory)
	assert.Equal(t, "memory", speak(t, a, b))
	assert.Equal(t, "erlang", speak(t, a, old))
	assert.Equal(t, "erlang", speak(t, old, b))
	assert.Equal(t, "memory", speak(t, other, a))
	require.ErrorContains(t, other.Connect(testkit.Context(t), old.Name()), "this node speaks none of these protocols")
	require.Len(t, a.Endpoints(), 2)
	require.Equal(t, a.Addr().String(), a.Endpoints()[1].Addr)
	require.NotEqual(t, a.Endpoints()[0].Addr, a.Endpoints()[1].Addr)

	// If nobody listens any more, the next protocol is tried.
	d := start("d", c.Memory, common)
	at, err := c.Places.Find(testkit.Context(t), d.Name())
	require.NoError(t, err)
	at = slices.Clone(at)
	at[0].Addr = fmt.Sprint("127.0.0.1:", porttest.Reserve(t))
	c.Places.Put(d.Name(), at)
	assert.Equal(t, "erlang", speak(t, a, d))
}

func TestListeners(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	for _, bad := range []struct {
		d    node.Distribution
		says string
	}{
		{node.Distribution{Listeners: map[string]string{"smoke": ":1"}},
			`Listeners has an address for "smoke", which is not one of Distribution.Protocols: ["memory" "erlang"]`},
		{node.Distribution{Protocols: []dist.Protocol{c.Memory, c.Memory}}, "lists memory twice"},
		{node.Distribution{Listen: "nowhere"}, "want host:port"},
		{node.Distribution{Timing: node.Timing{Grace: -1}}, "must not be negative"},
		{node.Distribution{Timing: node.Timing{Grace: 1 << 40}}, "at most half of TickTime"},
	} {
		bad.d.Cookie, bad.d.Finder = "secret", c.Places
		if bad.d.Protocols == nil {
			bad.d.Protocols = []dist.Protocol{c.Memory, &erldist.Protocol{}}
		}
		_, err := node.Start(node.Config{Name: "x@127.0.0.1", Distribution: &bad.d})
		require.ErrorContains(t, err, bad.says)
	}
	cfg := c.Config("one")
	cfg.Distribution.Protocols = []dist.Protocol{c.Memory, &erldist.Protocol{}}
	cfg.Distribution.Listeners = map[string]string{"memory": "-"}
	n, err := node.Start(cfg)
	require.NoError(t, err)
	assert.Len(t, n.Endpoints(), 1)
	require.NoError(t, n.Stop())
	cfg.Distribution.Listen, cfg.Distribution.Listeners = "-", nil
	n, err = node.Start(cfg)
	require.NoError(t, err)
	assert.Empty(t, n.Endpoints())
	assert.Nil(t, n.Addr())
	require.NoError(t, n.Stop())
}

// Protocols are chosen by name, in the order asked for.
func TestProtocolsByName(t *testing.T) {
	d := node.Distribution{Compress: 100}
	chosen, err := d.ProtocolsByName("erlang", "native")
	require.NoError(t, err)
	require.Len(t, chosen, 2)
	assert.Equal(t, "erlang", chosen[0].Name())
	assert.Equal(t, "native", chosen[1].Name())
	assert.Equal(t, 100, chosen[1].(*native.Protocol).Compress)
	_, err = d.ProtocolsByName("quic")
	require.EqualError(t, err, `node: unknown protocol "quic": want native or erlang`)
}
