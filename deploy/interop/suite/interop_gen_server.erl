-module(interop_gen_server).
-export([checks/0]).
-import(interop, [is/2, target/0, at/1, up/1, where/1, restarted/2, fresh/0, fresh/1, gone/1, silent/0, parallel/2]).

-define(NOBODY, 'nobody@127.0.0.1').

checks() ->
    [{"call by name and by pid", fun() ->
         N = get_total(), M = N + 5,
         is(M, gen_server:call(at(counter), {add, 5})),
         is(M, gen_server:call(up(counter), get))
     end},
     {"call with infinity", fun() -> is(x, gen_server:call(at(echo), x, infinity)) end},
     {"a request that it does not know", fun() -> is({error, {unhandled_request, {what, 1}}}, gen_server:call(at(counter), {what, 1})) end},
     {"cast, and the call after it", fun() ->
         N = get_total(),
         ok = gen_server:cast(at(counter), {add, 3}),
         ok = gen_server:cast(up(counter), {add, 4}),
         is(N + 7, get_total())
     end},
     {"cast to a dead name and a dead pid", fun() ->
         ok = gen_server:cast(at(nosuch), x), ok = gen_server:cast(gone(fresh()), x), silent()
     end},
     {"a tag of old, and any term as the tag", fun() ->
         [begin at(echo) ! {'$gen_call', {self(), Tag}, Tag}, is({Tag, Tag}, interop:got()) end
          || Tag <- [make_ref(), foo, 17, {a, [b]}, <<"t">>, [alias]]]
     end},
     {"timeout, and no late reply", fun() ->
         P = fresh(),
         ok = sys:suspend(P),
         {timeout, {gen_server, call, [P, late, 50]}} = exited(fun() -> gen_server:call(P, late, 50) end),
         ok = sys:resume(P),
         is(next, gen_server:call(P, next)),
         is({messages, []}, process_info(self(), messages)),
         silent()
     end},
     {"many timeouts", fun() ->
         P = fresh(),
         ok = sys:suspend(P),
         parallel(200, fun(I) -> {timeout, _} = exited(fun() -> gen_server:call(P, I, 20) end) end),
         ok = sys:resume(P),
         is(next, gen_server:call(P, next))
     end},
     {"dead name", fun() -> {noproc, {gen_server, call, _}} = exited(fun() -> gen_server:call(at(nosuch), x) end), silent() end},
     {"dead pid", fun() ->
         P = gone(fresh()),
         {noproc, {gen_server, call, [P, x]}} = exited(fun() -> gen_server:call(P, x) end),
         silent()
     end},
     {"dead node", fun() -> {{nodedown, ?NOBODY}, _} = exited(fun() -> gen_server:call({counter, ?NOBODY}, x) end) end},
     {"crash: the caller gets the reason, and the server is started again", fun() ->
         P = up(counter),
         {crash, {gen_server, call, [P, crash]}} = exited(fun() -> gen_server:call(P, crash) end),
         Q = restarted(counter, P),
         is(0, gen_server:call(Q, get)),
         {noproc, _} = exited(fun() -> gen_server:call(P, get) end),
         silent()
     end},
     {"crash, by name", fun() ->
         P = up(counter),
         {crash, {gen_server, call, [{counter, _}, crash]}} = exited(fun() -> gen_server:call(at(counter), crash) end),
         restarted(counter, P)
     end},
     {"a cast that it does not know makes it crash", fun() ->
         P = up(counter), Ref = monitor(process, P),
         ok = gen_server:cast(P, {what, 1}),
         case interop:down(Ref, P) of noproc -> error(noproc); _ -> ok end,
         is(0, gen_server:call(restarted(counter, P), get))
     end},
     {"killed while it is called", fun() ->
         P = fresh(),
         ok = sys:suspend(P),
         T = target(),
         {W, Ref} = spawn_monitor(fun() -> put(target, T), gen_server:call(P, x, infinity) end),
         interop:until(fun() -> process_info(W, status) =:= {status, waiting} andalso process_info(W, monitors) =/= {monitors, []} end),
         exit(P, kill),
         {killed, {gen_server, call, _}} = interop:down(Ref, W)
     end},
     {"1,000 callers at once", fun() ->
         N = get_total(),
         Totals = parallel(1000, fun(_) -> gen_server:call(at(counter), {add, 1}) end),
         is(lists:seq(N + 1, N + 1000), lists:sort(Totals))
     end},
     {"multi_call of this node and that", fun() ->
         {ok, P} = gen_server:start({local, echo}, interop_echo, [], []),
         {Replies, Bad} = gen_server:multi_call([node(), target(), ?NOBODY], echo, x),
         gen_server:stop(P),
         is(lists:sort([{node(), x}, {target(), x}]), lists:sort(Replies)),
         is([?NOBODY], Bad)
     end},
     {"multi_call with a time limit", fun() -> is({[{target(), x}], []}, gen_server:multi_call([target()], echo, x, 5000)) end},
     {"multi_call of a dead name", fun() -> is({[], [target()]}, gen_server:multi_call([target()], nosuch, x)), silent() end},
     {"multi_call that is too late", fun() ->
         ok = sys:suspend(at(echo)),
         R = gen_server:multi_call([target()], echo, late, 50),
         ok = sys:resume(at(echo)),
         is({[], [target()]}, R),
         silent()
     end},
     {"abcast", fun() ->
         N = get_total(),
         abcast = gen_server:abcast([target()], counter, {add, 2}),
         is(N + 2, get_total())
     end},
     {"send_request, receive_response", fun() ->
         R = gen_server:send_request(at(echo), x),
         is({reply, x}, gen_server:receive_response(R, 5000)),
         {error, {noproc, _}} = gen_server:receive_response(gen_server:send_request(at(nosuch), x), 5000),
         silent()
     end},
     {"send_request, wait_response, check_response", fun() ->
         is({reply, x}, gen_server:wait_response(gen_server:send_request(at(echo), x), 5000)),
         R = gen_server:send_request(at(echo), y),
         M = interop:got(),
         is({reply, y}, gen_server:check_response(M, R)),
         silent()
     end},
     {"100 requests, collected", fun() ->
         C = lists:foldl(fun(I, C) -> gen_server:send_request(at(echo), I, I, C) end, gen_server:reqids_new(), lists:seq(1, 100)),
         is([{I, I} || I <- lists:seq(1, 100)], lists:sort(collect(C)))
     end},
     {"receive_response that is too late", fun() ->
         P = fresh(),
         ok = sys:suspend(P),
         is(timeout, gen_server:receive_response(gen_server:send_request(P, x), 20)),
         ok = sys:resume(P),
         is(y, gen_server:call(P, y)),
         silent()
     end},
     {"gen_server:stop, with normal and another reason", fun() ->
         [begin
             P = fresh(), Ref = monitor(process, P),
             ok = gen_server:stop(P, Reason, 5000),
             is(Reason, interop:down(Ref, P))
         end || Reason <- [normal, shutdown, {shutdown, x}, boom]],
         noproc = exited(fun() -> gen_server:stop(at(nosuch)) end)
     end},
     {"a counter that was spawned, not registered", fun() ->
         P = fresh(counter),
         is(7, gen_server:call(P, {add, 7})),
         is(7, gen_server:call(P, get))
     end},
     {"by {global, Name}", fun() ->
         P = fresh(),
         yes = global:register_name(interop, P),
         is(x, gen_server:call({global, interop}, x)),
         is(P, global:whereis_name(interop)),
         gone(P),
         interop:until(fun() -> global:whereis_name(interop) =:= undefined end)
     end},
     {"messages that mean nothing are survived", fun() ->
         P = up(echo),
         [P ! M || M <- [x, {}, {a}, {'$gen_call'}, {'$gen_call', x}, {'$gen_cast'}, {'$gen_cast', x}, {system}, {system, x},
                         {'EXIT', self(), x}, {'DOWN', make_ref(), process, self(), x}, [], <<>>, #{}, {make_ref(), x}]],
         is(x, gen_server:call(P, x)),
         is(P, where(echo))
     end}].

get_total() -> gen_server:call(at(counter), get).

exited(F) -> try F() of V -> error({returned, V}) catch exit:R -> R end.

collect(C) ->
    case gen_server:receive_response(C, 5000, true) of
        no_request -> [];
        {{reply, R}, L, C1} -> [{L, R} | collect(C1)]
    end.
