package supervisor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
)

// A Dynamic stops its children at once, and gives each the time of its own Shutdown.
func TestDynamicStop(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		stubborn := node.ProcessFunc(func(p *node.Process) error {
			p.TrapExit(true)
			r, _ := p.Node().AsRequest(p.Receive())
			r.Reply(p.Self())
			for {
				p.Receive()
			}
		})
		sup, err := s.n.Spawn(supervisor.NewDynamic(process.Key{}, supervisor.Spec{}, supervisor.Dynamic{
			Job: func(body any) *supervisor.Child {
				d, ok := body.(time.Duration)
				if !ok {
					return nil
				}
				return &supervisor.Child{Shutdown: d, Restart: supervisor.Temporary,
					Start: func(...any) (node.Actor, error) { return stubborn, nil }}
			},
			Task: func(any) *supervisor.Child { return nil },
		}))
		require.NoError(s, err)
		begin := time.Now()
		ends := make(chan time.Duration, 1)
		want := []time.Duration{supervisor.BrutalKill, time.Second, time.Second, 3 * time.Second, 2 * time.Second}
		for _, d := range want {
			pid, err := node.Call[node.PID](background, s.n, sup, d)
			require.NoError(s, err)
			go func() {
				_, err := node.AwaitExit(background, s.n, pid)
				require.NoError(s, err)
				ends <- time.Since(begin) - max(0, d)
			}()
		}
		synctest.Wait()
		s.n.Exit(sup, node.Shutdown)
		for range want {
			require.Zero(s, <-ends)
		}
		_, err = node.AwaitExit(background, s.n, sup)
		require.NoError(s, err)
		require.Equal(s, 3*time.Second, time.Since(begin))
	})
}
