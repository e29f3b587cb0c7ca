package admin_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// An operator sees which process waits for which: those that wait for more than a message come first.
func TestWaits(t *testing.T) {
	far, near := two(t, admin.Config{})
	silent := node.ActorFunc(func(*node.Context, any) error { return nil })
	bank := spawn(t, far, "bank", silent)
	_, err := near.SpawnOpt(node.Options{Name: "audit"}, silent)
	require.NoError(t, err)
	audit := node.At{Name: "audit", Node: near.Name()}
	caller := func(to node.Dest) node.PID {
		return spawn(t, far, "", node.ProcessFunc(func(p *node.Process) error {
			_, err := node.Call[int](context.Background(), p, to, 1)
			return err
		}))
	}
	one := caller(bank)
	waits := func(pid node.PID, want admin.Wait) {
		var d admin.Detail
		settles(t, func() bool {
			d, err = admin.Info(testkit.Context(t), near, far.Name(), pid)
			return err == nil && d.Wait.For == want.For
		})
		assert.LessOrEqual(t, d.Wait.Time, time.Minute)
		d.Wait.Time = 0
		assert.Equal(t, want, d.Wait)
	}
	waits(one, admin.Wait{For: "reply", PID: bank})
	two := caller(audit)
	waits(two, admin.Wait{For: "reply", Name: "audit", Node: near.Name()})
	settles(t, func() bool {
		l, err := admin.Processes(testkit.Context(t), near, far.Name(), admin.Query{Sort: "wait", Limit: 2})
		require.NoError(t, err)
		found := map[node.PID]bool{}
		for _, p := range l.Processes {
			found[p.PID] = true
		}
		return found[one] && found[two]
	})
}

// A node that does not know about waits reports none, and is understood.
func TestWaitOfOlderNode(t *testing.T) {
	term, err := etf.ToTerm(admin.Process{Name: "old", State: "idle"})
	require.NoError(t, err)
	assert.NotContains(t, wire.Format(term), "wait")
	var p admin.Process
	require.NoError(t, etf.FromTerm(term, &p))
	assert.Zero(t, p.Wait)

	term, err = etf.ToTerm(admin.Process{Wait: admin.Wait{For: "reply", Name: "b", Node: "n@h", Time: time.Second}})
	require.NoError(t, err)
	var older struct{ State node.Atom }
	require.NoError(t, etf.FromTerm(term, &older))
	require.NoError(t, etf.FromTerm(term, &p))
	assert.Equal(t, admin.Wait{For: "reply", Name: "b", Node: "n@h", Time: time.Second}, p.Wait)
}
