%% What a published node does in global. The checks with a third node start one on this host, which the
%% suite talks to by its standard input and output: it is connected when the check says so.
-module(interop_global).
-export([checks/0]).
-export([synced/0, third/1, third/2, third/3, third_name/0, at/4, join/2, meshed/2, cut/0, server/1, there/1, count/2]).
-export([callback_mode/0, init/1, handle_event/4]).
-import(interop, [is/2, caught/1, target/0, up/1, fresh/0, fresh/1, gone/1, got/0, until/1, reach/1]).

checks() -> visible() ++ names() ++ terms() ++ servers() ++ locks() ++ breaks() ++ thirds() ++ more_thirds().

visible() ->
    [{"nodes() has it, nodes(hidden) has not", fun() ->
        true = lists:member(target(), nodes()), false = lists:member(target(), nodes(hidden))
     end},
     {"monitor_nodes tells of it as of a visible one", fun() ->
        ok = net_kernel:monitor_nodes(true, [{node_type, visible}]), T = target(),
        cut(), receive {nodedown, T, _} -> ok end,
        reach(T), receive {nodeup, T, _} -> ok end, ok = net_kernel:monitor_nodes(false, [{node_type, visible}]), synced()
     end},
     {"get_known and get_synced have us", fun() ->
        synced(), Me = node(), until(fun() -> lists:member(Me, server(get_known))
            andalso lists:member(Me, server(get_synced)) end)
     end},
     {"it is known and in sync here", fun() ->
        synced(), T = target(), true = lists:member(T, gen_server:call(global_name_server, get_known)),
        until(fun() -> lists:member(T, gen_server:call(global_name_server, get_synced)) end)
     end},
     {"get_protocol_version", fun() -> V = server(get_protocol_version), true = is_integer(V) andalso V >= 5 end},
     {"get_names_ext", fun() -> is([], server(get_names_ext)) end},
     {"the processes are registered", fun() -> true = is_pid(interop:where(global_name_server)) end},
     {"global:sync", fun() -> is(ok, global:sync()) end}].

names() ->
    [{Name, fun() -> synced(), X = {?MODULE, make_ref()}, Check(X), is(undefined, ended(X)) end} || {Name, Check} <- [
     {"a name of ours", fun(X) -> P = ours(), yes = global:register_name(X, P), is(P, there(X)), stop(P) end},
     {"a name of theirs, registered here", fun(X) -> P = fresh(), yes = global:register_name(X, P), is(P, there(X)),
         is(P, here(X)), gone(P) end},
     {"a name of theirs, registered there", fun(X) -> P = fresh(), yes = remote(register_name, [X, P]), is(P, here(X)),
         gone(P) end},
     {"a name of ours, registered there", fun(X) -> P = ours(), yes = remote(register_name, [X, P]), is(P, here(X)), stop(P) end},
     {"a name that is taken", fun(X) ->
        P = ours(), Q = fresh(), yes = global:register_name(X, P), no = global:register_name(X, Q),
        no = remote(register_name, [X, Q]),
        is(P, there(X)), stop(P) end},
     {"a process that has a name", fun(X) ->
        P = fresh(), yes = global:register_name(X, P), no = remote(register_name, [{second, X}, P]), gone(P) end},
     {"re_register_name moves it to them", fun(X) ->
        P = ours(), Q = fresh(), yes = global:register_name(X, P), yes = global:re_register_name(X, Q), is(Q, there(X)),
        is(Q, here(X)),
        stop(P), is(Q, there(X)), gone(Q) end},
     {"re_register_name moves it to us", fun(X) ->
        P = ours(), Q = fresh(), yes = remote(register_name, [X, Q]), yes = remote(re_register_name, [X, P]), is(P, there(X)),
        is(P, here(X)),
        gone(Q), is(P, here(X)), stop(P) end},
     {"unregister_name here", fun(X) -> P = fresh(), yes = global:register_name(X, P), ok = global:unregister_name(X),
         is(undefined, there(X)) end},
     {"unregister_name there", fun(X) -> P = ours(), yes = global:register_name(X, P), ok = remote(unregister_name, [X]),
         is(undefined, here(X)), stop(P) end},
     {"unregister_name of nobody", fun(X) -> ok = global:unregister_name(X), ok = remote(unregister_name, [X]) end},
     {"the end of a process of ours", fun(X) -> P = ours(), yes = global:register_name(X, P), exit(P, kill),
         until(fun() -> there(X) =:= undefined end) end},
     {"the end of a process of theirs", fun(X) -> P = fresh(), yes = global:register_name(X, P), exit(P, kill),
         until(fun() -> here(X) =:= undefined end) end},
     {"registered_names", fun(X) ->
        P = fresh(), yes = global:register_name(X, P), is(lists:sort(global:registered_names()),
            lists:sort(remote(registered_names, []))), gone(P) end},
     {"global:send to theirs", fun(X) ->
        P = fresh(), yes = global:register_name(X, P), P = global:send(X, {self(), hello}), receive {P, hello} -> ok end,
        gone(P) end},
     {"global:send there to ours", fun(X) ->
        Me = self(), P = spawn(fun() -> receive M -> Me ! {got, M} end end), yes = global:register_name(X, P),
        P = remote(send, [X, hello]), receive {got, hello} -> ok end end},
     {"global:send to nobody", fun(X) ->
        is({exit, {badarg, {X, m}}}, caught(fun() -> global:send(X, m) end)),
        is({exit, {exception, {badarg, {X, m}}}}, caught(fun() -> remote(send, [X, m]) end)) end},
     {"a name is free again at once", fun(X) ->
        [begin P = fresh(), yes = global:register_name(X, P), ok = remote(unregister_name, [X]), gone(P) end
            || _ <- lists:seq(1, 20)] end}]]
    ++ [{"1,000 names of both sides", fun() ->
        synced(), P = ours(), All = [{many, I} || I <- lists:seq(1, 250)],
        Ps = [begin Q = ours(), yes = global:register_name(N, Q), Q end || N <- All],
        [true = is_pid(there(N)) || N <- All], [stop(Q) || Q <- Ps], stop(P),
        until(fun() -> not lists:any(fun(N) -> is_pid(there(N)) end, All) end) end},
        {"both sides register one name at once", fun() ->
        synced(), X = {?MODULE, make_ref()}, T = target(), Me = self(), P = ours(), Q = fresh(),
        spawn(fun() -> Me ! {a, global:register_name(X, P)} end),
        spawn(fun() -> Me ! {b, erpc:call(T, global, register_name, [X, Q])} end),
        Won = receive {a, A} -> receive {b, B} -> {A, B} end end,
        Pid = case Won of {yes, no} -> P; {no, yes} -> Q end, is(Pid, here(X)), is(Pid, there(X)), stop(P), gone(Q) end}].

%% Names are terms, compared by =:=.
terms() ->
    [{"a name that is " ++ What, fun() ->
        synced(), P = fresh(), yes = global:register_name(X, P), is(P, there(X)), is(P, here(X)),
        ok = remote(unregister_name, [X]), is(undefined, here(X)), gone(P) end} || {What, X} <- [
        {"an atom", an_atom}, {"a long atom", list_to_atom(lists:duplicate(255, $x))}, {"an atom of Unicode", 'жå'},
        {"a string", "a string"},
        {"a binary", <<"binary">>}, {"a tuple", {a, {b, 1}}}, {"a map", #{a => 1, "b" => [2]}}, {"a list", [a, 1, [b]]},
        {"an empty list", []},
        {"a float", 1.0}, {"an integer", 1}, {"a big integer", 1 bsl 100}, {"an improper list", [a | b]},
        {"a bit string", <<1:3>>},
        {"a fun", fun lists:map/2}, {"a binary of 10,000 bytes", binary:copy(<<"x">>, 10000)},
        {"a binary of 3 MB", binary:copy(<<"x">>, 3000000)}, {"a list of 100,000 integers", lists:seq(1, 100000)},
        {"a tuple of 20,000", list_to_tuple(lists:seq(1, 20000))},
        {"a term 5,000 deep", lists:foldl(fun(I, T) -> {I, T} end, [], lists:seq(1, 5000))},
        {"a map of 5,000", maps:from_list([{I, I} || I <- lists:seq(1, 5000)])}]]
    ++ [{"1 and 1.0 are two names", fun() ->
        synced(), P = fresh(), Q = ours(), yes = global:register_name(1, P), yes = global:register_name(1.0, Q), is(P, there(1)),
        is(Q, there(1.0)),
        gone(P), stop(Q) end},
        {"a name that is a pid, a reference", fun() ->
        synced(), P = fresh(), R = make_ref(), yes = global:register_name(P, P), is(P, there(P)),
        ok = remote(unregister_name, [P]),
        yes = global:register_name(R, P), is(P, there(R)), gone(P) end}].

servers() ->
    [{"gen_server:call({global, Name}) of theirs", fun() ->
        named(fun(X) -> is(hello, gen_server:call({global, X}, hello)) end) end},
     {"gen_server:call({via, global, Name}) of theirs", fun() ->
         named(fun(X) -> is(hello, gen_server:call({via, global, X}, hello)) end) end},
     {"gen_server:cast({global, Name})", fun() -> named(fun(X) -> ok = gen_server:cast({global, X}, hello),
         is(x, gen_server:call({global, X}, x)) end) end},
     {"a call of a name that is gone", fun() ->
        synced(), {exit, {noproc, _}} = caught(fun() -> gen_server:call({global, {none, make_ref()}}, x) end) end},
     {"gen_server:start({global, Name}) here", fun() ->
        synced(), {ok, P} = gen_server:start({global, started}, interop_echo, [], []), is(P, there(started)),
        {error, {already_started, P}} = gen_server:start({global, started}, interop_echo, [], []),
        gen_server:stop(P), until(fun() -> there(started) =:= undefined end) end},
     {"gen_server:start with a name that is theirs", fun() ->
        named(fun(X) -> P = here(X), {error, {already_started, P}} = gen_server:start({global, X}, interop_echo, [],
            []) end) end},
     {"gen_server:start({via, global, Name}) here", fun() ->
        synced(), {ok, P} = gen_server:start({via, global, started2}, interop_echo, [], []), is(P, there(started2)),
        gen_server:stop(P), until(fun() -> there(started2) =:= undefined end) end},
     {"gen_server:start({via, global, Name}) with a name that is theirs", fun() ->
        named(fun(X) -> P = here(X),
            {error, {already_started, P}} = gen_server:start({via, global, X}, interop_echo, [], []) end) end},
     {"gen_server:start_link({global, Name}) with a name that is theirs", fun() ->
        named(fun(X) -> P = here(X), process_flag(trap_exit, true),
            {error, {already_started, P}} = gen_server:start_link({global, X}, interop_echo, [], []) end) end},
     {"gen_server:cast({via, global, Name})", fun() ->
        named(fun(X) -> ok = gen_server:cast({via, global, X}, x), is(y, gen_server:call({via, global, X}, y)) end) end},
     {"a call and a cast by {via, global, Name} of nobody", fun() ->
        synced(), X = {none, make_ref()}, {exit, {noproc, _}} = caught(fun() -> gen_server:call({via, global, X}, x) end),
        ok = gen_server:cast({via, global, X}, x), ok = gen_server:cast({global, X}, x) end},
     {"gen_server:send_request to a name of theirs", fun() ->
        named(fun(X) -> is({reply, x}, gen_server:receive_response(gen_server:send_request({global, X}, x), 5000)),
            is({reply, y}, gen_server:receive_response(gen_server:send_request({via, global, X}, y), 5000)) end) end},
     {"gen_server:stop by a name of theirs", fun() ->
        named(fun(X) -> ok = gen_server:stop({global, X}),
            until(fun() -> here(X) =:= undefined andalso there(X) =:= undefined end) end) end},
     {"gen_statem:call and cast by a name of theirs", fun() ->
        named(fun(X) -> is(x, gen_statem:call({global, X}, x)), is(y, gen_statem:call({via, global, X}, y, 5000)),
            ok = gen_statem:cast({global, X}, z), is(z, gen_statem:call({global, X}, z)) end) end},
     {"gen_statem:start here, by both forms", fun() ->
        synced(), [begin
            {ok, P} = gen_statem:start(Form, interop_global, [], []), is(P, there(started3)),
            {error, {already_started, P}} = gen_statem:start({global, started3}, interop_global, [], []),
            is(P, remote(send, [started3, x])), is(1, gen_statem:call(P, seen)),
            gen_statem:stop(Form), until(fun() -> there(started3) =:= undefined end)
        end || Form <- [{global, started3}, {via, global, started3}]] end},
     {"gen_statem:start with a name that is theirs", fun() ->
        named(fun(X) -> P = here(X), {error, {already_started, P}} = gen_statem:start({via, global, X}, interop_global, [],
            []) end) end},
     {"gen_event and supervisor with a global name here", fun() ->
        synced(), process_flag(trap_exit, true), {ok, P} = gen_event:start_link({global, started4}), is(P, there(started4)),
        {ok, Q} = supervisor:start_link({global, started5}, interop_global, supervisor), is(Q, there(started5)),
        {error, {already_started, Q}} = supervisor:start_link({global, started5}, interop_global, supervisor),
        gen_event:stop({global, started4}), exit(Q, shutdown),
        until(fun() -> there(started4) =:= undefined andalso there(started5) =:= undefined end) end},
     {"sys by a name of theirs", fun() -> named(fun(X) -> ok = sys:suspend({global, X}), ok = sys:resume({global, X}) end) end}].

locks() ->
    [{Name, fun() -> synced(), Check({?MODULE, make_ref()}), until(fun() -> idle() end) end} || {Name, Check} <- [
     {"set_lock and del_lock", fun(R) -> true = global:set_lock({R, a}), false = theirs(R, b), true = global:del_lock({R, a}),
         true = theirs(R, b), true = free(R, b) end},
     {"a lock of theirs", fun(R) -> true = theirs(R, a), false = global:set_lock({R, b}, all(), 0), true = free(R, a),
         true = global:set_lock({R, b}, all(), 0), global:del_lock({R, b}) end},
     {"the same requester", fun(R) -> true = global:set_lock({R, a}), true = theirs(R, a),
         true = global:set_lock({R, a}, all(), 0),
        global:del_lock({R, a}), global:del_lock({R, a}) end},
     {"on their node only", fun(R) -> true = global:set_lock({R, a}, [target()], 0),
         false = global:set_lock({R, b}, [target()], 0),
        true = global:set_lock({R, b}, [node()], 0), global:del_lock({R, a}, [target()]), global:del_lock({R, b}, [node()]) end},
     {"the end of who has it", fun(R) ->
        {P, M} = spawn_monitor(fun() -> true = global:set_lock({R, a}) end), receive {'DOWN', M, process, P, normal} -> ok end,
        until(fun() -> case theirs(R, b) of true -> free(R, b); false -> false end end) end},
     {"the end of one of two who have it", fun(R) ->
        {P, M} = spawn_monitor(fun() -> true = global:set_lock({R, a}) end), true = global:set_lock({R, a}),
        receive {'DOWN', M, process, P, normal} -> ok end,
        false = theirs(R, b), global:del_lock({R, a}), until(fun() -> case theirs(R, b) of true -> free(R, b); false ->
            false end end) end},
     {"del_lock of another requester", fun(R) -> true = global:set_lock({R, a}), free(R, b), false = theirs(R, b),
         global:del_lock({R, a}) end},
     {"trans", fun(R) -> is(done, global:trans({R, self()}, fun() -> false = theirs(R, b), done end)), true = theirs(R, b),
         true = free(R, b) end},
     {"trans that is given up", fun(R) -> true = theirs(R, a),
         is(aborted, global:trans({R, self()}, fun() -> done end, all(), 0)), free(R, a) end},
     {"set_lock waits", fun(R) ->
        Me = self(), true = theirs(R, a), P = spawn(fun() -> Me ! {locked, global:set_lock({R, b})}, receive stop -> ok end end),
        receive {locked, _} -> error(locked) after 50 -> ok end, free(R, a), receive {locked, true} -> ok end, stop(P) end},
     {"a resource that is a term, and a requester", fun(R) ->
        true = global:set_lock({{R, [1, <<"x">>]}, {me, 1.5}}), false = theirs({R, [1, <<"x">>]}, {me, 1}),
        global:del_lock({{R, [1, <<"x">>]}, {me, 1.5}}) end},
     {"trans of a function that crashes", fun(R) ->
        {error, boom} = caught(fun() -> global:trans({R, self()}, fun() -> error(boom) end) end), true = theirs(R, b),
        true = free(R, b) end},
     {"trans within trans, by one requester", fun(R) ->
        is(done, global:trans({R, me}, fun() -> global:trans({R, me}, fun() -> done end, all(), 0) end)),
        until(fun() -> case theirs(R, b) of true -> free(R, b); false -> false end end) end},
     {"trans tries again until the lock is free", fun(R) ->
        true = theirs(R, a), Me = self(),
        P = spawn(fun() -> Me ! {ended, global:trans({R, self()}, fun() -> done end, all(), 20)} end),
        true = is_process_alive(P), free(R, a), receive {ended, done} -> ok end end},
     {"trans on some nodes, one of which is not there", fun(R) ->
        is(done, global:trans({R, self()}, fun() -> done end, [target(), 'nobody@127.0.0.1'], 0)) end},
     {"trans of 20 processes: one at a time", fun(R) ->
        T = target(), P = fresh(counter),
        interop:parallel(20, fun(_) -> [global:trans({R, self()}, fun() -> N = gen_server:call(P, get),
            gen_server:call(P, {add, N + 1 - gen_server:call(P, get)}) end, [node(), T]) || _ <- [1, 2, 3]] end),
        is(60, gen_server:call(P, get)), gone(P) end},
     {"100 of them", fun(R) ->
        [true = global:set_lock({{R, I}, a}, all(), 0) || I <- lists:seq(1, 100)],
        [false = theirs({R, I}, b) || I <- [1, 50, 100]],
        [global:del_lock({{R, I}, a}) || I <- lists:seq(1, 100)] end}]].

breaks() ->
    [{"names are lost with the connection, and are back with it", fun() ->
        synced(), P = fresh(), Q = ours(), yes = global:register_name(b1, P), yes = global:register_name(b2, Q), T = target(),
        cut(), until(fun() -> here(b1) =:= undefined end), is(Q, here(b2)), reach(T), synced(),
        until(fun() -> here(b1) =:= P andalso there(b2) =:= Q end), gone(P), stop(Q) end},
     {"a lock ends with the connection", fun() ->
        synced(), T = target(), true = global:set_lock({b3, a}), false = theirs(b3, b), cut(), reach(T), synced(),
        until(fun() -> case theirs(b3, b) of true -> free(b3, b); false -> false end end), global:del_lock({b3, a}) end},
     {"global:disconnect here", fun() ->
        synced(), T = target(), true = lists:member(T, global:disconnect()), until(fun() -> not lists:member(T, nodes()) end),
        reach(T), synced() end},
     {"global:disconnect there", fun() ->
        synced(), Me = node(), T = target(), ok = gone_by(caught(fun() -> remote(disconnect, []) end), Me),
        until(fun() -> not lists:member(T, nodes()) end), reach(T), synced() end},
     {"five times lost and connected", fun() ->
        T = target(), P = ours(), synced(), yes = global:register_name(b4, P),
        [begin cut(), reach(T), synced() end || _ <- lists:seq(1, 5)], until(fun() -> there(b4) =:= P end), stop(P) end}]
    ++ [{"a clash: " ++ What, fun() -> clash(Method, Want) end} || {What, Method, Want} <- [
        {"random_exit_name", fun global:random_exit_name/3, one},
        {"random_notify_name", fun global:random_notify_name/3, notified},
        {"notify_all_name", fun global:notify_all_name/3, all}]]
    ++ [{"messages that are none of the protocol", fun() ->
        synced(), S = {global_name_server, target()}, Pid = interop:where(global_name_server),
        [S ! M || M <- [nonsense, {}, {cancel_connect, x, y}, [1 | 2], #{}]],
        [gen_server:cast(S, M) || M <- [nonsense, {}, {nonsense, 1}]],
        is(Pid, interop:where(global_name_server)), is(ok, global:sync()), synced() end}].

thirds() ->
    [{Name, fun() -> synced(), third(Check) end} || {Name, Check} <- [
     {"a third node is connected to all", fun(N, C) -> join(C, node()), meshed(N, C) end},
     {"a third node by way of theirs", fun(N, C) -> join(C, target()), meshed(N, C) end},
     {"a name of the third is known to them, and ends with it", fun(N, C) ->
        join(C, node()), meshed(N, C), yes = at(C, global, register_name, [t1, at(C, erlang, whereis, [kernel_sup])]),
        is(N, node(there(t1))),
        peer:stop(C), until(fun() -> there(t1) =:= undefined andalso here(t1) =:= undefined end) end},
     {"a name of theirs is known to the third, before and after", fun(N, C) ->
        P = fresh(), yes = global:register_name(t2, P), join(C, node()), meshed(N, C), is(P, at(C, global, whereis_name, [t2])),
        gone(P), until(fun() -> at(C, global, whereis_name, [t2]) =:= undefined end) end},
     {"a lock of the third", fun(N, C) ->
        join(C, node()), meshed(N, C), true = at(C, global, set_lock, [{t3, a}, [N, node(), target()], 0]),
        until(fun() -> idle() end) end},
     {"a clash of theirs with the third", fun(N, C) ->
        P = fresh(), yes = global:register_name(t4, P), Q = at(C, erlang, spawn, [timer, sleep, [infinity]]),
        yes = at(C, global, register_name, [t4, Q]),
        join(C, node()), meshed(N, C), until(fun() -> W = here(t4), W =:= there(t4) andalso W =:= at(C, global,
            whereis_name, [t4]) end),
        true = lists:member(here(t4), [P, Q]), gone(P), at(C, erlang, exit, [Q, kill]) end},
     {"the third loses them: they are apart from one of the two", fun(N, C) ->
        join(C, node()), meshed(N, C), T = target(), true = at(C, erlang, disconnect_node, [T]),
        until(fun() -> not (lists:member(N, nodes()) andalso lists:member(T, nodes())) end), reach(T), join(C, node()),
        join(C, T), meshed(N, C) end},
     {"the third ends and is back", fun(N, C) ->
        join(C, node()), meshed(N, C), peer:stop(C), until(fun() -> not lists:member(N, server(get_known)) end), synced() end}]].

%% What three nodes, in different ways, make of one cluster.
more_thirds() ->
    [{Name, fun() -> synced(), third(Check) end} || {Name, Check} <- [
     {"a name of ours for a process of the third", fun(N, C) ->
        join(C, node()), meshed(N, C), P = sleeper(C), yes = global:register_name(t5, P), is(P, there(t5)),
        true = at(C, erlang, exit, [P, kill]), until(fun() -> there(t5) =:= undefined andalso here(t5) =:= undefined end) end},
     {"a name of theirs for a process of the third", fun(N, C) ->
        join(C, node()), meshed(N, C), P = sleeper(C), yes = remote(register_name, [t6, P]), is(P, here(t6)),
        is(P, at(C, global, whereis_name, [t6])), peer:stop(C),
        until(fun() -> there(t6) =:= undefined andalso here(t6) =:= undefined end) end},
     {"a name of the third for a process of theirs", fun(N, C) ->
        join(C, node()), meshed(N, C), P = fresh(), yes = at(C, global, register_name, [t7, P]), is(P, here(t7)),
        is(P, there(t7)),
        peer:stop(C), until(fun() -> not lists:member(N, server(get_known)) end), is(P, there(t7)), is(P, here(t7)), gone(P) end},
     {"global:send of the third to theirs, and to nobody", fun(N, C) ->
        join(C, node()), meshed(N, C), P = fresh(), yes = global:register_name(t8, P),
        is(P, at(C, global, send, [t8, {self(), x}])),
        is({P, x}, got()), {exit, {badarg, {t9, x}}} = caught(fun() -> at(C, global, send, [t9, x]) end), gone(P) end},
     {"three nodes register one name at once", fun(N, C) ->
        join(C, node()), meshed(N, C), P = sleeper(C), Q = fresh(), R = ours(), Me = self(), T = target(),
        spawn(fun() -> Me ! {P, at(C, global, register_name, [t10, P])} end),
        spawn(fun() -> Me ! {Q, erpc:call(T, global, register_name, [t10, Q])} end),
        spawn(fun() -> Me ! {R, global:register_name(t10, R)} end),
        [W] = [Pid || Pid <- [P, Q, R], receive {Pid, yes} -> true; {Pid, no} -> false end],
        [is(W, X) || X <- [here(t10), there(t10), at(C, global, whereis_name, [t10])]], gone(Q), stop(R) end},
     {"three nodes want one lock: one has it", fun(N, C) ->
        join(C, node()), meshed(N, C), T = target(), Nodes = [N, node(), T], Me = self(),
        Try = fun(Who, F) -> spawn(fun() -> Me ! {Who, F(), self()}, receive stop -> ok end end) end,
        Ps = [Try(I, fun() -> global:set_lock({t11, I}, Nodes, 0) end) || I <- [1, 2, 3]],
        S = Try(4, fun() -> at(C, global, set_lock, [{t11, 4}, Nodes, 0]) end),
        Got = [I || I <- [1, 2, 3, 4], receive {I, true, _} -> true; {I, false, _} -> false end], true = length(Got) =< 1,
        [P ! stop || P <- [S | Ps]], peer:stop(C),
        until(fun() -> case theirs(t11, b) of true -> free(t11, b); false -> false end end) end},
     {"trans of two nodes: one at a time", fun(N, C) ->
        join(C, node()), meshed(N, C), P = fresh(counter), T = target(), Nodes = [N, node(), T],
        {module, interop_global} = at(C, code, load_binary,
            [interop_global, "", element(2, code:get_object_code(interop_global))]),
        Done = spawn_all([fun() -> count(P, Nodes) end, fun() -> at(C, interop_global, count, [P, Nodes]) end]),
        is([ok, ok], Done), is(20, gen_server:call(P, get)), gone(P) end},
     {"the third starts again, with the same name", fun(N, C) ->
        join(C, node()), meshed(N, C), P = sleeper(C), yes = at(C, global, register_name, [t12, P]), is(P, there(t12)),
        peer:stop(C),
        until(fun() -> there(t12) =:= undefined andalso not lists:member(N, server(get_known)) end),
        third(N, [], fun(_, C2) ->
            join(C2, target()), join(C2, node()), meshed(N, C2), is(undefined, there(t12)), Q = sleeper(C2), false = P =:= Q,
            yes = at(C2, global, register_name, [t12, Q]), is(Q, there(t12)), exit(P, kill), M = monitor(process, P),
            receive {'DOWN', M, process, P, noproc} -> ok end, is(Q, there(t12)) end) end},
     {"the third is killed", fun(N, C) ->
        join(C, node()), meshed(N, C), P = sleeper(C), yes = remote(register_name, [t13, P]),
        OsPid = at(C, os, getpid, []), os:cmd("kill -9 " ++ OsPid),
        until(fun() -> there(t13) =:= undefined andalso here(t13) =:= undefined andalso not lists:member(N,
            server(get_known)) end),
        is(ok, global:sync()) end},
     {"the third leaves by global:disconnect", fun(N, C) ->
        join(C, node()), meshed(N, C), P = sleeper(C), yes = at(C, global, register_name, [t14, P]), T = target(),
        is(lists:sort([node(), T]), lists:sort(at(C, global, disconnect, []))),
        until(fun() -> not lists:member(N, server(get_known)) andalso not lists:member(N, nodes()) end),
        is(undefined, there(t14)), is(P, at(C, global, whereis_name, [t14])), true = lists:member(T, nodes()),
        join(C, T), join(C, node()), meshed(N, C), until(fun() -> there(t14) =:= P end) end},
     {"they leave by global:disconnect: the others stay", fun(N, C) ->
        join(C, node()), meshed(N, C), caught(fun() -> remote(disconnect, []) end), T = target(),
        until(fun() -> not lists:member(T, nodes()) andalso not lists:member(T, at(C, erlang, nodes, [])) end),
        true = lists:member(N, nodes()), reach(T), join(C, T), meshed(N, C) end},
     {"a clash of the third with both", fun(N, C) ->
        X = {?MODULE, make_ref()}, P = fresh(), yes = global:register_name(X, P), Q = sleeper(C),
        yes = at(C, global, register_name, [X, Q,
            fun global:notify_all_name/3]), join(C, target()), meshed(N, C),
        until(fun() -> W = here(X), W =:= there(X) andalso W =:= at(C, global, whereis_name, [X]) end), gone(P) end}]]
    ++ [{"a third with overlapping partitions: it is dropped by who prevents them", fun() ->
        synced(), third(["-kernel", "prevent_overlapping_partitions", "false"], fun(N, C) ->
            join(C, node()), meshed(N, C), T = target(), true = at(C, erlang, disconnect_node, [T]),
            until(fun() -> not lists:member(N, server(get_known)) end),
            until(fun() -> not lists:member(N, nodes()) orelse not lists:member(T, nodes()) end),
            reach(T), join(C, T), join(C, node()), meshed(N, C) end) end}].

sleeper(C) -> at(C, erlang, spawn, [timer, sleep, [infinity]]).

%% Adds 10 to a counter, in two steps which a lock holds together.
count(P, Nodes) ->
    [global:trans({t15, self()}, fun() -> N = gen_server:call(P, get),
        gen_server:call(P, {add, N + 1 - gen_server:call(P, get)}) end,
        Nodes) || _ <- lists:seq(1, 10)], ok.

spawn_all(Fs) ->
    Ms = [spawn_monitor(fun() -> exit({done, F()}) end) || F <- Fs],
    [receive {'DOWN', M, process, P, {done, V}} -> V; {'DOWN', M, process, P, Why} -> error(Why) end || {P, M} <- Ms].

%%% A gen_statem that counts what it is sent, and a supervisor of nobody.

callback_mode() -> handle_event_function.
init(supervisor) -> {ok, {#{}, []}};
init([]) -> {ok, counting, 0}.
handle_event({call, From}, seen, _, N) -> {keep_state_and_data, [{reply, From, N}]};
handle_event(info, _, _, N) -> {keep_state, N + 1}.

%%% What they are made of.

server(What) -> gen_server:call({global_name_server, target()}, What).
remote(F, Args) -> erpc:call(target(), global, F, Args).
here(X) -> global:whereis_name(X).
there(X) -> remote(whereis_name, [X]).
all() -> [node() | nodes()].

%% Both sides know each other, and neither has anything to do.
synced() -> reach(target()), T = target(), Me = node(), ok = global:sync(),
    until(fun() -> lists:member(T, gen_server:call(global_name_server, get_known))
        andalso lists:member(Me, server(get_known)) end).

ended(X) -> until(fun() -> here(X) =:= undefined andalso there(X) =:= undefined end), undefined.

ours() -> spawn(fun() -> receive stop -> ok end end).
stop(P) -> M = monitor(process, P), P ! stop, receive {'DOWN', M, process, P, _} -> ok end.

named(Check) -> synced(), X = {?MODULE, make_ref()}, P = fresh(), yes = global:register_name(X, P), Check(X), gone(P), ended(X).

theirs(R, By) -> gen_server:call({global_name_server, target()}, {set_lock, {R, By}}).
free(R, By) -> gen_server:call({global_name_server, target()}, {del_lock, {R, By}}).
idle() -> ets:info(global_locks, size) =:= 0.

%% What global:disconnect answers to who is disconnected by it.
gone_by({error, {erpc, noconnection}}, _) -> ok;
gone_by({returned, Nodes}, Me) -> true = lists:member(Me, Nodes), ok.

%% Ends the connection, and waits until both sides know. A handshake that is cut off in the middle may hang in OTP.
cut() ->
    T = target(), true = erlang:disconnect_node(T), until(fun() -> not lists:member(T, nodes()) end),
    receive after 100 -> ok end.

%% Two processes get one name while the nodes are apart.
clash(Method, Want) ->
    synced(), T = target(), X = {?MODULE, make_ref()}, Me = self(),
    P = spawn(fun() -> (fun F() -> receive stop -> ok; M -> Me ! {told, M}, F() end end)() end), Q = fresh(),
    yes = remote(register_name, [X, Q]), is(Q, here(X)),
    cut(), until(fun() -> here(X) =:= undefined end),
    yes = global:register_name(X, P, Method), reach(T), synced(),
    case Want of
        all -> until(fun() -> here(X) =:= undefined andalso there(X) =:= undefined end),
        receive {told, {global_name_conflict, X, Q}} -> ok end;
        _ -> until(fun() -> W = here(X), W =:= there(X) andalso lists:member(W, [P, Q]) end)
    end,
    exit(P, kill), exit(Q, kill), ended(X).

%% A node of this host that is not connected to anybody.
third(Check) -> third([], Check).

third(Args, Check) -> third(third_name(), Args, Check).

third(Name, Args, Check) ->
    [Alive, Host] = string:split(atom_to_list(Name), "@"),
    {ok, C, N} = peer:start(#{name => Alive, host => Host, connection => standard_io, longnames => true,
        args => ["-setcookie", atom_to_list(erlang:get_cookie()), "-kernel", "logger_level", "none" | Args]}),
    try Check(N, C) after caught(fun() -> peer:stop(C) end), until(fun() -> not lists:member(N, nodes()) end) end.

third_name() -> list_to_atom("third" ++ integer_to_list(erlang:unique_integer([positive])) ++ "@127.0.0.1").

at(C, M, F, Args) -> peer:call(C, M, F, Args).
join(C, To) -> until(fun() -> at(C, net_kernel, connect_node, [To]) end).

%% The third, theirs and we know each other.
meshed(N, C) ->
    T = target(), Me = node(), Has = fun(List, Want) -> Want -- List =:= [] end,
    until(fun() -> Has(nodes(), [N, T]) andalso Has(at(C, erlang, nodes, []), [T, Me]) andalso Has(server(get_known), [N, Me])
        andalso Has(at(C, gen_server, call, [global_name_server, get_known]), [T, Me]) end).
