package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
)

// Sending to nobody, to a nil Dest or the PID of a variable that was never set, fails, for every caller and every way
// to send.
func TestNobodyAsDestination(t *testing.T) {
	actortest.EachCaller(t, func(t *testing.T, caller actortest.Caller) {
		n := nodetest.Start(t, node.Config{})
		caller.Do(t, n, func(me node.Caller) {
			ctx := testkit.Context(t)
			timers := me.(interface {
				SendBytes(to node.Dest, b []byte) error
				SendOpt(o node.SendOptions, to node.Dest, msg any) error
				SendAfter(d time.Duration, to node.Dest, msg any) (*node.Timer, error)
				SendInterval(d time.Duration, to node.Dest, msg any) (*node.Timer, error)
			})
			for name, to := range map[string]node.Dest{"nil": nil, "zero": node.PID{}} {
				for way, send := range map[string]func() error{
					"Send":         func() error { return node.Send(me, to, 1) },
					"SendBytes":    func() error { return timers.SendBytes(to, []byte("x")) },
					"SendOpt":      func() error { return timers.SendOpt(node.SendOptions{}, to, 1) },
					"SendOpt copy": func() error { return timers.SendOpt(node.SendOptions{Copy: true}, to, 1) },
					"SendOpt now":  func() error { return timers.SendOpt(node.SendOptions{NoWait: true}, to, 1) },
					"SendAfter":    func() error { _, err := timers.SendAfter(time.Hour, to, 1); return err },
					"SendInterval": func() error { _, err := timers.SendInterval(time.Hour, to, 1); return err },
					"Deliver":      func() error { return node.Deliver(ctx, me, to, 1) },
					"Cast":         func() error { return genserver.Cast(me, to, 1) },
					"Call":         func() error { _, err := node.Call[int](ctx, me, to, 1); return err },
					"Async":        func() error { _, err := node.Await(ctx, me, node.Async[int](me, to, 1)); return err },
				} {
					assert.ErrorIs(t, send(), node.ErrArgument, "%s to %s", way, name)
				}
			}
		})
	})
}
