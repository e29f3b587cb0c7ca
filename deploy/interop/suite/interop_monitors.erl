-module(interop_monitors).
-export([checks/0]).
-import(interop, [is/2, target/0, at/1, up/1, restarted/2, fresh/0, gone/1, silent/0, down/2]).

checks() ->
    [{"by pid, with every kind of reason", fun() ->
         [begin P = fresh(), M = monitor(process, P), exit(P, R), is(R, down(M, P)) end || R <- interop:reasons()],
         silent()
     end},
     {"by name: DOWN tells the name", fun() ->
         P = up(counter), M = monitor(process, at(counter)),
         exit(P, boom),
         is(boom, down(M, at(counter))),
         restarted(counter, P),
         silent()
     end},
     {"of a dead pid", fun() -> P = gone(fresh()), is(noproc, down(monitor(process, P), P)), silent() end},
     {"of a dead name", fun() -> is(noproc, down(monitor(process, at(nosuch)), at(nosuch))), silent() end},
     {"of a name that is taken again", fun() ->
         P = up(counter), M1 = monitor(process, at(counter)), exit(P, one), is(one, down(M1, at(counter))),
         Q = restarted(counter, P), M2 = monitor(process, at(counter)), exit(Q, two), is(two, down(M2, at(counter))),
         restarted(counter, Q), silent()
     end},
     {"demonitor: nothing comes", fun() ->
         P = fresh(), M = monitor(process, P), true = demonitor(M), N = monitor(process, P), exit(P, boom), is(boom, down(N, P)), silent()
     end},
     {"demonitor of a name", fun() ->
         P = up(counter), M = monitor(process, at(counter)), demonitor(M), exit(P, boom), restarted(counter, P), silent()
     end},
     {"demonitor with flush and info", fun() ->
         P = fresh(), M = monitor(process, P),
         is(true, demonitor(M, [info])), is(false, demonitor(M, [info])),
         N = monitor(process, P), exit(P, boom),
         _ = down(monitor(process, P), P),
         demonitor(N, [flush]), silent()
     end},
     {"several of one process: each hears", fun() ->
         P = fresh(), Ms = [monitor(process, P) || _ <- lists:seq(1, 10)],
         demonitor(hd(Ms)), exit(P, boom),
         is([boom], lists:usort([down(M, P) || M <- tl(Ms)])), silent()
     end},
     {"by pid and by name at once", fun() ->
         P = up(counter), A = monitor(process, P), B = monitor(process, at(counter)), exit(P, boom),
         is(boom, down(A, P)), is(boom, down(B, at(counter))), restarted(counter, P), silent()
     end},
     {"1,000 of one process", fun() ->
         P = fresh(), Ms = [monitor(process, P) || _ <- lists:seq(1, 1000)], exit(P, boom),
         is([boom], lists:usort([down(M, P) || M <- Ms])), silent()
     end},
     {"of 1,000 processes", fun() ->
         Ps = [fresh() || _ <- lists:seq(1, 1000)], Ms = [{monitor(process, P), P} || P <- Ps],
         [exit(P, {boom, P}) || P <- Ps], [is({boom, P}, down(M, P)) || {M, P} <- Ms], silent()
     end},
     {"messages come before the DOWN", fun() ->
         [begin
             P = fresh(), M = monitor(process, P),
             [P ! {self(), I} || I <- lists:seq(1, 100)], exit_after(P),
             is(lists:seq(1, 100), [receive {P, I} -> I; {'DOWN', M, _, _, _} -> down end || _ <- lists:seq(1, 100)]),
             is(normal, down(M, P)),
             receive {_, ok} -> ok end
         end || _ <- lists:seq(1, 20)]
     end},
     {"monitor while it exits: exactly one DOWN", fun() ->
         [begin
             P = fresh(), exit(P, boom), M = monitor(process, P),
             true = lists:member(down(M, P), [boom, noproc])
         end || _ <- lists:seq(1, 300)],
         silent()
     end},
     {"with an alias", fun() ->
         P = fresh(),
         [begin
             M = monitor(process, P, [{alias, A}]),
             P ! {'$gen_call', {self(), [alias | M]}, hello},
             is(hello, receive {[alias | M], R} -> R end),
             demonitor(M, [flush]), unalias(M)
         end || A <- [explicit_unalias, demonitor, reply_demonitor]],
         silent()
     end},
     {"with a tag", fun() ->
         P = fresh(), M = monitor(process, P, [{tag, {mine, 1}}]), exit(P, boom),
         is({{mine, 1}, M, process, P, boom}, interop:got()), silent()
     end},
     {"monitored_by of the process there", fun() ->
         P = fresh(), M = monitor(process, P),
         {monitored_by, L} = erpc:call(target(), erlang, process_info, [P, monitored_by]),
         is(true, lists:member(self(), L)),
         demonitor(M),
         {monitored_by, K} = erpc:call(target(), erlang, process_info, [P, monitored_by]),
         is(false, lists:member(self(), K))
     end},
     {"the end of who monitors is forgotten there", fun() ->
         P = fresh(),
         {W, M} = spawn_monitor(fun() -> monitor(process, P), exit(done) end), is(done, down(M, W)),
         interop:until(fun() -> not lists:member(W, element(2, erpc:call(target(), erlang, process_info, [P, monitored_by]))) end),
         is(x, gen_server:call(P, x))
     end},
     {"monitor_node", fun() -> true = monitor_node(target(), true), true = monitor_node(target(), false), silent() end}].

%% P ends by itself after what it has been sent.
exit_after(P) -> P ! {system, {self(), make_ref()}, {terminate, normal}}, ok.
