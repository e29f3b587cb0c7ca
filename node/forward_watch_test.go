package node_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

const boomed = node.Atom("boom")

// askedOne is a request that a process has received, with its forwarder and the future of the caller.
type askedOne struct {
	forwarder *node.Process
	request   node.Request[string]
	ticket    process.Ticket
	future    *node.Future[string]
}

// askOne makes caller ask a process of n.
func askOne(t *testing.T, caller, n *node.Node) askedOne {
	h := nodetest.NewProbe(t, n)
	f := node.Async[string](caller, h.Self(), "question")
	r := nodetest.Expect[node.Request[string]](h)
	return askedOne{h.Process, r, r.From.Inside(process.Key{}).Ticket(), f}
}

func (q askedOne) acting() *process.Acting { return q.forwarder.Inside(process.Key{}).Acting() }

// watch returns a watch over a worker, as Forward makes it.
func (q askedOne) watch(t *testing.T, worker *node.Process) node.WorkerWatch {
	w := node.WatchWorker(q.acting(), q.ticket, worker.Self())
	require.True(t, w.Ticket().Call.Waiting(w.Ticket().N))
	return w
}

// ends checks that the caller has been told boom.
func (q askedOne) ends(t *testing.T) {
	t.Helper()
	_, err := node.Await(testkit.Context(t), q.forwarder, q.future)
	var exit *node.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, boomed, exit.Reason)
}

// A send fails, and meanwhile another process has forwarded the request: that process's watch stays.
func TestForwardedWhileSendFails(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	q := askOne(t, n, n)
	first, second := nodetest.NewProbe(t, n), nodetest.NewProbe(t, n)
	w := q.watch(t, first.Process)
	require.ErrorIs(t, w.Started(q.acting(), func() error {
		require.NoError(t, node.Forward(nodetest.NewProbe(t, n), q.request, second.Self()))
		return node.ErrMailboxFull
	}), node.ErrMailboxFull)
	require.True(t, q.ticket.Call.Forwarded(q.ticket.N))
	first.Close(nil)
	q.forwarder.Close(nil)
	second.Close(boomed)
	q.ends(t)
}

// A send fails after the worker has ended: the caller is told, and the request no longer belongs to the forwarder.
func TestWorkerEndsWhileSendFails(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	q := askOne(t, n, n)
	worker := nodetest.NewProbe(t, n)
	w := q.watch(t, worker.Process)
	require.NoError(t, w.Started(q.acting(), func() error {
		worker.Close(boomed)
		q.ends(t)
		return node.ErrMailboxFull
	}))

	q = askOne(t, n, n)
	w = q.watch(t, nodetest.NewProbe(t, n).Process)
	require.NoError(t, w.Started(q.acting(), func() error {
		require.True(t, w.Begin(w.Ticket().N, nil, &node.ExitError{Reason: boomed})) // the first half of Settle
		return node.ErrMailboxFull
	}))
	w.Finish(w.Ticket().N)
	w.Watches.Tell(q.acting())
	q.ends(t)
}

// A send fails after the caller has given up.
func TestCallerGivesUpWhileSendFails(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	q := askOne(t, n, n)
	w := q.watch(t, nodetest.NewProbe(t, n).Process)
	require.ErrorIs(t, w.Started(q.acting(), func() error {
		require.True(t, q.future.Cancel())
		return node.ErrMailboxFull
	}), node.ErrReplied)
	require.True(t, w.Ticket().Done())
}

// The caller has given up while the worker ends: the result of the watch is not read while it is written. The race
// detector checks that.
func TestLateWhileWorkerEnds(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	q := askOne(t, n, n)
	w := q.watch(t, nodetest.NewProbe(t, n).Process)
	require.True(t, q.future.Cancel())
	var ending sync.WaitGroup
	tried := make(chan struct{})
	ending.Go(func() {
		w.Begin(w.Ticket().N, nil, &node.ExitError{Reason: boomed})
		<-tried
		w.Finish(w.Ticket().N)
	})
	for w.Waiting(w.Ticket().N) {
		runtime.Gosched()
	}
	require.ErrorIs(t, w.Started(q.acting(), nil), node.ErrReplied)
	close(tried)
	ending.Wait()
}

// hookError calls a function when its text is first asked for.
type hookError struct {
	once sync.Once
	hook func()
}

func (e *hookError) Error() string {
	e.once.Do(e.hook)
	return "boom"
}

// The worker of a caller on another node ends before the forwarder has taken the monitor over, and Tell has found the
// old one: the caller is told, once, and nothing is left.
func TestTakenOverWhileTold(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := c.Start("a"), c.Start("b")
		c.Connect(a, b)
		q := askOne(t, a, b)
		w := q.watch(t, nodetest.NewProbe(t, b).Process)
		require.True(t, q.ticket.Call.Forward(q.ticket.N, w.AsWatch()))
		taken := false
		reason := &hookError{hook: func() { // Tell makes the Down: it has looked the monitor up
			w.TakeOver(q.acting().Process)
			taken = true
		}}
		require.True(t, node.SettleForwarded(q.acting(), q.ticket, &node.ExitError{Reason: reason}))
		require.True(t, taken)
		_, err := node.Await(testkit.Context(t), b, q.future)
		require.ErrorContains(t, err, "boom")
		testkit.Until(t, func() string {
			for _, n := range []*node.Node{a, b} {
				for _, p := range n.Peers() {
					if p.Monitors+p.Watchers+p.Calls != 0 {
						return "there are monitors or calls at " + string(n.Name())
					}
				}
			}
			return ""
		})
	})
}
