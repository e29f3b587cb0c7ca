%% What OTP nodes of a mixed cluster run for the driver (see interop_mixed), also those that are too old to drive.
-module(interop_member).
-export([hold/3, count/3]).

%% Has a lock, until it is ended.
hold(Id, Nodes, Tell) ->
    true = global:set_lock(Id, Nodes),
    Tell ! {held, self()},
    receive after infinity -> ok end.

%% Adds to a counter, in two steps which a lock holds together.
count(C, Nodes, Times) ->
    Add = fun() ->
        N = gen_server:call(C, get),
        gen_server:call(C, {add, N + 1 - gen_server:call(C, get)})
    end,
    [global:trans({counting, self()}, Add, Nodes) || _ <- lists:seq(1, Times)],
    ok.
