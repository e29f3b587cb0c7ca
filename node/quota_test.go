package node_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/native"
)

// eachProtocol runs a test with each protocol over which a peer can do harm.
func eachProtocol(t *testing.T, f func(t *testing.T, p func() dist.Protocol)) {
	for name, p := range map[string]func() dist.Protocol{
		"erlang": func() dist.Protocol { return &erldist.Protocol{} },
		"native": func() dist.Protocol { return &native.Protocol{} },
	} {
		t.Run(name, func(t *testing.T) { f(t, p) })
	}
}

// exposed starts a node that speaks one protocol.
func exposed(t *testing.T, tr dist.Transport, p dist.Protocol, d node.Distribution) (*node.Node, *logtest.Text) {
	d.Transport, d.Protocols, d.Cookie, d.Finder, d.Listen = tr, []dist.Protocol{p}, "secret", &clustertest.Places{}, "127.0.0.1:0"
	log := new(logtest.Text)
	return nodetest.Start(t, node.Config{Name: "n@127.0.0.1", Distribution: &d, Log: slog.New(slog.NewTextHandler(log, nil))}), log
}

// raw is a hand-made peer: a link without a node.
type raw struct {
	dist.Link
	conn net.Conn
	id   wire.Origin
}

// connectRaw connects to n under a name.
func connectRaw(t *testing.T, n *node.Node, tr dist.Transport, p dist.Protocol, name node.Atom) *raw {
	conn, err := tr.Dial(testkit.Context(t), n.Addr().String(), n.Name())
	require.NoError(t, err)
	h := dist.Handshake{Local: wire.NodeID{Name: name, Creation: 7}, Hidden: true, Peer: n.Name(),
		Cookies: func(node.Atom) (string, string) { return "secret", "secret" }}
	l, err := p.Dial(testkit.Context(t), conn, h)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	testkit.Until(t, func() string {
		if _, up := node.FarProtocol(n, name); !up {
			return "not connected"
		}
		return ""
	})
	return &raw{l, conn, wire.NewOrigin(h.Local)}
}

// say sends a frame at once.
func (r *raw) say(f dist.Frame) error {
	if n, err := r.Write(&f); err != nil || n < 32<<10 {
		return err
	}
	_, err := r.Flush(false)
	return err
}

// until reads until a frame of that kind comes.
func (r *raw) until(t *testing.T, op dist.Op) dist.Frame {
	require.NoError(t, r.conn.SetReadDeadline(time.Now().Add(testkit.Limit)))
	for {
		var f dist.Frame
		require.NoError(t, r.Read(&f))
		if f.Op == op {
			return f
		}
		if f.Op == dist.OpSpawn { // the request for the release
			require.NoError(t, r.say(dist.Frame{Op: dist.OpSpawnReply, Ref: f.Ref, To: f.From, Payload: node.Atom("notsup")}))
		}
	}
}

// ended waits until n has ended the connection to a peer, and returns the log.
func ended(t *testing.T, n *node.Node, name node.Atom, log *logtest.Text) string {
	testkit.Until(t, func() string {
		if _, up := node.FarProtocol(n, name); up {
			return "still connected"
		}
		if !strings.Contains(log.String(), "node down") {
			return "nothing is logged"
		}
		return ""
	})
	return log.String()
}

// answersAll is a server that replies to every call with a long text.
func answersAll(n *node.Node, msg any, reply func(node.From, any) error) {
	if r, ok := n.AsRequest(msg); ok {
		reply(r.From, strings.Repeat("x", 1024))
	}
}

// A peer that calls and does not read the replies holds up nobody but itself.
func TestQuotaFrozenCaller(t *testing.T) {
	servers := map[string]node.Actor{
		"actor": node.ActorFunc(func(c *node.Context, msg any) error {
			answersAll(c.Node(), msg, c.Reply)
			return nil
		}),
		"process": node.ProcessFunc(func(s *node.Process) error {
			for {
				answersAll(s.Node(), s.Receive(), s.Reply)
			}
		}),
	}
	eachProtocol(t, func(t *testing.T, p func() dist.Protocol) {
		for kind, server := range servers {
			t.Run(kind, func(t *testing.T) {
				tr := clustertest.NewPipes(t)
				n, _ := exposed(t, tr, p(), node.Distribution{
					Limits: node.Limits{Cluster: node.ClusterLimits{Answers: 256 << 20, Stall: time.Hour}}})
				_, err := n.SpawnOpt(node.Options{Name: "server"}, server)
				require.NoError(t, err)
				r := connectRaw(t, n, tr, p(), "frozen@127.0.0.1")
				me := r.id.PID(5)
				for range testkit.By(6_000, 20_000, 20_000) { // each with a reply of 1 KiB
					require.NoError(t, r.say(dist.Frame{Op: dist.OpSend, From: me, Name: "server",
						Payload: wire.Tuple{node.Atom("$gen_call"), wire.Tuple{me, node.Atom("tag")}, 1}}))
				}
				_, err = r.Flush(false)
				require.NoError(t, err)
				testkit.Until(t, func() string {
					if limitOf(t, n, "queued").Used < 4<<20 {
						return "the replies do not wait"
					}
					return ""
				})
				var wg sync.WaitGroup
				for i := range 8 {
					wg.Go(func() {
						for range 20 {
							v, err := node.Call[string](testkit.Context(t), n, node.Atom("server"), i)
							if !assert.NoError(t, err) || !assert.Len(t, v, 1024) {
								return
							}
						}
					})
				}
				wg.Wait()
			})
		}
	})
}

// Answers that a peer does not read are not kept without bound.
func TestQuotaAnswersNotRead(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p func() dist.Protocol) {
		tr := clustertest.NewPipes(t)
		n, log := exposed(t, tr, p(), node.Distribution{Limits: node.Limits{Queue: 64 << 10,
			Cluster: node.ClusterLimits{Answers: 1 << 20, Stall: time.Hour}}})
		r := connectRaw(t, n, tr, p(), "frozen@127.0.0.1")
		before := heapNow()
		me, nobody := r.id.PID(5), wire.NewOrigin(r.Peer().ID).PID(1<<40|12345)
		var err error
		sent := 0
		for ; err == nil && sent < 2_000_000; sent++ {
			err = r.say(dist.Frame{Op: dist.OpMonitor, From: me, To: nobody, Ref: r.id.RefOf(uint64(sent + 1))})
		}
		require.Error(t, err, "all monitors were taken")
		text := ended(t, n, "frozen@127.0.0.1", log)
		assert.Contains(t, text, "the peer does not read its answers")
		assert.Less(t, heapNow()-before, int64(64<<20))
		assert.EqualValues(t, 1, limitOf(t, n, "answers").Refused)
		assert.Zero(t, limitOf(t, n, "queued").Used, "it was given back")
		t.Logf("%d monitors", sent)
	})
}

// Long answers are not kept either, though one alone may be longer than the bound of what may wait.
func TestQuotaLongAnswersNotRead(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p func() dist.Protocol) {
		tr := clustertest.NewPipes(t)
		n, log := exposed(t, tr, p(), node.Distribution{Limits: node.Limits{Queue: 64 << 10,
			Cluster: node.ClusterLimits{Answers: 1 << 20, Queued: 1 << 30, Stall: time.Hour}}})
		long := make([]byte, 8<<20)
		_, err := n.SpawnOpt(node.Options{Name: "long"}, node.ActorFunc(func(c *node.Context, msg any) error {
			if r, ok := c.Node().AsRequest(msg); ok {
				c.Reply(r.From, long)
			}
			return nil
		}))
		require.NoError(t, err)
		r := connectRaw(t, n, tr, p(), "frozen@127.0.0.1")
		me := r.id.PID(5)
		ask := func() error {
			err := r.say(dist.Frame{Op: dist.OpSend, From: me, Name: "long",
				Payload: wire.Tuple{node.Atom("$gen_call"), wire.Tuple{me, node.Atom("tag")}, 1}})
			if err == nil {
				_, err = r.Flush(false)
			}
			return err
		}
		require.NoError(t, ask())
		f := r.until(t, dist.OpSend)
		require.Len(t, f.Payload.(wire.Tuple)[1], len(long), "one is let through")
		asked := 1
		for ; err == nil && asked < 200_000; asked++ {
			err = ask()
		}
		require.Error(t, err, "all were answered")
		text := ended(t, n, "frozen@127.0.0.1", log)
		assert.Contains(t, text, "the peer does not read its answers")
		assert.EqualValues(t, 1, limitOf(t, n, "answers").Refused)
		testkit.Until(t, func() string { // later answers make this node try to connect
			if used := limitOf(t, n, "queued").Used; used != 0 {
				return fmt.Sprintf("%d bytes are not given back", used)
			}
			return ""
		})
		t.Logf("%d questions", asked)
	})
}

func heapNow() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// flood makes a process send to a peer until the peer is gone; then the process ends.
func flood(t *testing.T, n *node.Node, to node.PID) <-chan struct{} {
	over := make(chan struct{})
	_, err := n.Spawn(node.ProcessFunc(func(s *node.Process) error {
		defer close(over)
		s.TrapExit(true)
		s.MonitorNode(to.Node())
		for {
			for range 16 {
				s.Send(to, make([]byte, 4<<10))
			}
			if msg, err := s.ReceiveWithin(0, func(any) bool { return true }); err == nil {
				if _, down := msg.(node.NodeDown); down {
					return nil
				}
			}
		}
	}))
	require.NoError(t, err)
	return over
}

// A link whose peer takes nothing is ended, with the cause, and its senders go on.
func TestQuotaStall(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p func() dist.Protocol) {
		tr := dist.TCP{}
		n, log := exposed(t, tr, p(), node.Distribution{
			Limits: node.Limits{Queue: 64 << 10, Cluster: node.ClusterLimits{Stall: 300 * time.Millisecond}}})
		r := connectRaw(t, n, tr, p(), "frozen@127.0.0.1")
		stop := make(chan struct{})
		defer close(stop)
		go func() { // it is alive: it ticks
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
					r.Flush(true)
				}
			}
		}()
		over := flood(t, n, r.id.PID(5))
		<-over
		assert.Contains(t, ended(t, n, "frozen@127.0.0.1", log), "the peer took nothing for")
		assert.EqualValues(t, 1, limitOf(t, n, "stall").Refused)
	})
}

// A peer that reads slowly is not cut off, however long it takes.
func TestQuotaSlowReader(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p func() dist.Protocol) {
		synctest.Test(t, func(t *testing.T) {
			const stall = 4 * time.Second
			tr := clustertest.NewPipes(t)
			n, log := exposed(t, tr, p(), node.Distribution{Timing: node.Timing{Awake: -1},
				Limits: node.Limits{Queue: 64 << 10, Cluster: node.ClusterLimits{Stall: stall}}})
			r := connectRaw(t, n, tr, p(), "slow@127.0.0.1")
			over := flood(t, n, r.id.PID(5))
			b := make([]byte, 16<<10)
			for end := time.Now().Add(2 * stall); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				_, err := r.conn.Read(b)
				require.NoError(t, err)
			}
			assert.NotContains(t, log.String(), "node down")
			require.Zero(t, limitOf(t, n, "stall").Refused)
			n.Disconnect("slow@127.0.0.1")
			<-over
		})
	})
}

// A reply goes behind everything that the same process has sent before, a long message included.
func TestQuotaReplyOvertakesNothing(t *testing.T) {
	serve := func(from node.PID, send func(node.Dest, any) error) {
		assert.NoError(t, send(from, clustertest.Long(20)))
	}
	for kind, server := range map[string]node.Actor{
		"actor": node.ActorFunc(func(c *node.Context, msg any) error {
			if r, ok := c.Node().AsRequest(msg); ok {
				serve(r.Caller(), c.Send)
				c.Reply(r.From, 1)
			}
			return nil
		}),
		"process": node.ProcessFunc(func(s *node.Process) error {
			for {
				if r, ok := s.Node().AsRequest(s.Receive()); ok {
					serve(r.Caller(), s.Send)
					s.Reply(r.From, 1)
				}
			}
		}),
	} {
		t.Run(kind, func(t *testing.T) {
			c := clustertest.NewMemoryCluster(t)
			a, b := c.Start("a"), c.Start("b")
			self := nodetest.NewProbe(t, a)
			pid, err := b.Spawn(server)
			require.NoError(t, err)
			for range 20 {
				self.Send(pid, wire.Tuple{node.Atom("$gen_call"), wire.Tuple{self.Self(), node.Atom("tag")}, 1})
				require.Equal(t, []any{clustertest.Long(0), wire.Tuple{node.Atom("tag"), 1}}, []any{self.Receive(), self.Receive()})
			}
		})
	}
}

// The unfinished messages of all peers share one bound; a peer that exceeds it is cut off and told, and its share is
// given back.
func TestQuotaFragments(t *testing.T) {
	const message = 4 << 20
	eachProtocol(t, func(t *testing.T, p func() dist.Protocol) {
		tr := clustertest.NewPipes(t)
		n, log := exposed(t, tr, p(), node.Distribution{Limits: node.Limits{Link: dist.LinkLimits{Message: message},
			Cluster: node.ClusterLimits{Fragments: 5 << 20}}})
		got := make(chan int, 1)
		_, err := n.SpawnOpt(node.Options{Name: "sink"}, node.ActorFunc(func(_ *node.Context, msg any) error {
			got <- len(msg.([]byte))
			return nil
		}))
		require.NoError(t, err)
		begin := func(name node.Atom) *raw {
			r := connectRaw(t, n, tr, p(), name)
			_, err := r.Write(&dist.Frame{Op: dist.OpSend, From: r.id.PID(5), Name: "sink", Payload: make([]byte, message-1000)})
			require.NoError(t, err)
			return r
		}
		part := func(r *raw, parts int) (err error) {
			for range parts {
				if _, err = r.Flush(false); err != nil {
					break
				}
			}
			return err
		}
		x := begin("x@127.0.0.1")
		require.NoError(t, part(x, 40))
		testkit.Until(t, func() string {
			if limitOf(t, n, "fragment_bytes").Used < 2<<20 {
				return "it does not count"
			}
			return ""
		})
		y := begin("y@127.0.0.1")
		part(y, 40)
		assert.Contains(t, ended(t, n, "y@127.0.0.1", log), "exceed their limit (limits.fragment_bytes)")
		require.NotZero(t, limitOf(t, n, "fragment_bytes").Refused)
		require.NoError(t, part(x, 60))
		assert.Equal(t, message-1000, testkit.Receive(t, got))
		assert.Zero(t, limitOf(t, n, "fragment_bytes").Used)

		z := begin("z@127.0.0.1")
		require.NoError(t, part(z, 10))
		testkit.Until(t, func() string {
			if limitOf(t, n, "fragment_bytes").Used == 0 {
				return "it does not count"
			}
			return ""
		})
		z.Close()
		testkit.Until(t, func() string {
			if limitOf(t, n, "fragment_bytes").Used != 0 {
				return "it is not given back"
			}
			return ""
		})
	})
}

// A peer is refused whatever it has too much of, in the way that its protocol allows, and nothing else.
func TestQuotaHeld(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p func() dist.Protocol) {
		tr := clustertest.NewPipes(t)
		n, log := exposed(t, tr, p(), node.Distribution{
			Limits: node.Limits{Cluster: node.ClusterLimits{Monitors: 2, Links: 2, Spawned: 3, Names: 1}}})
		require.NoError(t, rpc.ExportBehaviour(n, mfa("quota", "echo", 0), func([]any) (node.Actor, error) {
			return node.ActorFunc(echo), nil
		}))
		pid, err := n.Spawn(node.ActorFunc(echo))
		require.NoError(t, err)
		r := connectRaw(t, n, tr, p(), "many@127.0.0.1")
		ref := uint64(0)
		flush := func(f dist.Frame) {
			require.NoError(t, r.say(f))
			_, err := r.Flush(false)
			require.NoError(t, err)
		}
		for range 5 {
			ref++
			flush(dist.Frame{Op: dist.OpMonitor, From: r.id.PID(5), To: pid, Ref: r.id.RefOf(ref)})
		}
		for i := range 3 {
			down := r.until(t, dist.OpDown)
			assert.Equal(t, node.Atom("system_limit"), down.Payload)
			assert.Equal(t, r.id.RefOf(uint64(3+i)), down.Ref)
		}
		for i := range 5 {
			flush(dist.Frame{Op: dist.OpLink, From: r.id.PID(uint64(10 + i)), To: pid})
		}
		for i := range 3 {
			exit := r.until(t, dist.OpExit)
			assert.Equal(t, node.Atom("system_limit"), exit.Payload)
			assert.Equal(t, r.id.PID(uint64(12+i)), exit.To)
		}
		spawn := func(name node.Atom) dist.Frame {
			ref++
			flush(dist.Frame{Op: dist.OpSpawn, From: r.id.PID(5), Ref: r.id.RefOf(ref),
				Spawn: &dist.Spawn{Module: "quota", Function: "echo", Name: name}})
			return r.until(t, dist.OpSpawnReply)
		}
		first := spawn("one")
		require.False(t, first.From.IsZero(), "%v", first.Payload)
		assert.Equal(t, node.Atom("system_limit"), spawn("two").Payload)
		require.False(t, spawn("").From.IsZero())
		n.Exit(first.From, node.Kill)
		assert.Equal(t, node.Atom("badarg"), spawn("net_kernel").Payload, "it is taken, and counts for nothing")
		require.False(t, spawn("one").From.IsZero())
		require.False(t, spawn("").From.IsZero())
		assert.Equal(t, node.Atom("system_limit"), spawn("").Payload)
		for name, refused := range map[string]uint64{"monitors": 3, "links": 3, "spawned": 1, "names": 1} {
			assert.Equal(t, refused, limitOf(t, n, name).Refused, name)
		}
		assert.EqualValues(t, 2, limitOf(t, n, "monitors").Used)
		assert.EqualValues(t, 2, limitOf(t, n, "links").Used)
		assert.EqualValues(t, 3, limitOf(t, n, "spawned").Used)
		testkit.Until(t, func() string {
			if n := strings.Count(log.String(), "the peer has reached its limit"); n != 4 {
				return log.String()
			}
			return ""
		})

		// Reconnecting does not help; the end of processes does.
		r.Close()
		ended(t, n, "many@127.0.0.1", log)
		r = connectRaw(t, n, tr, p(), "many@127.0.0.1")
		assert.Zero(t, limitOf(t, n, "monitors").Used)
		assert.Equal(t, node.Atom("system_limit"), spawn("").Payload)
		one, ok := n.Whereis("one")
		require.True(t, ok)
		n.Exit(one, node.Kill)
		require.False(t, spawn("one").From.IsZero())
	})
}

// A call of rex is a process, too.
func TestQuotaHeldByRex(t *testing.T) {
	tr := clustertest.NewPipes(t)
	n, _ := exposed(t, tr, &erldist.Protocol{}, node.Distribution{
		Limits: node.Limits{Cluster: node.ClusterLimits{Spawned: 2}}})
	require.NoError(t, rpc.Export(n, mfa("quota", "wait", 0), func(ctx context.Context, _ []any) (any, error) {
		<-ctx.Done()
		return nil, nil
	}))
	r := connectRaw(t, n, tr, &erldist.Protocol{}, "many@127.0.0.1")
	me := r.id.PID(5)
	for range 3 {
		require.NoError(t, r.say(dist.Frame{Op: dist.OpSend, From: me, Name: "rex", Payload: wire.Tuple{me,
			wire.Tuple{node.Atom("call"), node.Atom("quota"), node.Atom("wait"), wire.List{}, me}}}))
	}
	_, err := r.Flush(false)
	require.NoError(t, err)
	assert.Equal(t, "{rex,{badrpc,{'EXIT',system_limit}}}", wire.Format(r.until(t, dist.OpSend).Payload))
	assert.EqualValues(t, 2, limitOf(t, n, "spawned").Used)
}

// While no process can be started, rex replies with that, and goes on.
func TestRexWhereAllProcessesAreTaken(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	cfg := c.Config("b")
	cfg.MaxProcesses = 16
	a, b := c.Start("a"), nodetest.Start(t, cfg)
	require.NoError(t, rpc.Export(b, mfa("m", "plus", 2), plus))
	rex, _ := b.Whereis("rex")
	self := nodetest.NewProbe(t, a)
	require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
	fill := func() {
		var err error
		for err == nil {
			_, err = b.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
		}
		require.ErrorIs(t, err, node.ErrTooMany)
	}
	at := node.At{Name: "rex", Node: b.Name()}
	ctx := testkit.Context(t)
	for refused := 0; refused < 20; {
		fill()
		v, err := node.Call[any](ctx, self, at,
			wire.Tuple{wire.Atom("call"), wire.Atom("m"), wire.Atom("plus"), wire.List{1, 2}, self.Self()})
		require.NoError(t, err)
		if v == 3 { // a process that served the new connection has ended since fill
			continue
		}
		require.Equal(t, "{badrpc,{'EXIT',system_limit}}", wire.Format(v))
		refused++
	}
	require.NoError(t, b.Err())
	now, _ := b.Whereis("rex")
	require.Equal(t, rex, now)
}
