package limits

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// An operator gets in: one connection a second from elsewhere, and eight from the machine itself, whatever the others
// take.
func TestShedLetsSomeInEachSecond(t *testing.T) {
	for name, c := range map[string]struct {
		here bool
		most int
	}{"from elsewhere": {false, 1}, "from the machine": {true, 8}} {
		t.Run(name, func(t *testing.T) {
			var s Shed
			now := time.Unix(1000, 0)
			for range 3 * c.most {
				require.NoError(t, s.Room(now, c.here))
				require.NoError(t, s.Take(now, c.here))
			}
			require.False(t, s.Refuses())
			s.Set(true)
			for range 3 {
				for range 10 { // a connection that has proved nothing takes nothing
					require.NoError(t, s.Room(now, c.here))
				}
				for s.Take(now, !c.here) == nil { // the others do not count
				}
				for range c.most {
					require.NoError(t, s.Take(now, c.here))
				}
				for range 10 {
					require.ErrorIs(t, s.Room(now, c.here), ErrShort)
					require.ErrorIs(t, s.Take(now, c.here), ErrShort)
				}
				now = now.Add(time.Second)
			}
			on, refused := s.State()
			require.True(t, on)
			require.EqualValues(t, 60+3, refused)
			require.True(t, s.Refuses())
		})
	}
}

// Of two protocols, 0 and 1, the second is a fallback once the peer is known to speak the first.
func TestMemory(t *testing.T) {
	var m ProtocolMemory
	_, ok := m.Dials("b@h", 1, 1)
	require.False(t, ok, "nothing better is known")
	f, ok := m.Dials("b@h", 1, 0)
	require.True(t, ok)
	require.Equal(t, Fallback{1, 0, true}, f)
	f, ok = m.Dials("b@h", 1, 1)
	require.True(t, ok, "it was announced before")
	require.False(t, f.New)
	require.False(t, m.HasBeenConnected("b@h"))
	_, ok = m.Connected("b@h", 1, 2)
	require.False(t, ok, "it has been warned of")
	require.True(t, m.HasBeenConnected("b@h"))
	_, ok = m.Connected("b@h", 0, 2)
	require.False(t, ok)
	f, ok = m.Connected("b@h", 1, 2)
	require.True(t, ok, "it was as it should be meanwhile")
	require.Equal(t, Fallback{1, 0, true}, f)

	_, ok = m.Connected("c@h", -1, 2)
	require.False(t, ok)
	_, ok = m.Connected("c@h", 1, 2)
	require.False(t, ok, "none of this node's is worse than all")
}

// A peer that connects under many names makes nothing grow.
func TestMemoryIsBounded(t *testing.T) {
	var m ProtocolMemory
	name := func(i int) wire.Atom { return wire.Atom(fmt.Sprint("n", i, "@h")) }
	for i := range 3*mostRemembered + 5 {
		m.Connected(name(i), 0, 2)
		m.Connected(name(i), 1, 2)
	}
	require.Len(t, m.of, mostRemembered)
	require.Len(t, m.names, mostRemembered)
	require.False(t, m.HasBeenConnected(name(2*mostRemembered+4)))
	require.True(t, m.HasBeenConnected(name(2*mostRemembered+5)))
	for _, n := range m.names {
		_, ok := m.of[n]
		require.True(t, ok, n)
	}
}
