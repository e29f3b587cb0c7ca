package node_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// Orders to a worker.
const (
	answer = "answer"
	refuse = "refuse"
	keep   = "keep" // and tell kept
	crash  = "crash"
)

var errRefused = errors.New("refused")

// forwardee does what a request says.
type forwardee struct{ kept chan node.From }

func newForwardee() *forwardee { return &forwardee{make(chan node.From, 100_000)} }

func (w *forwardee) Receive(c *node.Context, msg any) error {
	r, ok := c.Node().AsRequest(msg)
	if !ok {
		return nil
	}
	switch fmt.Sprintf("%s", r.Body) { // a []byte, if Erlang asks
	case answer:
		return c.Reply(r.From, "done")
	case refuse:
		return r.Fail(errRefused)
	case keep:
		w.kept <- r.From
	case crash:
		return node.ExitWith(node.Atom("boom"))
	}
	return nil
}

// forwarder forwards the requests it gets, and sends the results to errs.
type forwarder struct {
	to   node.Dest
	errs chan error
}

func newForwarder(to node.Dest) *forwarder { return &forwarder{to, make(chan error, 100_000)} }

func (f *forwarder) Receive(c *node.Context, msg any) error {
	if r, ok := c.Node().AsRequest(msg); ok {
		f.errs <- node.Forward(c, r, f.to)
	}
	return nil
}

func spawn(t testing.TB, n *node.Node, b node.Actor) node.PID {
	pid, err := n.Spawn(b)
	require.NoError(t, err)
	return pid
}

// boom checks the error that a caller gets when the worker has crashed.
func boom(t testing.TB, err error) {
	t.Helper()
	var exit *node.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, node.Atom("boom"), exit.Reason)
}

// calls is how many calls depend on a process of this node.
func calls(n *node.Node, pid node.PID) (count int) {
	p := n.Inside(process.Key{}).System().Lookup(pid)
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Cold == nil || p.Cold.Calls.IsEmpty() {
		return 0
	}
	return 1
}

// nothingLeft waits until no call depends on a process.
func nothingLeft(t testing.TB, n *node.Node, pids ...node.PID) {
	t.Helper()
	testkit.Until(t, func() string {
		for _, pid := range pids {
			if calls(n, pid) != 0 {
				return fmt.Sprintf("there are calls at %v", pid)
			}
		}
		return ""
	})
}

// asks are the ways to call.
var asks = map[string]func(t testing.TB, n *node.Node, to node.Dest, body string) (string, error){
	"goroutine": func(t testing.TB, n *node.Node, to node.Dest, body string) (string, error) {
		return node.Call[string](testkit.Context(t), n, to, body)
	},
	"process": func(t testing.TB, n *node.Node, to node.Dest, body string) (string, error) {
		return node.Call[string](testkit.Context(t), nodetest.NewProbe(t, n), to, body)
	},
	"future": func(t testing.TB, n *node.Node, to node.Dest, body string) (string, error) {
		return node.Await(testkit.Context(t), n, node.Async[string](n, to, body))
	},
	"message": func(t testing.TB, n *node.Node, to node.Dest, body string) (string, error) {
		h := nodetest.NewProbe(t, n)
		node.SendRequest(h, to, "tag", body)
		r := nodetest.Expect[node.Result](h)
		s, _ := r.Value.(string)
		return s, r.Err
	},
	"actor": func(t testing.TB, n *node.Node, to node.Dest, body string) (string, error) {
		results := make(chan node.Result, 1)
		pid := spawn(t, n, node.ActorFunc(func(c *node.Context, msg any) error {
			s, err := node.Call[string](testkit.Context(t), c, to, body)
			results <- node.Result{Value: s, Err: err}
			return nil
		}))
		require.NoError(t, n.Send(pid, 1))
		r := testkit.Receive(t, results)
		return r.Value.(string), r.Err
	},
}

// Every kind of caller gets the worker's answer, and learns of its end.
func TestForward(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			w := newForwardee()
			to := spawn(t, n, w)
			f := newForwarder(to)
			via := spawn(t, n, f)
			got, err := ask(t, n, via, answer)
			require.NoError(t, err)
			require.Equal(t, "done", got)
			_, err = ask(t, n, via, refuse)
			require.ErrorIs(t, err, errRefused)
			nothingLeft(t, n, to, via)
			_, err = ask(t, n, via, crash)
			boom(t, err)
			_, err = ask(t, n, via, answer)
			require.ErrorIs(t, err, node.ErrNoProcess)
			for range 4 {
				require.NoError(t, testkit.Receive(t, f.errs))
			}
			nothingLeft(t, n, via)
		})
	}
}

// The end of the forwarder no longer ends the call; without node.Forward it does.
func TestForwarderDies(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	w := newForwardee()
	to := spawn(t, n, w)
	via := spawn(t, n, newForwarder(to))
	f := node.Async[string](n, via, keep)
	from := testkit.Receive(t, w.kept)
	h := nodetest.NewProbe(t, n)
	ref := h.Monitor(via)
	n.Exit(via, node.Kill)
	h.ExpectDown(ref)
	require.True(t, from.Pending())
	require.NoError(t, from.Reply("late"))
	got, err := node.Await(testkit.Context(t), n, f)
	require.NoError(t, err)
	require.Equal(t, "late", got)
	nothingLeft(t, n, to)
}

// A worker can be named in every way.
func TestForwardTo(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	serve := func(to node.Dest) (r node.Request[string], f *node.Future[string]) {
		f = node.Async[string](n, spawn(t, n, newForwarder(to)), keep)
		return nodetest.Expect[node.Request[string]](h), f
	}
	require.NoError(t, n.Register("worker", h.Self()))
	for _, to := range []node.Dest{h.Self(), node.Atom("worker"), node.At{Name: "worker", Node: n.Name()},
		h.Alias(), h.AliasOnce()} {
		r, f := serve(to)
		require.NoError(t, r.Reply("x"))
		got, err := node.Await(testkit.Context(t), n, f)
		require.NoError(t, err)
		require.Equal(t, "x", got)
	}
	once := h.AliasOnce()
	require.True(t, h.Unalias(once))
	_, err := node.Call[string](testkit.Context(t), n, spawn(t, n, newForwarder(once)), keep)
	require.ErrorIs(t, err, node.ErrNoProcess)

	f := newForwarder(node.Atom("nobody"))
	call := node.Async[string](n, spawn(t, n, f), keep)
	require.ErrorIs(t, testkit.Receive(t, f.errs), node.ErrNoName)
	require.True(t, call.Cancel())
	f = newForwarder(node.At{Name: "x", Node: "other@host"}) // this node has no distribution
	_, err = node.Call[string](testkit.Context(t), n, spawn(t, n, f), keep)
	require.ErrorContains(t, err, "noconnection")

	waiting := node.Async[string](n, spawn(t, n, newForwarder(node.Atom("worker"))), keep)
	nodetest.Expect[node.Request[string]](h)
	h.Close(node.Atom("boom"))
	_, err = node.Await(testkit.Context(t), n, waiting)
	boom(t, err)
}

// A refused request still belongs to the forwarder: it tries other workers, and its own death ends the call again.
func TestNotTaken(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	small := node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Refuse}}
	full, err := n.SpawnOpt(small, node.ProcessFunc(func(p *node.Process) error {
		<-p.Context().Done()
		return nil
	}))
	require.NoError(t, err)
	for n.Send(full, 1) == nil {
	}
	h := nodetest.NewProbe(t, n)
	f := node.Async[string](n, h.Self(), answer)
	r := nodetest.Expect[node.Request[string]](h)
	require.ErrorIs(t, node.Forward(h, r, full), node.ErrMailboxFull)
	require.True(t, r.Pending())
	require.Zero(t, calls(n, full))
	require.NoError(t, node.Forward(h, r, spawn(t, n, newForwardee())))
	got, err := node.Await(testkit.Context(t), n, f)
	require.NoError(t, err)
	require.Equal(t, "done", got)

	f = node.Async[string](n, h.Self(), answer)
	require.ErrorIs(t, node.Forward(h, nodetest.Expect[node.Request[string]](h), full), node.ErrMailboxFull)
	h.Close(node.Atom("boom"))
	_, err = node.Await(testkit.Context(t), n, f)
	boom(t, err)
}

// A request that is forwarded again is watched at its last worker; anybody who has it can answer.
func TestForwardedAgain(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	first, second, h := nodetest.NewProbe(t, n), nodetest.NewProbe(t, n), nodetest.NewProbe(t, n)
	begin := func() *node.Future[string] {
		f := node.Async[string](n, h.Self(), keep)
		r := nodetest.Expect[node.Request[string]](h)
		require.NoError(t, node.Forward(h, r, first.Self()))
		require.NoError(t, node.Forward(first, nodetest.Expect[node.Request[string]](first), second.Self()))
		return f
	}
	f := begin()
	require.Zero(t, calls(n, first.Self()))
	require.NoError(t, nodetest.Expect[node.Request[string]](second).Reply("x"))
	got, err := node.Await(testkit.Context(t), second, f)
	require.NoError(t, err)
	require.Equal(t, "x", got)
	nothingLeft(t, n, second.Self())
	f = begin()
	first.Close(nil)
	h.Close(nil)
	second.Close(node.Atom("boom"))
	_, err = node.Await(testkit.Context(t), second, f)
	boom(t, err)
}

// A process forwards a request to itself.
func TestForwardToSelf(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	f := node.Async[string](n, h.Self(), keep)
	require.NoError(t, node.Forward(h, nodetest.Expect[node.Request[string]](h), h.Self()))
	require.NoError(t, nodetest.Expect[node.Request[string]](h).Reply("x"))
	_, err := node.Await(testkit.Context(t), n, f)
	require.NoError(t, err)
	f = node.Async[string](n, h.Self(), keep)
	require.NoError(t, node.Forward(h, nodetest.Expect[node.Request[string]](h), h.Self()))
	h.Close(node.Atom("boom"))
	_, err = node.Await(testkit.Context(t), n, f)
	boom(t, err)
}

// A process that has answered, or whose caller no longer waits, cannot forward. A caller that gives up later leaves
// nothing.
func TestCallerGivesUp(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	w := newForwardee()
	to := spawn(t, n, w)
	f := node.Async[string](n, h.Self(), keep)
	r := nodetest.Expect[node.Request[string]](h)
	require.True(t, f.Cancel())
	require.ErrorIs(t, node.Forward(h, r, to), node.ErrReplied)
	require.ErrorIs(t, node.Forward(h, node.Request[string]{}, to), node.ErrReplied)

	f = node.Async[string](n, h.Self(), keep)
	require.NoError(t, node.Forward(h, nodetest.Expect[node.Request[string]](h), to))
	from := testkit.Receive(t, w.kept)
	require.Equal(t, 1, calls(n, to))
	require.True(t, f.Cancel())
	require.Zero(t, calls(n, to))
	require.False(t, from.Pending())
	require.ErrorIs(t, from.Reply("late"), node.ErrReplied)

	via := spawn(t, n, newForwarder(to))
	for range 100 { // a process uses one promise for all of its calls
		ctx, cancel := context.WithCancel(testkit.Context(t))
		p := nodetest.NewProbe(t, n)
		go func() { <-w.kept; cancel() }() // ended by cancel, which the call waits for
		_, err := node.Call[string](ctx, p, via, keep)
		require.ErrorIs(t, err, context.Canceled)
		got, err := node.Call[string](testkit.Context(t), p, via, answer)
		require.NoError(t, err)
		require.Equal(t, "done", got)
		p.Close(nil)
	}
	require.Zero(t, calls(n, to))
}

// Many answered requests leave nothing.
func TestNothingStays(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	w := newForwardee()
	to := spawn(t, n, w)
	via := spawn(t, n, newForwarder(to))
	many := testkit.By(5000, 50_000, 500_000)
	h := nodetest.NewProbe(t, n)
	for i := range many {
		node.SendRequest(h, via, i, keep)
	}
	froms := make([]node.From, many)
	for i := range froms {
		froms[i] = testkit.Receive(t, w.kept)
	}
	require.Equal(t, 1, calls(n, to))
	for _, from := range froms {
		require.NoError(t, from.Reply("x"))
		ticket := from.Inside(process.Key{}).Ticket()
		require.False(t, ticket.Call.Forwarded(ticket.N))
	}
	require.Zero(t, calls(n, to))
	require.Zero(t, calls(n, via))
	for range many {
		require.NoError(t, nodetest.Expect[node.Result](h).Err)
	}
	h.ExpectNone()
}

// An answer, the deaths of the worker and the forwarder, and the caller's timeout come at the same time: there is one
// result.
func TestOneResult(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	outcomes := make(map[string]int)
	for i := range testkit.By(200, 2000, 100_000) {
		w := newForwardee()
		to := spawn(t, n, w)
		via := spawn(t, n, newForwarder(to))
		node.SendRequest(h, via, i, keep)
		var all sync.WaitGroup
		if i%2 == 0 {
			from := testkit.Receive(t, w.kept)
			all.Go(func() { _ = from.Reply("x") })
		}
		all.Go(func() { n.Exit(to, node.Atom("boom")) })
		all.Go(func() { n.Exit(via, node.Atom("bang")) })
		r := nodetest.Expect[node.Result](h)
		require.Equal(t, i, r.Tag)
		outcomes[fmt.Sprint(r.Value, r.Err)]++
		all.Wait()
	}
	h.ExpectNone()
	t.Log(outcomes)
}

// A request that AsRequest has read is handed on as it was.
func TestTypes(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	via := spawn(t, n, newForwarder(h.Self()))
	node.SendRequest(h, via, nil, 7)
	require.Equal(t, 7, nodetest.Expect[node.Request[int]](h).Body)
	node.SendRequest(h, via, nil, wire.Tuple{1})
	require.Equal(t, wire.Tuple{1}, nodetest.Expect[node.Request[wire.Tuple]](h).Body)
	require.NoError(t, n.Send(via, wire.Tuple{node.Atom("$gen_call"), wire.Tuple{h.Self(), n.MakeRef()}, "x"}))
	r := nodetest.Expect[node.Request[string]](h)
	require.NoError(t, r.Reply("y"))
	require.Equal(t, "y", nodetest.Expect[wire.Tuple](h)[1])
	require.ErrorIs(t, node.Forward(h, node.Request[int]{From: r.From}, nil), node.ErrReplied)
}
