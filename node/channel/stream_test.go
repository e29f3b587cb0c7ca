package channel_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/channel"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/nodetest"
)

// A loop takes the messages of its type in order, leaves the others, and ends with its context or when its body breaks
// out. It leaves nothing of its own in the mailbox.
func TestMessages(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	send := func(messages ...any) {
		for _, m := range messages {
			require.NoError(t, n.Send(h.Self(), m))
		}
	}
	send(1, "a", 2, "b", 3)
	var got []int
	for m := range channel.Messages[int](t.Context(), h.Process) {
		if got = append(got, m); m == 3 {
			break
		}
	}
	require.Equal(t, []int{1, 2, 3}, got)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var texts []any
	for m := range channel.Messages[any](ctx, h.Process) {
		if texts = append(texts, m); m == "b" {
			cancel()
		}
	}
	require.Equal(t, []any{"a", "b"}, texts)
	for range channel.Messages[any](ctx, h.Process) {
		t.Error("its context has ended")
	}

	for range 1000 { // the loop is left while its context ends
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		send(1)
		for range channel.Messages[int](ctx, h.Process) {
			go cancel()
			break
		}
		<-ctx.Done()
	}
	m, err := h.ReceiveWithin(0, nil)
	require.ErrorIs(t, err, node.ErrTimeout, "%v", m)

	// The loop waits, and its context ends, or its handle is killed.
	for _, end := range []func(cancel func()){func(cancel func()) { cancel() }, func(func()) { n.Exit(h.Self(), node.Kill) }} {
		ctx, cancel := context.WithCancel(t.Context())
		send(1)
		for range channel.Messages[int](ctx, h.Process) {
			go end(cancel)
		}
		cancel()
	}
}

// A process that iterates is unwound when it is killed.
func TestMessagesOfProcess(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	unwound := make(chan bool)
	pid, err := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		defer close(unwound)
		for m := range channel.Messages[int](context.Background(), p) {
			if err := p.Send(h.Self(), m); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, err)
	require.NoError(t, n.Send(pid, 7))
	require.Equal(t, 7, nodetest.Expect[int](h))
	n.Exit(pid, node.Kill)
	testkit.Receive(t, unwound)
}

// A select takes messages of one type from a handle, beside other channels. Messages that nobody reads stay in the
// mailbox.
func TestReceive(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	messages, stop := channel.Of[int](t.Context(), h.Process)
	other := make(chan string, 1)
	select {
	case m := <-messages:
		t.Errorf("nobody has sent %v", m)
	case other <- "there is none":
	}
	gone, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return node.ErrStop }))
	require.NoError(t, err)
	ref := h.Monitor(gone)
	for i := range 10 {
		require.NoError(t, node.Send(n, h.Self(), i))
		require.NoError(t, node.Send(n, h.Self(), fmt.Sprint(i)))
	}
	for i := range 5 {
		require.Equal(t, i, testkit.Receive(t, messages))
	}
	require.NoError(t, n.Send(gone, "end"))
	stop()
	stop()
	_, open := <-messages
	require.False(t, open)
	require.Equal(t, ref, h.ExpectDown(ref).Ref)
	for i := range 10 {
		require.Equal(t, fmt.Sprint(i), node.ReceiveOf[string](h.Process))
	}
	for i := 5; i < 10; i++ {
		require.Equal(t, i, node.ReceiveOf[int](h.Process))
	}
	m, err := h.ReceiveWithin(0, nil)
	require.ErrorIs(t, err, node.ErrTimeout, "%v", m)
}

// Whenever a reader stops, each message is read exactly once: from the channel, or by the handle afterwards, in order.
func TestReceiveLosesNothing(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	const all, each = 2000, 4
	sent := make(chan error, 1)
	go func() {
		for i := range all {
			if err := n.Send(h.Self(), i); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	next := 0
	for round := 0; next+each < all; round++ {
		ctx, cancel := context.WithCancel(t.Context())
		messages, stop := channel.Of[any](ctx, h.Process)
		end := stop
		if round%2 == 0 {
			end = cancel
		}
		for range each {
			require.Equal(t, next, testkit.Receive(t, messages))
			next++
		}
		go end()
		for m := range messages { // the channel may take some more
			require.Equal(t, next, m)
			next++
		}
		cancel()
		stop()
	}
	for ; next < all; next++ {
		require.Equal(t, next, nodetest.Expect[any](h))
	}
	require.NoError(t, <-sent)
	m, err := h.ReceiveWithin(0, nil)
	require.ErrorIs(t, err, node.ErrTimeout, "%v", m)
}

// The channel is closed when the handle is killed, whether or not somebody reads.
func TestReceiveKilled(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for _, waits := range []bool{false, true} {
		h := nodetest.NewProbe(t, n)
		messages, stop := channel.Of[int](t.Context(), h.Process)
		if waits {
			require.NoError(t, n.Send(h.Self(), 1))
			require.NoError(t, n.Send(h.Self(), 2))
			require.Equal(t, 1, testkit.Receive(t, messages))
		}
		n.Exit(h.Self(), node.Kill)
		for range messages {
			require.True(t, waits)
		}
		stop()
		require.IsType(t, node.Exited{}, h.Receive())
	}
}

// Loops and channels end on a node that copies messages, or that checks them for changes.
func TestIsolated(t *testing.T) {
	for _, cfg := range []isolation.Config{{Copy: true}, {Check: true}} {
		n := nodetest.Start(t, node.Config{Isolation: cfg})
		h := nodetest.NewProbe(t, n)
		messages, stop := channel.Of[[]int](t.Context(), h.Process)
		require.NoError(t, n.Send(h.Self(), []int{1}))
		require.Equal(t, []int{1}, testkit.Receive(t, messages))
		stop()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		require.NoError(t, n.Send(h.Self(), []int{2}))
		for m := range channel.Messages[[]int](ctx, h.Process) {
			require.Equal(t, []int{2}, m)
			cancel()
		}
		m, err := h.ReceiveWithin(0, nil)
		require.ErrorIs(t, err, node.ErrTimeout, "%v", m)
	}
}

// A channel gets the messages of its type that the process gets, and is closed at the end.
func TestChannel(t *testing.T) {
	log := &logtest.Text{}
	n := nodetest.Start(t, node.Config{Log: log.Logger()})
	for _, end := range []string{"context", "kill", "exit"} {
		t.Run(end, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pid, values, err := channel.Spawn[int](ctx, n, 2, node.Options{Name: "numbers"})
			require.NoError(t, err)
			require.NoError(t, n.Send(node.Atom("numbers"), "what?"))
			for i := range 100 {
				require.NoError(t, n.Send(pid, i))
			}
			for i := range 90 { // the process waits to put in another one
				require.Equal(t, i, testkit.Receive(t, values))
			}
			log.Await(t, "unexpected message")
			answer := node.Async[int](n, pid, "how many?")
			require.Equal(t, 90, testkit.Receive(t, values)) // there is space for the next one
			for i := range 9 {
				require.Equal(t, 91+i, testkit.Receive(t, values))
			}
			_, err = node.Await(testkit.Context(t), n, answer)
			require.ErrorIs(t, err, node.ErrUnhandled)
			for i := range 10 {
				require.NoError(t, n.Send(pid, 90+i))
			}
			switch end {
			case "context":
				cancel()
			case "kill":
				n.Exit(pid, node.Kill)
			default:
				n.Exit(pid, node.Atom("enough"))
			}
			next := 90
			for v := range values {
				require.Equal(t, next, v)
				next++
			}
			_, err = node.AwaitExit(testkit.Context(t), n, pid)
			require.NoError(t, err)
			require.False(t, n.IsAlive(pid))
		})
	}
	_, _, err := channel.Spawn[int](t.Context(), n, 0, node.Options{Name: "undefined"})
	require.ErrorIs(t, err, node.ErrArgument)
}

// Ahead computes only a limited number of values ahead, in a process that ends with the loop.
func TestAhead(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for _, bound := range []int{0, 1, 5} {
		computed := make(chan int, 1000)
		count := func(yield func(int) bool) {
			for i := range 100 {
				computed <- i
				if !yield(i) {
					return
				}
			}
		}
		var got []int
		for v, err := range channel.Ahead(n, bound, count) {
			require.NoError(t, err)
			got = append(got, v)
			require.LessOrEqual(t, len(computed), len(got)+max(bound, 1)+1)
		}
		require.Len(t, got, 100)
		require.True(t, slices.IsSorted(got))
		for range channel.Ahead(n, bound, count) {
			break
		}
		broken := func(yield func(int) bool) {
			yield(1)
			panic("no more")
		}
		var all []string
		for v, err := range channel.Ahead(n, bound, broken) {
			all = append(all, fmt.Sprint(v, err != nil))
			if err != nil {
				var exit *node.ExitError
				require.ErrorAs(t, err, &exit)
				require.ErrorContains(t, err, "no more")
			}
		}
		require.Equal(t, []string{"1 false", "0 true"}, all)
	}
	testkit.Until(t, func() string {
		for p := range n.Infos() {
			if p.Behaviour == "node.ProcessFunc" {
				return "a process is left: " + p.Code
			}
		}
		return ""
	})
	require.NoError(t, n.Stop())
	for _, err := range channel.Ahead(n, 1, func(func(int) bool) {}) {
		require.ErrorIs(t, err, node.ErrNodeStopped)
	}
}

// A loop looks once at a message that it leaves, however many other messages there are to take behind it.
func TestMatchingLooksOnce(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	const left, wanted = 500, 500
	looks := 0
	run := func(p *node.Process) {
		for i := range left + wanted {
			if err := p.Send(p.Self(), i); err != nil {
				t.Error(err)
			}
		}
		next := left
		for m := range channel.Matching[int](context.Background(), p, func(m any) bool { looks++; return m.(int) >= left }) {
			if m != next {
				t.Errorf("got %d, and not %d", m, next)
			}
			if next++; next == left+wanted {
				break
			}
		}
	}
	run(nodetest.NewProbe(t, n).Process)
	require.Equal(t, left+wanted, looks)
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		looks = 0
		ended := make(chan struct{})
		_, err := n.SpawnOpt(s.Options, node.ProcessFunc(func(p *node.Process) error {
			defer close(ended)
			run(p)
			return nil
		}))
		require.NoError(t, err)
		testkit.Receive(t, ended)
		require.Equal(t, left+wanted, looks)
	}, actortest.BlockingStyles()...)
}
