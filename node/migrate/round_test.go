package migrate_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/node/nodetest"
)

// round makes a process move that many times round the nodes of c, beginning at the first, and returns where it is.
func round(t *testing.T, c *cluster, pid node.PID, moves int) (*node.Node, node.PID) {
	for k := range moves {
		pid = move(t, c.nodes[k%len(c.nodes)], pid, c.nodes[(k+1)%len(c.nodes)])
	}
	return c.nodes[moves%len(c.nodes)], pid
}

// A process moves 64 times round three nodes, while eight senders send 10,000 messages to its first PID: it gets each
// once, in the order of its sender.
func TestManyMovesAndMessages(t *testing.T) {
	const moves, senders, each = 64, 8, 1250
	c := newCluster(t)
	for _, name := range []string{"a", "b", "c"} {
		c.start(name)
	}
	pid := spawn(t, c.nodes[0], node.Options{})
	var all sync.WaitGroup
	want := make(map[string]int)
	for k := range senders {
		id := fmt.Sprint("sender ", k)
		want[id] = each
		self := nodetest.NewProbe(t, c.nodes[k%len(c.nodes)])
		all.Go(func() {
			for i := range each {
				assert.NoError(t, self.Send(pid, entry{id, i + 1}))
			}
		})
	}
	here, now := round(t, c, pid, moves)
	all.Wait()
	var l ledger
	testkit.Until(t, func() string {
		if l = ledgerOf(t, here, now); len(l.Last) < senders {
			return fmt.Sprint("too few senders: ", l.Last)
		}
		for id, n := range l.Last {
			if n != want[id] {
				return fmt.Sprint("too few messages: ", l.Last)
			}
		}
		return ""
	})
	require.Empty(t, l.Wrong)
	require.Equal(t, want, l.Last)
}

// Two callers move a process at the same time to different nodes: it goes to one of them, and the other caller gets an
// error.
func TestTwoMoveOne(t *testing.T) {
	r := testkit.Rand(t)
	c := newCluster(t)
	a, b, third := c.start("a"), c.start("b"), c.start("c")
	for range 20 {
		pid := spawn(t, a, node.Options{})
		require.NoError(t, a.Send(pid, entry{"x", 1}))
		type end struct {
			now node.PID
			err error
		}
		ends := make(chan end, 2)
		to := []*node.Node{b, third}
		if r.IntN(2) == 0 {
			to[1] = b
		}
		for _, n := range to {
			go func() { // ends with the move
				now, err := migrate.To(testkit.Context(t), a, pid, n.Name())
				ends <- end{now, err}
			}()
		}
		one, two := testkit.Receive(t, ends), testkit.Receive(t, ends)
		if one.err != nil {
			one, two = two, one
		}
		require.NoError(t, one.err)
		gone := (*migrate.MovedError)(nil)
		require.True(t, errors.Is(two.err, migrate.ErrMoving) || errors.As(two.err, &gone), "%v", two.err)
		if gone != nil {
			require.Equal(t, one.now, gone.To)
		}
		require.NoError(t, a.Send(pid, entry{"x", 2}))
		require.Equal(t, map[string]int{"x": 2}, ledgerOf(t, a, pid).Last)
	}
}

// A name that is taken on the other node between its answer and the commit: the move fails, and the process still has
// its name.
func TestNameTakenMeanwhile(t *testing.T) {
	c := newCluster(t)
	var taken node.PID
	c.step = func(x *node.Context, at string) {
		if at == "source commits" && taken.IsZero() {
			var err error
			taken, err = c.nodes[1].SpawnOpt(node.Options{Name: "counter"}, new(plain))
			assert.NoError(t, err)
		}
	}
	a, b := c.start("a"), c.start("b")
	pid := spawn(t, a, node.Options{Name: "counter"})
	require.NoError(t, a.Send(pid, entry{"x", 1}))
	_, err := migrate.To(testkit.Context(t), a, pid, b.Name())
	require.ErrorIs(t, err, migrate.ErrFailed)
	require.ErrorContains(t, err, "is the name of")
	require.NoError(t, a.Send(node.Atom("counter"), entry{"x", 2}))
	require.Equal(t, map[string]int{"x": 2}, ledgerOf(t, a, pid).Last)
	now, ok := b.Whereis("counter")
	require.True(t, ok)
	require.Equal(t, taken, now)
	b.Exit(taken, node.Kill)
	testkit.Until(t, func() string {
		if _, ok := b.Whereis("counter"); ok {
			return "the name is taken"
		}
		return ""
	})
	require.Equal(t, b.Name(), move(t, a, pid, b).Node(), "now it can")
}
