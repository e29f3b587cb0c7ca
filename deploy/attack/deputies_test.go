package attack

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// guardedDaemon is a daemon with rights: nodes whose names begin with x may connect only, all others may do everything.
const guardedDaemon = "rights:\n  rules:\n    - {peer: \"x*@*\", may: [connect]}\n    - {may: [all]}\n"

// from is a form of From, the {Pid, Tag} of a request, which says where the answer goes.
type from struct {
	name string
	make func(victim wire.PID, ref wire.Ref) any // ref is of the victim's node, and no process waits for it
}

var froms = []from{
	{"a cast", func(victim wire.PID, _ wire.Ref) any { return wire.Tuple{victim, wire.Atom("$gen_cast")} }},
	{"an atom", func(victim wire.PID, _ wire.Ref) any { return wire.Tuple{victim, wire.Atom("stop")} }},
	{"a list", func(victim wire.PID, _ wire.Ref) any { return wire.Tuple{victim, wire.List{wire.Atom("$gen_cast")}} }},
	{"a reference", func(victim wire.PID, ref wire.Ref) any { return wire.Tuple{victim, ref} }},
	{"an alias", func(victim wire.PID, ref wire.Ref) any {
		return wire.Tuple{victim, wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: ref}}
	}},
	{"an alias alone", func(_ wire.PID, ref wire.Ref) any {
		return wire.Tuple{wire.Atom("undefined"), wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: ref}}
	}},
}

// deputy is a process with a name, and what it answers: a request, or a message that says where the answer goes.
type deputy struct {
	request any
	tells   func(victim wire.PID) []any
	silent  bool // it does not answer calls
}

// deputiesOf are the rows of services: every registered process of the daemon must have one.
var deputiesOf = map[wire.Atom]deputy{
	"net_kernel": {wire.Tuple{wire.Atom("is_auth"), wire.Atom("x@y")}, ioRequests, false},
	"rex": {wire.Tuple{wire.Atom("call"), wire.Atom("erlang"), wire.Atom("node"), wire.List{}, wire.Atom("user")},
		func(victim wire.PID) []any {
			ask := func(q any) any { return wire.Tuple{victim, q} }
			node := wire.Tuple{wire.Atom("call"), wire.Atom("erlang"), wire.Atom("node"), wire.List{}, victim}
			return []any{ask(wire.Atom("features_request")), ask(node), ask(wire.Tuple{wire.Atom("sbcast"), wire.Atom("nobody"), 1}),
				ask(wire.Tuple{wire.Atom("send"), wire.Atom("nobody"), 1}), cast(wire.Tuple{wire.Atom("cast"), wire.Atom("io"), wire.Atom("nl"),
					wire.List{}, victim}),
				ask(wire.Tuple{wire.Atom("call"), wire.Atom("erlang"), wire.Atom("exit"), wire.List{victim, wire.Atom("kill")}, victim})}
		}, false},
	"actornode":              {wire.Atom("status"), nil, false},
	"application_controller": {wire.Atom("which_applications"), nil, false},
	"pg":                     {wire.Atom("get_state"), func(victim wire.PID) []any { return []any{wire.Tuple{wire.Atom("discover"), victim}} }, true},
	"user":                   {wire.Atom("hello"), ioRequests, true},
	"logger_proxy":           {wire.Atom("hello"), nil, true},
	"demo":                   {wire.Atom("count_children"), nil, false},
	"counter":                {wire.Atom("get"), nil, false},
	"echo":                   {wire.Atom("hello"), nil, false},
}

func ioRequests(victim wire.PID) []any {
	return []any{wire.Tuple{wire.Atom("io_request"), victim, wire.Atom("x"), wire.Atom("getopts")}}
}

// sender is a connection by either protocol.
type sender interface {
	SendReg(from wire.PID, name wire.Atom, message any) error
	Call(name wire.Atom, request any) (any, error)
	PID(id uint64) wire.PID
	Close() error
}

// deputies are attacks through services: a service whose answer goes where a request says could send to others what the
// peer may not send itself.
func deputies() (rows []row) {
	for _, name := range slices.Sorted(maps.Keys(deputiesOf)) {
		d := deputiesOf[name]
		for _, protocol := range []string{"erlang", "native"} {
			rows = append(rows, row{name: fmt.Sprintf("deputy: %s, by %s", name, protocol), setup: "guarded", attack: func(a *attempt) {
				a.asDeputy(name, d, protocol)
			}})
		}
	}
	return append(rows, row{name: "deputy: every registered process has a row", setup: "guarded", attack: func(a *attempt) {
		e, err := raw.DialErlang(a.Erlang, raw.Self("asker@127.0.0.1", 1), a.Cookie)
		require.NoError(a, err)
		defer func() { _ = e.Close() }()
		names, err := rpc(e, "erlang", "registered")
		require.NoError(a, err)
		require.Greater(a, len(names.(wire.List)), 8)
		for _, name := range names.(wire.List) {
			require.Contains(a, deputiesOf, name)
		}
	}})
}

// asDeputy asks a service for answers that go to a process of the daemon, and to one of a third node. A peer that may
// only connect tries each form of From; one that may do everything tries those that give no answer, whoever asks.
func (a *attempt) asDeputy(name wire.Atom, d deputy, protocol string) {
	third, err := raw.DialErlang(a.Erlang, raw.Self("third@127.0.0.1", 1), a.Cookie)
	require.NoError(a, err)
	defer func() { _ = third.Close() }()
	third.Patience = testkit.Limit
	victim := a.spawnEchoBy(third, 1)[0]
	before := a.handled(victim)
	here := wire.NewOrigin(third.Peer)
	ask := func(s sender, form from) {
		for _, to := range []struct {
			pid wire.PID
			ref wire.Ref
		}{{victim, here.Ref(1, 2, 3)}, {third.PID(7), third.Ref(1, 2, 3)}} {
			for _, label := range []wire.Atom{"$gen_call", "system"} {
				request := d.request
				if label == "system" {
					request = wire.Atom("get_state")
				}
				require.NoError(a, s.SendReg(s.PID(1), name, wire.Tuple{label, form.make(to.pid, to.ref), request}))
			}
		}
	}
	var limited, full sender
	if protocol == "native" {
		limited = a.native()
		full, err = raw.DialNative(a.Native, raw.Self("full@127.0.0.1", 1), a.Daemon.Name, a.Cookie)
	} else {
		limited = a.erlang()
		full, err = raw.DialErlang(a.Erlang, raw.Self("full@127.0.0.1", 1), a.Cookie)
	}
	require.NoError(a, err)
	defer func() { _, _ = limited.Close(), full.Close() }()
	for i, form := range froms {
		ask(limited, form)
		if i < 3 {
			ask(full, form)
		}
	}
	if d.tells != nil {
		for _, pid := range []wire.PID{victim, third.PID(7)} {
			for _, m := range d.tells(pid) {
				require.NoError(a, limited.SendReg(limited.PID(1), name, m))
			}
		}
	}
	for _, s := range []sender{limited, full} { // each gets an answer, so that what came before has been handled
		yes, err := s.Call("net_kernel", wire.Tuple{wire.Atom("is_auth"), wire.Atom("x@y")})
		require.NoError(a, err)
		require.Equal(a, wire.Atom("yes"), yes)
	}
	if !d.silent { // an answer of the service, too
		_, err = full.Call(name, d.request)
		require.NoError(a, err)
	}
	a.servicesWork()
	require.Equal(a, before, a.handled(victim), "messages have reached a process of the node")
	me, ref := third.PID(1), third.Ref(9, 9, 9)
	require.NoError(a, third.SendReg(me, "counter", call(me, ref, wire.Atom("get"))))
	for {
		control, payload, err := third.Signal()
		require.NoError(a, err)
		if t, ok := payload.(wire.Tuple); ok && len(t) == 2 && t[0] == any(ref) {
			break
		}
		reached := slices.Contains(control, any(third.PID(7))) || slices.Contains(control, any(third.Ref(1, 2, 3)))
		require.False(a, reached, "%v %v has reached a third node", wire.Format(control), wire.Format(payload))
	}
	a.notCounted()
}

// handled returns how many messages a process has handled; the process must be alive.
func (a *attempt) handled(pid wire.PID) any {
	e, err := raw.DialErlang(a.Erlang, raw.Self("asker3@127.0.0.1", 1), a.Cookie)
	require.NoError(a, err)
	defer func() { _ = e.Close() }()
	v, err := rpc(e, "erlang", "process_info", pid, wire.Atom("reductions"))
	require.NoError(a, err)
	t, ok := v.(wire.Tuple)
	require.True(a, ok, "the process has ended: %v", wire.Format(v))
	return t[1]
}

// publishedDaemon shares names with the nodes of its cluster, and names its operator.
const publishedDaemon = "hidden: false\noperators: [ops@127.0.0.1]\n"

// cookiesDaemon gives all rights to nodes with a cookie of their own, and the right to connect to all others.
const cookiesDaemon = "rights:\n  cookies: {ops: a-cookie-for-operators-alone}\n  rules:\n    - {cookie: ops, may: [all]}\n" +
	"    - {peer: \"bystander*@*\", may: [all]}\n    - {peer: \"newcomer*@*\", may: [all]}\n    - {may: [connect]}\n"

// wishes are attacks by functions and requests that act on other processes than the peer's.
var wishes = []row{
	{name: "wish: global's methods end services, and who is no operator ends what the daemon is for", own: &raw.Options{Config: publishedDaemon},
		attack: func(a *attempt) {
			e := a.erlang()
			defer func() { _ = e.Close() }()
			atom := func(s string) wire.Atom { return wire.Atom(s) }
			pids := a.servicePIDs()
			for _, name := range []wire.Atom{"demo", "counter", "echo", "global_name_server", "global_group"} {
				pid, err := rpc(e, "erlang", "whereis", name)
				require.NoError(a, err)
				pids = append(pids, pid.(wire.PID))
			}
			exit := wire.Export{Module: "global", Function: "random_exit_name", Arity: 3}
			for _, pid := range pids {
				for _, q := range []wire.Tuple{
					{atom("erlang"), atom("exit"), pid, atom("kill")}, {atom("global"), atom("random_exit_name"), atom("x"), pid, pid},
					{atom("global"), atom("resolve_it"), exit, atom("x"), pid, pid},
					{atom("erlang"), atom("apply"), atom("global"), atom("random_exit_name"), wire.List{atom("x"), pid, pid}},
				} {
					_, err := rpc(e, q[0].(wire.Atom), q[1].(wire.Atom), q[2:]...)
					require.NoError(a, err)
				}
				require.NoError(a, e.Control(wire.Tuple{26, e.PID(1), pid}, atom("kill")))
				require.NoError(a, e.Control(wire.Tuple{1, e.PID(5), pid}))
				require.NoError(a, e.Control(wire.Tuple{24, e.PID(5), pid}, atom("kill")))
			}
			for _, q := range []wire.Tuple{
				{atom("application"), atom("stop"), atom("demo")}, {atom("application"), atom("set_env"), atom("demo"), atom("k"), 1},
				{atom("application"), atom("unload"), atom("demo")}, {atom("erlang"), atom("disconnect_node"), atom("bystander1@127.0.0.1")},
				{atom("global"), atom("disconnect")},
			} {
				v, err := rpc(e, q[0].(wire.Atom), q[1].(wire.Atom), q[2:]...)
				require.NoError(a, err)
				require.Contains(a, wire.Format(v), "not_allowed", "%v", wire.Format(q))
			}
			for _, q := range []any{atom("terminate_child"), atom("delete_child")} {
				v, err := e.Call("demo", wire.Tuple{q.(wire.Atom), atom("counter")})
				require.NoError(a, err)
				require.Equal(a, "{error,not_allowed}", wire.Format(v))
			}
			for _, name := range services { // calls to processes of others use the name of a scope
				v, err := rpc(e, "pg", "get_members", name, atom("g"))
				require.NoError(a, err)
				require.Equal(a, name != "pg", len(wire.Format(v)) > 2, "%s: %v", name, wire.Format(v))
			}
			for i, name := range slices.Concat(services, []wire.Atom{"demo", "counter", "echo", "global_name_server", "global_group"}) {
				pid, err := rpc(e, "erlang", "whereis", name)
				require.NoError(a, err)
				require.Equal(a, any(pids[i]), pid, "%s is another process", name)
			}
			a.notCounted()
			a.servicesWork()
		}},
	{name: "wish: another group leader, which is told what a process prints, by who may only connect", setup: "guarded",
		attack: func(a *attempt) {
			full, err := raw.DialErlang(a.Erlang, raw.Self("full@127.0.0.1", 1), a.Cookie)
			require.NoError(a, err)
			defer func() { _ = full.Close() }()
			full.Patience = testkit.Limit
			victim := a.spawnEchoBy(full, 1)[0]
			leader := func() any {
				v, err := rpc(full, "erlang", "process_info", victim, wire.Atom("group_leader"))
				require.NoError(a, err)
				require.Len(a, v, 2, wire.Format(v))
				return v.(wire.Tuple)[1]
			}
			before := leader()
			x, n := a.erlang(), a.native()
			for _, pid := range []wire.PID{victim, a.servicePIDs()[0]} {
				require.NoError(a, x.Control(wire.Tuple{7, x.PID(1), pid}))
				require.NoError(a, x.Control(wire.Tuple{7, victim, pid}))
				require.NoError(a, n.Signal(byte(dist.OpGroupLeader), nil, n.PID(1), pid))
				require.NoError(a, n.Signal(byte(dist.OpGroupLeader), nil, victim, pid))
			}
			a.answered(x, n)
			require.Equal(a, before, leader())
			require.NoError(a, full.Control(wire.Tuple{7, full.PID(7), victim}))
			a.answered(full)
			require.Equal(a, any(full.PID(7)), leader(), "who may do everything may do that")
		}},
	{name: "wish: the name of a connected operator, with a lesser cookie", own: &raw.Options{Config: cookiesDaemon}, alone: true,
		attack: func(a *attempt) {
			const theirs = "a-cookie-for-operators-alone"
			ops, err := raw.DialErlang(a.Erlang, raw.Self("ops@127.0.0.1", 1), theirs)
			require.NoError(a, err)
			defer func() { _ = ops.Close() }()
			native, err := raw.DialNative(a.Native, raw.Self("ops2@127.0.0.1", 1), a.Daemon.Name, theirs)
			require.NoError(a, err)
			defer func() { _ = native.Close() }()
			pid := a.spawnEchoBy(ops, 1)[0]
			for i := range 20 {
				for _, name := range []string{"ops@127.0.0.1", "ops2@127.0.0.1"} {
					for _, cookie := range []string{a.Cookie, "wrong"} {
						e := raw.NewErlang(a.dial(attacker, a.Erlang), raw.Self(name, uint32(i+2)))
						if e.Handshake(cookie) == nil {
							_ = e.Control(wire.Tuple{26, e.PID(1), pid}, wire.Atom("kill"))
							_, ended := e.Rest(testkit.Limit)
							require.True(a, ended, "the name %s has been taken", name)
						}
						_ = e.Close()
						n := raw.NewNative(a.dial(attacker, a.Native), raw.Self(name, uint32(i+2)), a.Daemon.Name)
						if n.Handshake(cookie) == nil {
							_ = n.Signal(8, n.PID(1), pid, wire.Atom("kill"))
							_, ended := n.Rest(testkit.Limit)
							require.True(a, ended, "the name %s has been taken", name)
						}
						_ = n.Close()
					}
				}
			}
			v, err := rpc(ops, "erlang", "is_process_alive", pid)
			require.NoError(a, err, "the operator's connection is the same")
			require.Equal(a, wire.AtomTrue, v)
			_, err = native.Call("counter", wire.Atom("get"))
			require.NoError(a, err)
		}},
}
