%% What OTP, its tools and its users ask of a node that is in nodes(): each is answered, or fails at once as their
%% callers expect it. Checks of global are in interop_global.
-module(interop_visible).
-export([checks/0]).
-import(interop, [is/2, caught/1, target/0, at/1, fresh/0, got/0, until/1, reach/1]).
-import(interop_global, [synced/0, third/1, third/2, third/3, at/4, join/2, meshed/2, cut/0]).

-define(NOBODY, 'nobody@127.0.0.1').

checks() -> kernel() ++ lists() ++ mapper() ++ asked() ++ groups() ++ refusals() ++ process_groups().

kernel() ->
    [{"net_kernel is asked is_auth", fun() -> is(yes, kernel({is_auth, node()})) end},
     {"net_kernel is asked for its name", fun() -> is(target(), kernel(nodename)) end},
     {"net_kernel is asked for long names", fun() -> is(true, kernel(longnames)) end},
     {"net_kernel survives what means nothing", fun() ->
        P = interop:where(net_kernel), [at(net_kernel) ! M || M <- [x, {}, {a, b}, {'EXIT', self(), x}, {nodeup, x}]],
        [gen_server:cast(at(net_kernel), M) || M <- [x, {x, y}]],
        is(yes, kernel({is_auth, node()})), is(P, interop:where(net_kernel)) end},
     {"a call that net_kernel does not know kills nobody", fun() ->
        P = interop:where(net_kernel), caught(fun() -> gen_server:call(at(net_kernel), {what, 1}, 50) end),
        is(yes, kernel({is_auth, node()})), is(P, interop:where(net_kernel)) end},
     {"they ping us", fun() -> is(pong, call(net_adm, ping, [node()])) end},
     {"they ping themselves", fun() -> is(pong, call(net_adm, ping, [target()])) end},
     {"they ping nobody", fun() -> is(pang, call(net_adm, ping, [?NOBODY])) end},
     {"they connect to us", fun() ->
        T = target(), erlang:disconnect_node(T), until(fun() -> not lists:member(T, nodes()) end),
        third(fun(N, C) -> join(C, T), is(true, at(C, rpc, call, [T, net_kernel, connect_node, [node()]])),
            meshed(N, C) end) end},
     {"they connect to nobody", fun() -> is(false, call(net_kernel, connect_node, [?NOBODY])) end},
     {"they disconnect us", fun() ->
        synced(), T = target(), erlang:monitor_node(T, true), caught(fun() -> call(erlang, disconnect_node, [node()]) end),
        receive {nodedown, T} -> ok end, reach(T), synced() end},
     {"they disconnect nobody", fun() -> is(false, call(erlang, disconnect_node, [?NOBODY])) end},
     {"monitor_nodes tells of the loss, and why", fun() ->
        synced(), T = target(), O = [{node_type, visible}, nodedown_reason], ok = net_kernel:monitor_nodes(true, O), cut(),
        receive {nodedown, T, I} -> is([{node_type, visible}, {nodedown_reason, disconnect}], lists:sort(I)) end,
        reach(T), receive {nodeup, T, J} -> is([{node_type, visible}], J) end, ok = net_kernel:monitor_nodes(false, O),
        synced() end},
     {"monitor_nodes of all nodes", fun() ->
        synced(), T = target(), ok = net_kernel:monitor_nodes(true), cut(), receive {nodedown, T} -> ok end,
        reach(T), receive {nodeup, T} -> ok end, ok = net_kernel:monitor_nodes(false), synced() end},
     {"monitor_nodes of hidden nodes does not tell of it", fun() ->
        synced(), T = target(), O = [{node_type, hidden}], ok = net_kernel:monitor_nodes(true, O), cut(), reach(T), synced(),
        ok = net_kernel:monitor_nodes(false, O), is({messages, []}, process_info(self(), messages)) end},
     {"monitor_node, twice", fun() ->
        synced(), T = target(), [true = erlang:monitor_node(T, true) || _ <- [1, 2]], cut(),
        [receive {nodedown, T} -> ok end || _ <- [1, 2]], reach(T), synced() end}].

lists() ->
    [{"nodes/1 here", fun() ->
        T = target(), [is({K, true}, {K, lists:member(T, nodes(K))}) || K <- [visible, connected, known]],
        is(false, lists:member(T, nodes(hidden))), is(false, lists:member(T, nodes(this))) end},
     {"nodes/0 there has us", fun() -> is(true, lists:member(node(), call(erlang, nodes, []))) end},
     {"nodes/1 there", fun() ->
        [is({K, true}, {K, lists:member(node(), call(erlang, nodes, [K]))}) || K <- [visible, connected, known]],
        is(false, lists:member(node(), call(erlang, nodes, [hidden]))), is([target()], call(erlang, nodes, [this])) end},
     {"nodes/1 there, of several kinds", fun() ->
        L = call(erlang, nodes, [[visible, this]]), is(true, lists:member(node(), L) andalso lists:member(target(), L)) end},
     {"nodes/1 there, of a kind that is none", fun() ->
        {error, {exception, badarg, _}} = caught(fun() -> call(erlang, nodes, [what]) end) end},
     {"a hidden node is in their nodes(hidden) only, and in none of ours", fun() ->
        synced(), T = target(), third(["-hidden"], fun(N, C) ->
            join(C, T), until(fun() -> lists:member(N, call(erlang, nodes, [hidden])) end),
            is(false, lists:member(N, call(erlang, nodes, []))), is(true, lists:member(N, call(erlang, nodes, [connected]))),
            is(true, lists:member(T, at(C, erlang, nodes, [hidden]))), is(false, lists:member(N, nodes(connected))),
            is(false, lists:member(N, interop_global:server(get_known))) end) end},
     {"a hidden node calls a name of theirs", fun() ->
        synced(), T = target(), third(["-hidden"], fun(_, C) ->
            join(C, T), is(x, at(C, gen_server, call, [at(echo), x])), is(pong, at(C, net_adm, ping, [T])) end) end}].

mapper() ->
    [{"net_adm:names has it", fun() ->
        {ok, L} = net_adm:names("127.0.0.1"), {_, Port} = lists:keyfind(alive(), 1, L), is(true, is_integer(Port)) end},
     {"net_adm:world_list has it", fun() -> is(true, lists:member(target(), net_adm:world_list(['127.0.0.1']))) end},
     {"the port mapper has it as a visible node", fun() -> <<119, 0, _:16, $M, _/binary>> = mapped(alive()) end},
     {"the port mapper knows version 6 of its protocol", fun() ->
        <<119, 0, _:16, _, 0, High:16, Low:16, _/binary>> = mapped(alive()), is(true, High >= 6 andalso Low =< 6) end}].

alive() -> hd(string:split(atom_to_list(target()), "@")).

%% The answer of the port mapper.
mapped(Name) ->
    {ok, S} = gen_tcp:connect({127, 0, 0, 1}, list_to_integer(os:getenv("ERL_EPMD_PORT", "4369")), [binary, {active, false}]),
    ok = gen_tcp:send(S, [<<(length(Name) + 1):16, 122>>, Name]),
    {ok, B} = gen_tcp:recv(S, 0, 5000), gen_tcp:close(S), B.

%% What tools ask: a value, or undef at once; a process answers, or there is none.
asked() ->
    [{"a call to " ++ atom_to_list(Name), fun() -> answered(Name, Request) end} || {Name, Request} <- [
        {auth, echo}, {global_group, own_nodes}, {application_controller, which_applications},
        {kernel_sup, which_children}, {file_server_2, {get_cwd}}, {rex, {call, erlang, node, [], group_leader()}},
        {erl_signal_server, which_handlers}]]
    ++ [{"a cast of auth:print", fun() -> auth:print(target(), "interop ~p~n", [x]), is(x, gen_server:call(at(echo), x)) end},
     {"whereis of what tools look for", fun() ->
        [true = is_pid(W) orelse W =:= undefined || W <- [interop:where(N) || N <- [auth, code_server, file_server_2,
            dist_ac, logger,
            error_logger, inet_db, mnesia_monitor, mnesia_locker, disk_log_server, user_drv, rb_server, timer_server,
            sasl_sup]]] end},
     {"code functions by rpc", fun() ->
        {module, demo} = call(code, ensure_loaded, [demo]), is(true, false =/= call(code, is_loaded, [demo])),
        is(false, call(code, is_loaded, [nosuch])), is(non_existing, call(code, which, [nosuch])),
        [true = lists:all(fun({M, _}) -> is_atom(M) end, L) || L <- [call(code, all_loaded, [])]] end},
     {"code functions that it may not have fail at once", fun() ->
        [case rpc:call(target(), code, F, A) of {badrpc, {'EXIT', {undef, _}}} -> ok; {badrpc, _} = R -> error(R); _ -> ok end
         || {F, A} <- [{get_path, []}, {lib_dir, []}, {get_object_code, [lists]}, {get_mode, []}, {root_dir, []}]] end},
     {"c:nl, code of ours", fun() -> c:nl(interop_echo), is(x, gen_server:call(at(echo), x)),
         is(pong, net_adm:ping(target())) end},
     {"application functions by rpc", fun() ->
        true = is_list(call(application, which_applications, [])), true = is_list(call(application, loaded_applications, [])),
        is(undefined, call(application, get_env, [nosuch, key])) end},
     {"files by rpc, or undef", fun() ->
        case rpc:call(target(), file, read_file_info, ["/"]) of {ok, _} -> ok; {badrpc, {'EXIT', {undef, _}}} -> ok end end},
     {"inet:gethostname by rpc, or undef", fun() ->
        case rpc:call(target(), inet, gethostname, []) of {ok, _} -> ok; {badrpc, {'EXIT', {undef, _}}} -> ok end end},
     {"an event for its logger", fun() ->
        at(logger_proxy) ! {log, error, "interop: ~p~n", [x], meta()},
        at(logger_proxy) ! {log, error, {string, "interop"}, meta()},
        at(logger) ! {log, error, "interop: ~p~n", [x], meta()}, is(x, gen_server:call(at(echo), x)) end},
     {"an event for its error_logger", fun() ->
        at(error_logger) ! {notify, {error, group_leader(), {self(), "interop ~p~n", [x]}}},
        is(x, gen_server:call(at(echo), x)) end},
     {"a process of ours whose group leader is theirs crashes", fun() ->
        P = fresh(), {_, M} = spawn_monitor(fun() -> group_leader(P, self()), error_logger:error_msg("interop ~p~n", [x]),
            exit(out) end),
        receive {'DOWN', M, process, _, out} -> ok end, is(x, gen_server:call(P, x)) end},
     {"a process of theirs, spawned here, prints here", fun() ->
        L = interop:leader(), group_leader(L, self()),
        P = spawn(target(), io, put_chars, ["interop ö"]), M = monitor(process, P), receive {'DOWN', M, process, P, _} -> ok end,
        until(fun() -> interop:printed(L) =:= <<"interop ö"/utf8>> end) end},
     {"the tick time can be asked for", fun() ->
        case rpc:call(target(), net_kernel, get_net_ticktime, []) of N when is_integer(N) ->
            ok; {badrpc, {'EXIT', {undef, _}}} -> ok end end},
     {"mnesia asks for its monitor", fun() ->
        is(undefined, call(erlang, whereis, [mnesia_monitor])),
        {exit, {noproc, _}} = caught(fun() -> gen_server:call(at(mnesia_monitor), {negotiate, x}, infinity) end) end}].

answered(Name, Request) ->
    case caught(fun() -> gen_server:call(at(Name), Request, 2000) end) of
        {returned, _} -> ok;
        {exit, {noproc, _}} -> ok;
        {exit, {Why, _}} -> error(Why)
    end.

meta() -> #{time => erlang:system_time(microsecond), pid => self(), gl => group_leader()}.

groups() ->
    [{"global_group:whereis_name there", fun() ->
        synced(), P = fresh(), yes = global:register_name(g1, P), is(P, global_group:whereis_name({node, target()}, g1)),
        interop:gone(P) end},
     {"global_group:whereis_name of nobody there", fun() ->
         is(undefined, global_group:whereis_name({node, target()}, {none, make_ref()})) end},
     {"global_group:registered_names there", fun() ->
        synced(), P = fresh(), yes = global:register_name(g2, P),
        is(true, lists:member(g2, global_group:registered_names({node, target()}))), interop:gone(P) end},
     {"global_group:send there", fun() ->
        synced(), P = fresh(), yes = global:register_name(g3, P), is(P, global_group:send({node, target()}, g3, {self(), x})),
        is({P, x}, got()), interop:gone(P) end},
     {"global_group:send to nobody there", fun() ->
        X = {none, make_ref()}, is({badarg, {X, m}}, global_group:send({node, target()}, X, m)) end},
     {"it belongs to no group", fun() -> is([], call(global_group, get_own_nodes, [])) end},
     {"its group does not agree with another", fun() ->
         is(not_agreed, call(global_group, ng_add_check, [node(), normal, [node()]])) end},
     {"its group is asked for what it does not know", fun() ->
        is({illegal_message, what}, gen_server:call(at(global_group), what)),
        is(undefined, gen_server:call(at(global_group), global_groups)) end},
     {"it answers the check of a group's configuration", fun() ->
        synced(), R = make_ref(),
        gen_server:cast(at(global_group), {conf_check, 3, node(), {self(), R}, sync, a_group, normal, [node(), target()]}),
        receive {config_error, 3, {_, R}, T} -> is(target(), T) end, cut(), reach(target()), synced() end},
     {"a node of a group that it is not in", fun() -> grouped(fun(N) -> [N] end) end},
     {"a node of a group that it does not know to be in", fun() -> grouped(fun(N) -> [N, target()] end) end}].

%% A third node that belongs to a group is connected to them: names of both go on.
grouped(Nodes) ->
    synced(), T = target(), N = interop_global:third_name(),
    Groups = io_lib:format("[{g,~w}]", [Nodes(N)]),
    third(N, ["-kernel", "global_groups", lists:flatten(Groups)], fun(_, C) ->
        join(C, T), is(x, at(C, gen_server, call, [at(echo), x])),
        P = fresh(), yes = global:register_name(g4, P), is(P, interop_global:there(g4)),
        Q = at(C, erlang, whereis, [kernel_sup]), yes = at(C, global, register_name, [g4, Q]),
        is(Q, at(C, global, whereis_name, [g4])),
        is(P, interop_global:there(g4)), ok = at(C, global, unregister_name, [g4]), is(P, interop_global:there(g4)),
        is(ok, global:sync()), interop:gone(P) end).

refusals() ->
    [{"net_kernel:allow of a third without it", fun() ->
        synced(), T = target(), third(fun(N, C) ->
            ok = at(C, net_kernel, allow, [[node()]]), is(false, at(C, net_kernel, connect_node, [T])),
            is(false, call(net_kernel, connect_node, [N])), is(pang, call(net_adm, ping, [N])),
            is(false, lists:member(N, call(erlang, nodes, [connected]))), is(ok, global:sync()) end) end},
     {"net_kernel:allow of a third with it", fun() ->
        synced(), T = target(), third(fun(N, C) ->
            ok = at(C, net_kernel, allow, [[node(), T]]), is(true, at(C, net_kernel, connect_node, [T])), join(C, node()),
            meshed(N, C) end) end},
     {"a third with another cookie", fun() ->
        synced(), T = target(), third(fun(N, C) ->
            true = at(C, erlang, set_cookie, [T, wrong]), is(false, at(C, net_kernel, connect_node, [T])),
            is(pang, at(C, net_adm, ping, [T])),
            is(false, lists:member(N, call(erlang, nodes, [connected]))), is(pong, net_adm:ping(T)) end) end},
     {"dist_auto_connect never: a message does not connect", fun() ->
        synced(), T = target(), third(["-kernel", "dist_auto_connect", "never"], fun(N, C) ->
            {returned, _} = {returned, at(C, gen_server, cast, [at(echo), x])}, is(pang, at(C, net_adm, ping, [T])),
            is(false, lists:member(N, call(erlang, nodes, [connected]))) end) end},
     {"dist_auto_connect never: connect_node does, and it takes part", fun() ->
        synced(), T = target(), third(["-kernel", "dist_auto_connect", "never"], fun(N, C) ->
            join(C, T), join(C, node()), meshed(N, C), is(x, at(C, gen_server, call, [at(echo), x])),
            P = fresh(), yes = at(C, global, register_name, [r1, P]), is(P, interop_global:there(r1)), interop:gone(P) end) end},
     {"dist_auto_connect once: no second time by itself", fun() ->
        synced(), T = target(), third(["-kernel", "dist_auto_connect", "once", "-kernel", "connect_all", "false"], fun(_, C) ->
            is(x, at(C, gen_server, call, [at(echo), x])), true = at(C, erlang, disconnect_node, [T]),
            until(fun() -> not lists:member(T, at(C, erlang, nodes, [connected])) end),
            is(pang, at(C, net_adm, ping, [T])) end) end},
     {"connect_all false: a third is connected to it alone", fun() ->
        synced(), T = target(), third(["-kernel", "connect_all", "false"], fun(N, C) ->
            join(C, T), is(x, at(C, gen_server, call, [at(echo), x])), is([T], at(C, erlang, nodes, [])),
            is(true, lists:member(N, call(erlang, nodes, []))), is(ok, global:sync()) end) end}].

process_groups() ->
    [{"pg: a third finds their members, and they its own", fun() ->
        synced(), T = target(), P = fresh(), ok = call(pg, join, [v1, P]),
        third(fun(N, C) ->
            {ok, _} = at(C, pg, start, [pg]), join(C, T), join(C, node()), meshed(N, C),
            until(fun() -> at(C, pg, get_members, [v1]) =:= [P] end),
            Q = at(C, erlang, spawn, [timer, sleep, [infinity]]), ok = at(C, pg, join, [v1, Q]),
            until(fun() -> lists:sort(call(pg, get_members, [v1])) =:= lists:sort([P, Q]) end),
            peer:stop(C), until(fun() -> call(pg, get_members, [v1]) =:= [P] end) end),
        interop:gone(P) end},
     {"pg: a scope that it does not have", fun() ->
        synced(), {ok, S} = pg:start(a_scope), cut(), reach(target()), synced(), ok = pg:join(a_scope, v2, self()),
        is([self()], pg:get_members(a_scope, v2)), is(x, gen_server:call(at(echo), x)), gen_server:stop(S) end},
     {"pg: monitor of what they join and leave", fun() ->
        synced(), _ = pg:start(pg), {R, _} = pg:monitor(pg, v3), P = fresh(), ok = call(pg, join, [v3, P]),
        receive {R, join, v3, [P]} -> ok end, exit(P, kill), receive {R, leave, v3, [P]} -> ok end, pg:demonitor(R) end}].

%%% What they are made of.

kernel(Request) -> gen_server:call(at(net_kernel), Request).
call(M, F, A) -> erpc:call(target(), M, F, A).
