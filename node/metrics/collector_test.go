package metrics_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/metrics"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pool"
)

// scrape returns the samples as lines without comments, and the whole text.
func scrape(t *testing.T, h http.Handler) (map[string]string, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, w.Code, w.Body.String())
	got := make(map[string]string)
	for line := range strings.Lines(w.Body.String()) {
		if i := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") {
			got[line[:i]] = strings.TrimSpace(line[i:])
		}
	}
	return got, w.Body.String()
}

func handler(t *testing.T, c metrics.Config) http.Handler {
	r := prometheus.NewPedanticRegistry()
	require.NoError(t, r.Register(metrics.New(c)))
	require.NoError(t, r.Register(collectors.NewGoCollector()))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError})
}

func TestCollect(t *testing.T) {
	c := clustertest.NewCluster(t)
	c.Speak("erlang")
	a, b := c.Start("a"), c.Start("b")
	c.Connect(a, b)
	require.NoError(t, a.Ping(t.Context(), b.Name()), "something has come from there")
	release := make(chan struct{})
	defer close(release)
	began := make(chan struct{})
	pid, err := a.SpawnOpt(node.Options{Name: "slow"}, node.ActorFunc(func(_ *node.Context, m any) error {
		if m == "block" {
			close(began)
			<-release
		}
		return nil
	}))
	require.NoError(t, err)
	require.NoError(t, a.Send(pid, "block"))
	<-began
	for range 7 {
		require.NoError(t, a.Send(pid, "wait"))
	}
	_, err = a.SpawnOpt(node.Options{Name: "x\x1b[2J\u202e"}, node.ProcessFunc(func(*node.Process) error { <-release; return nil }))
	require.NoError(t, err)
	dead, err := a.Spawn(node.ProcessFunc(func(*node.Process) error { return nil }))
	require.NoError(t, err)
	_, err = node.AwaitExit(t.Context(), a, dead)
	require.NoError(t, err)
	require.NoError(t, a.Send(dead, "late"))
	crasher, err := a.SpawnOpt(node.Options{Name: "crasher"}, node.ActorFunc(func(*node.Context, any) error {
		return context.Canceled
	}))
	require.NoError(t, err)
	require.NoError(t, a.Send(crasher, 1))
	_, err = node.AwaitExit(t.Context(), a, crasher)
	require.NoError(t, err)
	a.Inside(process.Key{}).Count("supervisor_restarts", "shop", "front")
	a.Inside(process.Key{}).Count("rights_refused", "call")
	a.Inside(process.Key{}).Count("supervisor_restarts", "shop", "front")
	a.Inside(process.Key{}).Count("supervisor_shutdowns", "shop")
	startGroups(t, a)
	a.Drain()

	h := handler(t, metrics.Config{Node: a, Version: "v1"})
	got, text := scrape(t, h)
	for k, v := range map[string]string{
		`actornode_info{node="a@127.0.0.1",version="v1"}`:    "1",
		`actornode_dead_letters_total{cause="no_process"}`:   "1",
		`actornode_dead_letters_total{cause="mailbox_full"}`: "0",
		`actornode_draining`:                                                       "1",
		`actornode_mailbox_messages{rank="1"}`:                                     "8",
		`actornode_mailbox_messages{rank="2"}`:                                     "0",
		`actornode_behaviour_mailbox_messages{behaviour="node.ActorFunc"}`:         "8",
		`actornode_behaviour_mailbox_longest_messages{behaviour="node.ActorFunc"}`: "8",
		`actornode_behaviour_crashes_total{behaviour="node.ActorFunc"}`:            "1",
		`actornode_name_mailbox_messages{name="slow"}`:                             "8",
		`actornode_name_crashes_total{name="crasher"}`:                             "1",
		`actornode_name_mailbox_messages{name="x\\x{1B}[2J\\x{202E}"}`:             "0",
		`actornode_nodes_wanted`:                                                   "0",
		`actornode_supervisor_restarts_total{child="front",supervisor="shop"}`:     "2",
		`actornode_rights_refused_total{right="call"}`:                             "1",
		`actornode_supervisor_shutdowns_total{supervisor="shop"}`:                  "1",
		`actornode_peers{protocol="erlang"}`:                                       "1",
		`actornode_peer_up{peer="b@127.0.0.1",protocol="erlang"}`:                  "1",
		`actornode_peer_held{peer="b@127.0.0.1"}`:                                  "0",
		`actornode_scheduler_stages`:                                               fmt.Sprint(a.Stats().Scheduler.Stages),
		`actornode_processes_max`:                                                  "1.34217727e+08",
		`actornode_processes_lingering`:                                            "0",
	} {
		assert.Equal(t, v, got[k], k)
	}
	assert.NotEqual(t, "0", got[`actornode_peer_received_bytes_total{peer="b@127.0.0.1"}`])
	assert.Equal(t, got["actornode_processes"], got["actornode_mailboxes_examined"])
	assert.NotContains(t, text, "<0.", "no label by PID")

	problems, err := promlint.New(strings.NewReader(text)).Lint()
	require.NoError(t, err)
	assert.Empty(t, problems)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader([]byte(text)))
	require.NoError(t, err)
	for _, name := range metrics.Names() {
		assert.Contains(t, families, name)
		assert.NotEmpty(t, families[name].GetHelp(), name)
	}
}

// startGroups starts a keyed group named carts and a pool named resize, which answer requests.
func startGroups(t *testing.T, n *node.Node) (*keyed.Group[string], *pool.Pool) {
	g, err := keyed.Start(t.Context(), n, keyed.Kind[string]{Name: "carts", Max: 2,
		New: func(string) (node.Actor, error) { return node.ActorFunc(answer), nil }})
	require.NoError(t, err)
	p, err := pool.Start(t.Context(), n, pool.Options{Name: "resize", Workers: 2, Bounds: mailbox.Bounds{Messages: 1},
		New: func() node.Actor { return node.ActorFunc(answer) }})
	require.NoError(t, err)
	return g, p
}

// answer answers a request: one that is a channel when that is closed, and "crash" by a crash.
func answer(c *node.Context, msg any) error {
	r, ok := c.Node().AsRequest(msg)
	if !ok {
		c.Unknown(msg)
		return nil
	}
	switch b := r.Body.(type) {
	case chan struct{}:
		<-b
	case string:
		return errors.New(b)
	}
	r.Reply(true)
	return nil
}

// The groups of package keyed and the pools of a node are shown by name as long as they run, and what they have counted stays.
func TestKeyedAndPool(t *testing.T) {
	ctx := testkit.Context(t)
	n := nodetest.Start(t, node.Config{})
	h := handler(t, metrics.Config{Node: n})
	got, _ := scrape(t, h)
	for series := range got {
		assert.False(t, strings.Contains(series, "keyed") || strings.Contains(series, "pool"), "no group: %s", series)
	}
	shows := func(want map[string]string) {
		t.Helper()
		testkit.Until(t, func() string {
			got, _ = scrape(t, h)
			for series, v := range want {
				if got[series] != v {
					return fmt.Sprintf("%s is %s, not %s", series, got[series], v)
				}
			}
			return ""
		})
	}

	g, p := startGroups(t, n)
	shows(map[string]string{
		`actornode_keyed_processes{group="carts"}`:                             "0",
		`actornode_keyed_waiting_uses{group="carts"}`:                          "0",
		`actornode_keyed_started_total{group="carts"}`:                         "0",
		`actornode_keyed_ended_total{cause="idle",group="carts"}`:              "0",
		`actornode_keyed_ended_total{cause="memory",group="carts"}`:            "0",
		`actornode_keyed_refused_total{cause="full",group="carts"}`:            "0",
		`actornode_keyed_refused_total{cause="failing",group="carts"}`:         "0",
		`actornode_pool_workers{pool="resize"}`:                                "2",
		`actornode_pool_idle_workers{pool="resize"}`:                           "2",
		`actornode_pool_waiting_messages{pool="resize"}`:                       "0",
		`actornode_pool_replaced_workers_total{pool="resize"}`:                 "0",
		`actornode_pool_refused_messages_total{policy="refuse",pool="resize"}`: "0",
	})

	release := make(chan struct{})
	var busy []*node.Future[bool]
	for _, key := range []string{"ann", "bob"} {
		require.NoError(t, g.Use(ctx, n, key, func(pid node.PID) error {
			busy = append(busy, node.Async[bool](n, pid, release))
			return nil
		}))
	}
	_, err := keyed.Call[bool](ctx, n, g, "eve", 1)
	require.ErrorIs(t, err, keyed.ErrFull)
	for _, idle := range []string{"1", "0"} {
		busy = append(busy, node.Async[bool](n, node.Atom("resize"), release))
		shows(map[string]string{
			`actornode_pool_idle_workers{pool="resize"}`:     idle,
			`actornode_pool_waiting_messages{pool="resize"}`: "0",
		})
	}
	busy = append(busy, node.Async[bool](n, node.Atom("resize"), release))
	require.Error(t, n.Send(node.Atom("resize"), 1), "the line is full")
	shows(map[string]string{
		`actornode_keyed_processes{group="carts"}`:                             "2",
		`actornode_keyed_started_total{group="carts"}`:                         "2",
		`actornode_keyed_refused_total{cause="full",group="carts"}`:            "1",
		`actornode_pool_waiting_messages{pool="resize"}`:                       "1",
		`actornode_pool_refused_messages_total{policy="refuse",pool="resize"}`: "1",
	})

	close(release)
	for _, f := range busy {
		_, err := node.Await(ctx, n, f)
		require.NoError(t, err)
	}
	_, err = keyed.Call[bool](ctx, n, g, "ann", "crash")
	require.Error(t, err)
	_, err = node.Call[bool](ctx, n, node.Atom("resize"), "crash")
	require.Error(t, err)
	_, err = keyed.Call[bool](ctx, n, g, "eve", 1)
	require.NoError(t, err)
	require.NoError(t, g.End(ctx, n, "eve"))
	shows(map[string]string{
		`actornode_keyed_ended_total{cause="crashed",group="carts"}`: "1",
		`actornode_keyed_ended_total{cause="stopped",group="carts"}`: "1",
		`actornode_pool_replaced_workers_total{pool="resize"}`:       "1",
		`actornode_pool_workers{pool="resize"}`:                      "2",
	})

	for _, pid := range []node.PID{p.PID(), whereis(t, n, "carts")} {
		n.Exit(pid, node.Shutdown)
		_, err := node.AwaitExit(ctx, n, pid)
		require.NoError(t, err)
	}
	got, _ = scrape(t, h)
	assert.NotContains(t, got, `actornode_keyed_processes{group="carts"}`)
	assert.NotContains(t, got, `actornode_pool_workers{pool="resize"}`)
	assert.Equal(t, "3", got[`actornode_keyed_started_total{group="carts"}`])
	assert.Equal(t, "1", got[`actornode_pool_replaced_workers_total{pool="resize"}`])
}

func whereis(t *testing.T, n *node.Node, name node.Atom) node.PID {
	pid, ok := n.Whereis(name)
	require.True(t, ok)
	return pid
}

// However much a node has, a scrape looks at a bounded amount, and shows a bounded amount.
func TestBounds(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for range 300 {
		_, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
		require.NoError(t, err)
	}
	h := handler(t, metrics.Config{Node: n, Scan: 100, Longest: 3})
	got, text := scrape(t, h)
	assert.Equal(t, "300", got["actornode_processes"])
	assert.Equal(t, "100", got["actornode_mailboxes_examined"])
	assert.Equal(t, "300", got[`actornode_behaviour_processes{behaviour="node.ActorFunc"}`], "all are counted")
	assert.Equal(t, 3, strings.Count(text, "\nactornode_mailbox_messages{"))
	assert.Equal(t, "0", got[`actornode_peers{protocol=""}`])
}

// Scrapes run while everything goes on, and while the node is being stopped.
func TestCollectWhileBusy(t *testing.T) {
	n, err := node.Start(node.Config{})
	require.NoError(t, err)
	ctx := testkit.Context(t)
	h := handler(t, metrics.Config{Node: n})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return node.ErrStop }))
				if err != nil {
					return
				}
				n.Send(pid, 1)
				if _, err := node.AwaitExit(ctx, n, pid); err != nil {
					return
				}
			}
		})
	}
	for range 20 {
		scrape(t, h)
	}
	wg.Wait()
	require.NoError(t, n.Stop())
	scrape(t, h)
}

func BenchmarkCollect(b *testing.B) {
	n := nodetest.Start(b, node.Config{})
	for range 100_000 {
		_, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
		require.NoError(b, err)
	}
	c := metrics.New(metrics.Config{Node: n})
	b.ReportAllocs()
	for b.Loop() {
		ch := make(chan prometheus.Metric, 1000)
		c.Collect(ch)
	}
}

// However many behaviours and names there are, only a few have series of their own, and the others are counted
// together.
func TestGroupsAreBounded(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	release := make(chan struct{})
	defer close(release)
	for i := range 30 {
		name := node.Atom(fmt.Sprintf("p%02d", i))
		pid, err := n.SpawnOpt(node.Options{Name: name}, node.ProcessFunc(func(*node.Process) error { <-release; return nil }))
		require.NoError(t, err)
		for range i {
			require.NoError(t, n.Send(pid, 1))
		}
	}
	got, _ := scrape(t, handler(t, metrics.Config{Node: n, Groups: 3}))
	series := map[string]string{}
	for k, v := range got {
		if strings.HasPrefix(k, "actornode_name_mailbox_messages{") {
			series[k] = v
		}
	}
	require.Equal(t, map[string]string{
		`actornode_name_mailbox_messages{name="p29"}`: "29", `actornode_name_mailbox_messages{name="p28"}`: "28",
		`actornode_name_mailbox_messages{name="other"}`: fmt.Sprint(29*30/2 - 29 - 28),
	}, series)
}
