%% Many short-lived actors: fib and spawn.
-module(bench_tree).

-export([benches/0]).
-export([fib_actor/2, wait/0]).

benches() ->
    [{"fib", all, [{n, 25, 0}], fun fib/1},
     {"spawn", one, [{n, 1000000, 1}], fun spawn_all/1}].

%%% fib: an actor a call.

fib(#{n := N}) ->
    Start = bench:clock(),
    fib_spawn(N, self()),
    receive
        {value, Value} ->
            Seconds = bench:seconds_since(Start),
            bench:check(Value =:= fib_number(N, 0, 1), "the sum is not a Fibonacci number"),
            #{seconds => Seconds, ops => 2 * fib_number(N + 1, 0, 1) - 1}
    end.

fib_spawn(N, Parent) ->
    spawn(?MODULE, fib_actor, [N, Parent]).

fib_actor(N, Parent) when N < 2 ->
    Parent ! {value, N};
fib_actor(N, Parent) ->
    fib_spawn(N - 1, self()),
    fib_spawn(N - 2, self()),
    receive {value, A} -> ok end,
    receive {value, B} -> Parent ! {value, A + B} end.

fib_number(0, A, _B) -> A;
fib_number(N, A, B) -> fib_number(N - 1, B, A + B).

%%% spawn: all alive and waiting at once, then one message each.

%% The process that does it starts with a heap that holds all the pids, so that
%% it need not copy them as the list grows, and keeps the answers off the heap.
spawn_all(#{n := N}) ->
    Options = [link, {min_heap_size, 4 * N + 10000}, {message_queue_data, off_heap}],
    Main = self(),
    spawn_opt(fun() -> Main ! {result, spawn_and_ask(N)} end, Options),
    receive {result, Result} -> Result end.

spawn_and_ask(N) ->
    Before = bench:rss_bytes(),
    Start = bench:clock(),
    Pids = spawn_waiting(N, []),
    all_wait(),
    SpawnSeconds = bench:seconds_since(Start),
    After = bench:rss_bytes(),
    Restart = bench:clock(),
    Sum = ask(Pids, 1, self()) + answers(N, 0),
    Seconds = SpawnSeconds + bench:seconds_since(Restart),
    bench:check(Sum =:= N * (N + 1) div 2, "the answers do not add up"),
    #{seconds => Seconds, ops => N,
      extra => [{bytes_per_actor, (After - Before) / N}, {spawn_s, SpawnSeconds}]}.

spawn_waiting(0, Pids) ->
    Pids;
spawn_waiting(Left, Pids) ->
    Pid = spawn(?MODULE, wait, []),
    spawn_waiting(Left - 1, [Pid | Pids]).

wait() ->
    receive {question, From, Number} -> From ! {answer, Number} end.

%% Returns when nobody but this process has anything to do, which is when the
%% last of the spawned ones has come to its receive.
all_wait() ->
    case erlang:statistics(total_active_tasks_all) of
        1 -> ok;
        _ -> receive after 1 -> all_wait() end
    end.

ask([], _Number, _Main) ->
    0;
ask([Pid | Pids], Number, Main) ->
    Pid ! {question, Main, Number},
    ask(Pids, Number + 1, Main).

answers(0, Sum) ->
    Sum;
answers(Left, Sum) ->
    receive {answer, Number} -> answers(Left - 1, Sum + Number) end.
