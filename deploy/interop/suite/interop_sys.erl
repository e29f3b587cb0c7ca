-module(interop_sys).
-export([checks/0]).
-import(interop, [is/2, target/0, at/1, up/1, fresh/0, fresh/1, gone/1, silent/0, down/2]).

checks() ->
    [{"get_state", fun() -> N = gen_server:call(at(counter), get), is(N, sys:get_state(at(counter))), is(N, sys:get_state(up(counter))), is(undefined, sys:get_state(at(echo))) end},
     {"replace_state with an exported fun", fun() ->
         P = fresh(counter), 21 = gen_server:call(P, {add, 21}),
         is(42, sys:replace_state(P, fun demo:double/1)), is(42, gen_server:call(P, get))
     end},
     {"replace_state with a fun that fails, or is nowhere", fun() ->
         P = fresh(counter), 21 = gen_server:call(P, {add, 21}),
         [{callback_failed, {_, system_replace_state}, {error, _}} = failed(fun() -> sys:replace_state(P, F) end)
          || F <- [fun nosuch:f/1, fun erlang:whereis/1]],
         is(21, gen_server:call(P, get))
     end},
     {"get_status", fun() ->
         P = up(counter),
         {status, P, {module, M}, [Dict, running, Parent, [], Misc]} = sys:get_status(P),
         true = is_atom(M), true = is_list(Dict), is(up(demo), Parent), true = is_list(Misc)
     end},
     {"get_status of the supervisor", fun() -> P = up(demo), {status, P, {module, _}, [_, running, _, [], _]} = sys:get_status(at(demo)) end},
     {"suspend, resume", fun() ->
         P = fresh(), ok = sys:suspend(P),
         {status, P, _, [_, suspended | _]} = sys:get_status(P),
         P ! {self(), waits}, is(undefined, sys:get_state(P)), is({messages, []}, process_info(self(), messages)),
         ok = sys:resume(P), is({P, waits}, interop:got()),
         {status, P, _, [_, running | _]} = sys:get_status(P)
     end},
     {"suspend of the supervisor", fun() ->
         ok = sys:suspend(at(demo)), {status, _, _, [_, suspended | _]} = sys:get_status(at(demo)),
         {timeout, _} = failed(fun() -> gen_server:call(at(demo), count_children, 50) end),
         ok = sys:resume(at(demo)), is(4, length(supervisor:count_children(at(demo))))
     end},
     {"statistics", fun() ->
         P = fresh(), is({ok, no_statistics}, sys:statistics(P, get)), ok = sys:statistics(P, true),
         [gen_server:call(P, I) || I <- lists:seq(1, 5)],
         {ok, L} = sys:statistics(P, get),
         [{messages_in, 5}, {messages_out, 5}] = [lists:keyfind(K, 1, L) || K <- [messages_in, messages_out]],
         [{_, {{_, _, _}, {_, _, _}}} = lists:keyfind(K, 1, L) || K <- [start_time, current_time]],
         {reductions, R} = lists:keyfind(reductions, 1, L), true = is_integer(R),
         ok = sys:statistics(P, false), is({ok, no_statistics}, sys:statistics(P, get))
     end},
     {"log", fun() ->
         P = fresh(), ok = sys:log(P, true), x = gen_server:call(P, x), {ok, [_ | _] = L} = sys:log(P, get),
         true = lists:any(fun(E) -> contains({'$gen_call', x}, E) end, L),
         ok = sys:log(P, {true, 3}), ok = sys:log(P, false), {ok, []} = sys:log(P, get)
     end},
     {"trace, no_debug", fun() -> group_leader(interop:leader(), self()), P = fresh(), ok = sys:trace(P, true), x = gen_server:call(P, x), ok = sys:trace(P, false), ok = sys:no_debug(P), is(x, gen_server:call(P, x)) end},
     {"terminate", fun() -> P = fresh(), M = monitor(process, P), ok = sys:terminate(P, {shutdown, x}), is({shutdown, x}, down(M, P)) end},
     {"change_code, only while suspended", fun() ->
         P = fresh(), {_, _} = failed(fun() -> sys:change_code(P, demo_echo, old, x) end), ok = sys:suspend(P), ok = sys:resume(P), is(x, gen_server:call(P, x))
     end},
     {"of a dead process, a dead name", fun() ->
         P = gone(fresh()),
         {noproc, _} = failed(fun() -> sys:get_state(P) end), {noproc, _} = failed(fun() -> sys:get_state(at(nosuch)) end)
     end},
     {"a request that it does not know", fun() ->
         P = fresh(), R = make_ref(), P ! {system, {self(), R}, {what, 1}}, {R, {error, {unknown_system_msg, {what, 1}}}} = interop:got()
     end}].

failed(F) ->
    try {returned, F()}
    catch
        exit:{R, {sys, _, _}} -> {R, sys};
        _:R -> R
    end.

contains({_, X}, X) -> true;
contains(W, T) when is_tuple(T) -> lists:any(fun(E) -> contains(W, E) end, tuple_to_list(T));
contains(W, [H | T]) -> contains(W, H) orelse contains(W, T);
contains(_, _) -> false.
