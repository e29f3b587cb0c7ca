package command

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// services are the processes that a daemon itself runs, by name.
var services = []string{"net_kernel", "rex", "actornode", "pg", "user", "logger_proxy"}

// attacks are what other nodes try to do to a process P, registered as S at N. Each is an expression of Erlang; Quick
// is a short timeout.
var attacks = []string{
	"exit(P, kill)",
	"exit(P, shutdown)",
	"exit(P, normal)",
	"exit(P, {any, reason})",
	"group_leader(self(), P)",
	"spawn(fun() -> link(P), exit(boom) end)",
	"spawn(fun() -> link(P), exit(kill) end)",
	"rpc:call(N, erlang, exit, [P, kill])",
	"erpc:call(N, erlang, exit, [P, kill])",
	"rpc:block_call(N, erlang, exit, [P, kill])",
	"rpc:cast(N, erlang, exit, [P, kill])",
	"spawn(N, erlang, exit, [P, kill])",
	"rpc:call(N, erlang, apply, [erlang, exit, [P, kill]])",
	"{rex, N} ! {'$gen_cast', {cast, erlang, exit, [P, kill], group_leader()}}",
	"rpc:call(N, erlang, unregister, [S])",
	"rpc:call(N, erlang, suspend_process, [P])",
	"rpc:call(N, erlang, process_flag, [P, trap_exit, true])",
	"rpc:call(N, erlang, send, [S, {system, {self(), make_ref()}, {terminate, bad}}])",
	"{rex, N} ! {self(), {sbcast, S, {system, {self(), make_ref()}, suspend}}}",
	"sys:suspend({S, N}, Quick)",
	"sys:terminate({S, N}, bad, Quick)",
	"sys:replace_state({S, N}, fun(_) -> bad end, Quick)",
	"sys:replace_state({S, N}, fun erlang:node/1, Quick)",
	"sys:change_code({S, N}, m, old, extra, Quick)",
	"sys:resume({S, N}, Quick)",
	"sys:log({S, N}, {true, 100000}, Quick)",
	"sys:statistics({S, N}, true, Quick)",
	"sys:trace({S, N}, true, Quick)",
	"sys:get_state({S, N}, Quick)",
	"sys:get_status({S, N}, Quick)",
	"gen_server:stop({S, N}, bad, Quick)",
	"proc_lib:stop({S, N}, bad, Quick)",
	"gen_statem:stop({S, N}, bad, Quick)",
	"gen_server:call({S, N}, stop_it, Quick)",
	"gen_server:call({S, N}, {terminate, bad}, Quick)",
	"gen_server:cast({S, N}, stop)",
	"gen_event:stop({S, N}, bad, Quick)",
	"gen_event:delete_handler({S, N}, a, b)",
	"{S, N} ! {'EXIT', P, kill}",
	"{S, N} ! {'EXIT', self(), shutdown}",
	"{S, N} ! {'DOWN', make_ref(), process, self(), kill}",
	"{S, N} ! {system, no, no}",
	"{S, N} ! {'$gen_call', self(), x}",
	"{S, N} ! {'$gen_cast', []}",
	"{S, N} ! {io_request, self(), [], []}",
	"{S, N} ! {io_request, self(), 1, {put_chars, unicode, io_lib, format, [1, 2]}}",
	"{S, N} ! {discover, self()}",
	"{S, N} ! {sync, self(), [{g, [self()]}]}",
	"{S, N} ! {join, self(), 1, 2}",
	"{S, N} ! {leave, self(), 1, 2}",
	"{S, N} ! {sync, 1, 2}",
	"{S, N} ! {discover, 1}",
	"{S, N} ! {join, P, g, [P]}",
	"supervisor:terminate_child({kernel_sup, N}, S)",
	"supervisor:terminate_child({S, N}, S)",
	"rpc:call(N, supervisor, terminate_child, [kernel_sup, S])",
	"rpc:call(N, application, stop, [kernel])",
	"rpc:call(N, application_controller, stop, [])",
	"rpc:call(N, init, stop, [])",
	"rpc:call(N, erlang, halt, [])",
	"rpc:call(N, sys, suspend, [S])",
	"rpc:call(N, sys, terminate, [S, bad])",
	"rpc:call(N, gen_server, call, [S, stop_it, Quick])",
	"rpc:call(N, gen_server, stop, [S])",
}

// TestServicesAreProtected lets a real Erlang node try everything it can to end the daemon's own services.
func TestServicesAreProtected(t *testing.T) {
	t.Parallel()
	erltest.Need(t)
	p := begin(t, "").up()
	erl := p.erl()
	require.Equal(t, "pong", erl.Ask("net_adm:ping('go@127.0.0.1')"))
	where := func(s string) string { return erl.Ask("rpc:call('go@127.0.0.1', erlang, whereis, [%s])", s) }
	for _, s := range append([]string{"application_controller"}, services...) {
		was := where(s)
		require.True(t, strings.HasPrefix(was, "<"), "%s is %s", s, was)
		var all []string
		for _, a := range attacks {
			all = append(all, "fun() -> catch "+a+" end")
		}
		// Each runs in a process of its own, all at the same time: some wait for answers that OTP does not send either.
		tried := erl.Ask(`begin N = 'go@127.0.0.1', S = %s, Quick = 300, P = rpc:call(N, erlang, whereis, [S]), `+
			`Done = [begin {A, R} = spawn_monitor(F), timer:kill_after(1000, A), R end || F <- [%s]], `+
			`[receive {'DOWN', R, process, _, _} -> ok end || R <- Done], ok end`,
			s, strings.Join(all, ", "))
		require.Equal(t, "ok", tried)
		require.Equal(t, was, where(s), "%s is the same process", s)
		require.Equal(t, "pong", erl.Ask("net_adm:ping('go@127.0.0.1')"), s)
	}
	assert.Equal(t, "ok", erl.Ask("element(1, gen_server:call({actornode, 'go@127.0.0.1'}, status))"))
	assert.Equal(t, "ok\n", get(t, p.http, "/readyz"))
	for _, r := range p.records() {
		assert.NotContains(t, r["msg"], "a service ended", "%v", r)
	}
	assert.Contains(t, p.log.String(), "refused a signal from another node")
}

// get returns the daemon's answer.
func get(t *testing.T, addr, path string) string {
	t.Helper()
	r, err := http.Get("http://" + addr + path)
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}

// TestServicesAreKept: an operator ends each service, and each comes back and does its work. A service that is ended
// again and again ends the daemon.
func TestServicesAreKept(t *testing.T) {
	t.Parallel()
	erltest.Need(t)
	p := begin(t, "").up()
	erl := p.erl()
	require.Equal(t, "pong", erl.Ask("net_adm:ping('go@127.0.0.1')"))
	require.Equal(t, "ok", erl.Ask("begin {ok, _} = pg:start(pg), pg:join(g, self()) end"))
	where := func(s string) string { return erl.Ask("rpc:call('go@127.0.0.1', erlang, whereis, [%s])", s) }
	for _, s := range services {
		was := where(s)
		erl.Ask("catch gen_server:call({actornode, 'go@127.0.0.1'}, {exit, %s, kill})", s)
		testkit.Until(t, func() string {
			if now := where(s); now == was || now == "undefined" {
				return s + " is " + now
			}
			if ready := get(t, p.http, "/readyz"); ready != "ok\n" {
				return ready
			}
			return ""
		})
		require.Equal(t, "pong", erl.Ask("net_adm:ping('go@127.0.0.1')"), s)
		require.Equal(t, "ok\n", get(t, p.http, "/livez"))
		require.Equal(t, "ok", erl.Ask("element(1, gen_server:call({actornode, 'go@127.0.0.1'}, status))"), s)
		printed := erl.Ask(`begin {user, 'go@127.0.0.1'} ! {io_request, self(), 1, {put_chars, unicode, "x"}}, receive R -> R end end`)
		require.Equal(t, "{io_reply,1,ok}", printed, s)
		testkit.Until(t, func() string { // members elsewhere are found again
			if n := erl.Ask("length(rpc:call('go@127.0.0.1', pg, get_members, [g]))"); n != "1" {
				return fmt.Sprintf("%s members after the end of %s", n, s)
			}
			return ""
		})
	}
	logged := 0
	for _, r := range p.records() {
		if r["msg"] == "operator action" && r["action"] == "exit" {
			logged++
			assert.Equal(t, "erl@127.0.0.1", r["peer"])
			assert.NotEmpty(t, r["addr"])
		}
	}
	assert.Equal(t, len(services), logged)

	erl.Tell(`begin F = fun(F) -> case catch gen_server:call({actornode, 'go@127.0.0.1'}, {exit, pg, kill}) of ` +
		`{'EXIT', _} -> over; _ -> F(F) end end, F(F) end`)
	for notReady := false; !notReady; {
		r, err := http.Get("http://" + p.http + "/readyz")
		if err != nil {
			t.Log("it has ended before readiness was seen to fail") // the polls were too slow
			break
		}
		text, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if notReady = r.StatusCode == http.StatusServiceUnavailable; notReady {
			assert.Contains(t, string(text), "services: node: ")
		}
	}
	assert.Equal(t, exitService, p.end())
	assert.Equal(t, "over", erl.Answer())
	said := p.log.String()
	said = said[strings.LastIndex(said, "a service ended: it will be restarted"):]
	// For the node, a process that is killed at once never existed.
	assert.Regexp(t, `"level":"ERROR","msg":"a service ended too often: the node stops","service":"pg","ends":11,`+
		`"within":"1m0s","reason":"(killed|noproc)"`, said)
	assert.Contains(t, said, "stopping: a service of the node ended too often")
	assert.Regexp(t, `"msg":"ended with an error","error":".*node: the service pg keeps failing: `+
		`it ended 11 times within 1m0s, the last time with (killed|noproc)"`, said)
}

// TestRightsOfPeers: the file says which node may do what.
func TestRightsOfPeers(t *testing.T) {
	t.Parallel()
	erltest.Need(t)
	p := begin(t, `demo: true
operators: [ops@127.0.0.1]
allow: ["erlang:node/0", "erlang:apply/3", "ops@127.0.0.1 erlang:*", "*@127.0.0.1 demo:echo/0"]
`).up()
	peer := p.erl()
	ops := erltest.Start(t, erltest.Options{Name: "ops@127.0.0.1",
		Args: []string{"-erl_epmd_port", p.port, "-dist_listen", "false"}})
	const (
		undef    = "{badrpc,{'EXIT',{undef,"
		refused  = "{error,{not_allowed,"
		notThere = "{error,{undef,"
		noChild  = "{error,{{'EXIT',{undef,"
	)
	for _, c := range []struct{ expr, peer, ops string }{
		{"rpc:call(N, erlang, node, [])", "'go@127.0.0.1'", "'go@127.0.0.1'"},
		{"rpc:call(N, erlang, whereis, [nobody])", undef, "undefined"},
		{"rpc:call(N, erlang, apply, [erlang, whereis, [nobody]])", undef, "undefined"},
		{"rpc:call(N, erlang, apply, [erlang, node, []])", "'go@127.0.0.1'", "'go@127.0.0.1'"},
		{"rpc:block_call(N, erlang, whereis, [nobody])", undef, "undefined"},
		{"rpc:call(N, os, cmd, [\"true\"])", undef, undef},
		{"rpc:call(N, pg, which_groups, [])", undef, undef},
		{"supervisor:start_child({demo, N}, #{id => make_ref(), start => {demo, counter, []}})", noChild, noChild},
		{"supervisor:start_child({demo, N}, #{id => make_ref(), start => {demo, echo, []}})", "{ok,<", "{ok,<"},
		{"gen_server:call({actornode, N}, {spawn, demo, counter, []})", refused, notThere},
		{"element(1, gen_server:call({actornode, N}, status))", "ok", "ok"},
		{"element(1, gen_server:call({actornode, N}, {info, counter}))", "ok", "ok"},
		{"gen_server:call({actornode, N}, log_level)", "{ok,info}", "{ok,info}"},
		{"gen_server:call({actornode, N}, {log_level, warn})", refused, "{ok,info}"},
		{"gen_server:call({actornode, N}, {log_level, info})", refused, "{ok,warn}"},
		{"gen_server:call({actornode, N}, {trace, #{targets => [counter]}})", refused, "{ok,"},
		{"gen_server:call({actornode, N}, deadletters)", refused, "{ok,"},
		{"gen_server:call({actornode, N}, {exit, counter, normal})", refused, "{ok,"},
		{"gen_server:call({actornode, N}, {disconnect, 'no@where'})", refused, "{ok,false}"},
	} {
		for _, who := range []struct {
			erl  *erltest.Node
			want string
		}{{peer, c.peer}, {ops, c.ops}} {
			got := who.erl.Ask("begin N = 'go@127.0.0.1', %s end", c.expr)
			assert.True(t, strings.HasPrefix(got, who.want), "%s\nis %s\nwant %s…", c.expr, got, who.want)
		}
	}
	assert.Equal(t, "{ok,true}", ops.Ask("gen_server:call({actornode, 'go@127.0.0.1'}, stop)"))
	assert.Equal(t, exitOK, p.end())
	assert.Contains(t, p.log.String(), "set up TLS, or cookies for single peers")
}

func TestOperatorsOff(t *testing.T) {
	t.Parallel()
	erltest.Need(t)
	p := begin(t, "operators: off\n").up()
	assert.Equal(t, "undefined", p.erl().Ask("rpc:call('go@127.0.0.1', erlang, whereis, [actornode])"))
	assert.Equal(t, "ok\n", get(t, p.http, "/readyz"))
}

// TestServicesTakeAnything: no message of whatever shape ends a service.
func TestServicesTakeAnything(t *testing.T) {
	t.Parallel()
	p := begin(t, "", "ACTORNODE_LOG_LEVEL=error").up()
	n := p.goNode()
	ctx := testkit.Context(t)
	all := append([]string{"application_controller"}, services...)
	where := func() (pids []any) {
		for _, s := range all {
			pid, err := rpc.Call[any](ctx, n, daemonName, "erlang", "whereis", wire.Atom(s))
			require.NoError(t, err)
			pids = append(pids, pid)
		}
		return pids
	}
	was := where()
	me := nodetest.NewProbe(t, n).Self()
	r := testkit.Rand(t)
	words := []any{me, was[0], was[4], n.MakeRef(), 0, -1, int64(1 << 40), "text", nil, wire.List{}, wire.Tuple{}, 1.5,
		wire.NewMap(wire.Atom("a"), 1), wire.Export{Module: "erlang", Function: "node", Arity: 1},
		wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: n.MakeRef()}}
	for _, w := range strings.Fields(`$gen_call $gen_cast system call block_call cast sbcast send is_auth terminate suspend resume replace_state
		change_code debug log get_state get_status io_request put_chars requests unicode latin1 get_line EXIT DOWN
		discover sync join leave join_local leave_local monitor demonitor status nodes ps tree info trace deadletters
		log_level register connect pg user normal kill`) {
		words = append(words, wire.Atom(w))
	}
	term := func(depth int) any { return termtest.Of(r, words, depth) }
	atom := func(w string) any { return wire.Atom(w) }
	for k := range testkit.By(1000, 4000, 40000) {
		from := wire.Tuple{me, n.MakeRef()}
		for _, s := range all {
			msg := term(4)
			switch k % 5 {
			case 0:
				msg = wire.Tuple{atom("$gen_call"), from, term(3)}
			case 1:
				msg = wire.Tuple{atom("system"), from, term(3)}
			case 2:
				msg = wire.Tuple{atom("$gen_cast"), term(3)}
			case 3:
				msg = wire.Tuple{atom("io_request"), me, 1, term(4)}
			}
			require.NoError(t, n.Send(node.At{Name: node.Atom(s), Node: daemonName}, msg))
		}
		if k%500 == 499 {
			require.NoError(t, n.Ping(ctx, daemonName))
		}
	}
	testkit.Until(t, func() string { return map[bool]string{true: "not ready"}[get(t, p.http, "/readyz") != "ok\n"] })
	require.Equal(t, was, where())
	require.NotContains(t, p.log.String(), "a service ended")
}
