-module(interop_reconnect).
-export([checks/0]).
-import(interop, [is/2, target/0, at/1, up/1, fresh/0, down/2, parallel/2, reach/1]).

checks() ->
    [{"disconnect, call again", fun() -> P = up(echo), cut(), is(x, gen_server:call(at(echo), x)), is(y, gen_server:call(P, y)), is(P, up(echo)) end},
     {"100 times", fun() -> [begin cut(), is(I, gen_server:call(at(echo), I)) end || I <- lists:seq(1, 100)] end},
     {"links break with noconnection", fun() ->
         process_flag(trap_exit, true), P = up(echo), link(P), cut(), is({'EXIT', P, noconnection}, interop:got()), reach(target())
     end},
     {"monitors fire with noconnection, of names too", fun() ->
         P = up(echo), A = monitor(process, P), B = monitor(process, at(echo)), cut(),
         is(noconnection, down(A, P)), is(noconnection, down(B, at(echo))), reach(target())
     end},
     {"monitor_node", fun() -> T = target(), monitor_node(T, true), cut(), is({nodedown, T}, interop:got()), reach(T) end},
     {"a call under way ends", fun() ->
         P = fresh(), ok = sys:suspend(P), T = target(),
         {W, M} = spawn_monitor(fun() -> put(target, T), gen_server:call(P, x, infinity) end),
         interop:until(fun() -> process_info(W, status) =:= {status, waiting} andalso process_info(W, monitors) =/= {monitors, []} end),
         cut(),
         {{nodedown, T}, _} = down(M, W), reach(T)
     end},
     {"a process linked to us there ends with noconnection", fun() ->
         T = target(),
         {W, M} = spawn_monitor(fun() -> process_flag(trap_exit, true), P = spawn_link(T, demo, echo, []), receive {'EXIT', P, noconnection} -> exit({linked, P}) end end),
         interop:until(fun() -> case process_info(W, links) of {links, [_ | _]} -> true; _ -> false end end),
         cut(), {linked, P} = down(M, W),
         interop:until(fun() -> false =:= erpc:call(T, erlang, is_process_alive, [P]) end)
     end},
     {"no process that was linked or monitored before is still known there", fun() ->
         process_flag(trap_exit, true), P = up(demo), link(P), monitor(process, P), cut(), reach(target()),
         {links, L} = erpc:call(target(), erlang, process_info, [P, links]), is(false, lists:member(self(), L)),
         interop:until(fun() -> {monitored_by, K} = erpc:call(target(), erlang, process_info, [P, monitored_by]), not lists:member(self(), K) end)
     end},
     {"links and monitors after it are new ones", fun() ->
         process_flag(trap_exit, true), P = fresh(), is(noconnection, begin M1 = monitor(process, P), cut(), down(M1, P) end),
         reach(target()), link(P), M2 = monitor(process, P), exit(P, boom),
         is(boom, down(M2, P)), is({'EXIT', P, boom}, interop:got()), interop:silent()
     end},
     {"atoms are learned anew", fun() ->
         [begin T = [list_to_atom("again_" ++ integer_to_list(N)) || N <- lists:seq(1, 300)], is(T, gen_server:call(at(echo), T)), cut() end || _ <- lists:seq(1, 10)]
     end},
     {"cut in the middle of large messages", fun() ->
         B = binary:copy(<<1>>, 5 bsl 20), P = up(echo),
         [begin P ! {self(), B}, P ! {self(), B}, cut(), is(x, gen_server:call(P, x)) end || _ <- lists:seq(1, 10)]
     end},
     {"20 processes call while the connection is cut 50 times", fun() ->
         T = target(),
         C = spawn_link(fun() -> [begin erlang:disconnect_node(T), receive after 10 -> ok end end || _ <- lists:seq(1, 50)] end),
         Done = monitor(process, C),
         parallel(20, fun(I) -> storm(I, C) end),
         normal = case down(Done, C) of noproc -> normal; R -> R end,
         is(x, gen_server:call(at(echo), x))
     end},
     {"nothing is left over of it", fun() -> is(ok, gen_server:call(at(echo), ok)), is(true, is_pid(up(counter))), interop:silent() end}].

cut() -> true = erlang:disconnect_node(target()).

storm(I, C) ->
    case is_process_alive(C) of
        false -> ok;
        true ->
            try gen_server:call(at(echo), I, 30000) of I -> ok
            catch exit:{R, _} when R =:= noconnection; element(1, R) =:= nodedown -> ok
            end,
            storm(I, C)
    end.
