-module(interop_supervisor).
-export([checks/0]).
-import(interop, [is/2, at/1, up/1, where/1, restarted/2, down/2]).

checks() ->
    [{"which_children", fun() ->
         L = supervisor:which_children(at(demo)),
         is([counter, echo], lists:sort([Id || {Id, _, _, _} <- L])),
         [begin is(where(Id), P), is(worker, Type), true = is_list(Mods) orelse Mods =:= dynamic end || {Id, P, Type, Mods} <- L]
     end},
     {"the one started last is first", fun() -> is([echo, counter], [Id || {Id, _, _, _} <- supervisor:which_children(at(demo))]) end},
     {"count_children", fun() -> is([{active, 2}, {specs, 2}, {supervisors, 0}, {workers, 2}], lists:sort(supervisor:count_children(at(demo)))) end},
     {"get_childspec", fun() ->
         {ok, S} = supervisor:get_childspec(at(demo), counter),
         #{id := counter, start := {demo, counter, []}, restart := permanent, type := worker, shutdown := 5000, modules := [demo]} = S,
         ok = supervisor:check_childspecs([S]),
         is({error, not_found}, supervisor:get_childspec(at(demo), nosuch))
     end},
     {"terminate_child, restart_child", fun() ->
         P = up(counter), M = monitor(process, P),
         is({error, running}, supervisor:restart_child(at(demo), counter)),
         ok = supervisor:terminate_child(at(demo), counter), is(shutdown, down(M, P)), is(undefined, where(counter)),
         {counter, undefined, worker, _} = lists:keyfind(counter, 1, supervisor:which_children(at(demo))),
         ok = supervisor:terminate_child(at(demo), counter),
         {ok, Q} = supervisor:restart_child(at(demo), counter), is(Q, where(counter)), is(0, gen_server:call(Q, get)),
         [is({error, not_found}, F(at(demo), nosuch)) || F <- [fun supervisor:terminate_child/2, fun supervisor:restart_child/2, fun supervisor:delete_child/2]]
     end},
     {"start_child by a map, terminate, delete", fun() -> start(#{id => extra, start => {demo, echo, []}, restart => transient}) end},
     {"start_child by a tuple", fun() -> start({extra, {demo, echo, []}, permanent, 1000, worker, [demo]}) end},
     {"start_child of a permanent child: restarted", fun() ->
         {ok, P} = supervisor:start_child(at(demo), #{id => extra, start => {demo, counter, []}}),
         7 = gen_server:call(P, {add, 7}), exit(P, boom),
         Q = interop:until(fun() -> case child(extra) of P -> false; restarting -> false; Pid -> Pid end end),
         is(0, gen_server:call(Q, get)), drop(extra)
     end},
     {"start_child of a temporary child: forgotten", fun() ->
         {ok, P} = supervisor:start_child(at(demo), #{id => extra, start => {demo, echo, []}, restart => temporary}),
         exit(P, boom), interop:until(fun() -> child(extra) =:= none end)
     end},
     {"start_child of a transient child that ends normally", fun() ->
         {ok, P} = supervisor:start_child(at(demo), #{id => extra, start => {demo, echo, []}, restart => transient}),
         gen_server:stop(P), interop:until(fun() -> child(extra) =:= undefined end), ok = supervisor:delete_child(at(demo), extra)
     end},
     {"start_child of what is there", fun() ->
         P = up(echo), Spec = #{id => echo, start => {demo, echo, []}},
         is({error, {already_started, P}}, supervisor:start_child(at(demo), Spec)),
         ok = supervisor:terminate_child(at(demo), echo),
         is({error, already_present}, supervisor:start_child(at(demo), Spec)),
         {ok, _} = supervisor:restart_child(at(demo), echo)
     end},
     {"start_child of what cannot start", fun() ->
         {error, _} = supervisor:start_child(at(demo), #{id => extra, start => {nosuch, f, []}}), is(none, child(extra))
     end},
     {"bad specifications, by the words of OTP", fun() ->
         [is({error, Why}, supervisor:start_child(at(demo), S)) || {Why, S} <- [
             {{invalid_child_spec, x}, x},
             {missing_id, #{start => {demo, echo, []}}},
             {missing_start, #{id => extra}},
             {{invalid_mfa, x}, #{id => extra, start => x}},
             {{invalid_restart_type, x}, #{id => extra, start => {demo, echo, []}, restart => x}},
             {{invalid_shutdown, x}, #{id => extra, start => {demo, echo, []}, shutdown => x}},
             {{invalid_child_type, x}, #{id => extra, start => {demo, echo, []}, type => x}}]]
     end},
     {"a crash: restarted, the other untouched", fun() ->
         E = up(echo), P = up(counter), gen_server:call(P, {add, 1}), exit(P, kill),
         is(0, gen_server:call(restarted(counter, P), get)), is(E, where(echo))
     end},
     {"50 crashes", fun() ->
         lists:foldl(fun(_, P) -> exit(P, boom), restarted(echo, P) end, up(echo), lists:seq(1, 50)), is(true, is_pid(where(demo)))
     end}].

start(Spec) ->
    {ok, P} = supervisor:start_child(at(demo), Spec),
    is(x, gen_server:call(P, x)), is(P, child(extra)),
    is({error, {already_started, P}}, supervisor:start_child(at(demo), Spec)),
    is({error, running}, supervisor:delete_child(at(demo), extra)),
    is(3, proplists:get_value(active, supervisor:count_children(at(demo)))),
    drop(extra),
    is(2, proplists:get_value(specs, supervisor:count_children(at(demo)))).

drop(Id) ->
    ok = supervisor:terminate_child(at(demo), Id),
    ok = supervisor:delete_child(at(demo), Id),
    is(none, child(Id)).

child(Id) ->
    case lists:keyfind(Id, 1, supervisor:which_children(at(demo))) of
        {Id, P, _, _} -> P;
        false -> none
    end.
