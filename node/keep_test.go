package node_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// worker does what it is told.
func worker(c *node.Context, msg any) error {
	switch msg {
	case "panic":
		panic("oops")
	case "goexit":
		runtime.Goexit()
	case "error":
		return errors.New("no more")
	case "stop":
		return node.ErrStop
	case "exit":
		c.Exit(c.Self(), node.Kill)
	}
	if r, ok := c.Node().AsRequest(msg); ok {
		r.Reply(1)
	}
	return nil
}

func workers() node.Actor { return node.ActorFunc(worker) }

// again waits until another process has that name and all services answer.
func again(t *testing.T, n *node.Node, name node.Atom, was node.PID) (pid node.PID) {
	t.Helper()
	testkit.Until(t, func() string {
		var ok bool
		if pid, ok = n.Whereis(name); !ok || pid == was {
			return "it has not been started again"
		}
		if err := n.Inside(process.Key{}).CheckServices(testkit.Context(t)); err != nil {
			return err.Error()
		}
		return ""
	})
	return pid
}

// However a service ends, it comes back under its name. It is restarted at most ten times, so each way has its own
// node.
func TestKeepStartsAgain(t *testing.T) {
	for how, end := range map[string]func(n *node.Node, pid node.PID) error{
		"kill":     func(n *node.Node, pid node.PID) error { n.Exit(pid, node.Kill); return nil },
		"shutdown": func(n *node.Node, pid node.PID) error { n.Exit(pid, node.Shutdown); return nil },
		"reason":   func(n *node.Node, pid node.PID) error { n.Exit(pid, wire.Tuple{wire.Atom("any"), 1}); return nil },
		"panic":    func(n *node.Node, pid node.PID) error { return n.Send(pid, "panic") },
		"goexit":   func(n *node.Node, pid node.PID) error { return n.Send(pid, "goexit") },
		"error":    func(n *node.Node, pid node.PID) error { return n.Send(pid, "error") },
		"stop":     func(n *node.Node, pid node.PID) error { return n.Send(pid, "stop") },
		"itself":   func(n *node.Node, pid node.PID) error { return n.Send(pid, "exit") },
		"link": func(n *node.Node, pid node.PID) error {
			_, err := n.Spawn(node.ProcessFunc(func(p *node.Process) error { p.Link(pid); return node.ExitWith(wire.Atom("broken")) }))
			return err
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			log := &logtest.Text{}
			n := nodetest.Start(t, node.Config{Log: log.Logger()})
			ask := func(ctx context.Context, pid node.PID) error {
				_, err := node.Call[int](ctx, n, pid, 1)
				return err
			}
			was, err := n.Inside(process.Key{}).Keep(testkit.Context(t), process.Kept[node.Actor]{Name: "w", New: anyWorkers, Ask: ask})
			require.NoError(t, err)
			require.True(t, n.Inside(process.Key{}).AskerOf(nil).Protected(was))
			require.NoError(t, n.Inside(process.Key{}).CheckServices(testkit.Context(t)))
			for range 2 {
				require.NoError(t, end(n, was))
				was = again(t, n, "w", was)
			}
			assert.Contains(t, log.String(), "a service ended: it will be restarted")
			assert.NoError(t, n.Err())
		})
	}
}

// The node's own services come back and do what they did before.
func TestKernelStartsAgain(t *testing.T) {
	a, b, self, remote := two(t)
	for _, name := range []node.Atom{"net_kernel", "rex"} {
		pid, ok := b.Whereis(name)
		require.True(t, ok)
		b.Exit(pid, node.Kill)
		again(t, b, name, pid)
		require.NoError(t, a.Ping(testkit.Context(t), b.Name()))
	}
	// Towards others, Go code that is no process is net_kernel, the new one.
	pid, _ := b.Whereis("net_kernel")
	require.NoError(t, b.Send(self.Self(), "from nobody"))
	require.Equal(t, "from nobody", self.Receive())
	assert.Equal(t, pid, b.Inside(process.Key{}).Leader(remote), "there is no user")
	v, err := node.Call[any](testkit.Context(t), a, node.At{Name: "rex", Node: b.Name()},
		any(wire.Tuple{wire.Atom("call"), wire.Atom("no"), wire.Atom("no"), wire.List{}, node.PID{}}))
	require.NoError(t, err)
	assert.Contains(t, wire.Format(v), "undef")
}

// A service that cannot be kept running ends the node, which says why.
func TestKeepGivesUp(t *testing.T) {
	for how, behaviour := range map[string]func() node.Actor{
		"process ends": func() node.Actor { return node.ProcessFunc(func(*node.Process) error { return errors.New("broken") }) },
		"no start":     nil,
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &logtest.Text{}
				n, err := node.Start(node.Config{Workers: 2, Log: log.Logger()})
				require.NoError(t, err)
				first := true
				if behaviour == nil {
					behaviour = func() node.Actor {
						if first {
							first = false
							return node.ProcessFunc(func(*node.Process) error { return nil })
						}
						panic("no behaviour")
					}
				}
				began := time.Now()
				_, err = n.Inside(process.Key{}).Keep(t.Context(), process.Kept[node.Actor]{Label: "bad", New: func() node.Actor { return behaviour() }})
				require.NoError(t, err)
				<-n.Done()
				assert.Less(t, time.Since(began), 4*time.Second)
				failed := new(process.ServiceError)
				require.ErrorAs(t, n.Err(), &failed)
				assert.Equal(t, "bad", failed.Service)
				assert.Equal(t, 11, failed.Ends)
				assert.ErrorAs(t, n.Stop(), &failed)
				assert.ErrorAs(t, n.Inside(process.Key{}).CheckServices(t.Context()), &failed)
				_, err = n.Spawn(workers())
				assert.ErrorIs(t, err, node.ErrNodeStopped, "the node has stopped by itself")
				assert.Contains(t, log.String(), `level=ERROR msg="a service ended too often: the node stops" service=bad ends=11`)
			})
		})
	}
}

// While a service is being restarted, the check says so.
func TestCheckServices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{Workers: 2})
		var answers, up atomic.Bool
		answers.Store(true)
		up.Store(true)
		pid, err := n.Inside(process.Key{}).Keep(t.Context(), process.Kept[node.Actor]{Name: "w",
			New: func() node.Actor {
				if !up.Load() {
					panic("not now")
				}
				return workers()
			},
			Ask: func(context.Context, node.PID) error {
				if answers.Load() {
					return nil
				}
				return errors.New("silence")
			}})
		require.NoError(t, err)
		require.NoError(t, n.Inside(process.Key{}).CheckServices(t.Context()))
		answers.Store(false)
		require.EqualError(t, n.Inside(process.Key{}).CheckServices(t.Context()), "node: the service w did not answer: silence")
		answers.Store(true)
		up.Store(false)
		n.Exit(pid, node.Kill)
		synctest.Wait()
		require.EqualError(t, n.Inside(process.Key{}).CheckServices(t.Context()), "node: the service w is being restarted, for the 2nd time")
		up.Store(true)
		time.Sleep(time.Second) // in the bubble
		synctest.Wait()
		require.NoError(t, n.Inside(process.Key{}).CheckServices(t.Context()))
	})
}

func TestKeepNames(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	other, err := n.SpawnOpt(node.Options{Name: "taken"}, workers())
	require.NoError(t, err)
	keep := func(o node.Options) error {
		_, err := n.Inside(process.Key{}).Keep(testkit.Context(t), process.Kept[node.Actor]{Name: o.Name, Label: o.Label, New: anyWorkers})
		return err
	}
	assert.ErrorIs(t, keep(node.Options{}), node.ErrArgument)
	assert.ErrorIs(t, keep(node.Options{Name: "taken"}), node.ErrNameTaken)
	require.NoError(t, n.Unregister("taken"))
	require.NoError(t, keep(node.Options{Name: "taken"}), "the attempt has not reserved it")
	assert.ErrorIs(t, keep(node.Options{Name: "taken"}), node.ErrNameTaken)
	assert.ErrorIs(t, n.Unregister("taken"), node.ErrProtected)
	pid, _ := n.Whereis("taken")
	n.Exit(pid, node.Kill)
	for range 1000 { // also while no process has it
		require.ErrorIs(t, n.Register("taken", other), node.ErrNameTaken)
	}
	again(t, n, "taken", pid)
	require.NoError(t, keep(node.Options{Label: "no name"}))
	require.NoError(t, keep(node.Options{Label: "no name"}))
	require.NoError(t, n.Inside(process.Key{}).CheckServices(testkit.Context(t)))
	require.NoError(t, n.Stop())
	assert.ErrorIs(t, keep(node.Options{Name: "late"}), node.ErrNodeStopped)
	assert.ErrorIs(t, n.Err(), node.ErrNodeStopped)
	<-n.Done()
}

// intruder is a hand-made connection to a node, on which anything can be sent.
type intruder struct {
	t    *testing.T
	link dist.Link
	self node.PID
}

func intrude(t *testing.T, c *clustertest.Cluster, name string, n *node.Node) *intruder {
	t.Helper()
	conn := c.Dial(n, "memory", "127.0.0.1")
	id := wire.NodeID{Name: node.Atom(name + "@127.0.0.1"), Creation: 7}
	link, err := c.Memory.Dial(testkit.Context(t), conn, dist.Handshake{
		Local: id, Peer: n.Name(), Cookies: func(node.Atom) (string, string) { return "secret", "secret" },
	})
	require.NoError(t, err)
	t.Cleanup(func() { link.Close() })
	return &intruder{t, link, wire.NewOrigin(id).PID(66)}
}

func (i *intruder) send(f dist.Frame) {
	_, err := i.link.Write(&f)
	require.NoError(i.t, err)
	_, err = i.link.Flush(false)
	require.NoError(i.t, err)
}

// handled waits until the node has handled what was sent before.
func (i *intruder) handled(n *node.Node) {
	i.t.Helper()
	ref := wire.NewOrigin(wire.NodeID{Name: i.self.Node(), Creation: 7}).RefOf(rand.Uint64N(1 << 40))
	i.send(dist.Frame{Op: dist.OpMonitor, From: i.self, To: n.Inside(process.Key{}).Origin().PID(1 << 27), Ref: ref}) // nobody's PID: answered
	var f dist.Frame
	for {
		require.NoError(i.t, i.link.Read(&f))
		if f.Op == dist.OpDown && f.Ref == ref {
			return
		}
	}
}

// Nothing that comes from another node ends a protected process, or gives it to another node.
func TestProtected(t *testing.T) {
	log := &logtest.Text{}
	c := clustertest.NewMemoryCluster(t)
	cfg := c.Config("b")
	cfg.Log = log.Logger()
	n := nodetest.Start(t, cfg)
	i := intrude(t, c, "x", n)
	trapping, err := n.SpawnOpt(node.Options{Name: "trapping", Protected: true}, node.ProcessFunc(func(p *node.Process) error {
		p.TrapExit(true)
		for {
			if e, ok := p.Receive().(node.Exited); ok && (e.From.IsZero() || e.From == p.Self()) {
				return node.ExitWith(e.Reason)
			}
		}
	}))
	require.NoError(t, err)
	plain, err := n.SpawnOpt(node.Options{Name: "plain"}, workers())
	require.NoError(t, err)
	kernel, _ := n.Whereis("net_kernel")
	rex, _ := n.Whereis("rex")
	targets := []node.PID{trapping, kernel, rex}
	leader := n.Inside(process.Key{}).Leader(rex)
	began := time.Now()
	for _, to := range targets {
		info, err := n.Info(to)
		require.NoError(t, err)
		for _, from := range []node.PID{i.self, {}} {
			for _, reason := range []any{node.Kill, node.Shutdown, node.Normal, node.Killed, wire.Atom("bad")} {
				i.send(dist.Frame{Op: dist.OpSignal, From: from, To: to, Payload: reason})
				i.send(dist.Frame{Op: dist.OpSignal, From: from, Name: info.Name, Payload: reason})
				i.send(dist.Frame{Op: dist.OpLink, From: i.self, To: to})
				i.send(dist.Frame{Op: dist.OpExit, From: i.self, To: to, Payload: reason})
				i.send(dist.Frame{Op: dist.OpExit, From: i.self, To: to, Payload: reason}) // without a link
			}
		}
		for _, from := range []node.PID{to, kernel, rex} { // signals in other processes' names
			for _, op := range []dist.Op{dist.OpLink, dist.OpExit, dist.OpSignal} {
				j := intrude(t, c, "z", n)
				j.send(dist.Frame{Op: op, From: from, To: to, Payload: node.Kill})
				for j.link.Read(new(dist.Frame)) == nil { // what was under way before the connection ends
				}
			}
		}
		i.send(dist.Frame{Op: dist.OpGroupLeader, From: i.self, To: to, Leader: i.self})
		i.send(dist.Frame{Op: dist.OpLink, From: i.self, To: to})
	}
	i.handled(n)
	i.link.Close() // breaks the links
	testkit.Until(t, func() string { return map[bool]string{true: "x is there"}[len(n.AllNodes()) > 0] })
	for _, pid := range targets {
		require.True(t, n.IsAlive(pid), "%v", pid)
		require.Equal(t, leader, n.Inside(process.Key{}).Leader(pid))
		testkit.Until(t, func() string { // the links break after the connection has ended
			info, err := n.Info(pid)
			require.NoError(t, err)
			if len(info.Links) > 0 {
				return fmt.Sprint(pid, " is linked to ", info.Links)
			}
			return ""
		})
	}
	require.NoError(t, n.Inside(process.Key{}).CheckServices(testkit.Context(t)))
	assert.Contains(t, log.String(),
		`"refused a signal from another node: the process is protected" peer=x@127.0.0.1 signal=exit process=`)
	most := 1 + int(time.Since(began)/time.Second)
	assert.LessOrEqual(t, strings.Count(log.String(), "refused a signal"), most, "they are logged once a second at most")

	j := intrude(t, c, "y", n)
	j.send(dist.Frame{Op: dist.OpSignal, From: j.self, To: plain, Payload: node.Kill})
	j.handled(n)
	require.False(t, n.IsAlive(plain), "others are as in Erlang")
}

// No message of any shape ends net_kernel or rex.
func TestKernelTakesAnything(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	n := c.Start("b")
	i := intrude(t, c, "x", n)
	kernel, _ := n.Whereis("net_kernel")
	rex, _ := n.Whereis("rex")
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var words []any
	for _, w := range strings.Fields("$gen_call $gen_cast system call block_call cast sbcast send features_request is_auth" +
		" terminate suspend replace_state io_request EXIT DOWN rex") {
		words = append(words, wire.Atom(w))
	}
	words = append(words, i.self, kernel, n.MakeRef(), 1, "text", nil, wire.List{}, wire.Tuple{}, 1.5,
		wire.Export{Module: "a", Function: "b", Arity: 1})
	term := func(depth int) any { return termtest.Of(r, words, depth) }
	for k := range 20_000 {
		msg := term(4)
		if k%2 == 0 { // one that looks right
			msg = wire.Tuple{words[r.IntN(5)], wire.Tuple{i.self, term(1)}, term(3)}
		}
		for _, name := range []node.Atom{"net_kernel", "rex"} {
			i.send(dist.Frame{Op: dist.OpSend, From: i.self, Name: name, Payload: msg})
		}
		if k%100 == 99 {
			i.handled(n)
		}
	}
	require.NoError(t, n.Inside(process.Key{}).CheckServices(testkit.Context(t)))
	for name, pid := range map[node.Atom]node.PID{"net_kernel": kernel, "rex": rex} {
		now, ok := n.Whereis(name)
		require.True(t, ok)
		require.Equal(t, pid, now, "%s is still the same process", name)
	}
}

// A peer whose message rex passes on is not taken for this node.
func TestShowPeer(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	n := c.Start("b")
	got := make(chan string, 10)
	shown := func(c *node.Context, msg any) error {
		r, ok := c.Node().AsRequest(msg)
		if !ok {
			got <- fmt.Sprintf("%v", msg)
			return nil
		}
		peer, _, known := r.From.Peer()
		got <- fmt.Sprintf("%v %v %q %v", r.Body, r.From.Inside(process.Key{}).IsTerm(), peer, known)
		return nil
	}
	pid, err := n.SpawnOpt(node.Options{Name: "shown", ShowPeer: true}, node.ActorFunc(shown))
	require.NoError(t, err)
	i := intrude(t, c, "x", n)
	call := func(from node.PID, body any) any {
		return wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{from, n.MakeRef()}, body}
	}
	next := func() string { return testkit.Receive(t, got) }
	for _, from := range []node.PID{i.self, pid} { // the claim does not count
		i.send(dist.Frame{Op: dist.OpSend, From: from, To: pid, Payload: call(from, 1)})
		require.Equal(t, `1 true "x@127.0.0.1" true`, next())
		i.send(dist.Frame{Op: dist.OpSend, From: from, Name: "shown", Payload: call(from, 2)})
		require.Equal(t, `2 true "x@127.0.0.1" true`, next())
		i.send(dist.Frame{Op: dist.OpSend, ID: 9, From: from, Name: "shown", Payload: call(from, 3)}) // with a receipt
		require.Equal(t, `3 true "x@127.0.0.1" true`, next())
	}
	for k := range 5 { // in a parcel
		i.send(dist.Frame{Op: dist.OpSend, From: i.self, To: pid, Payload: call(i.self, k)})
	}
	for k := range 5 {
		require.Equal(t, fmt.Sprintf(`%d true "x@127.0.0.1" true`, k), next())
	}
	i.send(dist.Frame{Op: dist.OpSend, From: i.self, Name: "rex",
		Payload: wire.Tuple{i.self, wire.Tuple{wire.Atom("sbcast"), wire.Atom("shown"), call(i.self, 4)}}})
	require.Equal(t, `4 true "x@127.0.0.1" true`, next())
	require.NoError(t, n.Send(pid, call(i.self, 5))) // as an echo would
	require.Equal(t, `5 true "" false`, next())
	//actornode:ignore lostfuture the process shows what it gets
	node.Async[any](n, pid, 6)
	require.Equal(t, `6 false "" false`, next())
}

func anyWorkers() node.Actor { return workers() }
