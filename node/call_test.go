package node_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
)

// keeper hands the requests it gets to the test.
func keeper(t testing.TB, n *node.Node) (node.PID, <-chan node.Request[string]) {
	t.Helper()
	got := make(chan node.Request[string], 16)
	pid, err := n.Spawn(node.ActorFunc(func(_ *node.Context, m any) error {
		got <- m.(node.Request[string])
		return nil
	}))
	require.NoError(t, err)
	return pid, got
}

// answers handles a request as its body says.
func answers(_ actortest.Self, m any) error {
	r, ok := m.(node.Request[string])
	if !ok {
		return nil
	}
	switch r.Body {
	case "one":
		return r.Reply(1)
	case "nil":
		return r.Reply(nil)
	case "text":
		return r.Reply("1")
	case "fail":
		return r.Fail(errWhy)
	case "later":
		go r.Reply(1)
	case "twice":
		first := r.Reply(1)
		if second := r.Reply(2); first != nil || !errors.Is(second, node.ErrReplied) || r.Pending() {
			return fmt.Errorf("replied twice: %v, %v", first, second)
		}
	case "die":
		return node.ExitWith("died")
	case "stop":
		return node.ErrStop
	case "crash":
		panic("crashed")
	case "reply and die":
		r.Reply(1)
		return node.ExitWith("died")
	}
	return nil
}

var errWhy = errors.New("why")

func TestCallOutcomes(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	actortest.EachCaller(t, func(t *testing.T, c actortest.Caller) {
		actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
			ask := func(body string) (v int, err error) {
				pid := s.Spawn(t, n, answers)
				c.Do(t, n, func(me node.Caller) {
					v, err = actortest.CallWithin[int](testkit.Limit, me, pid, body)
				})
				return v, err
			}
			for _, body := range []string{"one", "later", "twice", "reply and die"} {
				v, err := ask(body)
				assert.NoError(t, err, body)
				assert.Equal(t, 1, v, body)
			}
			v, err := ask("nil")
			assert.NoError(t, err)
			assert.Zero(t, v)
			_, err = ask("text")
			assert.ErrorIs(t, err, node.ErrReplyType)
			_, err = ask("fail")
			assert.Equal(t, errWhy, err)

			var exit *node.ExitError
			_, err = ask("die")
			require.ErrorAs(t, err, &exit)
			assert.Equal(t, "died", exit.Reason)
			_, err = ask("stop")
			require.ErrorAs(t, err, &exit)
			assert.Equal(t, node.Normal, exit.Reason)
			_, err = ask("crash")
			require.ErrorAs(t, err, &exit)
			require.IsType(t, &node.Crash{}, exit.Reason)
		})
	})
}

func TestCallNobody(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	actortest.EachCaller(t, func(t *testing.T, c actortest.Caller) {
		pid := actortest.Actor.Spawn(t, n, answers)
		n.Exit(pid, node.Kill)
		c.Do(t, n, func(me node.Caller) {
			_, err := actortest.CallWithin[int](testkit.Limit, me, pid, "one")
			assert.ErrorIs(t, err, node.ErrNoProcess)
			_, err = actortest.CallWithin[int](testkit.Limit, me, node.PID{}, "one")
			assert.ErrorIs(t, err, node.ErrArgument)
			_, err = actortest.CallWithin[int](testkit.Limit, me, node.Atom("nobody"), "one")
			assert.ErrorIs(t, err, node.ErrNoName)
			_, err = actortest.CallWithin[int](testkit.Limit, me, n.MakeRef(), "one")
			assert.ErrorIs(t, err, node.ErrNoProcess)
		})
	})
}

// The callee dies after it has taken the request.
func TestCalleeIsKilled(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	actortest.EachCaller(t, func(t *testing.T, c actortest.Caller) {
		pid, requests := keeper(t, n)
		go func() {
			<-requests
			n.Exit(pid, "gone")
		}()
		c.Do(t, n, func(me node.Caller) {
			_, err := actortest.CallWithin[int](testkit.Limit, me, pid, "")
			var exit *node.ExitError
			if assert.ErrorAs(t, err, &exit) {
				assert.Equal(t, "gone", exit.Reason)
			}
		})
	})
}

func TestCallCancelled(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	actortest.EachCaller(t, func(t *testing.T, c actortest.Caller) {
		pid, requests := keeper(t, n)
		dead := n.DeadLetters(4)
		defer dead.Close()
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		var late node.Request[string]
		go func() {
			late = <-requests
			assert.True(t, late.Pending())
			cancel(cause)
		}()
		c.Do(t, n, func(me node.Caller) {
			_, err := node.Call[int](ctx, me, pid, "")
			assert.ErrorIs(t, err, cause)
			assert.ErrorIs(t, err, context.Canceled)
			assert.False(t, late.Pending())
			assert.ErrorIs(t, late.Reply(1), node.ErrReplied)
			assert.ErrorIs(t, late.Fail(errWhy), node.ErrReplied)
			l := <-dead.C
			assert.Equal(t, deadletter.LateReply, l.Cause)
			assert.Equal(t, 1, l.Message)

			_, err = node.Call[int](ctx, me, pid, "") // cancelled before
			assert.ErrorIs(t, err, cause)
			assert.ErrorIs(t, err, context.Canceled)
		})
	})
}

func TestCallTimeout(t *testing.T) {
	actortest.EachCaller(t, func(t *testing.T, c actortest.Caller) {
		synctest.Test(t, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{Workers: 2, Stages: 2})
			pid, requests := keeper(t, n)
			c.Do(t, n, func(me node.Caller) {
				began := time.Now()
				_, err := actortest.CallWithin[int](time.Second, me, pid, "")
				assert.ErrorIs(t, err, node.ErrTimeout)
				assert.Equal(t, time.Second, time.Since(began))
				assert.ErrorIs(t, (<-requests).Reply(1), node.ErrReplied)

				// The next call gets its own reply.
				go func() {
					r := <-requests
					<-time.After(500 * time.Millisecond)
					assert.NoError(t, r.Reply(2))
				}()
				v, err := actortest.CallWithin[int](time.Second, me, pid, "")
				assert.NoError(t, err)
				assert.Equal(t, 2, v)
				assert.Equal(t, 1500*time.Millisecond, time.Since(began))

				_, err = actortest.CallWithin[int](0, me, pid, "")
				assert.ErrorIs(t, err, node.ErrTimeout)
			})
			assert.Equal(t, map[deadletter.Cause]uint64{deadletter.LateReply: 1}, n.Stats().DeadLetters)
		})
	})
}

func TestReplyToNobody(t *testing.T) {
	var f node.From
	assert.False(t, f.Pending())
	assert.ErrorIs(t, f.Reply(1), node.ErrReplied)
	assert.ErrorIs(t, f.Fail(errWhy), node.ErrReplied)
}

// Many goroutines try to reply; one does.
func TestReplyRace(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid, requests := keeper(t, n)
	for range 100 {
		f := node.Async[int](n, pid, "")
		r := <-requests
		won := make(chan int, 8)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if r.Reply(i) == nil {
					won <- i
				}
			})
		}
		v, err := node.Await(context.Background(), n, f)
		wg.Wait()
		require.NoError(t, err)
		require.Len(t, won, 1)
		assert.Equal(t, <-won, v)
	}
}

// A handler that waits for a reply does not hold up the other processes of its stage, including the one that it calls.
func TestCallInAHandlerFreesTheStage(t *testing.T) {
	for _, s := range []actortest.Style{actortest.Actor, actortest.Coroutine} {
		t.Run(s.Name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1})
			pid, requests := keeper(t, n)
			h := nodetest.NewProbe(t, n)
			for range 5 {
				caller := s.Spawn(t, n, func(p actortest.Self, _ any) error {
					v, err := node.Call[int](context.Background(), p, pid, "")
					if err != nil {
						return err
					}
					return p.Send(h.Self(), v)
				})
				require.NoError(t, n.Send(caller, "go"))
			}
			other := actortest.Actor.Spawn(t, n, counter())
			var waiting []node.Request[string]
			for range 5 {
				waiting = append(waiting, <-requests)
			}
			v, err := actortest.CallWithin[int](testkit.Limit, n, other, add{1})
			require.NoError(t, err)
			assert.Equal(t, 1, v)
			require.Zero(t, h.MailboxLen())
			for i, r := range waiting {
				require.NoError(t, r.Reply(i))
				assert.Equal(t, i, nodetest.Expect[int](h))
			}
		})
	}
}

// A process that is killed while it waits for a reply is unwound, and the reply comes too late.
func TestCallerIsKilled(t *testing.T) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		pid, requests := keeper(t, n)
		unwound := make(chan struct{})
		caller, err := n.SpawnOpt(s.Options, node.ProcessFunc(func(p *node.Process) error {
			defer close(unwound)
			node.Call[int](context.Background(), p, pid, "")
			t.Error("the process goes on")
			return nil
		}))
		require.NoError(t, err)
		r := <-requests
		n.Exit(caller, node.Kill)
		<-unwound
		assert.False(t, r.Pending())
		assert.ErrorIs(t, r.Reply(1), node.ErrReplied)
		assert.Equal(t, map[deadletter.Cause]uint64{deadletter.LateReply: 1}, n.Stats().DeadLetters)
	})
}

func TestCallFromAClosedHandle(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid := actortest.Actor.Spawn(t, n, answers)
	h := nodetest.NewProbe(t, n)
	h.Close(nil)
	_, err := actortest.CallWithin[int](testkit.Limit, h, pid, "one")
	assert.ErrorIs(t, err, node.ErrExited)
	_, err = node.Await(context.Background(), h, node.Async[int](h, pid, "one"))
	assert.ErrorIs(t, err, node.ErrExited)
}

func TestFutureAwaitedByMany(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	pid, requests := keeper(t, n)
	f := node.Async[int](n, pid, "")
	// Futures are passed to actors of all styles, and awaited by goroutines.
	eachSum := func(p actortest.Self, m any) error {
		v, err := node.Await(context.Background(), p, m.(*node.Future[int]))
		if err != nil {
			return err
		}
		return p.Send(h.Self(), v)
	}
	for _, s := range styles {
		require.NoError(t, n.Send(s.Spawn(t, n, eachSum), f))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			v, err := node.Await(context.Background(), n, f)
			assert.NoError(t, err)
			assert.Equal(t, 7, v)
		})
	}
	select {
	case <-f.Done():
		t.Error("done before the reply")
	default:
	}
	require.NoError(t, (<-requests).Reply(7))
	wg.Wait()
	<-f.Done()
	for range styles {
		assert.Equal(t, 7, nodetest.Expect[int](h))
	}
	v, err := node.Await(context.Background(), n, f)
	require.NoError(t, err)
	assert.Equal(t, 7, v)
	assert.False(t, f.Cancel())
}

func TestFuturesDone(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid, requests := keeper(t, n)
	ints, texts := node.Async[int](n, pid, ""), node.Async[string](n, pid, "")
	none := node.Async[string](n, node.Atom("nobody"), "")
	select {
	case <-ints.Done():
		t.Error("nobody has replied")
	case <-texts.Done():
		t.Error("nobody has replied")
	case <-none.Done(): // waiting for some of them abandons none of them
	}
	require.NoError(t, (<-requests).Reply(1), "they are still awaited")
	go func() { (<-requests).Reply("x") }()
	<-ints.Done()
	<-texts.Done()
	v, err := node.Await(context.Background(), n, texts)
	require.NoError(t, err)
	assert.Equal(t, "x", v)
	_, err = node.Await(context.Background(), n, none)
	assert.ErrorIs(t, err, node.ErrNoName)
}

func TestFutureGivenUp(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid, requests := keeper(t, n)
	f := node.Async[int](n, pid, "")
	assert.True(t, f.Cancel())
	assert.False(t, f.Cancel())
	_, err := node.Await(context.Background(), n, f)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, (<-requests).Reply(1), node.ErrReplied)

	// An Await that ends abandons the future for everybody.
	f = node.Async[int](n, pid, "")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errWhy)
	_, err = node.Await(ctx, n, f)
	assert.ErrorIs(t, err, errWhy)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = node.Await(context.Background(), n, f)
	assert.ErrorIs(t, err, errWhy)
	assert.ErrorIs(t, (<-requests).Reply(1), node.ErrReplied)
	assert.Equal(t, uint64(2), n.Stats().DeadLetters[deadletter.LateReply])
}

func TestSendTo(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	pid, requests := keeper(t, n)
	f := node.Async[int](h, pid, "")
	f.SendTo(h.Self(), "a")
	f.SendTo(h.Self(), "b")
	h.ExpectNone()
	require.NoError(t, (<-requests).Reply(5))
	assert.Equal(t, node.Result{Tag: "a", Value: 5}, nodetest.Expect[node.Result](h))
	assert.Equal(t, node.Result{Tag: "b", Value: 5}, nodetest.Expect[node.Result](h))
	f.SendTo(h.Self(), "c")
	assert.Equal(t, node.Result{Tag: "c", Value: 5}, nodetest.Expect[node.Result](h), "completed already")

	node.Async[int](h, node.Atom("nobody"), "").SendTo(h.Self(), 1)
	assert.ErrorIs(t, nodetest.Expect[node.Result](h).Err, node.ErrNoName)

	f = node.Async[int](h, pid, "")
	f.SendTo(h.Self(), 2)
	require.NoError(t, (<-requests).Reply("text"))
	r := nodetest.Expect[node.Result](h)
	assert.ErrorIs(t, r.Err, node.ErrReplyType)
	assert.Nil(t, r.Value)

	f = node.Async[int](h, pid, "")
	f.SendTo(h.Self(), 3)
	<-requests
	n.Exit(pid, "gone")
	assert.Equal(t, node.Result{Tag: 3, Err: &node.ExitError{Reason: "gone"}}, nodetest.Expect[node.Result](h))
	assert.Empty(t, n.Stats().DeadLetters[deadletter.LateReply])

	// To a dead process: a dead letter.
	dead := n.DeadLetters(1)
	defer dead.Close()
	f.SendTo(pid, 4)
	l := <-dead.C
	assert.Equal(t, deadletter.NoProcess, l.Cause)
	assert.Equal(t, pid, l.To)
}

// A coroutine whose bounded mailbox is full makes a call: what wakes it must not need room there.
func TestCoroutineWithAFullMailbox(t *testing.T) {
	actortest.EachBlocking(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		pid, requests := keeper(t, n)
		s.Options.Bounds.Messages = 2
		done := make(chan struct{})
		caller, err := n.SpawnOpt(s.Options, node.ProcessFunc(func(p *node.Process) error {
			v, err := node.Call[int](context.Background(), p, pid, "")
			assert.NoError(t, err)
			assert.Equal(t, 1, v)
			_, err = node.ReceiveOfWithin[string](p, time.Millisecond)
			assert.ErrorIs(t, err, node.ErrTimeout)
			assert.Equal(t, []any{1, 2}, actortest.Rest(p))
			close(done)
			return nil
		}))
		require.NoError(t, err)
		r := <-requests
		require.NoError(t, n.Send(caller, 1))
		require.NoError(t, n.Send(caller, 2))
		require.NoError(t, r.Reply(1))
		testkit.Receive(t, done)
		assert.Empty(t, n.Stats().DeadLetters)
	})
}
