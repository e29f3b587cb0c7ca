%% The harness: picks a bench, runs it in a process of its own and prints the
%% one JSON line of the contract.
%%
%% A family of benches is a module that exports benches/0, a list of
%% {Name, Schedulers, Params, Run}:
%%
%%   Schedulers  all, or one where a second scheduler makes the bench slower,
%%               or fun(#{Key => Value}) -> all | one; schedulers=N on the
%%               command line overrides it
%%   Params      [{Key, Default, Min}] for integers, [{Key, Default, Words}] for
%%               atoms, in the order they are printed
%%   Run         fun(#{Key => Value}) -> #{seconds, ops, extra}; seconds and
%%               extra are measured by the bench itself, extra may be left out
%%
%% A bench whose own check fails calls check/2 with a false first argument;
%% that ends its process and with it the run, with status 1.
%%
%% Why one scheduler: where every message wakes a process and there is nothing
%% to compute, two schedulers contend for each other's run queues, and the
%% sleeps and wake-ups of that cost more than the second core gives. On two
%% cores one scheduler does chameneos in a third and big in under half of the
%% time of two. A machine with more cores may want another choice.
-module(bench).

-export([main/0]).
-export([clock/0, seconds_since/1, cpu_seconds/0, rss_bytes/0, peak_rss_mib/0, check/2]).

-define(FAMILIES, [bench_ring, bench_traffic, bench_tree, bench_work, bench_await, bench_call, bench_super, bench_etf, bench_remote]).

%%% The command line.

main() ->
    halt(command(init:get_plain_arguments())).

command(["list"]) ->
    [io:format("~s~n", [Name]) || {Name, _, _, _} <- benches()],
    0;
command([Name | Args]) ->
    case lists:keyfind(Name, 1, benches()) of
        false ->
            complain("unknown bench ~ts (see: run list)", [Name], 2);
        {Name, _, Params, _} = Bench ->
            try arguments(Args, Params) of
                Values -> perform(Bench, Values)
            catch
                throw:{usage, Format, Terms} -> complain(Format, Terms, 2)
            end
    end;
command([]) ->
    complain("usage: run BENCH [key=value ...] | list | build", [], 2).

benches() ->
    lists:append([Family:benches() || Family <- ?FAMILIES]).

%% The defaults, overridden by key=value. Any bench takes schedulers=N, 0 for its
%% own choice. The style of another system's actors means nothing here, so
%% style= is taken and dropped.
arguments(Args, BenchParams) ->
    Params = BenchParams ++ [{schedulers, 0, 0}],
    Defaults = maps:from_list([{Key, Default} || {Key, Default, _} <- Params]),
    lists:foldl(fun(Arg, Values) -> argument(Arg, Params, Values) end, Defaults, Args).

argument("style=" ++ _, _Params, Values) ->
    Values;
argument(Arg, Params, Values) ->
    {Name, Text} = case string:split(Arg, "=") of
                       [_, _] = [Left, Right] -> {Left, Right};
                       _ -> usage("~ts is not of the form key=value", [Arg])
                   end,
    case [Param || {Key, _, _} = Param <- Params, atom_to_list(Key) =:= Name] of
        [{Key, _, Words}] when is_list(Words) ->
            case [Word || Word <- Words, atom_to_list(Word) =:= Text] of
                [Word] -> Values#{Key := Word};
                [] -> usage("~ts wants ~ts, not ~ts", [Name, lists:join(" or ", [atom_to_list(W) || W <- Words]), Text])
            end;
        [{Key, _, Min}] ->
            case string:to_integer(Text) of
                {Value, []} when Value >= Min -> Values#{Key := Value};
                _ -> usage("~ts wants an integer of at least ~b, not ~ts", [Name, Min, Text])
            end;
        [] ->
            usage("unknown parameter ~ts", [Name])
    end.

usage(Format, Terms) ->
    throw({usage, Format, Terms}).

complain(Format, Terms, Status) ->
    io:format(standard_error, "run: " ++ Format ++ "~n", Terms),
    Status.

%%% One run.

%% The bench's process is monitored, not linked: whatever it dies of becomes a
%% message and a status. Error reports are off, since one bench crashes a child
%% a hundred thousand times on purpose.
perform({Name, Schedulers, Params, Run}, Values) ->
    ok = logger:set_primary_config(level, none),
    ok = code:ensure_modules_loaded([gen_server, proc_lib, rand, supervisor]),
    set_schedulers(Schedulers, Values),
    {Pid, Ref} = spawn_monitor(fun() -> exit({result, Run(Values)}) end),
    receive
        {'DOWN', Ref, process, Pid, {result, Result}} ->
            report(Name, [{Key, maps:get(Key, Values)} || {Key, _, _} <- Params], Result),
            0;
        {'DOWN', Ref, process, Pid, {check, Text}} ->
            complain("~s: check failed: ~ts", [Name, Text], 1);
        {'DOWN', Ref, process, Pid, Reason} ->
            complain("~s: crashed: ~0p", [Name, Reason], 1)
    end.

set_schedulers(Choose, Values) when is_function(Choose) ->
    set_schedulers(Choose(Values), Values);
set_schedulers(all, #{schedulers := 0}) ->
    ok;
set_schedulers(one, #{schedulers := 0}) ->
    erlang:system_flag(schedulers_online, 1);
set_schedulers(_, #{schedulers := Wanted}) ->
    erlang:system_flag(schedulers_online, min(Wanted, erlang:system_info(schedulers))).

report(Name, Params, #{seconds := Seconds, ops := Ops} = Result) ->
    Extra = maps:get(extra, Result, []) ++ [{schedulers, erlang:system_info(schedulers_online)}],
    Line = [{system, <<"erlang">>},
            {version, version()},
            {bench, list_to_binary(Name)},
            {params, Params},
            {seconds, Seconds},
            {ops, Ops},
            {ops_per_sec, round(Ops / Seconds)},
            {ns_per_op, Seconds * 1.0e9 / Ops},
            {peak_rss_mib, peak_rss_mib()},
            {extra, Extra}],
    io:format("~s~n", [json(Line)]).

version() ->
    Release = erlang:system_info(otp_release),
    list_to_binary(["OTP ", Release, " erts ", erlang:system_info(version)]).

%% As much of JSON as the line needs: objects, plain strings and numbers.
json(Fields) when is_list(Fields) ->
    Members = [[$", atom_to_list(Key), $", $:, json(Value)] || {Key, Value} <- Fields],
    [${, lists:join($,, Members), $}];
json(Text) when is_binary(Text) ->
    [$", Text, $"];
json(Word) when is_atom(Word) ->
    [$", atom_to_list(Word), $"];
json(Int) when is_integer(Int) ->
    integer_to_list(Int);
json(Float) when is_float(Float) ->
    float_to_list(Float, [{decimals, 6}, compact]).

%%% What the benches use.

clock() ->
    erlang:monotonic_time(nanosecond).

seconds_since(Start) ->
    (clock() - Start) / 1.0e9.

%% The processor time of all threads of the emulator and of the system for it, which
%% statistics(runtime) leaves out, in hundredths as Linux tells it.
cpu_seconds() ->
    {ok, Stat} = file:read_file("/proc/self/stat"),
    [_, Behind] = string:split(Stat, ")", trailing), % the name may have anything in it
    Fields = string:lexemes(Behind, " "),
    (binary_to_integer(lists:nth(12, Fields)) + binary_to_integer(lists:nth(13, Fields))) / 100.

%% The memory resident now.
rss_bytes() ->
    status_kib(<<"VmRSS">>) * 1024.

%% The most memory that was ever resident.
peak_rss_mib() ->
    status_kib(<<"VmHWM">>) / 1024.

check(true, _Text) -> ok;
check(false, Text) -> exit({check, Text}).

status_kib(Field) ->
    {ok, Status} = file:read_file("/proc/self/status"),
    {match, [Kib]} = re:run(Status, [Field, ":\\s+(\\d+) kB"], [{capture, all_but_first, binary}]),
    binary_to_integer(Kib).
