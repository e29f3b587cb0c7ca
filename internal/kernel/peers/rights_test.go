package peers_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// guarded is a node on which the peer may do what some rules allow, with three processes: shop, one without a name, and
// one that the peer has started.
type guarded struct {
	*system
	shop, nameless, owned proc
	alias                 wire.Ref
}

func guard(t *testing.T, may ...string) *guarded {
	g := &guarded{system: newSystem(t, 100, rights.Rule{May: may})}
	g.shop, g.nameless, g.owned = g.spawn(), g.spawn(), g.spawn()
	g.shop.register("shop")
	for _, name := range []wire.Atom{"net_kernel", "rex", "actornode", "bank"} {
		p := g.spawn()
		p.register(name)
	}
	owner, err := limits.NewQuota(limits.Limits{Spawned: 9}).Owners.TakeSpawn(rights.Identity{Name: there})
	require.NoError(t, err)
	g.owned.Own.Cold.Owner = owner
	g.alias = (&g.nameless.Acting).Alias(false, nil)
	return g
}

var (
	theirs = far(1)
	call   = calls.MakeRequest(calls.Call, theirs, farRef(8), "body")
	event  = calls.MakeRequest("some_label", theirs, farRef(8), "body")
	sys    = calls.MakeRequest(calls.System, theirs, farRef(8), "suspend")
)

// What each right permits, by frame and receiver.
func TestPermits(t *testing.T) {
	all := []string{"connect", "send", "call", "signal"}
	for _, c := range []struct {
		may     []string
		msg     any
		allowed []string // of the receivers below
	}{
		{[]string{"connect"}, "m", []string{"owned", "alias", "alias name", "reply", "net_kernel", "rex", "dead"}},
		{[]string{"connect"}, call, []string{"owned", "alias", "alias name", "reply", "net_kernel", "rex", "dead"}},
		{[]string{"connect"}, sys, []string{"owned", "reply", "dead"}},
		{[]string{"connect", "send"}, "m", []string{"shop", "shop pid", "bank", "nameless", "none", "owned", "alias", "alias name",
			"reply", "net_kernel", "rex", "dead"}},
		{[]string{"connect", "send"}, call, []string{"owned", "alias", "alias name", "reply", "net_kernel", "rex", "dead"}},
		{[]string{"connect", "send shop"}, "m", []string{"shop", "shop pid", "owned", "alias", "alias name", "reply", "net_kernel",
			"rex", "dead"}},
		{[]string{"connect", "call shop"}, "m", []string{"owned", "alias", "alias name", "reply", "net_kernel", "rex", "dead"}},
		{[]string{"connect", "call shop"}, call, []string{"shop", "shop pid", "owned", "alias", "alias name", "reply",
			"net_kernel", "rex", "dead"}},
		{[]string{"connect", "call shop"}, event, []string{"shop", "shop pid", "owned", "alias", "alias name", "reply",
			"net_kernel", "rex", "dead"}},
		{[]string{"connect", "call", "send"}, call, []string{"shop", "shop pid", "bank", "nameless", "none", "owned", "alias",
			"alias name", "reply", "net_kernel", "rex", "dead"}},
		{[]string{"connect", "call", "send"}, sys, []string{"owned", "reply", "dead"}},
		{[]string{"connect", "signal"}, sys, []string{"shop", "shop pid", "bank", "nameless", "none", "owned", "alias",
			"alias name", "reply", "net_kernel", "rex", "actornode", "dead"}},
		{[]string{"connect", "signal"}, call, []string{"owned", "alias", "alias name", "reply", "net_kernel", "rex", "dead"}},
		{[]string{"connect", "admin_read"}, call, []string{"owned", "alias", "alias name", "reply", "net_kernel", "rex",
			"actornode", "dead"}},
		{[]string{"connect", "admin_act"}, "m", []string{"owned", "alias", "alias name", "reply", "net_kernel", "rex",
			"actornode", "dead"}},
		{[]string{"connect", "trace"}, call, []string{"owned", "alias", "alias name", "reply", "net_kernel", "rex",
			"actornode", "dead"}},
		{all, call, []string{"shop", "shop pid", "bank", "nameless", "none", "owned", "alias", "alias name", "reply", "net_kernel",
			"rex", "actornode", "dead"}},
	} {
		g := guard(t, c.may...)
		packed := any(nil)
		if wire.Equal(c.msg, call) {
			packed = &links.Request{Ref: farRef(8), Body: "body"}
		}
		for name, f := range map[string]dist.Frame{
			"shop":       {Name: "shop"},
			"shop pid":   {To: g.shop.Own.PID()},
			"bank":       {Name: "bank"},
			"nameless":   {To: g.nameless.Own.PID()},
			"none":       {Name: "none"},
			"owned":      {To: g.owned.Own.PID()},
			"alias":      {Ref: g.alias},
			"alias name": {Name: tables.OfAlias(g.alias).Name},
			"net_kernel": {Name: "net_kernel"},
			"rex":        {Name: "rex"},
			"actornode":  {Name: "actornode"},
			"dead":       {To: g.Origin.PID(999)},
			"reply":      {To: g.nameless.Own.PID(), Payload: &links.Reply{Value: 1}},
		} {
			f.Op, f.From = dist.OpSend, theirs
			if f.Payload == nil {
				f.Payload = c.msg
			}
			want := false
			for _, a := range c.allowed {
				want = want || a == name
			}
			for _, payload := range []any{f.Payload, packed} {
				if payload == nil || name == "reply" && payload == packed {
					continue
				}
				f.Payload = payload
				g.counted = nil
				ok, err := g.peer.Permits(&f)
				require.NoError(t, err)
				require.Equal(t, want, ok, "%v: %T to %s", c.may, payload, name)
				require.Equal(t, !want, len(g.counted) == 1, "%v: %T to %s", c.may, payload, name)
				said := g.said()
				if _, request := payload.(*links.Request); request && !want {
					require.Equal(t, []dist.Frame{{Op: dist.OpDown, From: f.To, Name: f.Name, To: theirs, Ref: farRef(8),
						Payload: process.NoProc}}, said)
				} else {
					require.Empty(t, said)
				}
			}
		}
	}
}

// A refused message is counted under the right it lacks, logged, and answered if the sender waits for something.
func TestRefusedMessage(t *testing.T) {
	for _, c := range []struct {
		msg   any
		right string
	}{{"m", "send"}, {call, "call"}, {sys, "signal"}} {
		g := guard(t, "connect")
		send := func(id uint64) {
			ok, err := g.peer.Permits(&dist.Frame{Op: dist.OpSend, ID: id, From: theirs, To: g.shop.Own.PID(), Payload: c.msg})
			require.NoError(t, err)
			require.False(t, ok)
		}
		send(0)
		require.Equal(t, []string{fmt.Sprint(peers.Refused, []string{c.right})}, g.counted)
		log := g.log.Take()
		require.Contains(t, log, "peer=b@h addr=addr right="+c.right)
		require.Contains(t, log, "shop")
		require.Empty(t, g.said())
		send(7)
		require.Equal(t, []dist.Frame{{Op: dist.OpReceipt, ID: 7, Payload: process.NoProc}}, g.said())
		if c.right == "send" {
			continue
		}
		// The peer watches the process it calls, by the reference of the call.
		g.peer.HandleMonitor(&dist.Frame{From: theirs, To: g.shop.Own.PID(), Ref: farRef(8)})
		require.Equal(t, 1, g.shop.Own.Cold.Watchers.Len())
		send(0)
		require.Zero(t, g.shop.Own.Cold.Watchers.Len())
		require.Equal(t, []dist.Frame{{Op: dist.OpDown, From: g.shop.Own.PID(), To: theirs, Ref: farRef(8),
			Payload: process.NoProc}}, g.said())
	}
}

// A message that is neither a call nor a system message needs the right to send, whatever it looks like; a message
// refused by name is logged with that name.
func TestOddMessages(t *testing.T) {
	for _, msg := range []any{wire.Tuple{}, wire.Tuple{calls.Call}, wire.Tuple{calls.Call, 1}, wire.Tuple{calls.System, 1},
		wire.Tuple{calls.System, 1, 2, 3}, wire.Tuple{1, 2, 3}, wire.List{calls.Call, 1, 2}, nil, calls.MakeCast("x")} {
		send := dist.Frame{Op: dist.OpSend, From: theirs, Name: "shop", Payload: msg}
		ok, err := guard(t, "connect", "send").peer.Permits(&send)
		require.NoError(t, err)
		require.True(t, ok, "%v", msg)
		g := guard(t, "connect", "call", "signal")
		ok, err = g.peer.Permits(&send)
		require.NoError(t, err)
		require.False(t, ok, "%v", msg)
		require.Contains(t, g.log.Take(), "right=send of=shop ")
	}
}

// The answer to a request of this node always comes through.
func TestAnswerIsPermitted(t *testing.T) {
	g := guard(t, "connect")
	ref := g.NewRef()
	answer := dist.Frame{Op: dist.OpSend, From: theirs, To: g.nameless.Own.PID(), Payload: wire.Tuple{ref, "answer"}}
	ok, _ := g.peer.Permits(&answer)
	require.False(t, ok)
	g.peer.Tables(func(tables *peers.Tables) { tables.Ask(&peers.Request{Ref: ref}) })
	ok, _ = g.peer.Permits(&answer)
	require.True(t, ok)
}

// Ending, suspending or showing a process needs a right; without it the answer is as if the process were not there.
// Ends of existing links and monitors, and answers, need none.
func TestPermitsSignals(t *testing.T) {
	for _, c := range []struct {
		may     []string
		signals bool
		watches map[string]bool // who may be monitored
	}{
		{[]string{"connect"}, false, map[string]bool{"net_kernel": true, "rex": true}},
		{[]string{"connect", "send shop"}, false, map[string]bool{"shop": true, "net_kernel": true, "rex": true}},
		{[]string{"connect", "call shop"}, false, map[string]bool{"shop": true, "net_kernel": true, "rex": true}},
		{[]string{"connect", "signal"}, true, map[string]bool{"shop": true, "bank": true, "nameless": true, "net_kernel": true,
			"rex": true, "actornode": true}},
		{[]string{"connect", "admin_read"}, false, map[string]bool{"actornode": true, "net_kernel": true, "rex": true}},
	} {
		g := guard(t, c.may...)
		for _, name := range []wire.Atom{"shop", "bank", "nameless", "owned", "none", "net_kernel", "rex", "actornode"} {
			to := g.Origin.PID(999)
			switch q := g.Whose(name); {
			case q != nil:
				to = q.PID()
			case name == "nameless":
				to = g.nameless.Own.PID()
			case name == "owned":
				to = g.owned.Own.PID()
			}
			free := c.signals || name == "owned" || name == "none"
			for _, op := range []dist.Op{dist.OpLink, dist.OpSignal, dist.OpGroupLeader, dist.OpMonitor} {
				g.counted = nil
				f := dist.Frame{Op: op, From: theirs, To: to, Payload: "x"}
				want := free || op == dist.OpMonitor && c.watches[string(name)]
				var said []dist.Frame
				switch op {
				case dist.OpLink:
					said = []dist.Frame{{Op: dist.OpExit, From: to, To: theirs, Payload: process.NoProc}}
				case dist.OpMonitor:
					f.Ref = farRef(5)
					said = []dist.Frame{{Op: dist.OpDown, From: to, To: theirs, Ref: farRef(5), Payload: process.NoProc}}
				}
				ok, err := g.peer.Permits(&f)
				require.NoError(t, err)
				require.Equal(t, want, ok, "%v: %v of %s", c.may, op, name)
				if ok {
					said = nil
				}
				require.Equal(t, said, g.said(), "%v: %v of %s", c.may, op, name)
				counted := []string(nil)
				if !ok && op != dist.OpMonitor {
					counted = []string{fmt.Sprint(peers.Refused, []string{"signal"})}
				}
				require.Equal(t, counted, g.counted, "%v: %v of %s", c.may, op, name)
			}
			for _, op := range []dist.Op{dist.OpUnlink, dist.OpUnlinkAck, dist.OpExit, dist.OpDemonitor, dist.OpDown, dist.OpSpawn,
				dist.OpSpawnReply, dist.OpReceipt} {
				ok, err := g.peer.Permits(&dist.Frame{Op: op, From: theirs, To: to})
				require.NoError(t, err)
				require.True(t, ok)
			}
		}
	}
}

// A peer without limits is not checked; one that may no longer be connected is cut off.
func TestLimited(t *testing.T) {
	s := newSystem(t, 9)
	require.False(t, s.peer.IsLimited(), "there are no rights")
	ok, err := s.peer.Permits(&dist.Frame{Op: dist.OpSend, Name: "x"})
	require.True(t, ok)
	require.NoError(t, err)
	require.True(t, s.peer.MayRun(&dist.Spawn{Module: "m", Function: "f"}))
	for word, limited := range map[string]bool{"all": false, "connect": true, "send": true, "call": true, "signal": true,
		"send shop": true} {
		may := []string{"connect", "send", "call", "signal"}
		switch word {
		case "all":
			may = []string{"all"}
		case "send shop":
			may = []string{"connect", "send shop", "call", "signal"}
		case "connect":
			may = nil
		default:
			for i := range may {
				if may[i] == word {
					may = append(may[:i:i], may[i+1:]...)
					break
				}
			}
		}
		g := guard(t, may...)
		require.Equal(t, limited, g.peer.IsLimited(), word)
	}
	g := guard(t, "connect", "send", "call", "signal")
	require.False(t, g.peer.IsLimited())
	require.NoError(t, g.peer.Visitor.Policy.Set(rights.Config{Rules: []rights.Rule{}}))
	ok, err = g.peer.Permits(&dist.Frame{Op: dist.OpSend, Name: "shop"})
	require.False(t, ok)
	require.ErrorIs(t, err, dist.ErrNotAllowed)
}

// What may be started, and what may be called, on the peer's behalf.
func TestMayRun(t *testing.T) {
	ref := farRef(1)
	erpc := func(m, f wire.Atom, args ...any) *dist.Spawn {
		return &dist.Spawn{Module: "erpc", Function: "execute_call", Args: []any{ref, m, f, wire.List(args)}}
	}
	for _, c := range []struct {
		spawn     *dist.Spawn
		right, of string // "": none but connect
	}{
		{&dist.Spawn{Module: "m", Function: "f", Args: []any{1}}, "spawn", "m:f/1"},
		{&dist.Spawn{Module: "erlang", Function: "apply", Args: []any{wire.Atom("m"), wire.Atom("f"), wire.List{1}}}, "spawn", "m:f/1"},
		{erpc("m", "f", 1, 2), "rpc", "m:f/2"},
		{&dist.Spawn{Module: "erpc", Function: "execute_cast", Args: []any{wire.Atom("m"), wire.Atom("f"), wire.List{}}}, "rpc", "m:f/0"},
		{erpc("erlang", "system_info", wire.Atom("other")), "rpc", "erlang:system_info/1"},
		{erpc("erlang", "system_info", wire.Atom("otp_release")), "", ""},
		{&dist.Spawn{Module: "erpc", Function: "execute_call", Args: []any{ref, "no module", wire.Atom("f"), wire.List{}}}, "", ""},
	} {
		for _, has := range []string{"connect", "spawn", "spawn m:f/1", "rpc", "rpc m:f/2", "rpc m:f/0", "rpc erlang:system_info/1"} {
			g := guard(t, "connect", has)
			want := c.right == "" || has == c.right || has == c.right+" "+c.of
			require.Equal(t, want, g.peer.MayRun(c.spawn), "%s for %s %s", has, c.right, c.of)
			if !want {
				require.Equal(t, []string{fmt.Sprint(peers.Refused, []string{c.right})}, g.counted)
				require.Contains(t, g.log.Take(), fmt.Sprintf("right=%s of=%q", c.right, "fun "+c.of))
			}
		}
	}
}

// What somebody else sends on a peer's behalf needs the peer's rights.
func TestMayPassOn(t *testing.T) {
	for _, c := range []struct {
		may  []string
		msg  any
		name wire.Atom
		ok   bool
	}{
		{[]string{"connect", "send shop"}, "m", "shop", true},
		{[]string{"connect", "send shop"}, call, "shop", false},
		{[]string{"connect", "send shop"}, "m", "bank", false},
		{[]string{"connect", "call shop"}, call, "shop", true},
		{[]string{"connect", "call shop"}, sys, "shop", false},
		{[]string{"connect", "signal"}, sys, "shop", true},
		{nil, "m", "shop", false},
	} {
		g := guard(t, c.may...)
		require.Equal(t, c.ok, g.peer.Asker().MaySend(c.name, c.msg), "%+v", c)
	}
}
