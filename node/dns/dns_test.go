package dns_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	server "github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/dns"
	"github.com/actornode/actornode/node/nodetest"
)

// zone is a DNS server at a free port of 127.0.0.1, with its answers.
type zone struct {
	addr string

	mu      sync.Mutex
	records map[string][]string // by "TYPE name."
	rcode   int                 // instead of all answers, unless 0
	asked   int
}

func newZone(t *testing.T) *zone {
	t.Helper()
	conn, ln := bothAt(t)
	z := &zone{addr: conn.LocalAddr().String(), records: make(map[string][]string)}
	for _, s := range []*server.Server{{PacketConn: conn, Handler: z}, {Listener: ln, Handler: z}} {
		up, done := make(chan struct{}), make(chan struct{})
		s.NotifyStartedFunc = func() { close(up) }
		go func() { // ended by Shutdown, waited for by the cleanup
			defer close(done)
			_ = s.ActivateAndServe()
		}()
		testkit.Receive(t, up)
		t.Cleanup(func() { require.NoError(t, s.Shutdown()); <-done })
	}
	return z
}

// bothAt listens at a port that is free for both UDP and TCP; TCP is for long answers.
func bothAt(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	var err error
	for range 100 { // the port that is free for one may be taken for the other
		conn, e := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, e)
		var ln net.Listener
		if ln, err = net.Listen("tcp", conn.LocalAddr().String()); err == nil {
			return conn, ln
		}
		require.NoError(t, conn.Close())
	}
	require.NoError(t, err)
	return nil, nil
}

// ServeDNS is part of server.Handler.
func (z *zone) ServeDNS(w server.ResponseWriter, q *server.Msg) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.asked++
	m := new(server.Msg)
	m.SetReply(q)
	m.RecursionAvailable = true
	m.Rcode = z.rcode
	name := q.Question[0].Name
	known := false
	for _, kind := range []string{"A", "AAAA", "SRV"} {
		_, has := z.records[kind+" "+name]
		known = known || has
	}
	if !known && z.rcode == 0 {
		m.Rcode = server.RcodeNameError
	}
	for _, data := range z.records[server.TypeToString[q.Question[0].Qtype]+" "+name] {
		rr, err := server.NewRR(fmt.Sprintf("%s 1 IN %s %s", name, server.TypeToString[q.Question[0].Qtype], data))
		if err == nil && z.rcode == 0 {
			m.Answer = append(m.Answer, rr)
		}
	}
	if _, udp := w.RemoteAddr().(*net.UDPAddr); udp {
		m.Truncate(512)
	}
	_ = w.WriteMsg(m)
}

func (z *zone) set(key string, data ...string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.records[key] = data; data == nil {
		delete(z.records, key)
	}
}

func (z *zone) fail(rcode int) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.rcode = rcode
}

func (z *zone) count() int {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.asked
}

// resolver returns a resolver that asks only z.
func (z *zone) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, z.addr)
	}}
}

// finder asks z each time that it is 100 ms later.
func finder(t *testing.T, z *zone, cfg dns.Config) (*dns.Finder, *logtest.Text) {
	t.Helper()
	log := &logtest.Text{}
	cfg.Log, cfg.TTL, cfg.Timeout = log.Logger(), 100*time.Millisecond, testkit.Limit
	if cfg.Resolver == nil {
		cfg.Resolver = z.resolver()
	}
	f, err := dns.New(cfg)
	require.NoError(t, err)
	return f, log
}

// until polls what a finder lists.
func until(t *testing.T, f *dns.Finder, want ...node.Atom) {
	t.Helper()
	testkit.Until(t, func() string {
		got, err := f.List(t.Context())
		if slices.Equal(got, want) {
			return ""
		}
		return fmt.Sprintf("got %v, %v, want %v", got, err, want)
	})
}

func TestAddresses(t *testing.T) {
	z := newZone(t)
	z.set("A go.example.", "10.0.0.1", "10.0.0.2")
	z.set("AAAA go.example.", "fd00::1")
	cfg := dns.Config{Host: "go.example.", At: []discovery.Endpoint{{Protocol: "native", Addr: ":4371"}, {Addr: ":4370"}}}
	f, _ := finder(t, z, cfg)
	until(t, f, "go@10.0.0.1", "go@10.0.0.2")
	ends, err := f.Find(t.Context(), "go@10.0.0.2")
	require.NoError(t, err)
	assert.Equal(t, []discovery.Endpoint{{Protocol: "native", Addr: "10.0.0.2:4371"}, {Addr: "10.0.0.2:4370"}}, ends)
	for _, name := range []node.Atom{"go@10.0.0.3", "other@10.0.0.1", "go@fd00::1", "go"} {
		_, err = f.Find(t.Context(), name)
		require.ErrorIs(t, err, discovery.ErrUnknownNode)
	}
	cfg.Network, cfg.Base = "ip", "pod"
	f, _ = finder(t, z, cfg)
	until(t, f, "pod@10.0.0.1", "pod@10.0.0.2", "pod@fd00::1")
	ends, err = f.Find(t.Context(), "pod@fd00::1")
	require.NoError(t, err)
	assert.Equal(t, "[fd00::1]:4370", ends[1].Addr)
	z.set("A go.example.", "10.0.0.2", "10.0.0.9")
	until(t, f, "pod@10.0.0.2", "pod@10.0.0.9", "pod@fd00::1")
	var many []string
	for i := range 300 { // more than a datagram holds
		many = append(many, fmt.Sprintf("10.1.%d.%d", i/100, i%100))
	}
	z.set("A go.example.", many...)
	testkit.Until(t, func() string {
		all, err := f.List(t.Context())
		require.NoError(t, err)
		if len(all) != 301 {
			return fmt.Sprintf("%d are listed", len(all))
		}
		return ""
	})
}

func TestServices(t *testing.T) {
	z := newZone(t)
	z.set("SRV _actornode._tcp.example.", "0 0 4370 a.Example.", "9 1 4470 b.example.")
	z.set("SRV _actornode-native._tcp.example.", "0 0 4371 a.example.", "0 0 0 .")
	f, _ := finder(t, z, dns.Config{Services: []dns.Service{{"_actornode-native._tcp.example.", "native"},
		{"_actornode._tcp.example.", "erlang"}}})
	until(t, f, "go@a.example", "go@b.example")
	ends, err := f.Find(t.Context(), "go@a.example")
	require.NoError(t, err)
	assert.ElementsMatch(t, []discovery.Endpoint{{Protocol: "native", Addr: "a.example:4371"},
		{Protocol: "erlang", Addr: "a.example:4370"}}, ends)
	ends, err = f.Find(t.Context(), "go@b.example")
	require.NoError(t, err)
	assert.Equal(t, []discovery.Endpoint{{Protocol: "erlang", Addr: "b.example:4470"}}, ends)
}

// When DNS fails, its last answer still counts; an empty answer is an answer.
func TestStale(t *testing.T) {
	z := newZone(t)
	f, log := finder(t, z, dns.Config{Host: "go.example.", At: []discovery.Endpoint{{Addr: ":4370"}}})
	until(t, f) // there is no such name
	assert.Zero(t, f.Stats().Failures)
	assert.Empty(t, log.String())
	z.set("A go.example.", "10.0.0.1")
	until(t, f, "go@10.0.0.1")

	z.fail(server.RcodeServerFailure)
	testkit.UntilTrue(t, func() bool {
		all, _ := f.List(t.Context())
		require.Equal(t, []node.Atom{"go@10.0.0.1"}, all)
		return f.Stats().Stale >= 3
	}, "three answers are old")
	all, err := f.List(t.Context())
	require.ErrorContains(t, err, "go.example.")
	assert.Equal(t, []node.Atom{"go@10.0.0.1"}, all)
	_, err = f.Find(t.Context(), "go@10.0.0.1")
	require.NoError(t, err)
	_, err = f.Find(t.Context(), "go@10.0.0.2")
	require.ErrorContains(t, err, "cannot find go@10.0.0.2")
	assert.NotErrorIs(t, err, discovery.ErrUnknownNode)
	assert.Equal(t, 1, strings.Count(log.String(), "a lookup failed; the last answer"))

	z.fail(0)
	z.set("A go.example.", "10.0.0.2")
	until(t, f, "go@10.0.0.2")
	log.Await(t, "lookups succeed again")
	z.set("A go.example.") // no pod is ready
	until(t, f)
}

// All nodes of a list ask once per TTL, however many callers want to know.
func TestCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &slow{}
		f, err := dns.New(dns.Config{Host: "go.example", At: []discovery.Endpoint{{Addr: ":1"}}, Resolver: r})
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				_, err := f.List(t.Context())
				assert.NoError(t, err)
			})
		}
		wg.Wait()
		assert.Equal(t, 1, r.asked)
		time.Sleep(4 * time.Second) // by the bubble's clock
		f.List(t.Context())
		assert.Equal(t, 1, r.asked)
		time.Sleep(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err = f.List(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, f.Stats().Failures, "the asker was in a hurry: no failure of DNS")
		_, err = f.List(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 3, r.asked)
		r.pause = time.Hour
		time.Sleep(6 * time.Second)
		before := time.Now()
		_, err = f.List(t.Context())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 3*time.Second, time.Since(before))
	})
}

// slow is a resolver that takes a second, or pause.
type slow struct {
	dns.Resolver
	pause time.Duration
	asked int
}

func (s *slow) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	s.asked++
	select {
	case <-time.After(max(time.Second, s.pause)):
		return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Nodes form a mesh as DNS begins to name them, as it names pods that become ready.
func TestMesh(t *testing.T) {
	z := newZone(t)
	log := &logtest.Text{}
	var nodes []*node.Node
	var hosts []string
	port := strconv.Itoa(porttest.Reserve(t))
	for i := range 3 {
		host := fmt.Sprintf("127.0.0.%d", i+1)
		f, _ := finder(t, z, dns.Config{Host: "go.example.", At: []discovery.Endpoint{{Addr: ":" + port}}})
		nodes = append(nodes, nodetest.Start(t, node.Config{Name: node.Atom("go@" + host), Workers: 1, Log: log.Logger(),
			Distribution: &node.Distribution{Cookie: "secret", Listen: net.JoinHostPort(host, port), Finder: f,
				Mesh: &discovery.Mesh{Interval: 100 * time.Millisecond, Yield: 50 * time.Millisecond, Backoff: time.Second}}}))
		hosts = append(hosts, host)
	}
	for _, n := range nodes {
		assert.Empty(t, n.AllNodes(), "nobody is named yet")
	}
	for i := 1; i <= 3; i++ {
		z.set("A go.example.", hosts[:i]...)
	}
	testkit.Until(t, func() string {
		if len(nodes[0].AllNodes())+len(nodes[1].AllNodes())+len(nodes[2].AllNodes()) == 6 {
			return ""
		}
		return "no mesh"
	})
	z.set("A go.example.", hosts[0]) // no longer ready
	asked := z.count()
	testkit.Until(t, func() string {
		if z.count() < asked+20 {
			return "nobody asks"
		}
		return ""
	})
	assert.Len(t, nodes[2].AllNodes(), 2, "who is no longer named stays connected")
}

// A node that cannot be found this way gets an error.
func TestAnnounce(t *testing.T) {
	for _, c := range []struct {
		cfg        dns.Config
		name, says string
	}{
		{dns.Config{Host: "h", At: []discovery.Endpoint{{Addr: ":1"}}}, "go@10.0.0.1", ""},
		{dns.Config{Host: "h", At: []discovery.Endpoint{{Addr: ":1"}}}, "go@h", "its name must have the form go@ADDRESS"},
		{dns.Config{Host: "h", At: []discovery.Endpoint{{Addr: ":1"}}}, "x@10.0.0.1", "its name must have the form go@HOST"},
		{dns.Config{Services: []dns.Service{{Name: "s"}}}, "go@h", ""},
	} {
		f, log := finder(t, &zone{}, c.cfg)
		stop, err := f.Announce(t.Context(), discovery.Announcement{Name: node.Atom(c.name)})
		require.NoError(t, err)
		stop()
		if c.says == "" {
			assert.Empty(t, log.String())
		}
		assert.Contains(t, log.String(), c.says)
	}
}

func TestConfig(t *testing.T) {
	at := []discovery.Endpoint{{Addr: ":1"}}
	for _, c := range []struct {
		cfg  dns.Config
		says string
	}{
		{dns.Config{}, "neither Host nor Services"},
		{dns.Config{Host: "h"}, "At is empty"},
		{dns.Config{Host: "h", At: []discovery.Endpoint{{Addr: "h:1"}}}, "want :PORT"},
		{dns.Config{Host: "h", At: []discovery.Endpoint{{Addr: ":0"}}}, "want :PORT"},
		{dns.Config{Host: "h", At: []discovery.Endpoint{{Addr: ""}}}, "want :PORT"},
		{dns.Config{Services: []dns.Service{{Name: "."}}}, "Services[0] has no name"},
		{dns.Config{Host: "h", At: at, Network: "tcp"}, `Network "tcp": want ip4, ip6 or ip`},
		{dns.Config{Host: "h", At: at, Base: "a@b"}, "what is before the @"},
		{dns.Config{Host: "h", At: at, TTL: time.Millisecond}, "want at least 100ms"},
		{dns.Config{Host: "h", At: at, Timeout: -1}, "must not be negative"},
	} {
		_, err := dns.New(c.cfg)
		require.ErrorContains(t, err, c.says)
	}
}
