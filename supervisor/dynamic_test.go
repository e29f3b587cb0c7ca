package supervisor_test

import (
	"errors"
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
			Job: func(body any, _ *supervisor.Done) *supervisor.Child {
				d, ok := body.(time.Duration)
				if !ok {
					return nil
				}
				return &supervisor.Child{Shutdown: d, Restart: supervisor.Temporary,
					Start: func(...any) (node.Actor, error) { return stubborn, nil }}
			},
			Task: func(any, *supervisor.Done) *supervisor.Child { return nil },
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

// A child that is done is a child until its process ends, as in Elixir, but does not count toward Max; once, whenever and
// however often it says so.
func TestDynamicDone(t *testing.T) {
	errFull := errors.New("full")
	inBubble(t, nil, func(s *oracleNode) {
		var last *supervisor.Done
		sup, err := s.n.Spawn(supervisor.NewDynamic(process.Key{}, supervisor.Spec{}, supervisor.Dynamic{Max: 1, Full: errFull,
			Job: func(body any, done *supervisor.Done) *supervisor.Child {
				if body != "job" {
					return nil
				}
				last = done
				return &supervisor.Child{Restart: supervisor.Temporary, Start: func(...any) (node.Actor, error) {
					return node.ProcessFunc(func(p *node.Process) error {
						r, _ := p.Node().AsRequest(p.Receive())
						r.Reply(p.Self())
						p.Receive()
						return nil
					}), nil
				}}
			},
			Task: func(any, *supervisor.Done) *supervisor.Child { return nil },
		}))
		require.NoError(s, err)
		start := func() (node.PID, *supervisor.Done) {
			pid, err := node.Call[node.PID](background, s.n, sup, "job")
			require.NoError(s, err)
			return pid, last
		}
		check := func(children ...node.PID) { // the last started first; there is no space for one more
			_, err := node.Call[node.PID](background, s.n, sup, "job")
			require.ErrorIs(s, err, errFull)
			all, err := supervisor.WhichChildren(background, s.n, sup)
			require.NoError(s, err)
			var pids []node.PID
			for _, k := range all {
				pids = append(pids, k.PID)
			}
			require.Equal(s, children, pids)
			c, err := supervisor.CountChildren(background, s.n, sup)
			require.NoError(s, err)
			require.Equal(s, supervisor.Counts{Specs: len(children), Active: len(children), Workers: len(children)}, c)
			for _, k := range children { // the Done goes nowhere with the description
				_, err := supervisor.ChildSpec(background, s.n, sup, k)
				require.NoError(s, err)
			}
		}
		first, done1 := start()
		check(first)
		done1.Tell()
		done1.Tell()
		second, done2 := start()
		check(second, first)
		done2.Tell()
		third, _ := start()
		check(third, second, first)
		require.NoError(s, s.n.Send(second, "end"))
		synctest.Wait()
		check(third, first)
		done2.Tell() // too late
		check(third, first)
		s.n.Exit(third, node.Kill)
		synctest.Wait()
		fourth, done4 := start()
		check(fourth, first)
		done4.Tell()
		require.NoError(s, supervisor.TerminateChild(background, s.n, sup, fourth))
		fifth, _ := start()
		check(fifth, first)
	})
}
