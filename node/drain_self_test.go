package node

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// An operator gets in: one connection a second.
func TestShedLetsOneInEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n Node
		for range 3 {
			require.NoError(t, n.lacksRoom())
			require.NoError(t, n.takeRoom())
		}
		n.Shed(true)
		for range 3 {
			for range 10 { // whoever has proved nothing takes nothing
				require.NoError(t, n.lacksRoom())
			}
			require.NoError(t, n.takeRoom())
			for range 10 {
				require.ErrorIs(t, n.lacksRoom(), errShedding)
				require.ErrorIs(t, n.takeRoom(), errShedding)
			}
			time.Sleep(time.Second)
		}
		_, refused := n.Shedding()
		require.EqualValues(t, 60, refused)
	})
}
