%% Clusters of several targets and several OTP nodes, which may be of different releases: all must see the same. All of
%% them run the demo; the driver is a hidden node, which belongs to no cluster and reaches each of them at any time.
%%
%%   erl -hidden -name me@127.0.0.1 -setcookie c -pa EBIN -run interop_mixed main TARGET,TARGET MEMBER,MEMBER,MEMBER
%%
%% prints what interop.erl prints. With a third argument, overlap, no node prevents overlapping partitions.
%% A check begins and ends with all of them connected to each other.
-module(interop_mixed).
-export([main/1]).
-import(interop, [is/2, caught/1, until/1, tell/4]).

-define(PATIENCE, 60000). % ms for a check
-define(OVERLAP, 7).      % the version of global's protocol from which on clusters do not overlap

main([Targets, Members | What]) ->
    [T, O] = [[list_to_atom(N) || N <- string:split(L, ",", all)] || L <- [Targets, Members]],
    logger:set_primary_config(level, none),
    put(targets, T), put(members, O),
    [interop:reach(N) || N <- T ++ O],
    join(all()),
    {Group, Checks} = case What of
        [] -> {list_to_atom("mixed-" ++ integer_to_list(length(T ++ O))), checks()};
        ["overlap"] -> {overlap, overlaps()}
    end,
    Failed = [1 || {Name, Fun} <- Checks, check(T, O, Group, Name, Fun) =:= failed],
    case [N || N <- O, What =:= [], ask(N, get_protocol_version) < ?OVERLAP] of
        [] -> ok;
        Old -> [tell(absent, Group, Name, io_lib:format("~w do not prevent overlapping partitions", [Old]))
            || {Name, _} <- parts()]
    end,
    case length(Failed) of
        0 -> io:format("done: all is well~n"), halt(0);
        N -> io:format("done: ~w failed~n", [N]), halt(1)
    end.

check(T, O, Group, Name, Fun) ->
    Said = interop:attempt(fun() ->
        put(targets, T), put(members, O), meshed(), Fun(), meshed(),
        until(fun() -> lists:all(fun(N) -> names(N) =:= [] end, all()) end) % none is left
    end, ?PATIENCE),
    case Said of
        ok -> tell(ok, Group, Name, "");
        {What, Why} -> tell(What, Group, Name, Why)
    end.

checks() ->
    Old = lists:any(fun(N) -> ask(N, get_protocol_version) < ?OVERLAP end, all()),
    views() ++ names() ++ locks() ++ messages() ++ ends() ++ case Old of true -> []; false -> parts() end.

views() ->
    [{"each has all others in nodes()", fun() -> [is(lists:sort(all() -- [N]), lists:sort(call(N, erlang, nodes, [])))
        || N <- all()] end},
     {"each knows all others, and is in sync with them", fun() ->
        [until(fun() -> lists:sort(ask(N, What)) =:= lists:sort(all() -- [N]) end) || N <- all(),
            What <- [get_known, get_synced]] end},
     {"the driver is hidden to each", fun() ->
        [begin is(true, lists:member(node(), call(N, erlang, nodes, [hidden]))),
            is(false, lists:member(node(), ask(N, get_known))) end
         || N <- all()] end},
     {"each pings each", fun() -> [is(pong, call(N, net_adm, ping, [M])) || N <- all(), M <- all()] end},
     {"global:sync on each", fun() -> [is(ok, call(N, global, sync, [])) || N <- all()] end},
     {"each speaks a version of the protocol from 5 on", fun() -> [true = ask(N, get_protocol_version) >= 5 || N <- all()] end}].

names() ->
    [{"a name of each, for its own process", fun() -> named([{N, N} || N <- all()]) end},
     {"a name of each, for the process of another", fun() -> named(lists:zip(all(), tl(all()) ++ [hd(all())])) end},
     {"a name is free again on all when its process ends", fun() ->
        [begin P = fresh(N), yes = register(first(), {ends, N}, P), same({ends, N}, P), stop(P), same({ends, N}, undefined) end
         || N <- all()] end},
     {"each unregisters a name of another", fun() ->
        [begin P = fresh(M), yes = register(M, {gone, N}, P), ok = call(N, global, unregister_name, [{gone, N}]),
            same({gone, N}, undefined), stop(P) end || {N, M} <- lists:zip(all(), tl(all()) ++ [hd(all())])] end},
     {"each takes a name over", fun() ->
        Ps = [fresh(N) || N <- all()],
        [begin yes = call(N, global, re_register_name, [moves, P]), same(moves, P) end || {N, P} <- lists:zip(all(), Ps)],
        [stop(P) || P <- Ps], same(moves, undefined) end},
     {"a name that is taken is refused by each", fun() ->
        P = fresh(first()), yes = register(first(), taken, P), Qs = [fresh(N) || N <- all()],
        [is(no, register(N, taken, Q)) || {N, Q} <- lists:zip(all(), Qs)], same(taken, P), [stop(Q) || Q <- [P | Qs]] end},
     {"all register one name at once: one has it", fun() ->
        Ps = [{N, fresh(N)} || N <- all()],
        Said = at_once([fun() -> {register(N, wanted, P), P} end || {N, P} <- Ps]),
        [{yes, P}] = [S || {yes, _} = S <- Said], same(wanted, P), [stop(Q) || {_, Q} <- Ps] end},
     {"each registers 20 names at once", fun() ->
        Ps = [{N, fresh(N)} || N <- all()],
        at_once([fun() -> [yes = register(N, {many, N, I}, spawned(N)) || I <- lists:seq(1, 20)] end || {N, _} <- Ps]),
        All = lists:sort(names(first())), is(20 * length(all()), length(All)),
        [until(fun() -> lists:sort(names(N)) =:= All end) || N <- all()],
        [exit(whereis(first(), X), kill) || X <- All], [until(fun() -> names(N) =:= [] end) || N <- all()],
        [stop(P) || {_, P} <- Ps] end},
     {"names that are terms", fun() ->
        Terms = [1, 1.0, "s", <<"b">>, {a, [b]}, #{k => <<1:3>>}, [a | b], 1 bsl 90, 'ö', binary:copy(<<"x">>, 100000)],
        Ps = [fresh(N) || {N, _} <- lists:zip(cycle(length(Terms)), Terms)],
        [yes = register(node(P), X, P) || {X, P} <- lists:zip(Terms, Ps)], [same(X, P) || {X, P} <- lists:zip(Terms, Ps)],
        [stop(P) || P <- Ps], [same(X, undefined) || X <- Terms] end}].

locks() ->
    [{"a lock of one is refused to others, by each", fun() ->
        [begin true = lock(N, {l1, me}), false = lock(N, {l1, other}), free(N, {l1, me}), true = lock(N, {l1, other}),
            free(N, {l1, other}) end
         || N <- all()] end},
     {"set_lock of each OTP node, on all nodes", fun() ->
        [begin
            P = spawn(O, global, set_lock, [{l2, x}, all(), 0]), M = monitor(process, P),
            receive {'DOWN', M, process, P, _} -> ok end,
            [until(fun() -> lock(N, {l2, y}) end) || N <- all()], [free(N, {l2, y}) || N <- all()]
        end || O <- get(members)] end},
     {"a lock is held until its process ends", fun() ->
        [begin
            P = spawn(O, interop_member, hold, [{l3, x}, all(), self()]), receive {held, P} -> ok end,
            [is({N, false}, {N, lock(N, {l3, y})}) || N <- all()], exit(P, kill),
            [until(fun() -> lock(N, {l3, y}) end) || N <- all()], [free(N, {l3, y}) || N <- all()]
        end || O <- get(members)] end},
     {"global:trans of all OTP nodes: one at a time", fun() ->
        C = spawn(first(), demo, counter, []), Nodes = all(),
        at_once([fun() -> erpc:call(O, interop_member, count, [C, Nodes, 5], ?PATIENCE) end || O <- get(members), _ <- [1, 2]]),
        is(10 * length(get(members)), gen_server:call(C, get)), stop(C) end}].

messages() ->
    [{"global:send of each to the name of each", fun() ->
        Ps = [begin P = fresh(N), yes = register(N, {to, N}, P), {N, P} end || N <- all()],
        [begin is(P, call(N, global, send, [{to, M}, {self(), {N, M}}])), receive {P, {N, M}} -> ok end end || N <- all(),
            {M, P} <- Ps],
        [stop(P) || {_, P} <- Ps], [same({to, N}, undefined) || N <- all()] end},
     {"gen_server:call of each OTP node by the name of each", fun() ->
        Ps = [begin P = fresh(N), yes = register(N, {srv, N}, P), {N, P} end || N <- all()],
        [is({O, M}, call(O, gen_server, call, [{Form, {srv, M}}, {O, M}])) || O <- get(members), {M, _} <- Ps, Form <- [global]],
        [is({O, M}, call(O, gen_server, call, [{via, global, {srv, M}}, {O, M}])) || O <- get(members), {M, _} <- Ps],
        [stop(P) || {_, P} <- Ps], [same({srv, N}, undefined) || N <- all()] end},
     {"pg: each joins, and each sees all", fun() ->
        Nodes = with_pg(),
        Ps = [begin P = fresh(N), ok = call(N, pg, join, [mixed, P]), P end || N <- Nodes], Want = lists:sort(Ps),
        [until(fun() -> lists:sort(call(N, pg, get_members, [mixed])) =:= Want end) || N <- Nodes], [stop(P) || P <- Ps],
        [until(fun() -> call(N, pg, get_members, [mixed]) =:= [] end) || N <- Nodes] end},
     {"erpc:multicall of each OTP node to all", fun() ->
        [is([{ok, N} || N <- all()], call(O, erpc, multicall, [all(), erlang, node, []])) || O <- get(members)] end}].

%% A node more, which the driver starts.
ends() ->
    [{"one more node by way of " ++ What ++ ": connected to all", fun() ->
        one_more(fun(N, C) -> joins(C, Via()), until(fun() -> lists:sort(at(C, erlang, nodes, [])) =:= lists:sort(all()) end),
            [until(fun() -> lists:member(N, ask(M, get_known)) end) || M <- all()] end) end}
     || {What, Via} <- [{"a target", fun first/0}, {"an OTP node", fun() -> hd(get(members)) end}]]
    ++ [{"one more node brings names, and takes them with it", fun() ->
        one_more(fun(N, C) ->
            Ps = [begin P = at(C, erlang, spawn, [timer, sleep, [infinity]]),
                yes = at(C, global, register_name, [{brought, I}, P]), P end
                || I <- lists:seq(1, 20)],
            joins(C, first()), [same({brought, I}, P) || {I, P} <- lists:zip(lists:seq(1, 20), Ps)],
            os:cmd("kill -9 " ++ at(C, os, getpid, [])), [same({brought, I}, undefined) || I <- lists:seq(1, 20)],
            [until(fun() -> not lists:member(N, ask(M, get_known)) end) || M <- all()] end) end},
     {"one more node starts twice with one name", fun() ->
        Name = interop_global:third_name(),
        [interop_global:third(Name, [], fun(N, C) ->
            joins(C, M), P = at(C, erlang, spawn, [timer, sleep, [infinity]]), yes = at(C, global, register_name, [again, P]),
            same(again, P),
            peer:stop(C), same(again, undefined), [until(fun() -> not lists:member(N, ask(K, get_known)) end) || K <- all()]
        end) || M <- [first(), hd(get(members))]] end},
     {"one more node ends while all register names", fun() ->
        one_more(fun(_, C) ->
            joins(C, first()), Ps = [{N, fresh(N)} || N <- all()],
            Me = self(), spawn(fun() -> os:cmd("kill -9 " ++ at(C, os, getpid, [])), Me ! killed end),
            at_once([fun() -> [begin P = spawned(N), yes = register(N, {while, N, I}, P), exit(P, kill) end
                || I <- lists:seq(1, 10)] end
                || {N, _} <- Ps]),
            receive killed -> ok end, [stop(P) || {_, P} <- Ps], [until(fun() -> names(N) =:= [] end) || N <- all()] end) end}].

%% A connection that is lost makes two or more clusters, none of which overlaps another; they become one again.
parts() ->
    [{"each leaves by global:disconnect, and is back", fun() ->
        [begin
            caught(fun() -> call(N, global, disconnect, []) end),
            until(fun() -> lists:all(fun(M) -> not lists:member(N, call(M, erlang, nodes, [])) end, all() -- [N]) end),
            Others = all() -- [N],
            [is({M, lists:sort(Others -- [M])}, {M, lists:sort(call(M, erlang, nodes, []))}) || M <- Others],
            join([N | Others]), meshed()
        end || N <- all()] end}]
    ++ [{"a connection lost between " ++ What ++ ": no clusters overlap, and all heals", fun() ->
        apart(A(), B(), fun(_) -> ok end) end}
     || {What, A, B} <- pairs()]
    ++ [{"apart: names of each part are seen in it alone, and by all later", fun() ->
        apart(first(), last(), fun(Parts) ->
            Ps = [begin [N | _] = Part, P = fresh(N), yes = register(N, {part, N}, P), {N, P, Part} end || Part <- Parts],
            [until(fun() -> whereis(M, {part, N}) =:= case lists:member(M, Part) of true -> P; false -> undefined end end)
                || {N, P, Part} <- Ps, M <- all()],
            join(all()), meshed(), [same({part, N}, P) || {N, P, _} <- Ps], [stop(P) || {_, P, _} <- Ps],
            [same({part, N}, undefined) || {N, _, _} <- Ps] end) end}]
    ++ [{"apart: one name in each part, " ++ What, fun() -> clash(Method, Rest) end} || {What, Method, Rest} <- [
        {"of which one is left by random_exit_name", fun global:random_exit_name/3, one},
        {"of which one is left by random_notify_name", fun global:random_notify_name/3, one},
        {"of which none is left by notify_all_name", fun global:notify_all_name/3, none}]]
    ++ [{"apart: a lock of the other part ends", fun() ->
        O = last(), P = spawn(O, interop_member, hold, [{l4, x}, all(), self()]), receive {held, P} -> ok end,
        is(false, lock(first(), {l4, y})),
        apart(first(), O, fun(_) ->
            until(fun() -> lock(first(), {l4, y}) end), free(first(), {l4, y}), exit(P, kill) end),
        [until(fun() -> lock(N, {l4, y}) end) || N <- all()], [free(N, {l4, y}) || N <- all()] end}].

%% Where no node prevents overlapping partitions, a connection is lost alone.
overlaps() ->
    [{"a connection lost between " ++ What ++ ": no other is", fun() ->
        lose(A(), B(), fun() -> is(ok, call(A(), global, sync, [])) end) end} || {What, A, B} <- pairs()]
    ++ [{"a name from before is seen by those that are connected to its node", fun() ->
        P = fresh(first()), yes = register(first(), before, P),
        lose(first(), last(), fun() ->
            [until(fun() -> whereis(N, before) =:= P end) || N <- all() -- [last()]],
            until(fun() -> whereis(last(), before) =:= undefined end) end),
        same(before, P), stop(P), same(before, undefined) end},
     {"a name from between is seen by all when the connection is back", fun() ->
        P = fresh(first()),
        lose(first(), last(), fun() ->
            yes = register(first(), between, P), [until(fun() -> whereis(N, between) =:= P end) || N <- all() -- [last()]],
            is(undefined, whereis(last(), between)) end),
        same(between, P), stop(P), same(between, undefined) end}].

%% One connection is lost, and comes back after Check.
lose(A, B, Check) ->
    true = call(A, erlang, disconnect_node, [B]),
    Rest = fun(N) -> all() -- [N | case N of A -> [B]; B -> [A]; _ -> [] end] end,
    Alone = fun() -> lists:all(fun(N) -> lists:sort(call(N, erlang, nodes, [])) =:= lists:sort(Rest(N)) end, all()) end,
    until(Alone), Check(), is(true, Alone()), join(all()), meshed().

%% Those that run pg: all, but that the discover of OTP 29 ends pg of OTP 25 and older.
with_pg() ->
    Release = fun(N) -> list_to_integer(call(N, erlang, system_info, [otp_release])) end,
    Newest = lists:max([Release(N) || N <- get(members)]),
    [N || N <- all(), is_pid(call(N, erlang, whereis, [pg])) orelse not (Newest >= 28 andalso Release(N) =< 25)].

pairs() ->
    [{"a target and an OTP node", fun first/0, fun last/0}, {"two OTP nodes", fun() -> hd(get(members)) end, fun last/0},
     {"the first two", fun first/0, fun() -> hd(tl(all())) end}].

clash(Method, Rest) ->
    apart(first(), last(), fun(Parts) ->
        Ps = [begin P = fresh(N), yes = call(N, global, register_name, [clash, P, Method]),
            P end || [N | _] <- lists:sublist(Parts, 2)],
        join(all()), meshed(),
        Left = case Rest of
            none -> until(fun() -> lists:all(fun(N) -> whereis(N, clash) =:= undefined end, all()) end), [];
            one -> W = until(fun() -> case lists:usort([whereis(N, clash) || N <- all()]) of [P] when is_pid(P) -> P; _ ->
                false end end), [W]
        end,
        true = Left -- Ps =:= [], [stop(P) || P <- Ps], same(clash, undefined)
    end).

%% The nodes lose a connection; Check gets the parts, and all become one again.
apart(A, B, Check) ->
    call(A, erlang, disconnect_node, [B]),
    Parts = until(fun() -> steady(now_apart(), 10) end),
    Check(Parts), join(all()), meshed().

now_apart() -> parts_of(lists:usort([lists:sort([N | call(N, erlang, nodes, [])]) || N <- all()])).

%% The parts, if they are the same so many times.
steady(false, _) -> false;
steady(Parts, 0) -> Parts;
steady(Parts, N) -> case now_apart() of Parts -> steady(Parts, N - 1); _ -> false end.

%% The parts, if there are two or more, none of which has a node of another.
parts_of(Parts) when length(Parts) >= 2 ->
    case lists:sort(lists:append(Parts)) =:= lists:sort(all()) of true -> Parts; false -> false end;
parts_of(_) -> false.

%%% What they are made of.

all() -> get(targets) ++ get(members).
first() -> hd(get(targets)).
last() -> lists:last(get(members)).
cycle(N) -> lists:sublist(lists:append(lists:duplicate(N, all())), N).

call(N, M, F, A) -> erpc:call(N, M, F, A, 20000).
ask(N, What) -> gen_server:call({global_name_server, N}, What).
names(N) -> call(N, global, registered_names, []).
whereis(N, X) -> call(N, global, whereis_name, [X]).
register(N, X, P) -> call(N, global, register_name, [X, P]).
lock(N, Id) -> ask(N, {set_lock, Id}).
free(N, Id) -> ask(N, {del_lock, Id}).

%% An echo there, which is gone at the end of the process that has started it; or which is not.
fresh(N) -> Pid = spawned(N), Me = self(),
    spawn(fun() -> M = monitor(process, Me), receive {'DOWN', M, _, _, _} -> exit(Pid, kill) end end), Pid.
spawned(N) -> spawn(N, demo, echo, []).
stop(P) -> M = monitor(process, P), exit(P, kill), receive {'DOWN', M, process, P, _} -> ok end.

%% All see one process by a name.
same(X, P) -> [until(fun() -> whereis(N, X) =:= P end) || N <- all()].

named(Pairs) ->
    Ps = [begin P = fresh(M), yes = register(N, {own, N}, P), {N, P} end || {N, M} <- Pairs],
    [same({own, N}, P) || {N, P} <- Ps], [stop(P) || {_, P} <- Ps], [same({own, N}, undefined) || {N, _} <- Ps].

%% Connects all, as their users would: again until it is so.
join([_]) -> ok;
join(Nodes) ->
    until(fun() ->
        [caught(fun() -> call(N, net_kernel, connect_node, [M]) end) || N <- Nodes, M <- Nodes, N < M],
        lists:all(fun(N) -> Nodes -- [N | call(N, erlang, nodes, [])] =:= [] end, Nodes) end).

%% All are connected to each other, and in sync.
meshed() ->
    Whole = fun(N, L) -> lists:sort(L) =:= lists:sort(all() -- [N]) end,
    until(fun() -> lists:all(fun(N) -> Whole(N, call(N, erlang, nodes, [])) andalso Whole(N, ask(N, get_known))
        andalso Whole(N, ask(N, get_synced)) end, all()) end).

joins(C, N) -> until(fun() -> at(C, net_kernel, connect_node, [N]) end).
at(C, M, F, A) -> interop_global:at(C, M, F, A).
one_more(Check) -> interop_global:third(Check).

at_once(Fs) ->
    Nodes = {get(targets), get(members)},
    Ms = [spawn_monitor(fun() -> put(targets, element(1, Nodes)), put(members, element(2, Nodes)),
        exit({done, F()}) end) || F <- Fs],
    [receive {'DOWN', M, process, P, {done, V}} -> V; {'DOWN', M, process, P, Why} -> error({at_once, Why}) end || {P, M} <- Ms].
