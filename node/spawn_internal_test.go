package node

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
)

// Anybody who knows a process before its spawn is over may send to it. If the spawn then fails, a function that has
// been run is unwound, and nothing lingers.
func TestCancelledSpawn(t *testing.T) {
	unwound := false
	function := ProcessFunc(func(s *Process) error {
		defer func() { unwound = true }()
		for {
			s.Receive()
		}
	})
	for name, c := range map[string]struct {
		b    Actor
		o    Options
		runs bool // before it is started
	}{
		"actor":     {ActorFunc(func(*Context, any) error { return nil }), Options{}, true},
		"coroutine": {function, Options{Coroutine: true}, true},
		"process":   {function, Options{}, false},
		"detached":  {ActorFunc(func(*Context, any) error { return nil }), Options{Place: Detached()}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, err := Start(Config{})
				require.NoError(t, err)
				unwound = false
				c.o.before = func(p *process.Process) {
					require.NoError(t, n.Send(p.PID(), "early"))
					synctest.Wait()
					assert.Equal(t, c.runs, p.Handled.Load() == 1)
					cancel(p, &n.sys.Plain, "cancelled")
				}
				pid, err := n.SpawnOpt(c.o, c.b)
				require.NoError(t, err)
				synctest.Wait()
				assert.False(t, n.IsAlive(pid))
				assert.Equal(t, c.o.Coroutine, unwound)
				assert.Zero(t, n.Stats().Lingering)
				assert.Zero(t, n.Stats().Processes)
				require.NoError(t, n.Stop())
			})
		})
	}
}
