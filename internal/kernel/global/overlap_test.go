package global_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/actornode/actornode/internal/kernel/global"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// A node of OTP ignores a request to disconnect until it knows the asker. It sends in_sync when it does, and is asked
// again; a node that never sends it is disconnected.
func TestAskedToDisconnectTooEarly(t *testing.T) {
	self := wire.NewOrigin(wire.NodeID{Name: "a@host", Creation: 1})
	m := global.New(global.Config{
		Self: "a@host", Creation: 1, Locker: self.PID(1), Registrar: self.PID(2), Names: &tables.GlobalNames{},
		Rand: func(int) int { return 0 },
	})
	did := func(kind global.ActionKind, msg any) (some []global.Action) {
		for _, a := range m.Take() {
			if a.Kind == kind && a.Node == "c@host" && (msg == nil || wire.Equal(a.Msg, msg)) {
				some = append(some, a)
			}
		}
		return some
	}
	m.NodeUp("b@host")
	m.NodeUp("c@host")
	version := func(n wire.Atom) wire.Tuple { return wire.Tuple{n, global.Version} }
	m.Cast("b@host", wire.Tuple{wire.Atom("new_nodes"), wire.Atom("b@host"), wire.List{}, wire.List{},
		wire.List{version("b@host"), version("c@host")}, wire.List{}})
	assert.Equal(t, []wire.Atom{"b@host", "c@host"}, m.Known())
	m.Take()

	remove := wire.Tuple{wire.Atom("remove_connection"), wire.Atom("a@host")}
	m.Info("b@host", wire.Tuple{wire.Atom("lost_connection"), wire.Atom("b@host"), 1, 1, wire.Atom("c@host")})
	actions := m.Take()
	var timers []uint64
	asked := 0
	for _, a := range actions {
		switch {
		case a.Kind == global.After:
			timers = append(timers, a.ID)
		case a.Kind == global.Send && a.Node == "c@host" && wire.Equal(a.Msg, remove):
			asked++
		}
	}
	assert.Equal(t, 1, asked)
	assert.Equal(t, []wire.Atom{"b@host"}, m.Known())

	m.Cast("c@host", wire.Tuple{wire.Atom("in_sync"), wire.Atom("c@host"), true})
	assert.Len(t, did(global.Send, remove), 1)
	assert.Empty(t, m.Synced(), "it is not of this partition")

	for _, id := range timers {
		m.Timeout(id)
	}
	assert.Len(t, did(global.Disconnect, nil), 1)

	m.NodeDown("c@host")
	m.NodeUp("c@host")
	m.Take()
	m.Cast("c@host", wire.Tuple{wire.Atom("in_sync"), wire.Atom("c@host"), true})
	assert.Empty(t, did(global.Send, remove), "the connection is a new one")
	assert.Equal(t, []wire.Atom{"c@host"}, m.Synced())
}

// A node of OTP can forget a node that still knows it. The latter asks, two minutes after they were connected.
func TestForgotten(t *testing.T) {
	for _, forgotten := range []bool{false, true} {
		self := wire.NewOrigin(wire.NodeID{Name: "a@host", Creation: 1})
		m := global.New(global.Config{
			Self: "a@host", Creation: 1, Locker: self.PID(1), Registrar: self.PID(2), Names: &tables.GlobalNames{},
			Rand: func(int) int { return 0 },
		})
		m.NodeUp("b@host")
		m.Cast("b@host", wire.Tuple{wire.Atom("new_nodes"), wire.Atom("b@host"), wire.List{}, wire.List{},
			wire.List{wire.Tuple{wire.Atom("b@host"), global.Version}}, wire.List{}})
		for _, a := range m.Take() {
			if a.Kind == global.After && a.Delay == 2*time.Minute {
				m.Timeout(a.ID)
			}
		}
		asked := m.Take()
		assert.Len(t, asked, 1)
		assert.Equal(t, global.AskThere, asked[0].Kind)
		knows := wire.List{wire.Atom("a@host"), wire.Atom("c@host")}
		if forgotten {
			knows = knows[1:]
		}
		m.Answered(asked[0].ID, knows, true)
		disconnects := slices.ContainsFunc(m.Take(), func(a global.Action) bool {
			return a.Kind == global.Disconnect && a.Node == "b@host"
		})
		assert.Equal(t, forgotten, disconnects)
	}
}
