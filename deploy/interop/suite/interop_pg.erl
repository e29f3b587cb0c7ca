-module(interop_pg).
-export([checks/0]).
-import(interop, [is/2, absent/1, target/0, where/1, fresh/0, until/1, reach/1]).

checks() ->
    [{Name, fun() -> here(), there(), Check() end} || {Name, Check} <- [
        {"a process there joins from here, and both sides see it", fun() ->
            P = fresh(), ok = remote(join, [g1, P]),
            until(fun() -> pg:get_members(g1) =:= [P] end), is([P], remote(get_members, [g1])),
            ok = remote(leave, [g1, P]), until(fun() -> pg:get_members(g1) =:= [] end)
        end},
        {"a process here joins, and the other side sees it", fun() ->
            ok = pg:join(g2, self()), until(fun() -> remote(get_members, [g2]) =:= [self()] end),
            ok = pg:leave(g2, self()), until(fun() -> remote(get_members, [g2]) =:= [] end)
        end},
        {"joined twice, several at once", fun() ->
            P = fresh(), ok = remote(join, [g3, [P, P]]), ok = pg:join(g3, self()),
            until(fun() -> lists:sort([P, P, self()]) =:= lists:sort(pg:get_members(g3)) end),
            until(fun() -> lists:sort([P, P, self()]) =:= lists:sort(remote(get_members, [g3])) end),
            is([self()], pg:get_local_members(g3)), pg:leave(g3, self()), remote(leave, [g3, [P, P]])
        end},
        {"the end of a member", fun() ->
            P = fresh(), ok = remote(join, [g4, P]), until(fun() -> pg:get_members(g4) =:= [P] end),
            exit(P, boom), until(fun() -> pg:get_members(g4) =:= [] end)
        end},
        {"members come back after the connection was lost", fun() ->
            P = fresh(), ok = remote(join, [g5, P]), until(fun() -> pg:get_members(g5) =:= [P] end),
            ok = pg:join(g5, self()), T = target(),
            erlang:disconnect_node(T), until(fun() -> pg:get_members(g5) =:= [self()] end), reach(T),
            until(fun() -> lists:sort(pg:get_members(g5)) =:= lists:sort([P, self()]) end),
            until(fun() -> lists:sort(remote(get_members, [g5])) =:= lists:sort([P, self()]) end),
            pg:leave(g5, self()), remote(leave, [g5, P])
        end},
        {"which_groups", fun() ->
            P = fresh(), ok = remote(join, [g6, P]), until(fun() -> lists:member(g6, pg:which_groups()) end),
            true = lists:member(g6, remote(which_groups, [])), remote(leave, [g6, P])
        end},
        {"1,000 joins", fun() ->
            P = fresh(), [ok = remote(join, [{g7, I}, P]) || I <- lists:seq(1, 500)], [ok = pg:join({g7, I}, self()) || I <- lists:seq(1, 500)],
            until(fun() -> lists:all(fun(I) -> length(pg:get_members({g7, I})) =:= 2 end, lists:seq(1, 500)) end),
            until(fun() -> length(remote(get_members, [{g7, 500}])) =:= 2 end)
        end}]].

remote(F, Args) -> erpc:call(target(), pg, F, Args).

%% Our side runs until the driver ends.
here() -> case pg:start(pg) of {ok, _} -> ok; {error, {already_started, _}} -> ok end.

there() -> case where(pg) of undefined -> absent("there is no process named pg"); _ -> ok end.
