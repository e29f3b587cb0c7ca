package node

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A receive for a type does not look again at what the previous one has left, unless that one was for another type, or
// a receive in between has looked from the start.
func TestReceiveOfDoesNotScanAgain(t *testing.T) {
	for _, o := range []Options{{}, {Coroutine: true}} {
		n, err := Start(Config{})
		require.NoError(t, err)
		defer n.Stop()
		done := make(chan []int, 1)
		_, err = n.SpawnOpt(o, ProcessFunc(func(p *Process) error {
			const waiting = 100
			for range waiting {
				p.Send(p.Self(), "left")
			}
			var counts []int
			count := func(kind any) {
				p.Send(p.Self(), 1)
				asked := 0
				p.own.ReceiveKind(func(m any) bool { asked++; return m == 1 }, kind)
				counts = append(counts, asked)
			}
			count((*int)(nil))
			count((*int)(nil))
			p.Send(p.Self(), "left, too")
			count((*int)(nil))
			count((*int)(nil))
			count((*any)(nil))
			p.ReceiveWithin(0, func(any) bool { return false })
			count((*any)(nil))
			count((*any)(nil))
			p.Receive()
			count((*any)(nil))
			p.Mark()(0, nil)
			count((*any)(nil))
			done <- counts
			return nil
		}))
		require.NoError(t, err)
		const all = 102
		require.Equal(t, []int{101, 1, 2, 1, all, all, 1, all - 1, all - 1}, <-done)
	}
}
