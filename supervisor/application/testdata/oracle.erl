%% Plays the commands of testdata/commands on OTP's own applications: what they
%% answer, and which functions of applications are called meanwhile, is written
%% to a file. See oracle_test.go for the other side.
-module(oracle).
-export([main/1, start/2, prep_stop/1, stop/1]).

main([Script, Out]) ->
    persistent_term:put(out, Out),
    {ok, [{Apps, Commands}]} = file:consult(Script),
    [ok = application:load(A) || {application, _, _} = A <- Apps],
    [command(C) || C <- Commands],
    halt(0).

command(C) ->
    say("> ~0tp", [C]),
    say("~0tp", [do(C)]),
    settle(none). % what follows from C has happened

do({start, A}) -> application:start(A);
do({start, A, T}) -> application:start(A, T);
do({ensure_all_started, A}) -> application:ensure_all_started(A);
do({ensure_all_started, A, T}) -> application:ensure_all_started(A, T);
do({ensure_started, A}) -> application:ensure_started(A);
do({stop, A}) -> application:stop(A);
do({load, A}) -> application:load(A);
do({unload, A}) -> application:unload(A);
do({get_env, A, K}) -> application:get_env(A, K);
do({get_env, A, K, D}) -> application:get_env(A, K, D);
do({get_all_env, A}) -> lists:sort(application:get_all_env(A));
do({set_env, A, K, V}) -> application:set_env(A, K, V);
do({unset_env, A, K}) -> application:unset_env(A, K);
do({get_key, A, K}) -> application:get_key(A, K);
do({is_running, A}) -> application_controller:is_running(A);
do(which_applications) -> ours(application:which_applications());
do({which_applications, T}) -> ours(application:which_applications(T));
do(loaded_applications) -> lists:sort(ours(application:loaded_applications()));
%% The top process of A exits; the controller has heard of it when this returns.
do({ends, A, Reason}) ->
    Master = application_controller:get_master(A),
    {Top, _} = application_master:get_child(Master),
    Ref = monitor(process, Master),
    Top ! {exit, Reason},
    receive {'DOWN', Ref, _, _, _} -> settle(A) end.

settle(A) ->
    try application_controller:is_running(A) of
        false -> ok;
        true -> erlang:yield(), settle(A)
    catch exit:_ -> timer:sleep(infinity) % the node goes down
    end.

ours(Apps) -> [A || {Name, _, _} = A <- Apps, Name =/= kernel, Name =/= stdlib].

say(Format, Args) ->
    ok = file:write_file(persistent_term:get(out), io_lib:format(Format ++ "~n", Args), [append, raw]).

%% What the callback modules of the applications, one each, call: see oracle_test.go.
start(Name, Kind) ->
    say("  ~p: start", [Name]),
    case Kind of
        error -> {error, nope};
        exit -> exit(boom);
        normal -> exit(normal);
        tree -> {ok, spawn_link(fun() -> receive {exit, Reason} -> exit(Reason) end end), Name}
    end.

prep_stop(Name) -> say("  ~p: prep_stop", [Name]), Name.

stop(Name) -> say("  ~p: stop", [Name]).
