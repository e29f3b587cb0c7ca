package command

import (
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
)

// TestGossipMesh: daemons that know one seed and no port mapper all connect, by native; the key is the cookie, and
// their metrics show the number of members.
func TestGossipMesh(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	seed, at := "127.0.0.1:"+reserve(t), "127.0.0.1:"+reserve(t)
	start := func(name, gossip string, more ...string) {
		s.daemon(t, append([]string{"--name", name, "--no-epmd", "--mesh", "--gossip", gossip, "--seed", seed}, more...)...)
	}
	erl := reserve(t)
	start("a@127.0.0.1", seed, "--http", at, "--listen", "127.0.0.1:"+erl, "--join", "b@127.0.0.1")
	start("b@127.0.0.1", "127.0.0.1:0")
	start("c@127.0.0.1", "127.0.0.1:0")
	start("stranger@127.0.0.1", "127.0.0.1:0", "--cookie", "other")
	eventually(t, "a is connected to both", func() bool {
		all := s.shell(t, "actornode nodes -n a@127.0.0.1 --no-epmd --peer a@127.0.0.1=127.0.0.1:"+erl)
		return strings.Count(all, " native ") == 2 && strings.Contains(all, "b@") && strings.Contains(all, "c@")
	})
	eventually(t, "a is ready", func() bool { return strings.HasPrefix(readyz(at), `{"ready":true`) })
	var text string
	eventually(t, "a counts its members", func() bool { // it may be connected to all before it has heard of all members
		r, err := http.Get("http://" + at + "/metrics")
		require.NoError(t, err)
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		text = string(b)
		return strings.Contains(text, "\nactornode_gossip_members 3\n")
	})
	assert.Contains(t, text, "actornode_gossip_join_rounds_total")
	assert.Contains(t, text, "\nactornode_gossip_streams_limit 16\n")
	for _, name := range []string{"streams", "streams_waiting", "streams_refused_total", "streams_cut_total"} {
		assert.Contains(t, text, "\nactornode_gossip_"+name+" ")
	}
	assert.NotContains(t, text, "actornode_dns_")
}

// The finders that a configuration names are used in this order.
func TestFinders(t *testing.T) {
	load := func(text string) (discovery.Finder, error) {
		cfg, err := config.Load(config.Source{File: "a.yaml", Text: []byte("name: go@127.0.0.1\n" + text)})
		require.NoError(t, err)
		env, _, _ := newEnvironment(t, nil)
		d, err := newDaemon(cfg, env)
		require.NoError(t, err)
		o := optionsOf(cfg)
		require.NoError(t, d.makeFinders(&o, "secret"))
		f, _, err := o.network(env, &discovery.EPMD{})
		if d.gossip != nil {
			assert.Contains(t, f, discovery.Finder(d.gossip))
		}
		if d.dns != nil {
			assert.Contains(t, f, discovery.Finder(d.dns))
		}
		return f, err
	}
	const both = "  dns: {host: x, at: [\":1\"]}\n  gossip: {bind: \":0\"}\n"
	f, err := load("discovery:\n  peers: {a@h: \":1\"}\n" + both)
	require.NoError(t, err)
	chain := findersOf(f)
	require.Len(t, chain, 4)
	assert.Equal(t, &discovery.Static{Nodes: map[node.Atom][]discovery.Endpoint{"a@h": {{Addr: ":1"}}}}, chain[0])
	assert.Equal(t, &discovery.EPMD{}, chain[3])
	f, err = load("listen: {erlang: \":7\"}\ndiscovery:\n  epmd: false\n" + both)
	require.NoError(t, err)
	chain = findersOf(f)
	require.Len(t, chain, 4)
	assert.Equal(t, &discovery.Static{Port: 7}, chain[3])
	f, err = load("discovery:\n  epmd: false\n" + both)
	require.NoError(t, err)
	assert.Len(t, f, 3)

	// A preference for Erlang's protocol holds for peers whose endpoint names none, too.
	f, err = load("protocols: [erlang, native]\nlisten: {erlang: \":7\"}\ndiscovery: {epmd: false, peers: {a@h: [\":1\", " +
		"\"native://:2\"]}}\n")
	require.NoError(t, err)
	assert.Equal(t, &discovery.Static{Port: 7, Protocol: "erlang",
		Nodes: map[node.Atom][]discovery.Endpoint{"a@h": {{Protocol: "erlang", Addr: ":1"}, {Protocol: "native", Addr: ":2"}}}}, f)
}

// TestProtocolOrder: the listeners are those that the file names, whatever the preference.
func TestProtocolOrder(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	erlang, native := reserve(t), reserve(t)
	s.daemon(t, "--name", "go@127.0.0.1", "--protocols", "erlang,native", "--listen", "127.0.0.1:"+erlang, "--listen-native",
		"127.0.0.1:"+native,
		"--grace", "2s", "--compress", "1KiB")
	status := s.shell(t, "actornode status")
	assert.Contains(t, status, "erlang://127.0.0.1:"+erlang)
	assert.Contains(t, status, "native://127.0.0.1:"+native)
	s.daemon(t, "--name", "only@127.0.0.1", "--protocols", "native", "--listen-native", "127.0.0.1:"+reserve(t))
	assert.NotContains(t, s.shell(t, "actornode status -n only"), "erlang://")
}

// findersOf returns the finders of a discovery.Chain.
func findersOf(chain discovery.Finder) (all []discovery.Finder) {
	for i, v := 0, reflect.ValueOf(chain); i < v.Len(); i++ {
		all = append(all, v.Index(i).Interface().(discovery.Finder))
	}
	return all
}
