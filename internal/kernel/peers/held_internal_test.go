package peers

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
)

// Each step counts what a peer's tables hold, in whatever order frames come in, and the end of the connection gives it
// back.
func TestTablesCountWhatTheyHold(t *testing.T) {
	of := func(k limits.HeldKind) int64 {
		q := limits.NewQuota(limits.Limits{})
		q.NewHolder().Add(k, 1)
		return q.Held().Used()
	}
	link, monitor := of(limits.HeldLinks), of(limits.HeldMonitors)
	r := rand.New(rand.NewPCG(1, 2))
	q := limits.NewQuota(limits.Limits{})
	s := NewTables(limits.NewLimit("links", 1<<20), limits.NewLimit("monitors", 1<<20), q.NewHolder())
	id := uint64(0)
	for range 20_000 {
		n := uint64(r.IntN(20))
		m := &watcher{ref: there.RefOf(n)}
		switch r.IntN(11) {
		case 0:
			s.HandleLink(n, there.PID(n))
		case 1:
			s.HandleUnlink(n, there.PID(n))
		case 2:
			s.Link(n, here.PID(n), there.PID(n))
		case 3:
			s.Unlink(n, here.PID(n), there.PID(n), func() uint64 { id++; return id })
		case 4:
			s.HandleUnlinkAck(n, there.PID(n), uint64(r.IntN(int(id)+1)))
		case 5:
			s.Exit(n, here.PID(n), there.PID(n), "gone")
		case 6:
			s.HandleExit(n, there.PID(n))
		case 7, 8:
			s.HandleMonitor(m)
		case 9:
			s.HandleDemonitor(m.ref)
		case 10:
			if w := s.in[m.ref]; w != nil {
				s.Down(w)
			}
		}
		c := s.Counts()
		require.Equal(t, link*int64(c.Links)+monitor*int64(c.Watchers), q.Held().Used())
	}
	require.Positive(t, q.Held().Used())
	s.End()
	require.Zero(t, q.Held().Used())
}
