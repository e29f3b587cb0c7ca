%% What benches of active objects are in Erlang: await, until and join; and blocking. A process that awaits is in a receive.
-module(bench_await).

-export([benches/0]).

benches() ->
    [{"await", one, [{calls, 500000, 1}], fun await/1},
     {"until", one, [{items, 200000, 1}, {users, 100, 1}, {size, 10, 1}], fun until/1},
     {"join", one, [{joins, 5000, 1}, {width, 100, 1}], fun join/1},
     {"blocking", all, [{handlers, 200, 1}, {sleep_ms, 100, 1}, {times, 5, 1}], fun blocking/1}].

%%% blocking: processes that sleep, and what another's answers take meanwhile.

blocking(#{handlers := Handlers, sleep_ms := Ms, times := Times}) ->
    Neighbour = spawn_link(fun() -> neighbour(0) end),
    Start = bench:clock(),
    [spawn_link(fun() -> rest(Neighbour, Ms, Times) end) || _ <- lists:seq(1, Handlers)],
    Sorted = list_to_tuple(lists:sort(ask(Neighbour, 0, Handlers * Times, []))),
    Seconds = bench:seconds_since(Start),
    N = tuple_size(Sorted),
    At = fun(Q) -> element(max(1, round(Q * N)), Sorted) / 1.0e9 end,
    #{seconds => Seconds, ops => Handlers * Times,
      extra => [{asked, N}, {answer_p50_s, At(0.5)}, {answer_p99_s, At(0.99)}, {answer_max_s, At(1)}]}.

neighbour(Count) ->
    receive
        rested -> neighbour(Count + 1);
        {ask, From, Ref} -> From ! {Ref, Count}, neighbour(Count)
    end.

rest(_Neighbour, _Ms, 0) ->
    ok;
rest(Neighbour, Ms, Times) ->
    timer:sleep(Ms),
    Neighbour ! rested,
    rest(Neighbour, Ms, Times - 1).

ask(_Neighbour, Want, Want, Took) ->
    Took;
ask(Neighbour, Slept, Want, Took) ->
    Began = erlang:monotonic_time(nanosecond),
    Ref = make_ref(),
    Neighbour ! {ask, self(), Ref},
    Now = receive {Ref, Count} -> Count end,
    bench:check(Now >= Slept andalso Now =< Want, "more have slept than there are"),
    ask(Neighbour, Now, Want, [erlang:monotonic_time(nanosecond) - Began | Took]).

%%% await: one process calls another.

await(#{calls := Calls}) ->
    Main = self(),
    Adder = spawn_link(fun() -> adder(0) end),
    Start = bench:clock(),
    spawn_link(fun() -> Main ! {last, await_calls(Adder, Calls, 0)} end),
    Last = receive {last, N} -> N end,
    Seconds = bench:seconds_since(Start),
    bench:check(Last =:= Calls, "not all calls were added"),
    #{seconds => Seconds, ops => Calls}.

await_calls(_Adder, 0, Last) ->
    Last;
await_calls(Adder, Left, _Last) ->
    Ref = make_ref(),
    Adder ! {add, self(), Ref, 1},
    await_calls(Adder, Left - 1, receive {Ref, Total} -> Total end).

adder(Total) ->
    receive
        {add, From, Ref, N} ->
            From ! {Ref, Total + N},
            adder(Total + N)
    end.

%%% until: a bounded buffer. Its receive leaves what does not fit in the mailbox.

until(#{items := Items, users := Users, size := Size}) ->
    Buffer = spawn_link(fun() -> buffer(0, Size) end),
    Few = max(1, Items div 10),
    Tenth = produce(Buffer, Users, Few) * 1.0e9 / Few,
    Seconds = produce(Buffer, Users, Items),
    #{seconds => Seconds, ops => Items, extra => [{tenth_ns_per_op, Tenth}]}.

produce(Buffer, Users, Items) ->
    Main = self(),
    Start = bench:clock(),
    [begin
         Share = I * Items div Users - (I - 1) * Items div Users,
         spawn_link(fun() -> Main ! {over, use(Buffer, put, Share, 0)} end),
         spawn_link(fun() -> Main ! {over, use(Buffer, get, Share, 0)} end)
     end || I <- lists:seq(1, Users)],
    Got = lists:sum([receive {over, N} -> N end || _ <- lists:seq(1, 2 * Users)]),
    Seconds = bench:seconds_since(Start),
    bench:check(Got =:= Items, "not all items were consumed"),
    Seconds.

use(_Buffer, _How, 0, Sum) ->
    Sum;
use(Buffer, How, Left, Sum) ->
    Ref = make_ref(),
    Buffer ! {How, self(), Ref},
    use(Buffer, How, Left - 1, Sum + receive {Ref, One} -> One end).

buffer(Items, Size) ->
    receive
        {put, From, Ref} when Items < Size ->
            From ! {Ref, 0},
            buffer(Items + 1, Size);
        {get, From, Ref} when Items > 0 ->
            From ! {Ref, 1},
            buffer(Items - 1, Size)
    end.

%%% join: a process asks many others, and waits for all answers.

join(#{joins := Joins, width := Width}) ->
    Main = self(),
    Adders = [spawn_link(fun() -> adder(0) end) || _ <- lists:seq(1, Width)],
    Start = bench:clock(),
    spawn_link(fun() -> Main ! {sum, joins(Adders, Joins, 0)} end),
    Sum = receive {sum, N} -> N end,
    Seconds = bench:seconds_since(Start),
    bench:check(Sum =:= Width * Joins * (Joins + 1) div 2, "the answers do not add up"),
    #{seconds => Seconds, ops => Joins}.

joins(_Adders, 0, Sum) ->
    Sum;
joins(Adders, Left, Sum) ->
    Refs = [begin Ref = make_ref(), Adder ! {add, self(), Ref, 1}, Ref end || Adder <- Adders],
    joins(Adders, Left - 1, Sum + lists:sum([receive {Ref, Total} -> Total end || Ref <- Refs])).
