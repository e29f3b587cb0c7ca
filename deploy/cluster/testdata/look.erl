%% What an OTP or Elixir node of the cluster sees of the others. Each function is called by the tests, through rpc.
-module(look).
-export([start/0, loop/0, join_on/2, check/2, members/1]).

%% A process registered as looker, which answers {From, Term} and is in the group of this node's kind.
start() ->
    case whereis(pg) of undefined -> {ok, _} = pg:start(pg); _ -> ok end,
    P = spawn(?MODULE, loop, []),
    true = register(looker, P),
    ok = pg:join(cluster, P),
    node().

loop() ->
    receive {From, Term} -> From ! {self(), Term}, loop() end.

%% A fresh server of an actornode joins the group there.
join_on(Node, Group) ->
    P = spawn(Node, demo, echo, []),
    rpc:call(Node, pg, join, [Group, P]).

members(Group) -> lists:sort([node(P) || P <- pg:get_members(Group)]).

%% What is wrong with a node, as seen from here.
check(Node, Kind) ->
    {_, Ref} = spawn_monitor(fun() -> exit({seen, checks(Node, Kind)}) end),
    receive {'DOWN', Ref, _, _, {seen, Wrong}} -> Wrong; {'DOWN', Ref, _, _, Why} -> [Why]
    after 30000 -> [no_answer] end.

checks(Node, Kind) ->
    process_flag(trap_exit, true),
    [{What, Got} || {What, Want, Got} <- [
        {ping, pong, net_adm:ping(Node)},
        {seen, true, lists:member(Node, nodes(connected))},
        {name, answered, named(Node, Kind)},
        {monitor, shutdown, down(spawn(Node, module(Kind), loop(Kind), []))},
        {link, boom, linked(Node, Kind)},
        {group, true, lists:member(node(), [node(P) || P <- rpc:call(Node, pg, get_members, [cluster])])},
        {gone, noproc, gone(Node)}
    ], Got =/= Want].

module(go) -> demo;
module(otp) -> ?MODULE.
loop(go) -> counter;
loop(otp) -> loop.

named(Node, go) ->
    A = gen_server:call({counter, Node}, {add, 1}), true = is_integer(A),
    echo({echo, Node});
named(Node, otp) -> echo({looker, Node}).

echo(To) ->
    Ref = make_ref(),
    To ! {self(), Ref},
    receive {_, Ref} -> answered after 10000 -> no_answer end.

down(P) ->
    Ref = monitor(process, P),
    exit(P, shutdown),
    receive {'DOWN', Ref, process, P, Why} -> Why after 10000 -> no_down end.

linked(Node, go) -> ended(spawn_link(Node, demo, exit, [boom]));
linked(Node, otp) -> P = spawn_link(Node, ?MODULE, loop, []), exit(P, boom), ended(P).

ended(P) -> receive {'EXIT', P, Why} -> Why after 10000 -> no_exit end.

gone(Node) ->
    Ref = monitor(process, {no_such_name, Node}),
    receive {'DOWN', Ref, process, _, Why} -> Why after 10000 -> no_down end.
