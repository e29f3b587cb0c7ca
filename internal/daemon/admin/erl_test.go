package admin_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// inErlang is what an operator would type into a shell, one expression per line of output. N is the node, A makes
// requests to its service.
const inErlang = `
N = 'go@127.0.0.1',
A = fun(R) -> gen_server:call({actornode, N}, R, infinity) end,
P = fun(T) -> io:format("~0p~n", [T]) end,
{ok, S} = A(status),
P({maps:get(node, S), maps:get(version, S), maps:get(ready, S), maps:get(draining, S), maps:get(dead_letters, S)}),
P([maps:get(name, X) || X <- maps:get(peers, S)]),
{ok, [#{name := Me, state := up}]} = A(nodes),
P(Me =:= node()),
{ok, #{processes := [#{pid := Pid, name := Name, mailbox := Box}], total := Total, matched := 1}} = A({ps, #{sort => mailbox, limit => 20, text => <<"busy">>}}),
P({Name, Box, is_pid(Pid), Total > 3}),
{ok, #{pid := Pid, state := State, messages := Messages, kind := <<>>}} = A({info, busy}),
P({State, Messages}),
P(A({info, nobody})),
P(A({info, <<"nobody">>})),
P(A(nonsense) =:= A(nonsense)),
{error, {bad_request, Text}} = A({ps, #{sort => beauty}}),
P(is_binary(Text)),
P(A({call, echo, {hello, [1, 2.5, #{a => <<"b">>}]}, 5000})),
P(A({call, busy, x, 1})),
{ok, Kid} = A({spawn, m, echo, [], kid}),
P(gen_server:call({kid, N}, hello, infinity)),
{ok, Kid} = A({unregister, kid}), {ok, Kid} = A({register, kid2, Kid}),
P(A({spawn, m, nothing, []})),
{ok, #{stream := Stream, ref := Ref}} = A({trace, #{targets => [kid2], events => ['receive', exit], window => 3}}),
[Kid ! {n, I} || I <- lists:seq(1, 5)],
Get = fun Get(0, L) -> L; Get(K, L) -> receive {actornode, Ref, {events, Es, _}} -> Get(K - length(Es), L ++ Es) after 50000 -> {timeout, L} end end,
First = Get(3, []),
P([M || #{type := 'receive', message := M} <- First]),
P([Other =:= self() || #{other := Other} <- First]),
P(receive {actornode, Ref, _} -> too_much after 50 -> waits end),
Stream ! {more, 3},
P([M || #{type := 'receive', message := M} <- Get(2, [])]),
{ok, Kid} = A({exit, kid2, kill}),
P([{T, M} || #{type := T, message := M} <- Get(1, [])]),
P(receive {actornode, Ref, {ended, Why}} -> Why after 50000 -> timeout end),
{ok, #{stream := Dead, ref := Ref2}} = A({deadletters, #{causes => [no_process], max => 1}}),
Mon = monitor(process, Dead),
Kid ! {are, you, there},
P(receive {actornode, Ref2, {events, [#{cause := Cause, to := To, message := L}], 0}} -> {Cause, To =:= Kid, L} after 50000 -> timeout end),
P(receive {actornode, Ref2, End} -> End after 50000 -> timeout end),
P(receive {'DOWN', Mon, process, Dead, R} -> R after 50000 -> timeout end),
P(A(drain)),
P(A({log_level, warn})),
P(A({connect, 'nowhere@127.0.0.1'}) =/= {ok, true}),
P(A(stop)),
init:stop().
`

const fromErlang = `{'go@127.0.0.1',<<"1.2">>,true,false,#{}}
['e@127.0.0.1']
true
{busy,2,true,true}
{idle,[{add,5},<<"text">>]}
{error,{no_name,<<"node: no process is registered under that name: nobody">>}}
{error,{no_name,<<"node: no process is registered under that name: nobody">>}}
true
true
{ok,{hello,[1,2.5,#{a => <<"b">>}]}}
{error,{timeout,<<"call of PID: node: timed out">>}}
hello
{error,{undef,<<"rpc: nothing is exported under that name: fun m:nothing/0">>}}
[{n,1},{n,2},{n,3}]
[true,true,true]
waits
[{n,4},{n,5}]
[{exit,killed}]
exited
{no_process,true,{are,you,there}}
{ended,max}
normal
{ok,true}
{ok,info}
true
{ok,true}
`

// An Erlang shell makes the requests that the command line makes.
func TestErlang(t *testing.T) {
	erltest.Need(t)
	mapper := epmdtest.Serve(t, "127.0.0.1")
	n := startNode(t, &discovery.EPMD{Config: mapper}, "go")
	stopped := make(chan struct{})
	require.NoError(t, admin.Start(testkit.Context(t), n, admin.Config{Version: "1.2", Level: new(slog.LevelVar),
		Drain: func(context.Context) error { return nil }, Stop: func() { close(stopped) }}))
	spawn(t, n, "echo", node.ActorFunc(echo))
	busy := spawn(t, n, "busy", node.ActorFunc(func(*node.Context, any) error { return node.ErrUnhandled }))
	require.NoError(t, n.Send(busy, wire.Tuple{wire.Atom("add"), 5}))
	require.NoError(t, n.Send(busy, "text"))
	require.NoError(t, rpc.ExportBehaviour(n, wire.Export{Module: "m", Function: "echo"},
		func([]any) (node.Actor, error) { return node.ActorFunc(echo), nil }))

	out, err := erltest.Run(t, erltest.Options{Name: "e@127.0.0.1", EPMD: mapper.Port, Args: []string{"-eval", inErlang}})
	require.NoError(t, err, out)
	assert.Equal(t, fromErlang, strings.ReplaceAll(out, busy.String(), "PID"))
	<-stopped
}
