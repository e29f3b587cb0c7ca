%% exit/2
-module(interop_exits).
-export([checks/0]).
-import(interop, [is/2, target/0, up/1, restarted/2, fresh/0, gone/1, silent/0, down/2]).

checks() ->
    [{"every kind of reason", fun() ->
         [begin P = fresh(), M = monitor(process, P), true = exit(P, R), is(R, down(M, P)) end || R <- interop:reasons()]
     end},
     {"normal is ignored", fun() -> P = fresh(), exit(P, normal), is(x, gen_server:call(P, x)) end},
     {"kill is killed", fun() -> P = fresh(), M = monitor(process, P), exit(P, kill), is(killed, down(M, P)) end},
     {"killed is a reason like others", fun() -> P = fresh(), M = monitor(process, P), exit(P, killed), is(killed, down(M, P)) end},
     {"to a dead process", fun() -> P = gone(fresh()), is(true, exit(P, boom)), silent() end},
     {"who traps exits lives on: the supervisor", fun() ->
         P = up(demo), exit(P, boom), is(4, length(supervisor:count_children(P))), is(P, up(demo))
     end},
     {"messages sent before it are handled before it", fun() ->
         [begin
             P = fresh(), N = rand:uniform(50),
             [P ! {self(), I} || I <- lists:seq(1, N)],
             is(N, gen_server:call(P, N)),
             exit(P, boom),
             is(lists:seq(1, N), [receive {P, I} -> I end || _ <- lists:seq(1, N)])
         end || _ <- lists:seq(1, 50)],
         silent()
     end},
     {"messages sent after it are not", fun() ->
         [begin P = fresh(), exit(P, boom), P ! {self(), late}, is(noproc, down(monitor(process, P), P)) end || _ <- lists:seq(1, 200)],
         silent()
     end},
     {"the permanent child is started again after each", fun() ->
         lists:foldl(fun(R, P) -> exit(P, R), restarted(echo, P) end, up(echo), [boom, kill, shutdown, {shutdown, x}, "s"])
     end},
     {"from demo:exit/1: the reason is as given", fun() ->
         [begin {P, M} = spawn_monitor(target(), demo, exit, [R]), is(R, down(M, P)) end || R <- [normal, kill | interop:reasons()]]
     end}].
