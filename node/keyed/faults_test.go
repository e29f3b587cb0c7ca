package keyed_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/nodetest"
)

// selfish answers calls with its PID, as a function.
func selfish() node.Actor {
	return node.ProcessFunc(func(p *node.Process) error {
		for {
			if r, ok := p.Node().AsRequest(p.Receive()); ok {
				p.Reply(r.From, p.Self())
			}
		}
	})
}

// A function ends for idleness and is started again, whether it runs as a coroutine or on a goroutine.
func TestFunctions(t *testing.T) {
	for _, coroutine := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			g, err := keyed.Start(t.Context(), n, keyed.Kind[string]{Name: "g", Idle: time.Minute,
				Options: node.Options{Coroutine: coroutine}, New: func(string) (node.Actor, error) { return selfish(), nil }})
			require.NoError(t, err)
			first, err := keyed.Call[node.PID](t.Context(), n, g, "k", 1)
			require.NoError(t, err)
			time.Sleep(2 * time.Minute)
			require.Zero(t, g.Stats().Processes)
			second, err := keyed.Call[node.PID](t.Context(), n, g, "k", 1)
			require.NoError(t, err)
			require.NotEqual(t, first, second)
		})
	}
}

// What the group's process starts has its entry, also when the group's process hands down a token.
func TestToken(t *testing.T) {
	n := nodetest.Start(t, node.Config{Isolation: isolation.Config{Check: true, Report: func(isolation.Change) {}}})
	g, err := keyed.Start(t.Context(), n, keyed.Kind[string]{Name: "g",
		New: func(string) (node.Actor, error) { return selfish(), nil }})
	require.NoError(t, err)
	require.NoError(t, n.Send(node.Atom("g"), []byte{1}))
	for range 3 {
		_, err = keyed.Call[node.PID](t.Context(), n, g, "k", 1)
		require.NoError(t, err)
	}
}

// The timer of an entry that is gone does nothing to the next entry of its key.
func TestLateTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{})
		hold, fails := make(chan struct{}), true
		g, err := keyed.Start(t.Context(), n, keyed.Kind[string]{Name: "g", Backoff: time.Second,
			New: func(key string) (node.Actor, error) {
				switch {
				case key == "hold":
					<-hold
				case fails:
					return nil, errors.New("not yet")
				}
				return selfish(), nil
			}})
		require.NoError(t, err)
		_, err = keyed.Call[node.PID](t.Context(), n, g, "k", 1)
		require.ErrorContains(t, err, "not yet")
		fails = false
		go keyed.Call[node.PID](t.Context(), n, g, "hold", 1) // from now on messages wait
		synctest.Wait()
		ended, called := make(chan error, 1), make(chan node.PID, 1)
		go func() { ended <- g.End(t.Context(), n, "k") }()
		synctest.Wait()
		go func() {
			pid, _ := keyed.Call[node.PID](t.Context(), n, g, "k", 1)
			called <- pid
		}()
		time.Sleep(time.Minute) // the timer of the entry fires
		close(hold)
		require.NoError(t, <-ended)
		first := <-called
		require.False(t, first.IsZero())
		synctest.Wait()
		pid, ok := g.Lookup("k")
		require.True(t, ok)
		require.Equal(t, first, pid)
		second, err := keyed.Call[node.PID](t.Context(), n, g, "k", 1)
		require.NoError(t, err)
		require.Equal(t, first, second)
		require.Equal(t, 2, g.Stats().Processes)
	})
}

// A stop of the node does not wait for functions that end at once.
func TestStopOfNode(t *testing.T) {
	for range 20 {
		n, err := node.Start(node.Config{StopTimeout: 5 * time.Minute})
		require.NoError(t, err)
		g, err := keyed.Start(t.Context(), n, keyed.Kind[int]{Name: "g",
			New: func(int) (node.Actor, error) { return selfish(), nil }})
		require.NoError(t, err)
		for key := range 20 {
			require.NoError(t, keyed.Send(t.Context(), n, g, key, 1))
		}
		require.NoError(t, n.Stop())
	}
}

// A group that waits for the code of its processes, because its parent has ended, sees the stop of the node.
func TestStopOfNodeWhileEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(node.Config{})
		require.NoError(t, err)
		started, release := make(chan bool), make(chan bool)
		blocks := node.ActorFunc(func(c *node.Context, _ any) error {
			c.Blocking(func() { close(started); <-release })
			return nil
		})
		g, err := keyed.Start(t.Context(), n, keyed.Kind[int]{Name: "g", New: func(int) (node.Actor, error) { return blocks, nil }})
		require.NoError(t, err)
		require.NoError(t, keyed.Send(t.Context(), n, g, 1, "block"))
		<-started
		n.Exit(node.Atom("g"), node.Shutdown)
		synctest.Wait()
		close(release)
		synctest.Wait()
		began := time.Now()
		require.NoError(t, n.Stop())
		require.Less(t, time.Since(began), time.Second)
	})
}

// The error of a start that says that another name is free is no reason to start again, and what never ran is not restarted.
func TestStartFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{})
		calls := 0
		g, err := keyed.Start(t.Context(), n, keyed.Kind[string]{Name: "g", Restart: true,
			New: func(string) (node.Actor, error) {
				calls++
				_, err := node.Call[int](t.Context(), n, node.Atom("db"), 1)
				return nil, err
			}})
		require.NoError(t, err)
		_, err = keyed.Call[node.PID](t.Context(), n, g, "k", 1)
		require.ErrorIs(t, err, node.ErrNoName)
		time.Sleep(time.Hour)
		require.Equal(t, 1, calls)
	})
}

// A panic of Via is that of a start.
func TestViaPanics(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	g, err := keyed.Start(t.Context(), n, keyed.Kind[string]{Name: "g",
		Options: node.Options{Via: func(node.Actor) node.Actor { panic("no way") }},
		New:     func(string) (node.Actor, error) { return selfish(), nil }})
	require.NoError(t, err)
	for range 2 {
		_, err = keyed.Call[node.PID](t.Context(), n, g, "k", 1)
		require.ErrorContains(t, err, "no way")
	}
}
