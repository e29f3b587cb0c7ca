package node_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// fromsOf spawns a process that keeps the Froms of its requests, and returns them by a channel.
func fromsOf(f *failures) (node.PID, <-chan node.From) {
	froms := make(chan node.From, 1)
	pid, err := f.there.Spawn(fromKeeper(froms))
	require.NoError(f, err)
	return pid, froms
}

// A server knows until when its caller waits, on whichever node the caller is.
func TestDeadline(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		require.NoError(f, f.here.Connect(f.ctx, f.there.Name()))
		pid, froms := fromsOf(f)
		const timeout = time.Hour
		unbounded := context.WithoutCancel(f.ctx)
		for range 2 { // the same handle calls with a deadline and without, in turn
			ctx, cancel := context.WithTimeout(unbounded, timeout)
			until, _ := ctx.Deadline()
			answered := make(chan error, 1)
			call := func(ctx context.Context) {
				_, err := node.Call[int](ctx, f.me, pid, 1) //actornode:ignore contextescape the test waits before it uses the handle
				answered <- err
			}
			go call(ctx)
			from := testkit.Receive(f, froms)
			at, ok := from.Deadline()
			require.True(f, ok)
			isFrom := func(least, at time.Time) {
				require.False(f, at.Before(least), "a caller that waits is never given up")
				require.False(f, at.After(time.Now().Add(timeout+time.Millisecond)))
			}
			isFrom(until, at)
			work := from.Context(unbounded)
			has, ok := work.Deadline()
			require.True(f, ok)
			isFrom(at, has)
			require.NoError(f, from.Reply(1))
			require.NoError(f, testkit.Receive(f, answered))
			require.ErrorIs(f, work.Err(), context.Canceled)
			_, ok = from.Deadline()
			require.False(f, ok, "it waits no longer")
			cancel()

			go call(unbounded)
			from = testkit.Receive(f, froms)
			_, ok = from.Deadline()
			require.False(f, ok)
			_, ok = from.Context(unbounded).Deadline()
			require.False(f, ok)
			require.NoError(f, from.Reply(1))
			require.NoError(f, testkit.Receive(f, answered))
		}
		long, cancel := context.WithTimeout(unbounded, 30*24*time.Hour)
		defer cancel()
		go func() { _, _ = node.Call[int](long, f.here, pid, 1) }() // ended by the end of the test
		_, ok := testkit.Receive(f, froms).Deadline()
		require.Equal(f, f.here == f.there, ok, "too long to be sent")
	})
}

// The context of a call ends when the caller gives up, in whichever way and on whichever node; when its node is lost;
// when the request is answered; and with its parent.
func TestCallContext(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		pid, froms := fromsOf(f)
		over := func(ctx context.Context, why string) {
			testkit.Receive(f, ctx.Done())
			require.ErrorIs(f, ctx.Err(), context.Canceled, why)
		}
		for way, ask := range callersThatGiveUp(f, pid) {
			giveUp := ask()
			from := testkit.Receive(f, froms)
			first, second := from.Context(f.ctx), from.Context(f.ctx)
			require.NoError(f, first.Err())
			require.NoError(f, second.Err())
			giveUp()
			over(first, way)
			over(second, way)
			testkit.UntilTrue(f, func() bool { return !from.Pending() }, "it has given up: "+way)
			over(from.Context(f.ctx), "it begins late")
		}

		future := node.Async[int](f.me, pid, 1)
		from := testkit.Receive(f, froms)
		parent, cancel := context.WithCancel(f.ctx)
		defer cancel()
		ofParent, other := from.Context(parent), from.Context(f.ctx)
		cancel()
		over(ofParent, "its parent")
		require.NoError(f, other.Err())
		require.NoError(f, from.Fail(errSoldOut))
		over(other, "an answer")
		_, err := node.Await(f.ctx, f.me, future)
		require.ErrorIs(f, err, errSoldOut)
		over(from.Context(f.ctx), "it was answered")
		over(node.From{}.Context(f.ctx), "there is no call")

		if f.here != f.there {
			node.SendRequest(f.me, pid, 1, 1)
			work := testkit.Receive(f, froms).Context(f.ctx)
			f.here.Disconnect(f.there.Name())
			over(work, "the node is lost")
		}
	})
}

// The context of a process that forwards a request ends; that of the process that has it then lives on until the answer, or
// until the caller gives up.
func TestCallContextOfForwarded(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		require.NoError(f, f.here.Connect(f.ctx, f.there.Name()))
		worker := nodetest.NewProbe(f, f.there)
		works, forwarded := make(chan context.Context, 1), make(chan error, 1)
		pid, err := f.there.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			if r, ok := msg.(node.Request[int]); ok {
				works <- r.Context(c.Context())
				forwarded <- node.Forward(c, r, worker.Self())
			}
			return nil
		}))
		require.NoError(f, err)
		for _, answers := range []bool{true, false} {
			ctx, cancel := context.WithTimeout(f.ctx, time.Hour)
			defer cancel()
			answered := make(chan error, 1)
			go func() {
				_, err := node.Call[int](ctx, f.here, pid, 1)
				answered <- err
			}()
			testkit.Receive(f, testkit.Receive(f, works).Done())
			require.NoError(f, testkit.Receive(f, forwarded))
			r := nodetest.Expect[node.Request[int]](worker)
			require.True(f, r.Pending())
			work := r.Context(f.ctx)
			_, ok := work.Deadline()
			require.True(f, ok)
			other, err := node.Call[string](f.ctx, f.me, spawnEcho(f, f.there), "later")
			require.NoError(f, err)
			require.Equal(f, "later", other)
			require.NoError(f, work.Err())
			if answers {
				require.NoError(f, r.Reply(1))
				require.NoError(f, testkit.Receive(f, answered))
			} else {
				cancel()
				require.ErrorIs(f, testkit.Receive(f, answered), context.Canceled)
			}
			testkit.Receive(f, work.Done())
			testkit.UntilTrue(f, func() bool { return !r.Pending() }, "the caller waits no longer")
		}
	})
}

// spawnEcho spawns a process that answers with the request.
func spawnEcho(f *failures, n *node.Node) node.PID {
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := msg.(node.Request[string]); ok {
			c.Reply(r.From, r.Body)
		}
		return nil
	}))
	require.NoError(f, err)
	return pid
}

// A server that a request from another node is forwarded to handles it.
func TestForwardedToServer(t *testing.T) {
	servers := genserver.Define(genserver.OnAnyCall(func(l *library, c *genserver.Context, n int) (bool, error) {
		return c.CallContext().Err() == nil && c.From().Pending(), nil
	}))
	overEachPlace(t, func(f *failures) {
		server, err := f.there.Spawn(servers.New(&library{}))
		require.NoError(f, err)
		front, err := f.there.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			if r, ok := msg.(node.Request[int]); ok {
				return node.Forward(c, r, server)
			}
			return nil
		}))
		require.NoError(f, err)
		for range 20 {
			ok, err := node.Call[bool](f.ctx, f.me, front, 1)
			require.NoError(f, err)
			require.True(f, ok)
		}
	})
}

// For a request as OTP's gen makes it there is no deadline, and the caller gives up by removing its monitor.
func TestCallContextOfTerm(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		pid, froms := fromsOf(f)
		ref := f.me.Monitor(pid)
		alias := wire.ImproperList{Head: []any{node.Atom("alias")}, Tail: ref}
		require.NoError(f, f.me.Send(pid, wire.Tuple{node.Atom("$gen_call"), wire.Tuple{f.me.Self(), alias}, 1}))
		from := testkit.Receive(f, froms)
		_, ok := from.Deadline()
		require.False(f, ok)
		work := from.Context(context.WithoutCancel(f.ctx))
		_, ok = work.Deadline()
		require.False(f, ok)
		require.NoError(f, work.Err())
		if f.here == f.there {
			return // a monitor within the node is not that of the call
		}
		f.me.Demonitor(ref)
		testkit.Receive(f, work.Done())

		monitored := f.me.Monitor(pid)
		for _, tag := range []node.Ref{monitored, f.here.MakeRef()} { // as OTP 23 calls, and without a monitor
			require.NoError(f, f.me.Send(pid, wire.Tuple{node.Atom("$gen_call"), wire.Tuple{f.me.Self(), tag}, 1}))
			from = testkit.Receive(f, froms)
			work = from.Context(context.WithoutCancel(f.ctx))
			require.NoError(f, work.Err())
			require.True(f, from.Pending())
			if tag == monitored {
				f.me.Demonitor(monitored)
			} else {
				f.here.Disconnect(f.there.Name())
			}
			testkit.Receive(f, work.Done())
			testkit.UntilTrue(f, func() bool { return !from.Pending() }, "the caller is gone")
		}
	})
}

// The end of the called process is an answer, also for others who have the request by then.
func TestCallContextOfEnded(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		pid, froms := fromsOf(f)
		future := node.Async[int](f.me, pid, 1)
		from := testkit.Receive(f, froms)
		work := from.Context(context.WithoutCancel(f.ctx))
		require.NoError(f, work.Err())
		f.there.Exit(pid, node.Kill)
		testkit.Receive(f, work.Done())
		testkit.UntilTrue(f, func() bool { return !from.Pending() }, "the caller has its answer")
		_, err := node.Await(f.ctx, f.me, future)
		require.Error(f, err)
	})
}

// library is a server that works until its callers give up.
type library struct {
	last  context.Context
	casts chan context.Context
}

func (l *library) search(c *genserver.Context, _ int) (bool, error) {
	l.last = c.CallContext()
	_, has := l.last.Deadline()
	return has, l.last.Err()
}

func (l *library) load(c *genserver.Context, _ string) (bool, error) {
	call := c.CallContext()
	c.Continue(func(c *genserver.Context) error {
		l.casts <- call
		l.casts <- c.CallContext()
		return nil
	})
	return true, nil
}

func (l *library) told(c *genserver.Context, _ int) error {
	l.casts <- l.last
	l.casts <- c.CallContext()
	return nil
}

// A server's method has the context of its call; where there is no call, that of the process.
func TestServerCallContext(t *testing.T) {
	servers := genserver.Define(genserver.OnAnyCall((*library).search), genserver.OnAnyCall((*library).load),
		genserver.OnCast((*library).told))
	overEachPlace(t, func(f *failures) {
		require.NoError(f, f.here.Connect(f.ctx, f.there.Name()))
		l := &library{casts: make(chan context.Context, 2)}
		server, err := f.there.Spawn(servers.New(l))
		require.NoError(f, err)
		ctx, cancel := context.WithTimeout(f.ctx, time.Hour)
		defer cancel()
		has, err := node.Call[bool](ctx, f.me, server, 1)
		require.NoError(f, err)
		require.True(f, has)
		has, err = node.Call[bool](context.WithoutCancel(f.ctx), f.me, server, 1)
		require.NoError(f, err)
		require.False(f, has)
		_, err = node.Call[bool](f.ctx, f.me, server, "load")
		require.NoError(f, err)
		testkit.Receive(f, testkit.Receive(f, l.casts).Done())
		require.NoError(f, testkit.Receive(f, l.casts).Err(), "what follows an answered call has no call")
		require.NoError(f, genserver.Cast(f.me, server, 1))
		require.ErrorIs(f, testkit.Receive(f, l.casts).Err(), context.Canceled, "its call was answered")
		process := testkit.Receive(f, l.casts)
		require.NoError(f, process.Err())
		f.there.Exit(server, node.Kill)
		testkit.Receive(f, process.Done())
	})
}
