package peers_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
)

// finder lists names, and says when they change.
type finder struct {
	discovery.Finder

	mu     sync.Mutex // guards what follows
	names  []wire.Atom
	notify func()
}

func (f *finder) List(ctx context.Context) ([]wire.Atom, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, bounded := ctx.Deadline()
	if !bounded {
		panic("a list without a deadline")
	}
	return slices.Clone(f.names), nil
}

func (f *finder) Watch(notify func()) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notify = notify
	return func() {}
}

// A node is connected soon after it is listed, and again when its connection has ended; the driver ends with its
// context.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &finder{}
		var mu sync.Mutex
		up := map[wire.Atom]bool{}
		is := func(name wire.Atom) bool {
			mu.Lock()
			defer mu.Unlock()
			return up[name]
		}
		n := peers.MeshNode{
			Finder: f, Timeout: time.Second, IsUp: is, Lost: make(peers.MeshNews, 1), Log: slog.New(slog.DiscardHandler),
			Connect: func(ctx context.Context, name wire.Atom) error {
				_, bounded := ctx.Deadline()
				require.True(t, bounded)
				mu.Lock()
				defer mu.Unlock()
				up[name] = true
				return nil
			},
			Go: func(f func()) { go f() }, Lock: new(sync.Mutex),
		}
		_, err := peers.MeshConfig{}.For(nil)
		require.ErrorContains(t, err, "Distribution.Mesh needs a Finder that can list nodes")
		_, err = peers.MeshConfig{Dials: -1}.For(f)
		require.ErrorContains(t, err, "Distribution.Mesh: the fields Interval, Dials, Backoff and Yield must not be negative")
		cfg, err := peers.MeshConfig{Interval: time.Hour}.For(f)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			peers.RunMesh(ctx, peers.NewMesher("a@h", cfg, func() float64 { return 0 }), n)
		}()
		synctest.Wait()
		require.False(t, is("b@h"))

		f.mu.Lock()
		f.names = []wire.Atom{"a@h", "b@h"}
		notify := f.notify
		f.mu.Unlock()
		notify()
		notify()                    // several notices before one is taken count as one
		time.Sleep(2 * time.Second) // of the bubble
		require.True(t, is("b@h"))
		require.False(t, is("a@h"), "a node does not connect to itself")

		mu.Lock()
		up["b@h"] = false
		mu.Unlock()
		n.Lost.Set()
		time.Sleep(10 * time.Second)
		require.True(t, is("b@h"))
		cancel()
		<-over
	})
}
