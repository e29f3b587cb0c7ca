%% What supervision costs: restart and supertree.
-module(bench_super).

-behaviour(supervisor).

-export([benches/0]).
-export([init/1, start_crasher/1, start_child/0]).

benches() ->
    [{"restart", all, [{restarts, 100000, 1}], fun restart/1},
     {"supertree", all, [{n, 100000, 1}], fun supertree/1}].

init({crasher, Main, Restarts}) ->
    %% A second is the shortest period there is. The supervisor keeps a list of
    %% the restarts within it and goes through all of it at each restart, so the
    %% cost of one grows until the list is as long as the period lets it get.
    Flags = #{strategy => one_for_one, intensity => Restarts + 1, period => 1},
    {ok, {Flags, [#{id => crasher, start => {?MODULE, start_crasher, [Main]}}]}};
init(family) ->
    Flags = #{strategy => simple_one_for_one},
    {ok, {Flags, [#{id => child, start => {?MODULE, start_child, []}}]}}.

%%% restart: a child that crashes on each message.

restart(#{restarts := Restarts}) ->
    {ok, Supervisor} = supervisor:start_link(?MODULE, {crasher, self(), Restarts}),
    receive {up, First} -> ok end,
    Start = bench:clock(),
    Last = crash(First, Restarts),
    Seconds = bench:seconds_since(Start),
    bench:check(is_process_alive(Last), "the last child is not there"),
    gen_server:stop(Supervisor),
    #{seconds => Seconds, ops => Restarts}.

crash(Child, 0) ->
    Child;
crash(Child, Left) ->
    Child ! crash,
    receive {up, New} when New =/= Child -> crash(New, Left - 1) end.

start_crasher(Main) ->
    {ok, proc_lib:spawn_link(fun() ->
        Main ! {up, self()},
        receive crash -> error(crash) end
    end)}.

%%% supertree: children started one by one and stopped with their supervisor.

supertree(#{n := N}) ->
    {ok, Supervisor} = supervisor:start_link(?MODULE, family),
    Before = bench:rss_bytes(),
    Start = bench:clock(),
    Pids = start_children(N, Supervisor, []),
    StartSeconds = bench:seconds_since(Start),
    After = bench:rss_bytes(),
    Counts = supervisor:count_children(Supervisor),
    bench:check(proplists:get_value(active, Counts) =:= N, "a child is missing"),
    Stop = bench:clock(),
    ok = gen_server:stop(Supervisor),
    StopSeconds = bench:seconds_since(Stop),
    bench:check(not lists:any(fun is_process_alive/1, Pids), "a child is left"),
    #{seconds => StartSeconds + StopSeconds, ops => N,
      extra => [{start_s, StartSeconds}, {stop_s, StopSeconds},
                {bytes_per_child, (After - Before) / N}]}.

start_children(0, _Supervisor, Pids) ->
    Pids;
start_children(Left, Supervisor, Pids) ->
    {ok, Pid} = supervisor:start_child(Supervisor, []),
    start_children(Left - 1, Supervisor, [Pid | Pids]).

start_child() ->
    {ok, proc_lib:spawn_link(fun child/0)}.

child() ->
    receive stop -> ok end.
