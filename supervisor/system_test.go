package supervisor_test

import (
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// An exit signal without a known sender counts as the parent's, a stranger's does not.
func TestSignals(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		sup := s.start(supervisor.Spec{Children: []supervisor.Child{{ID: atomA, Start: echo}}})
		_, err := s.n.Spawn(node.ProcessFunc(func(p *node.Process) error {
			p.Exit(sup, node.Shutdown)
			return nil
		}))
		require.NoError(s, err)
		synctest.Wait()
		assert.True(s, s.n.IsAlive(sup))
		s.n.Exit(sup, atomB)
		assert.Equal(s, node.Exited{From: sup, Reason: atomB}, s.self.Receive())
		assert.Equal(s, 1, s.n.Stats().Processes)
	})
}

// Node.Stop ends trees from above, in order, and waits for children that need time.
func TestNodeStop(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		var ended []any
		start := func(id any) func(...any) (node.Actor, error) {
			return func(...any) (node.Actor, error) {
				return startFuncs{
					func(c *node.Context) error { c.TrapExit(true); return nil },
					func(c *node.Context, m any) error {
						if e, ok := m.(node.Exited); ok && e.From == c.Parent() {
							ended = append(ended, id)
							return node.ExitWith(e.Reason)
						}
						return nil
					}}, nil
			}
		}
		_, err := supervisor.Start(background, s.n, supervisor.Spec{Children: []supervisor.Child{
			{ID: 1, Start: start(1)}, {ID: 2, Start: start(2)}, {ID: 3, Start: start(3)},
		}}, node.Options{})
		require.NoError(s, err)
		s.self.Close(nil)
		began := time.Now()
		require.NoError(s, s.n.Stop())
		assert.Less(s, time.Since(began), time.Second)
		assert.Equal(s, []any{3, 2, 1}, ended)
	})
}

// A node that ends accepts no timers, and supervisors do not crash because of it.
func TestNodeStopWithBackoff(t *testing.T) {
	records := new(logtest.Records)
	inBubble(t, slog.New(records), func(s *oracleNode) {
		var kids []supervisor.Child
		for i := range 50 {
			kids = append(kids, supervisor.Child{ID: i, Start: echo, Backoff: supervisor.Backoff{Initial: time.Second}})
		}
		_, err := supervisor.Start(background, s.n, supervisor.Spec{Intensity: 1000, Children: kids}, node.Options{})
		require.NoError(s, err)
		began := time.Now()
		s.self.Close(nil)
		require.NoError(s, s.n.Stop())
		assert.Less(s, time.Since(began), time.Second)
		assert.Empty(s, records.Take("crash report"))
	})
}

// A suspended supervisor answers the requests of the meantime when it is resumed, in order.
func TestSuspend(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		sup := s.start(supervisor.Spec{Children: []supervisor.Child{{ID: atomA, Start: slow(2 * time.Second)},
			{ID: atomB, Start: echo}}})
		var mu sync.Mutex
		var done []any
		ask := func(what any, f func() error) {
			go func() {
				assert.NoError(s, f())
				mu.Lock()
				defer mu.Unlock()
				done = append(done, what)
			}()
			synctest.Wait()
		}
		pass := func(d time.Duration) []any {
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(done)
		}
		which := func() error { _, err := supervisor.WhichChildren(background, s.n, sup); return err }
		ask("terminate", func() error { return supervisor.TerminateChild(background, s.n, sup, atomA) })
		ask("suspend", func() error { return sys.Suspend(background, s.n, sup) }) // while the child waits
		ask("which", which)
		ask("state", func() error { _, err := sys.GetState(background, s.n, sup); return err })
		assert.Empty(s, pass(0))
		assert.ElementsMatch(s, []any{"terminate", "suspend", "state"}, pass(5*time.Second))
		s.n.Send(sup, "nonsense")
		ask("count", func() error { _, err := supervisor.CountChildren(background, s.n, sup); return err })
		ask("status", func() error { _, err := sys.GetStatus(background, s.n, sup); return err })
		assert.Len(s, pass(time.Hour), 4)
		ask("resume", func() error { return sys.Resume(background, s.n, sup) })
		assert.ElementsMatch(s, []any{"terminate", "suspend", "state", "status", "resume", "which", "count"}, pass(0))
		s.end(sup)
	})
}

// Requests that arrived while it waited and while it was suspended are answered in the order of arrival.
func TestSuspendOrder(t *testing.T) {
	for _, more := range []bool{false, true} {
		inBubble(t, nil, func(s *oracleNode) {
			sup := s.start(supervisor.Spec{Children: []supervisor.Child{{ID: atomA, Start: slow(2 * time.Second)}}})
			var refs []any
			ask := func(what any) {
				refs = append(refs, s.n.MakeRef())
				require.NoError(s, s.self.Send(sup, tuple(wire.Atom("$gen_call"), tuple(s.self.Self(), refs[len(refs)-1]), what)))
			}
			ask(tuple(wire.Atom("terminate_child"), atomA))
			go func() { assert.NoError(s, sys.Suspend(background, s.n, sup)) }()
			synctest.Wait()
			ask(wire.Atom("which_children"))
			time.Sleep(3 * time.Second)
			if more {
				ask(wire.Atom("count_children"))
			}
			require.NoError(s, sys.Resume(background, s.n, sup))
			for _, ref := range refs {
				assert.Equal(s, ref, s.self.Receive().(wire.Tuple)[0])
			}
			s.end(sup)
		})
	}
}

// A supervisor that is suspended and resumed while it waits goes on.
func TestSuspendAndResume(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		sup := s.start(supervisor.Spec{Children: []supervisor.Child{{ID: atomA, Start: slow(2 * time.Second)}}})
		go func() { assert.NoError(s, supervisor.TerminateChild(background, s.n, sup, atomA)) }()
		synctest.Wait()
		for _, what := range []string{"suspend", "which", "resume"} {
			go func() {
				var err error
				switch what {
				case "suspend":
					err = sys.Suspend(background, s.n, sup)
				case "which":
					_, err = supervisor.WhichChildren(background, s.n, sup)
				case "resume":
					err = sys.Resume(background, s.n, sup)
				}
				assert.NoError(s, err)
			}()
			synctest.Wait()
		}
		time.Sleep(3 * time.Second)
		assert.Len(s, s.infos(sup), 1)
		s.end(sup)
	})
}

// A suspended supervisor still ends, with its children.
func TestEndWhileSuspended(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		spec := supervisor.Spec{Children: []supervisor.Child{{ID: atomA, Start: slow(2 * time.Second)}, {ID: atomB, Start: echo}}}
		sup := s.start(spec)
		require.NoError(s, sys.Suspend(background, s.n, sup))
		assert.Equal(s, 2*time.Second, s.end(sup))

		sup = s.start(spec) // told to end before it is suspended
		go func() { assert.NoError(s, supervisor.TerminateChild(background, s.n, sup, atomA)) }()
		synctest.Wait()
		go func() { assert.NoError(s, sys.Suspend(background, s.n, sup)) }()
		synctest.Wait()
		assert.Equal(s, 2*time.Second, s.end(sup))

		sup = s.start(spec)
		require.NoError(s, sys.Suspend(background, s.n, sup))
		require.NoError(s, sys.Stop(background, s.n, sup, atomB))
		assert.Equal(s, node.Exited{From: sup, Reason: atomB}, s.self.Receive())
		assert.Equal(s, 1, s.n.Stats().Processes)
	})
}

// The answers to get_state and get_status have the shape of OTP's.
func TestStateOf(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		sup, err := supervisor.Start(background, s.self,
			supervisor.Spec{Strategy: supervisor.RestForOne, Intensity: 3, Period: 7 * time.Second,
				Children: []supervisor.Child{{ID: atomA, Start: echo}, {ID: atomB, Start: echo}}}, node.Options{Link: true, Name: "boss"})
		require.NoError(s, err)
		for range 2 {
			state, err := sys.GetState(background, s.n, sup)
			require.NoError(s, err)
			assert.Equal(s, "{state,{local,boss},rest_for_one,{[b,a],#{}},undefined,3,7,0,0,never,supervisor,[]}", text(state))
			status, err := sys.GetStatus(background, s.n, sup)
			require.NoError(s, err)
			assert.Contains(s, text(status), "{state,{local,boss},rest_for_one")
			require.NoError(s, sys.Suspend(background, s.n, sup)) // then the same once more
		}
		require.NoError(s, sys.Resume(background, s.n, sup))
		s.end(sup)
	})
}

// Answers to Erlang that scripts do not show in full.
func TestTerms(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		ask := func(sup node.PID, request string) string {
			term, err := wire.Parse(request)
			require.NoError(s, err)
			ref := s.n.MakeRef()
			require.NoError(s, s.self.Send(sup, tuple(wire.Atom("$gen_call"), tuple(s.self.Self(), ref), term)))
			return text(s.self.Receive().(wire.Tuple)[1])
		}
		fails := func([]any) (node.Actor, error) { return nil, node.ExitWith(atomB) }
		require.NoError(s, rpc.ExportBehaviour(s.n, wire.Export{Module: "m", Function: "f", Arity: 1}, fails))
		require.NoError(s, rpc.ExportBehaviour(s.n, wire.Export{Module: "m", Function: "f", Arity: 2}, fails))
		sup := s.start(supervisor.Spec{})
		assert.Equal(s, "{error,{b,{child,undefined,a,{m,f,[1]},permanent,false,5000,worker,[m]}}}",
			ask(sup, "{start_child,#{id=>a,start=>{m,f,[1]}}}"))
		assert.Equal(s, "{error,{b,{child,undefined,a,{m,f,[1]},temporary,false,infinity,supervisor,dynamic}}}",
			ask(sup, "{start_child,{a,{m,f,[1]},temporary,infinity,supervisor,dynamic}}"))
		assert.Equal(s, "{error,{bad_combination,[{auto_shutdown,never},{significant,true}]}}",
			ask(sup, "{start_child,#{id=>a,start=>{m,f,[1]},significant=>true,type=>boss}}"), "the first fault, as OTP looks for them")
		s.end(sup)
		sup = s.start(supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Children: []supervisor.Child{
			{ID: atomA, Named: supervisor.Named{Module: "m", Function: "f", Args: []any{1}}}}})
		assert.Equal(s, "{error,b}", ask(sup, "{start_child,[2]}"))
		assert.Equal(s, "{ok,#{id => a,modules => [m],restart => permanent,shutdown => 5000,significant => false,start => "+
			"{m,f,[1]},type => worker}}",
			ask(sup, "{get_childspec,a}"))
		assert.Equal(s, "{error,{badarg,x}}", ask(sup, "{start_child,x}"))
		s.end(sup)
	})
}
