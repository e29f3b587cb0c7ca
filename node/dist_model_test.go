package node_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// faulty is a memory network whose links can be cut.
type faulty struct {
	*clustertest.Memory
	cutMu sync.Mutex
	links []dist.Link
}

func (f *faulty) keep(l dist.Link, err error) (dist.Link, error) {
	if err == nil {
		f.cutMu.Lock()
		defer f.cutMu.Unlock()
		f.links = append(f.links, l)
	}
	return l, err
}

func (f *faulty) Dial(ctx context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	return f.keep(f.Memory.Dial(ctx, conn, h))
}

func (f *faulty) Accept(ctx context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	return f.keep(f.Memory.Accept(ctx, conn, h))
}

// cut ends all existing links, from one end.
func (f *faulty) cut() {
	f.cutMu.Lock()
	links := f.links
	f.links = nil
	f.cutMu.Unlock()
	for _, l := range links {
		l.Close()
	}
}

// player is a process of the model: it does what it is told and notes what it receives.
type player struct {
	pid  node.PID
	node *node.Node

	mu    sync.Mutex
	refs  map[node.Ref]watch
	of    map[node.Ref]node.PID // what is monitored; zero: a name
	asks  map[int]bool          // requests that have no result yet
	asked int
}

// playing is what a player needs of its own process.
type playing interface {
	node.Caller
	Self() node.PID
	Link(node.Dest)
	Unlink(node.Dest)
	Monitor(node.Dest) node.Ref
	MonitorNode(node.Atom) node.Ref
	demonitors
	Exit(node.Dest, any)
	Send(node.Dest, any) error
	TrapExit(bool) bool
}

type deed func(playing, *player)

// farModel is the state of the test.
type farModel struct {
	t     *testing.T
	proto *faulty
	nodes []*node.Node

	mu  sync.Mutex
	all []*player
}

func (m *farModel) take(in playing, p *player, msg any) error {
	if r, ok := p.node.AsRequest(msg); ok {
		if r.Body == 0 {
			return node.ExitWith(node.Atom("asked"))
		}
		r.Reply(r.Body)
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch x := msg.(type) {
	case deed:
		x(in, p)
	case node.Down:
		if was := p.refs[x.Ref]; was != watching && was != released {
			m.t.Errorf("%v: a Down for a monitor in state %d: %v", p.pid, was, x)
		}
		p.refs[x.Ref] = answered
	case node.Result:
		if !p.asks[x.Tag.(int)] {
			m.t.Errorf("%v: a second result, or one nobody asked for: %v", p.pid, x)
		}
		delete(p.asks, x.Tag.(int))
		if v, ok := x.Value.(int); x.Err == nil && (!ok || v != x.Tag) {
			m.t.Errorf("%v: the result of another: %v", p.pid, x)
		}
	case wire.Tuple: // the end
		if len(x) == 2 && x[0] == node.Atom("stop") {
			return node.ExitWith(x[1])
		}
	}
	return nil
}

func (m *farModel) spawn(r *rand.Rand) {
	p := &player{node: m.nodes[r.IntN(len(m.nodes))], refs: make(map[node.Ref]watch), of: make(map[node.Ref]node.PID), asks: make(map[int]bool)}
	var b node.Actor = node.ActorFunc(func(c *node.Context, msg any) error { return m.take(c, p, msg) })
	o := node.Options{}
	if r.IntN(2) == 0 {
		o.Coroutine = r.IntN(2) == 0
		b = node.ProcessFunc(func(s *node.Process) error {
			for {
				if err := m.take(s, p, s.Receive()); err != nil {
					return err
				}
			}
		})
	}
	if r.IntN(3) == 0 {
		o.Name = farName(r)
	}
	pid, err := p.node.SpawnOpt(o, b)
	if errors.Is(err, node.ErrNameTaken) {
		return
	}
	require.NoError(m.t, err)
	p.pid = pid
	p.node.Send(pid, deed(func(in playing, _ *player) {
		in.TrapExit(pid.Number()%3 > 0)
	}))
	m.mu.Lock()
	m.all = append(m.all, p)
	m.mu.Unlock()
}

func farName(r *rand.Rand) node.Atom { return node.Atom(fmt.Sprintf("n%d", r.IntN(4))) }

func (m *farModel) pick(r *rand.Rand) *player {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all[len(m.all)-1-r.IntN(min(len(m.all), 24))]
}

// act does one thing at random.
func (m *farModel) act(r *rand.Rand) {
	at := func() node.At { return node.At{Name: farName(r), Node: m.nodes[r.IntN(len(m.nodes))].Name()} }
	p, to := m.pick(r), m.pick(r).pid
	tell := func(d deed) { p.node.Send(p.pid, d) }
	switch r.IntN(24) {
	case 0, 1, 2:
		tell(func(in playing, _ *player) { in.Link(to) })
	case 3, 4:
		tell(func(in playing, _ *player) { in.Unlink(to) })
	case 5:
		tell(func(in playing, _ *player) { in.Link(to); in.Unlink(to); in.Link(to) })
	case 6, 7:
		tell(func(in playing, p *player) {
			ref := in.Monitor(to)
			p.refs[ref], p.of[ref] = watching, to
			if to == in.Self() {
				p.refs[ref] = withdrawn
			}
		})
	case 8:
		where := at()
		tell(func(in playing, p *player) { p.refs[in.Monitor(where)] = watching })
	case 9, 10:
		flush := r.IntN(2) == 0
		tell(func(in playing, p *player) {
			for ref, was := range p.refs {
				if was != watching {
					continue
				}
				if there := demonitor(in, ref, flush); there || flush {
					p.refs[ref] = withdrawn
				} else {
					p.refs[ref] = released
				}
				return
			}
		})
	case 11:
		reason := chaosReason(r)
		tell(func(in playing, _ *player) { in.Exit(to, reason) })
	case 12:
		p.node.Send(to, wire.Tuple{node.Atom("stop"), node.Atom("told")})
	case 13, 14:
		tell(func(in playing, p *player) {
			p.asked++
			p.asks[p.asked] = true
			node.SendRequest(in, to, p.asked, p.asked)
		})
	case 15:
		where := at()
		tell(func(in playing, p *player) {
			p.asked++
			p.asks[p.asked] = true
			node.SendRequest(in, where, p.asked, p.asked)
		})
	case 16:
		v, err := node.Call[int](context.Background(), p.node, to, r.IntN(10))
		var exit *node.ExitError
		if err != nil && !errors.As(err, &exit) {
			m.t.Errorf("%v, %v", v, err)
		}
	case 17:
		where := m.nodes[r.IntN(len(m.nodes))].Name()
		pid, err := rpc.Spawn(context.Background(), p.node, where, "far", "mortal")
		if err == nil {
			tell(func(in playing, _ *player) { in.Link(pid); in.Exit(pid, node.Kill) })
		}
	case 18:
		rpc.Call[any](context.Background(), p.node, m.nodes[r.IntN(len(m.nodes))].Name(), "erlang", "node")
	case 19:
		tell(func(in playing, _ *player) { in.MonitorNode(m.nodes[0].Name()) })
	case 20:
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		if _, err := node.AwaitExit(ctx, p.node, to); err != nil && err != context.DeadlineExceeded {
			m.t.Errorf("AwaitExit: %v", err)
		}
	case 21, 22:
		m.spawn(r)
	case 23:
		if r.IntN(20) == 0 {
			m.proto.cut()
		} else if r.IntN(20) == 0 {
			p.node.Disconnect(m.nodes[r.IntN(len(m.nodes))].Name())
		}
	}
}

func TestFarModel(t *testing.T) {
	for _, size := range []int{2, 3} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { playFar(t, size, testkit.By(1200, 3000, 30_000)) })
	}
}

func playFar(t *testing.T, size, deeds int) {
	goroutines := testkit.Goroutines()
	r := testkit.Rand(t)
	m := &farModel{t: t, proto: &faulty{Memory: clustertest.NewMemory()}}
	c := clustertest.NewCluster(t)
	c.Protocols = []dist.Protocol{m.proto}
	for i := range size {
		n, err := node.Start(c.Config(fmt.Sprint("n", i)))
		require.NoError(t, err)
		require.NoError(t, rpc.ExportBehaviour(n, mfa("far", "mortal", 0), idler))
		m.nodes = append(m.nodes, n)
	}
	for range 10 {
		m.spawn(r)
	}
	stopped := make(chan struct{})
	killer := rand.New(rand.NewPCG(r.Uint64(), 2))
	var killing sync.WaitGroup
	killing.Go(func() {
		for {
			select {
			case <-stopped:
				return
			default:
			}
			m.spawn(killer)
			m.pick(killer).node.Exit(m.pick(killer).pid, node.Kill)
			runtime.Gosched()
			if len(m.proto.linksNow()) > 0 && killer.IntN(500) == 0 {
				m.proto.cut()
			}
		}
	})
	var acting sync.WaitGroup
	for range 6 {
		own := rand.New(rand.NewPCG(r.Uint64(), 3))
		acting.Go(func() {
			for range deeds / 6 {
				m.act(own)
			}
		})
	}
	ended := make(chan struct{})
	go func() { acting.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(testkit.Limit):
		buf := make([]byte, 1<<20)
		t.Fatalf("something waits for ever\n%s", buf[:runtime.Stack(buf, true)])
	}
	close(stopped)
	killing.Wait()

	testkit.Until(t, m.disagreement)
	for _, p := range m.all {
		p.node.Exit(p.pid, node.Kill)
	}
	for _, n := range m.nodes {
		for pid := range n.Inside(process.Key{}).Processes() {
			if i, err := n.Info(pid); err == nil && i.Name != "net_kernel" && i.Name != "rex" {
				n.Exit(pid, node.Kill)
			}
		}
	}
	for _, n := range m.nodes {
		testkit.Until(t, func() string { return node.FarTables(n) })
	}
	for _, n := range m.nodes {
		require.NoError(t, n.Stop())
	}
	noneLeft(t, goroutines)
}

// noneLeft waits until there are no more goroutines than there were before.
func noneLeft(t *testing.T, were int) {
	t.Helper()
	defer func() {
		if t.Failed() {
			buf := make([]byte, 1<<20)
			t.Logf("%s", buf[:runtime.Stack(buf, true)])
		}
	}()
	testkit.Until(t, func() string {
		if testkit.Goroutines() <= were {
			return ""
		}
		return "goroutines are left"
	})
}

func (f *faulty) linksNow() []dist.Link {
	f.cutMu.Lock()
	defer f.cutMu.Unlock()
	return slices.Clone(f.links)
}

// disagreement says what is wrong once nothing is under way.
func (m *farModel) disagreement() string {
	living := make(map[node.PID]*player)
	for _, p := range m.all {
		if p.node.IsAlive(p.pid) {
			living[p.pid] = p
		}
	}
	for pid, p := range living {
		info, err := p.node.Info(pid)
		if err != nil {
			return fmt.Sprint(pid, " is dying")
		}
		far := node.FarLinks(p.node, pid)
		for _, to := range info.Links {
			if to.Node() != p.node.Name() && !far[to] {
				return fmt.Sprintf("%v is linked to %v, but not in the table", pid, to)
			}
			q := living[to]
			if q == nil {
				return fmt.Sprintf("%v is linked to %v, which is dead", pid, to)
			}
			if back, err := q.node.Info(to); err != nil || !slices.Contains(back.Links, pid) {
				return fmt.Sprintf("%v is linked to %v, but not the other way round: %v", pid, to, back.Links)
			}
			delete(far, to)
		}
		if len(far) > 0 {
			return fmt.Sprintf("%v has links in the table only: %v", pid, far)
		}
		p.mu.Lock()
		for ref, state := range p.refs {
			if of := p.of[ref]; state == watching && !of.IsZero() && living[of] == nil {
				p.mu.Unlock()
				return fmt.Sprintf("%v has no Down for %v, which is dead", pid, of)
			}
		}
		open := len(p.asks)
		p.mu.Unlock()
		if open > 0 {
			return fmt.Sprintf("%v waits for %d results", pid, open)
		}
	}
	return ""
}
