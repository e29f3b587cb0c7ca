%% Actors that compute: nqueens, mixed and coop; and selective, which waits.
-module(bench_work).

-export([benches/0]).

benches() ->
    [{"nqueens", all, [{size, 11, 4}, {workers, 4, 1}, {threshold, 4, 0}], fun nqueens/1},
     {"mixed", fun mixed_schedulers/1,
      [{rings, 20, 1}, {size, 50, 1}, {token, 10000, 1}, {repeats, 5, 1},
       {number, 28350160440309881, 1}],
      fun mixed/1},
     {"coop", all, [{calls, 2500, 1}, {depth, 5, 0}, {suspended, some, [some, all]}], fun coop/1},
     {"selective", all, [{asks, 200000, 1}, {waiting, 100000, 0}], fun selective/1}].

%%% nqueens: a master hands boards to workers, round robin.

nqueens(#{size := Size, workers := Workers, threshold := Threshold}) ->
    Expected = queens_known(Size),
    Master = self(),
    Pids = [spawn_link(fun() -> queens_worker(Master, Size, Threshold) end)
            || _ <- lists:seq(1, Workers)],
    Start = bench:clock(),
    hd(Pids) ! {board, [], 0},
    Solutions = queens_master(tl(Pids), Pids, 1, 0),
    Seconds = bench:seconds_since(Start),
    bench:check(Solutions =:= Expected, "wrong number of solutions"),
    #{seconds => Seconds, ops => Solutions}.

%% Open is the number of boards handed out and not reported yet. A worker's
%% new boards come before its report, so none open means none to come.
queens_master(_Turn, _Workers, 0, Solutions) ->
    Solutions;
queens_master([], Workers, Open, Solutions) ->
    queens_master(Workers, Workers, Open, Solutions);
queens_master([Worker | Turn] = Turns, Workers, Open, Solutions) ->
    receive
        {board, _, _} = Board ->
            Worker ! Board,
            queens_master(Turn, Workers, Open + 1, Solutions);
        {solved, Count} ->
            queens_master(Turns, Workers, Open - 1, Solutions + Count)
    end.

queens_worker(Master, Size, Threshold) ->
    receive
        {board, Queens, Depth} when Depth >= Threshold; Depth =:= Size ->
            Master ! {solved, queens_count(Queens, Size, Size - Depth)};
        {board, Queens, Depth} ->
            queens_expand(Size, Queens, Depth + 1, Master),
            Master ! {solved, 0}
    end,
    queens_worker(Master, Size, Threshold).

queens_expand(0, _Queens, _Depth, _Master) ->
    ok;
queens_expand(Column, Queens, Depth, Master) ->
    case queens_safe(Queens, Column, Column + 1, Column - 1) of
        true -> Master ! {board, [Column | Queens], Depth};
        false -> ok
    end,
    queens_expand(Column - 1, Queens, Depth, Master).

%% The solutions with Left more queens on the board.
queens_count(_Queens, _Size, 0) ->
    1;
queens_count(Queens, Size, Left) ->
    queens_count(Size, Queens, Size, Left - 1, 0).

queens_count(0, _Queens, _Size, _Left, Count) ->
    Count;
queens_count(Column, Queens, Size, Left, Count) ->
    case queens_safe(Queens, Column, Column + 1, Column - 1) of
        true -> queens_count(Column - 1, Queens, Size, Left,
                             Count + queens_count([Column | Queens], Size, Left));
        false -> queens_count(Column - 1, Queens, Size, Left, Count)
    end.

%% Up and Down are the columns where the two diagonals of the new queen cross
%% the row in question; the rows are walked from the nearest on.
queens_safe([], _Column, _Up, _Down) -> true;
queens_safe([Column | _], Column, _Up, _Down) -> false;
queens_safe([Up | _], _Column, Up, _Down) -> false;
queens_safe([Down | _], _Column, _Up, Down) -> false;
queens_safe([_ | Queens], Column, Up, Down) -> queens_safe(Queens, Column, Up + 1, Down - 1).

queens_known(Size) ->
    Known = {1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512},
    bench:check(Size =< tuple_size(Known), "sizes above 16 are not known here"),
    element(Size, Known).

%%% mixed: rings made again and again while numbers are factorised.

%% Passing tokens goes faster with one scheduler, factorising with all. With a
%% number of two like factors the balance tips near 50 bits.
mixed_schedulers(#{number := Number}) when Number < 1 bsl 50 -> one;
mixed_schedulers(_) -> all.

mixed(#{rings := Rings, size := Size, token := Token, repeats := Repeats, number := Number}) ->
    Main = self(),
    Start = bench:clock(),
    [spawn_link(fun() -> mixed_master(Main, Size, Token, Repeats, Number) end)
     || _ <- lists:seq(1, Rings)],
    Rounds = [receive {master_done, Count} -> Count end || _ <- lists:seq(1, Rings)],
    Results = [receive {factors, Factors} -> Factors end || _ <- lists:seq(1, Rings * Repeats)],
    Seconds = bench:seconds_since(Start),
    [bench:check(Count =:= Repeats * Token, "a round was lost") || Count <- Rounds],
    [bench:check(is_factorisation(Factors, Number), "wrong factors") || Factors <- Results],
    #{seconds => Seconds, ops => Rings * Size * Token * Repeats}.

mixed_master(Main, Size, Token, Repeats, Number) ->
    Worker = spawn_link(fun() -> factoriser(Main) end),
    Main ! {master_done, mixed_repeat(Repeats, Size, Token, Number, Worker, 0)},
    Worker ! stop.

mixed_repeat(0, _Size, _Token, _Number, _Worker, Rounds) ->
    Rounds;
mixed_repeat(Left, Size, Token, Number, Worker, Rounds) ->
    Worker ! {factorise, Number},
    First = mixed_chain(Size - 1, self()),
    First ! {token, Token},
    Done = mixed_rounds(First, Rounds),
    mixed_repeat(Left - 1, Size, Token, Number, Worker, Done).

mixed_chain(0, Next) ->
    Next;
mixed_chain(Left, Next) ->
    mixed_chain(Left - 1, spawn(fun() -> mixed_link(Next) end)).

mixed_link(Next) ->
    receive
        {token, 0} ->
            Next ! {token, 0};
        {token, Value} ->
            Next ! {token, Value},
            mixed_link(Next)
    end.

%% The master is one of the ring and counts the token down, once a round.
mixed_rounds(First, Rounds) ->
    receive
        {token, 0} ->
            Rounds;
        {token, Value} ->
            First ! {token, Value - 1},
            mixed_rounds(First, Rounds + 1)
    end.

factoriser(Main) ->
    receive
        {factorise, Number} ->
            Main ! {factors, factors(Number, 2, [])},
            factoriser(Main);
        stop ->
            ok
    end.

factors(1, _Divisor, Factors) ->
    lists:reverse(Factors);
factors(Number, Divisor, Factors) when Number rem Divisor =:= 0 ->
    factors(Number div Divisor, Divisor, [Divisor | Factors]);
factors(Number, Divisor, Factors) ->
    factors(Number, Divisor + 1, Factors).

is_factorisation(Factors, Number) ->
    Factors =:= lists:sort(Factors)
        andalso lists:foldl(fun erlang:'*'/2, 1, Factors) =:= Number.

%%% coop: nested synchronous self-calls, each awaiting an asynchronous one.

coop(#{calls := Calls, depth := Depth, suspended := all}) ->
    coop_all(Calls, Depth);
coop(#{calls := Calls, depth := Depth}) ->
    Main = self(),
    Actor = spawn_link(fun coop_actor/0),
    Start = bench:clock(),
    [Actor ! {recursive, Main, Depth} || _ <- lists:seq(1, Calls)],
    Sum = coop_sum(Calls, 0),
    Seconds = bench:seconds_since(Start),
    bench:check(Sum =:= Calls * Depth, "the answers do not add up"),
    #{seconds => Seconds, ops => Calls}.

coop_sum(0, Sum) ->
    Sum;
coop_sum(Left, Sum) ->
    receive {answer, Value} -> coop_sum(Left - 1, Sum + Value) end.

%% Runs the calls in the order they came. While one of them awaits, the actor
%% goes on taking its mail: it serves a compute at once and postpones a new call
%% until the running one is done. Left in the mailbox, the waiting calls would
%% be gone through at each await.
coop_actor() ->
    coop_actor([], []).

coop_actor([{recursive, From, Depth} | Calls], Postponed) ->
    {Value, Later} = recursive(Depth, Postponed),
    From ! {answer, Value},
    coop_actor(Calls, Later);
coop_actor([], []) ->
    receive {recursive, _, _} = Call -> coop_actor([Call], []) end;
coop_actor([], Postponed) ->
    coop_actor(lists:reverse(Postponed), []).

recursive(0, Postponed) ->
    {0, Postponed};
recursive(Depth, Postponed) ->
    {Inner, Later} = recursive(Depth - 1, Postponed),
    Ref = make_ref(),
    self() ! {compute, self(), Ref},
    {One, Last} = await(Ref, Later),
    {One + Inner, Last}.

await(Ref, Postponed) ->
    receive
        {computed, Ref, Value} ->
            {Value, Postponed};
        {compute, From, Other} ->
            From ! {computed, Other, compute()},
            await(Ref, Postponed);
        {recursive, _, _} = Call ->
            await(Ref, [Call | Postponed])
    end.

compute() ->
    1.

%% With all calls suspended at once a call is a process of its own, as it needs a stack. One of
%% them runs at a time, when the object has given it its turn: the object knows who runs, and
%% who is next. A call that awaits says so together with what it asks for, and gets its turn
%% together with the answer: two messages for each await.
coop_all(Calls, Depth) ->
    Main = self(),
    Object = spawn_link(fun() -> coop_object(Main, Calls) end),
    Before = bench:rss_bytes(),
    Start = bench:clock(),
    [Object ! {recursive, Main, Depth} || _ <- lists:seq(1, Calls)],
    receive all_wait -> ok end,
    Seconds1 = bench:seconds_since(Start),
    Bytes = (bench:rss_bytes() - Before) / Calls,
    Again = bench:clock(),
    Object ! open,
    Sum = coop_sum(Calls, 0),
    Seconds2 = bench:seconds_since(Again),
    bench:check(Sum =:= Calls * Depth, "the answers do not add up"),
    #{seconds => Seconds1 + Seconds2, ops => Calls, extra => [{bytes_per_activation, Bytes}]}.

%% Every call begins, runs until it waits at the gate, and tells so. When the last does, main is told, and
%% when main opens the gate each gets its turn.
coop_object(Main, Calls) ->
    Waiting = coop_begin(Calls, none, queue:new(), []),
    Main ! all_wait,
    receive open -> ok end,
    coop_turns(queue:from_list(lists:reverse(Waiting))).

%% Takes each message as it comes: a receive of what is awaited alone would go through the calls that wait.
coop_begin(0, _Running, _New, Waiting) ->
    Waiting;
coop_begin(Left, none, New, Waiting) ->
    case queue:out(New) of
        {{value, {From, Depth}}, Rest} -> coop_begin(Left, coop_spawn(From, Depth), Rest, Waiting);
        {empty, _} -> receive {recursive, From, Depth} -> coop_begin(Left, coop_spawn(From, Depth), New, Waiting) end
    end;
coop_begin(Left, Running, New, Waiting) ->
    receive
        {recursive, From, Depth} -> coop_begin(Left, Running, queue:in({From, Depth}, New), Waiting);
        {waits, Running} -> coop_begin(Left - 1, none, New, [{Running, 0} | Waiting])
    end.

coop_spawn(From, Depth) ->
    Object = self(),
    spawn(fun() -> coop_call(Object, From, Depth) end).

%% Gives the first of the queue its turn with what it has awaited, and waits until it awaits again or is over.
coop_turns(Queue) ->
    case queue:out(Queue) of
        {empty, _} ->
            ok;
        {{value, {Pid, Value}}, Rest} ->
            Pid ! {turn, Value},
            receive
                {compute, Pid} -> coop_turns(queue:in({Pid, compute()}, Rest));
                {over, Pid} -> coop_turns(Rest)
            end
    end.

coop_call(Object, From, Depth) ->
    Value = coop_recursive(Object, Depth),
    From ! {answer, Value},
    Object ! {over, self()}.

coop_recursive(Object, 0) ->
    Object ! {waits, self()},
    receive {turn, Value} -> Value end;
coop_recursive(Object, Depth) ->
    Inner = coop_recursive(Object, Depth - 1),
    Object ! {compute, self()},
    receive {turn, One} -> Inner + One end.

%%% selective: an answer past messages that wait. The receive marker is what makes it quick: the
%%% reference is made in the function that receives.

selective(#{asks := Asks, waiting := Waiting}) ->
    Main = self(),
    Server = spawn_link(fun answerer/0),
    Empty = spawn_link(fun() -> asker(Main, Server, 0) end),
    Full = spawn_link(fun() -> asker(Main, Server, Waiting) end),
    Turns = 20,
    Parts = [Asks * (I + 1) div Turns - Asks * I div Turns || I <- lists:seq(0, Turns - 1)],
    Both = [{selective_turn(Empty, N), selective_turn(Full, N)} || N <- Parts],
    {EmptyTime, FullTime} = {lists:sum([E || {E, _} <- Both]), lists:sum([F || {_, F} <- Both])},
    #{seconds => FullTime, ops => Asks, extra => [{ratio, FullTime / max(EmptyTime, 1.0e-9)}]}.

selective_turn(Pid, Asks) ->
    Pid ! {turn, Asks},
    receive {took, Seconds} -> Seconds end.

answerer() ->
    receive
        {ask, From, Ref} ->
            From ! {told, Ref},
            answerer()
    end.

asker(Main, Server, Waiting) ->
    [self() ! {left, I} || I <- lists:seq(1, Waiting)],
    asker(Main, Server).

asker(Main, Server) ->
    receive {turn, Asks} -> ok end,
    Start = bench:clock(),
    asks(Asks, Server),
    Main ! {took, bench:seconds_since(Start)},
    asker(Main, Server).

asks(0, _Server) ->
    ok;
asks(Left, Server) ->
    Ref = make_ref(),
    Server ! {ask, self(), Ref},
    receive {told, Ref} -> ok end,
    asks(Left - 1, Server).
