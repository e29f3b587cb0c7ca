package node_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// inFlight is how many of the counted messages are being handled: a Process is done with a message as soon as it has
// it, an Actor when its handler returns.
func inFlight(s actortest.Style) int {
	if s.Blocking {
		return 0
	}
	return 1
}

// Space for three, by number or by bytes; the fourth is one too many.
func TestBoundedMailbox(t *testing.T) {
	bounds := []struct {
		name string
		of   func(n int) mailbox.Bounds
	}{
		{"messages", func(n int) mailbox.Bounds { return mailbox.Bounds{Messages: n} }},
		{"bytes", func(n int) mailbox.Bounds {
			return mailbox.Bounds{Bytes: 10 * n, Size: func(any) int { return 10 }}
		}},
	}
	policies := []struct {
		policy mailbox.Policy
		err    error
		waits  bool
		got    []any
		lost   []any
	}{
		{mailbox.Refuse, node.ErrMailboxFull, false, []any{1, 2, 3}, []any{4}},
		{mailbox.Block, nil, true, []any{1, 2, 3, 4}, nil},
		{mailbox.DropNewest, nil, false, []any{1, 2, 3}, []any{4}},
		{mailbox.DropOldest, nil, false, []any{2, 3, 4}, []any{1}},
	}
	for _, b := range bounds {
		for _, p := range policies {
			for _, s := range styles[:3] {
				t.Run(b.name+"/"+p.policy.String()+"/"+s.Name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						n := nodetest.Start(t, node.Config{})
						stream := n.DeadLetters(10)
						release := make(chan struct{})
						var got []any
						limits := b.of(3 + inFlight(s))
						limits.Policy = p.policy
						var told, whose []any
						limits.Dropped = func(to node.PID, m any) { told, whose = append(told, m), append(whose, to) }
						pid := s.With(node.Options{Bounds: limits}).Spawn(t, n, func(_ actortest.Self, m any) error {
							if m == "gate" {
								<-release
								return nil
							}
							got = append(got, m)
							return nil
						})
						require.NoError(t, n.Send(pid, "gate"))
						synctest.Wait()
						for i := range 3 {
							require.NoError(t, n.Send(pid, i+1))
						}
						sent := make(chan error, 1)
						go func() { sent <- n.Send(pid, 4) }()
						synctest.Wait()
						assert.Equal(t, p.waits, len(sent) == 0, "the sender waits")
						i, err := n.Info(pid)
						require.NoError(t, err)
						assert.Equal(t, 3+inFlight(s), i.Mailbox)
						close(release)
						assert.Equal(t, p.err, <-sent)
						synctest.Wait()
						assert.Equal(t, p.got, got)

						var lost []any
						for range p.lost {
							l := <-stream.C
							assert.Equal(t, deadletter.MailboxFull, l.Cause)
							assert.Equal(t, pid, l.To)
							lost = append(lost, l.Message)
						}
						assert.Equal(t, p.lost, lost)
						assert.EqualValues(t, len(p.lost), n.Stats().DeadLetters[deadletter.MailboxFull])
						if p.err == nil {
							assert.Equal(t, p.lost, told, "Bounds.Dropped hears of it too")
							for _, to := range whose {
								assert.Equal(t, pid, to)
							}
						}
						// Handled messages leave room.
						for i := range 20 {
							require.NoError(t, n.Send(pid, i))
							synctest.Wait()
						}
						assert.Len(t, got, len(p.got)+20)
					})
				})
			}
		}
	}
}

// A sender that has to wait for room holds up nobody, not even a receiver on its own stage.
func TestBlockedSenderGivesUpItsStage(t *testing.T) {
	for _, from := range styles[:3] {
		for _, to := range styles[:3] {
			t.Run(from.Name+" to "+to.Name, func(t *testing.T) {
				n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1})
				got := make(chan any, 100)
				receiver := to.With(node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}}).Spawn(t, n,
					func(_ actortest.Self, m any) error {
						got <- m
						return nil
					})
				sender := from.Spawn(t, n, func(in actortest.Self, _ any) error {
					for i := range cap(got) {
						if err := in.Send(receiver, i); err != nil {
							return err
						}
					}
					return nil
				})
				require.NoError(t, n.Send(sender, "go"))
				for i := range cap(got) {
					require.Equal(t, i, testkit.Receive(t, got))
				}
				assert.Empty(t, n.Stats().DeadLetters)
			})
		}
	}
}

// A sender that waits for room is released when the receiver exits.
func TestBlockedSenderOutlivesReceiver(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, pid, release := fullMailbox(t, s)
			sent := make(chan error, 1)
			go func() { sent <- n.Send(pid, "late") }()
			synctest.Wait()
			require.Empty(t, sent)
			n.Exit(pid, node.Kill)
			assert.NoError(t, <-sent)
			assert.EqualValues(t, 1, n.Stats().DeadLetters[deadletter.NoProcess])
			close(release)
		})
	})
}

// fullMailbox returns a process of a style whose mailbox blocks its senders and is full.
func fullMailbox(t *testing.T, s actortest.Style) (n *node.Node, pid node.PID, release chan struct{}) {
	n, pid, release = gate(t, s, node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}})
	for range 1 + 1 - inFlight(s) {
		require.NoError(t, n.Send(pid, "gate"))
		synctest.Wait()
	}
	return n, pid, release
}

// A sender that is killed while it waits for room stops waiting.
func TestBlockedSenderIsKilled(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, to, release := fullMailbox(t, s)
			going, sent := make(chan struct{}), make(chan error, 1)
			sender := s.Spawn(t, n, func(in actortest.Self, _ any) error {
				close(going)
				sent <- in.Send(to, "late")
				return nil
			})
			require.NoError(t, n.Send(sender, "go"))
			<-going // perhaps not before the other's stage has been taken away
			synctest.Wait()
			require.Empty(t, sent)
			n.Exit(sender, node.Kill)
			assert.ErrorIs(t, <-sent, node.ErrExited)
			close(release)
		})
	})
}

// A call waits for room no longer than for its answer.
func TestCallOfFullMailboxEnds(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, pid, release := fullMailbox(t, s)
			start := time.Now()
			_, err := actortest.CallWithin[int](time.Second, n, pid, "late")
			assert.ErrorIs(t, err, node.ErrTimeout)
			assert.Equal(t, time.Second, time.Since(start))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			assert.ErrorIs(t, node.Deliver(ctx, n, pid, "late"), context.DeadlineExceeded)
			close(release)
		})
	})
}

func TestDeadLetterCauses(t *testing.T) {
	n := nodetest.Start(t, node.Config{Name: "here@host", Creation: 7})
	stream := n.DeadLetters(10)
	defer stream.Close()
	next := func(cause deadletter.Cause) deadletter.Letter {
		t.Helper()
		l := testkit.Receive(t, stream.C)
		assert.Equal(t, cause, l.Cause)
		assert.EqualValues(t, 1, n.Stats().DeadLetters[cause], cause.String())
		assert.WithinDuration(t, time.Now(), l.At, testkit.Limit)
		return l
	}
	pid := actortest.Actor.Spawn(t, n, actortest.Ignore)
	n.Exit(pid, node.Kill)
	require.NoError(t, n.Send(pid, "lost"))
	l := next(deadletter.NoProcess)
	assert.Equal(t, pid, l.To)
	assert.Equal(t, "lost", l.Message)

	old := wire.NewOrigin(wire.NodeID{Name: "here@host", Creation: 6}).PID(pid.Number())
	require.NoError(t, n.Send(old, "old"))
	assert.Equal(t, old, next(deadletter.OldIncarnation).To)

	far := wire.NewOrigin(wire.NodeID{Name: "there@host", Creation: 7}).PID(pid.Number())
	require.ErrorIs(t, n.Send(far, "far"), node.ErrNotHere)
	assert.Equal(t, far, next(deadletter.NotConnected).To)

	ref := n.MakeRef()
	require.NoError(t, n.Send(ref, "alias"))
	assert.Equal(t, ref, next(deadletter.NoAlias).Alias)

	froms := make(chan node.From, 1)
	slow := actortest.Actor.Spawn(t, n, func(_ actortest.Self, m any) error {
		froms <- m.(node.Request[string]).From
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := node.Call[string](ctx, n, slow, "question")
		failed <- err
	}()
	from := testkit.Receive(t, froms)
	assert.True(t, from.Pending())
	cancel()
	require.ErrorIs(t, testkit.Receive(t, failed), context.Canceled)
	assert.False(t, from.Pending())
	require.ErrorIs(t, from.Reply("answer"), node.ErrReplied)
	assert.Equal(t, "answer", next(deadletter.LateReply).Message)

	full := actortest.Actor.With(node.Options{Scheduler: &stepper{},
		Bounds: mailbox.Bounds{Messages: 1}}).Spawn(t, n, actortest.Ignore)
	require.NoError(t, n.Send(full, 1))
	require.ErrorIs(t, n.Send(full, 2), node.ErrMailboxFull)
	l = next(deadletter.MailboxFull)
	assert.Equal(t, full, l.To)
	assert.Equal(t, 2, l.Message)

	require.NoError(t, n.Stop())
	require.ErrorIs(t, n.Send(pid, "too late"), node.ErrNodeStopped)
	assert.EqualValues(t, 1, n.Stats().DeadLetters[deadletter.NodeStopped])
	_, open := <-stream.C
	assert.False(t, open, "the stream ends with the node")
	_, open = <-n.DeadLetters(1).C
	assert.False(t, open, "and so do those opened later")
}

// A message that reaches a stopping node is streamed as well.
func TestDeadLetterOfStoppingNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(node.Config{StopTimeout: time.Second})
		require.NoError(t, err)
		stream := n.DeadLetters(1)
		actortest.Process.Spawn(t, n, actortest.Ignore)
		stubborn := actortest.Process.Spawn(t, n, func(in actortest.Self, _ any) error {
			in.TrapExit(true)
			return nil
		})
		require.NoError(t, n.Send(stubborn, "trap"))
		gone := actortest.Actor.Spawn(t, n, actortest.Ignore)
		n.Exit(gone, node.Kill)
		synctest.Wait()
		stopped := make(chan error, 1)
		go func() { stopped <- n.Stop() }()
		time.Sleep(time.Millisecond) // in the bubble
		require.ErrorIs(t, n.Send(gone, "late"), node.ErrNodeStopped)
		assert.Equal(t, deadletter.NodeStopped, (<-stream.C).Cause)
		assert.NoError(t, <-stopped)
	})
}

func TestDeadLettersMissed(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	small, large := n.DeadLetters(2), n.DeadLetters(10)
	for i := range 5 {
		require.ErrorIs(t, n.Send(node.PID{}, i), node.ErrArgument)
	}
	assert.EqualValues(t, 3, small.Missed())
	assert.EqualValues(t, 0, large.Missed())
	assert.Len(t, small.C, 2)
	assert.Len(t, large.C, 5)
	assert.Equal(t, 0, (<-small.C).Message, "the oldest are kept")
	small.Close()
	small.Close()
	require.ErrorIs(t, n.Send(node.PID{}, "for one"), node.ErrArgument)
	assert.Len(t, large.C, 6)
	assert.EqualValues(t, 3, small.Missed())
	assert.EqualValues(t, 6, n.Stats().DeadLetters[deadletter.NoProcess])
}

func TestDeadLetterLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logtest.Records
		n := nodetest.Start(t, node.Config{Log: slog.New(&log)})
		lines := func() int { return len(log.With("dead letter")) }
		last := func() map[string]any { return log.With("dead letter")[lines()-1] }
		lose := func(times int) {
			for range times {
				require.ErrorIs(t, n.Send(node.PID{}, "lost"), node.ErrArgument)
			}
		}
		lose(10)
		require.Equal(t, 1, lines())
		assert.Equal(t, "no_process", last()["cause"])
		assert.Equal(t, "string of 4 bytes", last()["message_type"])
		assert.EqualValues(t, 0, last()["not_logged"])
		require.NoError(t, n.Send(n.MakeRef(), 1))
		require.Equal(t, 2, lines(), "each cause has its own line")
		assert.Equal(t, "no_alias", last()["cause"])
		time.Sleep(time.Second - 1) // in the bubble
		lose(1)
		require.Equal(t, 2, lines())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, 3, lines(), "what was held is logged without a further letter")
		assert.EqualValues(t, 9, last()["not_logged"])
		time.Sleep(time.Hour)
		require.ErrorIs(t, n.Send(node.Atom("nobody"), 1), node.ErrNoName)
		require.Equal(t, 4, lines())
		assert.EqualValues(t, 0, last()["not_logged"])
		assert.Equal(t, "nobody", last()["to"])
		lose(3)
		require.Equal(t, 4, lines())
		n.Stop()
		require.Equal(t, 5, lines(), "the node's end waits for no second")
		assert.EqualValues(t, 2, last()["not_logged"])
	})
}

// What wakes a coroutine is no message: a full mailbox must not keep it out, and it must not use up room.
func TestBoundedWaits(t *testing.T) {
	for _, s := range actortest.BlockingStyles() {
		t.Run(s.Name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			server := actortest.Actor.Spawn(t, n, parrot)
			results := make(chan error, 100)
			start := make(chan struct{})
			pid, err := n.SpawnOpt(s.With(node.Options{Bounds: mailbox.Bounds{Messages: 2}}).Options,
				node.ProcessFunc(func(p *node.Process) error {
					<-start // the mailbox is full
					_, err := p.ReceiveWithin(time.Millisecond, func(m any) bool { return m == "never" })
					results <- err
					_, err = actortest.CallWithin[int](testkit.Limit, p, server, 1)
					results <- err
					p.Receive()
					p.Receive()
					for range 5 {
						_, err = p.ReceiveWithin(time.Microsecond, nil)
						results <- err
					}
					i, err := n.Info(p.Self())
					if i.Mailbox != 0 {
						err = node.ErrMailboxFull
					}
					results <- err
					return nil
				}))
			require.NoError(t, err)
			for n.Send(pid, "fill") == nil {
			}
			close(start)
			assert.ErrorIs(t, testkit.Receive(t, results), node.ErrTimeout, "a timeout")
			assert.NoError(t, testkit.Receive(t, results), "a call")
			for range 5 {
				assert.ErrorIs(t, testkit.Receive(t, results), node.ErrTimeout, "timeouts take no room")
			}
			assert.NoError(t, testkit.Receive(t, results), "nothing left in the mailbox")
		})
	}
}
