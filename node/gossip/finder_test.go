package gossip_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/gossip"
	"github.com/actornode/actornode/node/nodetest"
)

// Nodes that know one of them become a full mesh.
func TestMesh(t *testing.T) {
	t.Parallel()
	many := testkit.By(8, 20, 50)
	log := &logtest.Text{}
	var nodes []*node.Node
	var seeds []string
	for i := range many {
		cfg := config(log, seeds...)
		gossip.Calm(&cfg) // with so many on a busy machine, a slow member is late, not dead
		f := finder(t, cfg)
		n := nodetest.Start(t, node.Config{Name: node.Atom(fmt.Sprintf("n%02d@127.0.0.1", i)), Workers: 1, Log: log.Logger(),
			Distribution: &node.Distribution{Cookie: "secret", Finder: f, Mesh: &discovery.Mesh{Backoff: time.Second}}})
		nodes = append(nodes, n)
		if i == 0 {
			seeds = []string{f.Addr()}
		}
	}
	testkit.Until(t, func() string { return meshed(nodes) })
}

// A node that dies without a word is found again where its next life listens, before any other node has noticed the
// death of the first.
func TestRestart(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	a := finder(t, config(log))
	announce(t, a, "a@127.0.0.1", 1, "127.0.0.1:11")
	b := finder(t, config(log, a.Addr()))
	announce(t, b, "b@127.0.0.1", 2, "127.0.0.1:22")
	c := finder(t, config(log, a.Addr()))
	announce(t, c, "c@127.0.0.1", 3, "127.0.0.1:33")
	testkit.Until(t, func() string { return lists(t, c, "a@127.0.0.1", "b@127.0.0.1", "c@127.0.0.1") })
	testkit.UntilTrue(t, func() bool { return at(c, "b@127.0.0.1") == "erlang://127.0.0.1:22" }, "b is where it is")

	b.Kill()
	again := finder(t, config(log, a.Addr()))
	announce(t, again, "b@127.0.0.1", 1, "127.0.0.1:44") // a smaller creation: creations are random
	testkit.Until(t, func() string {
		for _, f := range []*gossip.Finder{a, c} {
			if got := at(f, "b@127.0.0.1"); got != "erlang://127.0.0.1:44" {
				return "b is at " + got
			}
		}
		return ""
	})
	testkit.Until(t, func() string { // and the old life is forgotten; on a slow machine the new one may be missed for a while
		ends, err := c.Find(t.Context(), "b@127.0.0.1")
		if err != nil || len(ends) != 1 || ends[0].Addr != "127.0.0.1:44" {
			return fmt.Sprint(ends, err)
		}
		return ""
	})
	_, err := c.Find(t.Context(), "d@127.0.0.1")
	require.ErrorIs(t, err, discovery.ErrUnknownNode)
}

// Real nodes: one is stopped hard and comes back at other ports; the links between the others are not affected, and the
// mesh is whole again.
func TestNodeRestarts(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	start := func(f *gossip.Finder, name node.Atom) *node.Node {
		return nodetest.Start(t, node.Config{Name: name, Workers: 1, Distribution: &node.Distribution{Cookie: "secret", Finder: f,
			Mesh: &discovery.Mesh{Yield: 100 * time.Millisecond, Backoff: time.Second}}})
	}
	a := finder(t, config(log))
	nodes := []*node.Node{start(a, "a@127.0.0.1"), nil, nil}
	nodes[1] = start(finder(t, config(log, a.Addr())), "b@127.0.0.1")
	dying := finder(t, config(log, a.Addr()))
	nodes[2] = start(dying, "c@127.0.0.1")
	testkit.Until(t, func() string { return meshed(nodes) })
	was, creation := nodes[2].Addr().String(), nodes[2].Creation()
	h := nodetest.NewProbe(t, nodes[0])
	h.MonitorNode(nodes[1].Name())

	dying.Kill() // gossip does not hear of the stop
	require.NoError(t, nodes[2].Stop())
	nodes[2] = start(finder(t, config(log, a.Addr())), "c@127.0.0.1")
	testkit.Until(t, func() string { return meshed(nodes) })
	assert.NotEqual(t, was, nodes[2].Addr().String())
	assert.NotEqual(t, creation, nodes[2].Creation())
	h.ExpectNone()
}

// A node that leaves is out of the lists because it says so: no node gives it up here.
func TestLeave(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	patient := func(seeds ...string) gossip.Config {
		c := config(log, seeds...)
		gossip.Patience(&c)
		c.LeaveTimeout = testkit.Limit
		return c
	}
	a := finder(t, patient())
	announce(t, a, "a@127.0.0.1", 1, "127.0.0.1:11")
	changes := make(chan struct{}, 1000)
	defer a.Watch(func() { changes <- struct{}{} })()
	b := finder(t, patient(a.Addr()))
	leave := announce(t, b, "b@127.0.0.1", 2, "127.0.0.1:22")
	testkit.Receive(t, changes)
	c := finder(t, patient(a.Addr()))
	announce(t, c, "c@127.0.0.1", 3, "127.0.0.1:33")
	for _, f := range []*gossip.Finder{a, b, c} { // a member that knows no other has nobody to tell
		testkit.Until(t, func() string { return lists(t, f, "a@127.0.0.1", "b@127.0.0.1", "c@127.0.0.1") })
	}
	leave()
	testkit.Until(t, func() string { return lists(t, a, "a@127.0.0.1", "c@127.0.0.1") })
	testkit.Until(t, func() string { return lists(t, c, "a@127.0.0.1", "c@127.0.0.1") })
	assert.NotContains(t, log.String(), "Marking b@127.0.0.1", "it was not missed: it left")
	assert.Empty(t, lists(t, b), "who does not take part knows nothing")
}

// A node that dies is out of the lists when others notice it.
func TestDeath(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	a := finder(t, config(log))
	announce(t, a, "a@127.0.0.1", 1, "127.0.0.1:11")
	b := finder(t, config(log, a.Addr()))
	announce(t, b, "b@127.0.0.1", 2, "127.0.0.1:22")
	testkit.Until(t, func() string { return lists(t, a, "a@127.0.0.1", "b@127.0.0.1") })
	b.Kill()
	testkit.Until(t, func() string { return lists(t, a, "a@127.0.0.1") })
	log.Await(t, "Marking b@127.0.0.1")
}

// The network is cut, and memberlist alone would not heal it, for it does not try dead members. Live links are not
// touched; both halves find each other again.
func TestPartition(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	net := &split{side: map[string]int{}}
	var ports []string
	for i := range 4 {
		ports = append(ports, reserve(t))
		net.side[ports[i]] = i / 2
	}
	var finders []*gossip.Finder
	var nodes []*node.Node
	for i, name := range []node.Atom{"a@127.0.0.1", "b@127.0.0.1", "c@127.0.0.1", "d@127.0.0.1"} {
		var seeds []string
		if i > 0 {
			seeds = ports[i-1 : i] // a chain: it is cut where only one member knows another
		}
		cfg := config(log, seeds...)
		cfg.Bind = ports[i]
		gossip.Fault(&cfg, net.loses)
		finders = append(finders, finder(t, cfg))
		nodes = append(nodes, nodetest.Start(t, node.Config{Name: name, Workers: 1, Distribution: &node.Distribution{Cookie: "secret",
			Finder: finders[i], Mesh: &discovery.Mesh{Yield: 100 * time.Millisecond}}}))
	}
	testkit.Until(t, func() string { return meshed(nodes) })
	h := nodetest.NewProbe(t, nodes[0])
	h.MonitorNode(nodes[3].Name())

	net.cut.Store(true)
	testkit.Until(t, func() string { return lists(t, finders[0], "a@127.0.0.1", "b@127.0.0.1") })
	testkit.Until(t, func() string { return lists(t, finders[3], "c@127.0.0.1", "d@127.0.0.1") })
	assert.Empty(t, meshed(nodes), "what gossip thinks ends no connection")
	h.ExpectNone()
	net.cut.Store(false)
	for _, f := range finders {
		testkit.Until(t, func() string { return lists(t, f, "a@127.0.0.1", "b@127.0.0.1", "c@127.0.0.1", "d@127.0.0.1") })
	}
	h.ExpectNone()
}

// Two nodes whose only seed is gone find each other after a cut: each remembers the other's address.
func TestPartitionWithoutSeeds(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	seed := finder(t, config(log))
	announce(t, seed, "a@127.0.0.1", 1, "127.0.0.1:11")
	net := &split{side: map[string]int{}}
	var finders []*gossip.Finder
	for i, name := range []node.Atom{"b@127.0.0.1", "c@127.0.0.1"} {
		cfg := config(log, seed.Addr())
		cfg.Bind = reserve(t)
		net.side[cfg.Bind] = i + 1
		gossip.Fault(&cfg, net.loses)
		f := finder(t, cfg)
		announce(t, f, name, 1, "127.0.0.1:22")
		finders = append(finders, f)
	}
	for _, f := range finders {
		testkit.Until(t, func() string { return lists(t, f, "a@127.0.0.1", "b@127.0.0.1", "c@127.0.0.1") })
	}
	seed.Kill()
	net.cut.Store(true)
	testkit.Until(t, func() string { return lists(t, finders[0], "b@127.0.0.1") })
	testkit.Until(t, func() string { return lists(t, finders[1], "c@127.0.0.1") })
	net.cut.Store(false)
	for _, f := range finders {
		testkit.Until(t, func() string { return lists(t, f, "b@127.0.0.1", "c@127.0.0.1") })
	}
}

// A node with another cookie neither joins nor reads, and both sides log why.
func TestWrongCookie(t *testing.T) {
	t.Parallel()
	in, out := &logtest.Text{}, &logtest.Text{}
	a := finder(t, config(in))
	announce(t, a, "a@127.0.0.1", 1, "127.0.0.1:11")
	cfg := config(out, a.Addr())
	cfg.Cookie = "another cookie"
	b := finder(t, cfg)
	announce(t, b, "b@127.0.0.1", 2, "127.0.0.1:22")
	in.Await(t, "has a different cookie")
	out.Await(t, "cannot join any other member")
	out.Await(t, "a different cookie")
	assert.Empty(t, lists(t, a, "a@127.0.0.1"))
	assert.Empty(t, lists(t, b, "b@127.0.0.1"))
	tried := b.Stats().Rounds
	testkit.Until(t, func() string {
		if b.Stats().Rounds < tried+3 {
			return "it does not go on trying"
		}
		return ""
	})
	var was string
	for line := range strings.Lines(out.String()) { // one line, unless the seed was too slow in between
		if strings.Contains(line, "cannot join any other member") {
			_, why, _ := strings.Cut(line, "error=")
			assert.NotEqual(t, was, why, "it is logged once, until it fails in another way: %s", out)
			was = why
		}
	}
}

// A cookie is changed without a gap.
func TestOldCookies(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	cfg := config(log)
	cfg.Cookie, cfg.OldCookies = "old", []string{"new"}
	a := finder(t, cfg)
	announce(t, a, "a@127.0.0.1", 1, "127.0.0.1:11")
	cfg = config(log, a.Addr())
	cfg.Cookie, cfg.OldCookies = "new", []string{"old"}
	b := finder(t, cfg)
	announce(t, b, "b@127.0.0.1", 2, "127.0.0.1:22")
	for _, f := range []*gossip.Finder{a, b} {
		testkit.Until(t, func() string { return lists(t, f, "a@127.0.0.1", "b@127.0.0.1") })
	}
}

// The same while the members are in use: neither loses the other.
func TestSetCookie(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	cfg := config(log)
	cfg.Cookie = "old"
	a := finder(t, cfg)
	announce(t, a, "a@127.0.0.1", 1, "127.0.0.1:11")
	cfg = config(log, a.Addr())
	cfg.Cookie = "old"
	b := finder(t, cfg)
	announce(t, b, "b@127.0.0.1", 2, "127.0.0.1:22")
	both := func() {
		t.Helper()
		for _, f := range []*gossip.Finder{a, b} {
			testkit.Until(t, func() string { return lists(t, f, "a@127.0.0.1", "b@127.0.0.1") })
		}
	}
	both()
	for _, f := range []*gossip.Finder{a, b} {
		require.NoError(t, f.SetCookie("old", "new"))
	}
	for _, f := range []*gossip.Finder{a, b} {
		require.NoError(t, f.SetCookie("new", "old"))
		both()
	}
	for _, f := range []*gossip.Finder{a, b} {
		require.NoError(t, f.SetCookie("new"))
	}
	cfg = config(log, a.Addr())
	cfg.Cookie = "old"
	c := finder(t, cfg)
	announce(t, c, "c@127.0.0.1", 3, "127.0.0.1:33")
	log.Await(t, "cannot join any other member")
	cfg.Cookie = "new"
	d := finder(t, cfg)
	announce(t, d, "d@127.0.0.1", 4, "127.0.0.1:44")
	for _, f := range []*gossip.Finder{a, b, d} {
		testkit.Until(t, func() string { return lists(t, f, "a@127.0.0.1", "b@127.0.0.1", "d@127.0.0.1") })
	}
	require.ErrorContains(t, a.SetCookie(""), "Cookie is empty")
	require.ErrorContains(t, a.SetCookie("x", ""), "OldCookies[0] is empty")
}

// A seed that is not there yet is tried until it is.
func TestSeedComesLater(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	port := reserve(t)
	b := finder(t, config(log, port))
	announce(t, b, "b@127.0.0.1", 2, "127.0.0.1:22")
	log.Await(t, "cannot join any other member")
	cfg := config(log)
	cfg.Bind = port
	a := finder(t, cfg)
	announce(t, a, "a@127.0.0.1", 1, "127.0.0.1:11")
	testkit.Until(t, func() string { return lists(t, b, "a@127.0.0.1", "b@127.0.0.1") })
	log.Await(t, "gossip: joined")
}

func TestAnnounce(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	f := finder(t, config(log))
	assert.Empty(t, f.Addr())
	stop := announce(t, f, "a@127.0.0.1", 1, "127.0.0.1:11")
	_, err := f.Announce(t.Context(), discovery.Announcement{Name: "b@127.0.0.1"})
	require.EqualError(t, err, "gossip: the finder is already in use by a node")
	stop()
	stop() // has no effect
	announce(t, f, "a@127.0.0.1", 2, "127.0.0.1:12")
	assert.Equal(t, "erlang://127.0.0.1:12", at(f, "a@127.0.0.1"))

	cfg := config(log)
	cfg.Bind = ":0" // the host of the node's name
	f = finder(t, cfg)
	announce(t, f, "a@127.0.0.3", 1, "0.0.0.0:11")
	assert.True(t, strings.HasPrefix(f.Addr(), "127.0.0.3:"), f.Addr())
	assert.Equal(t, "erlang://127.0.0.3:11", at(f, "a@127.0.0.3"), "all addresses are that of the name")

	for _, c := range []struct {
		me   discovery.Announcement
		bind string
		says string
	}{
		{discovery.Announcement{Name: "a@127.0.0.1", Endpoints: make([]discovery.Endpoint, 17)}, "", "want at most 16"},
		{discovery.Announcement{Name: "a@127.0.0.1", Endpoints: []discovery.Endpoint{{Protocol: strings.Repeat("x", 500), Addr: ":1"}}}, "",
			"want at most 512"},
		{discovery.Announcement{Name: "a"}, "", "the name of the member"},
		{discovery.Announcement{Name: "a@127.0.0.1"}, "203.0.113.1:0", "cannot listen on 203.0.113.1:0"},
	} {
		cfg := config(log)
		if c.bind != "" {
			cfg.Bind = c.bind
		}
		_, err := finder(t, cfg).Announce(t.Context(), c.me)
		require.ErrorContains(t, err, c.says)
	}
}
