package epmdclient

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/epmdserver"

	"github.com/actornode/actornode/wire/epmd"
)

func TestTwoKeepers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memnet
		ctx := t.Context()
		c := newClient(t, m.config())
		one, err := c.Keep(ctx, Registration{Name: "one"})
		require.NoError(t, err)
		require.True(t, one.Serving(), "nobody answered")
		two, err := c.Keep(ctx, Registration{Name: "two"})
		require.NoError(t, err)
		require.False(t, two.Serving(), "one answers")
		_, err = c.Keep(ctx, Registration{Name: "two"})
		require.ErrorIs(t, err, epmd.ErrRefused)
		plain, err := c.Register(ctx, Registration{Name: "plain"}) // as an erl node registers
		require.NoError(t, err)
		creation := two.Creation()

		time.Sleep(time.Minute)
		one.Stop()
		one.Stop()
		synctest.Wait()
		require.True(t, two.Serving(), "takes over at once")
		require.Equal(t, epmd.Status{Registered: true, Creation: creation}, two.Status())
		require.Equal(t, lost, stateOf(plain.Status()))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		names, err := c.Names(ctx, "")
		require.NoError(t, err)
		require.Equal(t, []Entry{{"plain", 0}, {"two", 0}}, names)

		two.Stop()
		plain.Stop()
		require.Nil(t, m.l)
	})
}

// Two keepers see the port mapper die at once: one serves, and both are registered.
func TestKeepersRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memnet
		_, stop := m.serve(t, m.config())
		c := newClient(t, m.config())
		var all []*Keeper
		for _, n := range []string{"a", "b", "c", "d"} {
			k, err := c.Keep(t.Context(), Registration{Name: n})
			require.NoError(t, err)
			require.False(t, k.Serving())
			all = append(all, k)
		}
		time.Sleep(time.Minute)
		require.ErrorIs(t, stop(), epmdserver.ErrStopped)
		synctest.Wait()
		serving := 0
		for _, k := range all {
			require.Equal(t, registered, stateOf(k.Status()))
			if k.Serving() {
				serving++
			}
		}
		require.Equal(t, 1, serving)
		for _, k := range all {
			k.Stop()
		}
	})
}

// A keeper whose relaxed server is killed, or that is evicted over and over, does not spin.
func TestKeeperDoesNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memnet
		cfg := m.config()
		cfg.Relaxed = true
		c := newClient(t, cfg)
		k, err := c.Keep(t.Context(), Registration{Name: "k"})
		require.NoError(t, err)
		for range 5 {
			before := m.dialled()
			require.NoError(t, c.forget(t.Context(), "k"))
			synctest.Wait()
			require.Equal(t, before+1, m.dialled(), "no attempt but ours yet")
			time.Sleep(2 * time.Second)
			synctest.Wait()
			require.Equal(t, registered, stateOf(k.Status()))
		}
		require.NoError(t, c.kill(t.Context()))
		synctest.Wait()
		require.False(t, k.Serving())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.True(t, k.Serving())
		require.Equal(t, registered, stateOf(k.Status()))
		k.Stop()
	})
}

// A keeper starts even if the port mapper ends while it is asked, a few times in a row; one that never answers is an
// error.
func TestKeeperOutlivesAMapperThatEnds(t *testing.T) {
	for name, c := range map[string]struct {
		lost int
		ok   bool
	}{"once": {1, true}, "for two seconds": {10, true}, "always": {1000, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m memnet
				l, err := m.listen(t.Context(), "", "")
				require.NoError(t, err)
				go func() { // ended by the listener's end
					for range c.lost {
						conn, err := l.Accept()
						if err != nil {
							return
						}
						_, _ = conn.Read(make([]byte, 1))
						conn.Close()
					}
					l.Close()
				}()
				k, err := newClient(t, m.config()).Keep(t.Context(), Registration{Name: "new"})
				if !c.ok {
					require.Error(t, err)
					l.Close()
					return
				}
				require.NoError(t, err)
				require.True(t, k.Serving())
				k.Stop()
			})
		})
	}
}

// A keeper that fails to register leaves no server behind.
func TestKeepCleansUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memnet
		_, err := newClient(t, m.config()).Keep(t.Context(), Registration{Name: "k", Extra: make([]byte, epmdserver.MaxExtra+1)})
		require.ErrorIs(t, err, epmd.ErrRefused)
		require.Nil(t, m.l)
	})
}
