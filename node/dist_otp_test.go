package node_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// farPlayer is the player of testdata/far.erl.
type farPlayer struct {
	peer node.PID
	refs []node.Ref
	seen wire.List
}

func (f *farPlayer) take(in playing, linked func(node.Dest) bool, msg any) error {
	switch m := msg.(type) {
	case node.Exited:
		f.seen = append(f.seen, wire.Tuple{node.Atom("exit"), m.Reason})
		return nil
	case node.Down:
		for i, ref := range f.refs {
			if ref == m.Ref {
				f.seen = append(f.seen, wire.Tuple{node.Atom("down"), i + 1, m.Reason})
			}
		}
		return nil
	case wire.Tuple:
		switch m[0] {
		case node.Atom("peer"):
			f.peer = m[2].(node.PID)
			return in.Send(m[1].(node.PID), wire.Tuple{node.Atom("ok"), in.Self()})
		case node.Atom("do"):
			for _, op := range m[2].(wire.List) {
				if err := f.do(in, op); err != nil {
					return err
				}
			}
			return in.Send(m[1].(node.PID), wire.Tuple{node.Atom("did"), in.Self()})
		case node.Atom("tell"):
			seen := f.seen
			f.seen = nil
			return in.Send(m[1].(node.PID), wire.Tuple{node.Atom("seen"), in.Self(), seen, linked(f.peer)})
		case node.Atom("sync"):
			return in.Send(m[1].(node.PID), wire.Tuple{node.Atom("synced"), in.Self()})
		case node.Atom("pass"):
			return in.Send(m[1].(node.PID), wire.Tuple{node.Atom("sync"), m[2]})
		}
	}
	f.seen = append(f.seen, msg)
	return nil
}

func (f *farPlayer) do(in playing, op any) error {
	switch op {
	case node.Atom("link"):
		in.Link(f.peer)
	case node.Atom("unlink"):
		in.Unlink(f.peer)
	case node.Atom("monitor"):
		f.refs = append(f.refs, in.Monitor(f.peer))
	}
	t, ok := op.(wire.Tuple)
	if !ok {
		return nil
	}
	switch t[0] {
	case node.Atom("demonitor"):
		if n := t[1].(int); n <= len(f.refs) {
			in.DemonitorFlush(f.refs[n-1])
		}
	case node.Atom("exit"):
		in.Exit(f.peer, t[1])
	case node.Atom("trap"):
		in.TrapExit(t[1] == wire.AtomTrue)
	case node.Atom("send"):
		in.Send(f.peer, t[1])
	case node.Atom("die"):
		return node.ExitWith(t[1])
	}
	return nil
}

// farFactory is the factory of testdata/far.erl: every other player is an Actor.
func farFactory(t *testing.T, n *node.Node) {
	made := 0
	_, err := n.SpawnOpt(node.Options{Name: "far_factory"}, node.ActorFunc(func(c *node.Context, msg any) error {
		m := msg.(wire.Tuple)
		if m[0] == node.Atom("ping") {
			return c.Send(m[1].(node.PID), node.Atom("far_pong"))
		}
		f := &farPlayer{}
		var b node.Actor = node.ActorFunc(func(c *node.Context, msg any) error {
			return f.take(c, func(to node.Dest) bool { return c.Inside(process.Key{}).Linked(to) }, msg)
		})
		if made++; made%2 == 0 {
			b = node.ProcessFunc(func(p *node.Process) error {
				for {
					links := func(to node.Dest) bool {
						i, err := n.Info(p.Self())
						return err == nil && strings.Contains(fmt.Sprint(i.Links), fmt.Sprint(to))
					}
					if err := f.take(p, links, p.Receive()); err != nil {
						return err
					}
				}
			})
		}
		pid, err := n.Spawn(b)
		if err != nil {
			return err
		}
		return c.Send(m[1].(node.PID), wire.Tuple{node.Atom("player"), pid})
	}))
	require.NoError(t, err)
}

func farOps(r *rand.Rand) string {
	reason := func() string {
		return []string{"normal", "kill", "boom", "shutdown", "{a,1}", "\"text\"", "noproc"}[r.IntN(7)]
	}
	var ops []string
	for range 1 + r.IntN(5) {
		switch k := r.IntN(20); {
		case k < 5:
			ops = append(ops, "link")
		case k < 9:
			ops = append(ops, "unlink")
		case k < 12:
			ops = append(ops, "monitor")
		case k < 14:
			ops = append(ops, fmt.Sprintf("{demonitor,%d}", 1+r.IntN(4)))
		case k < 18:
			ops = append(ops, fmt.Sprintf("{trap,%v}", r.IntN(4) > 0))
		default:
			ops = append(ops, fmt.Sprintf("{send,m%d}", r.IntN(10)))
		}
	}
	// A signal that follows an exit signal at once may reach the process before it dies or after: so these come last.
	switch r.IntN(16) {
	case 0, 1:
		ops = append(ops, fmt.Sprintf("{die,%s}", reason()))
	case 2, 3, 4:
		ops = append(ops, fmt.Sprintf("{exit,%s}", reason()))
	}
	return "[" + strings.Join(ops, ",") + "]"
}

// An Erlang process plays a script with a Go process and with another Erlang process: both see the same.
func TestFarOTP(t *testing.T) {
	c := newOTPHost(t)
	e := c.erl("e1", "secret")
	c.erl("e2", "secret")
	n := c.start(c.config("go"))
	farFactory(t, n)
	r := testkit.Rand(t)
	for range 30 {
		var script []string
		for range 40 {
			switch r.IntN(5) {
			case 0:
				script = append(script, fmt.Sprintf("{both,%s,%s}", farOps(r), farOps(r)))
			case 1, 2:
				script = append(script, fmt.Sprintf("{left,%s}", farOps(r)))
			default:
				script = append(script, fmt.Sprintf("{right,%s}", farOps(r)))
			}
		}
		text := "[" + strings.Join(script, ",") + "]"
		want := strings.ReplaceAll(e.Ask("far:play('e2@127.0.0.1', %s)", text), "},{{", "}\n{{")
		got := strings.ReplaceAll(e.Ask("far:play('go@127.0.0.1', %s)", text), "},{{", "}\n{{")
		assert.NotContains(t, want, "disagree")
		require.Contains(t, want, "seen")
		if !assert.Equal(t, want, got, "%s", strings.Join(script, "\n")) {
			return
		}
	}
	testkit.Until(t, func() string { return node.FarTables(n) })
}
