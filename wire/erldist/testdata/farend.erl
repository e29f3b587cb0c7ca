%% The other end of the tests with a real Erlang: a few processes to
%% talk to.
-module(farend).
-export([start/0, many/2, collect/2, sink/0, blob/1, atoms/2, kinds/0, sleeper/0]).

start() -> register(echo, spawn(fun echo/0)).

%% echo answers {From, Term} with Term, and {call, From, Fun} with what Fun gives.
echo() ->
    receive
        {From, Term} -> From ! Term, echo();
        stop -> ok
    end.

%% many sends 1 to N to Pid, in order.
many(Pid, N) -> [Pid ! I || I <- lists:seq(1, N)], ok.

%% collect receives N integers and says how many came out of order.
collect(Name, N) ->
    Me = self(),
    spawn(fun() -> register(Name, self()), Me ! registered, Me ! {Name, count(1, N, 0)} end),
    receive registered -> ok end.
count(I, N, Bad) when I > N -> Bad;
count(I, N, Bad) -> receive I -> count(I + 1, N, Bad); X when is_integer(X) -> count(X + 1, N, Bad + 1) end.

sink() -> receive _ -> sink() end.
sleeper() -> spawn(fun sink/0).

blob(N) -> << <<(I band 255)>> || I <- lists:seq(1, N) >>.

%% atoms is a list of N atoms that begin with Prefix.
atoms(Prefix, N) -> [list_to_atom(Prefix ++ integer_to_list(I)) || I <- lists:seq(1, N)].

kinds() ->
    [0, 255, 256, -1, 1 bsl 31, -(1 bsl 31), 1 bsl 62, 1 bsl 100, -(1 bsl 2100), 1.5, -0.5e300,
     a, '', 'with space', list_to_atom([1078, 128512]), list_to_atom(lists:duplicate(255, 1078)),
     <<>>, <<"bin">>, <<5:3>>, [], "text", [1000, b], [a | b], [1, 2 | <<3>>],
     {}, {a}, {1, {2, {3}}}, list_to_tuple(lists:seq(1, 300)),
     #{}, #{a => 1, "b" => [2], {c} => #{}}, maps:from_list([{I, I} || I <- lists:seq(1, 100)]),
     self(), make_ref(), hd(erlang:ports()), fun lists:map/2, fun(X) -> X end, alias()].
