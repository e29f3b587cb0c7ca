%% Tokens that walk a ring: threadring and ring.
-module(bench_ring).

-export([benches/0]).

benches() ->
    [{"threadring", all, [{n, 503, 1}, {hops, 5000000, 1}], fun threadring/1},
     {"ring", fun ring_schedulers/1, [{n, 1000, 1}, {tokens, 10, 1}, {passes, 2000000, 1}],
      fun ring/1}].

%% The node where the token runs out says so, and must be the one that
%% counting round the ring gives.
threadring(#{n := N, hops := Hops}) ->
    Nodes = ready_ring(N),
    Start = bench:clock(),
    element(1, Nodes) ! {token, Hops},
    receive
        {ended, Last} ->
            Seconds = bench:seconds_since(Start),
            Expected = element(1 + Hops rem N, Nodes),
            bench:check(Last =:= Expected, "the token ended at the wrong node"),
            #{seconds => Seconds, ops => Hops}
    end.

%% In a ring too large for the caches one scheduler takes half the time of two.
%% In a small one tokens that happen to meet at a node go on together, several
%% a wake-up; two schedulers let that come about, one never does.
ring_schedulers(#{n := N}) when N >= 10000 -> one;
ring_schedulers(_) -> all.

ring(#{n := N, tokens := Tokens, passes := Passes}) ->
    Begin = bench:clock(),
    Nodes = ready_ring(N),
    StartUp = bench:seconds_since(Begin),
    Walks = [walk(I, N, Tokens, Passes) || I <- lists:seq(0, Tokens - 1)],
    Start = bench:clock(),
    [element(1 + At, Nodes) ! {token, Left} || {At, Left} <- Walks],
    Ends = [receive {ended, Node} -> Node end || _ <- Walks],
    Seconds = bench:seconds_since(Start),
    Expected = [element(1 + (At + Left) rem N, Nodes) || {At, Left} <- Walks],
    bench:check(lists:sort(Ends) =:= lists:sort(Expected), "a token ended at the wrong node"),
    #{seconds => Seconds, ops => Passes, extra => [{startup_s, StartUp}]}.

%% Where token I starts, counted from 0, and how many passes it gets: the
%% starts are evenly spaced and the passes add up to all of them.
walk(I, N, Tokens, Passes) ->
    Share = (I + 1) * Passes div Tokens - I * Passes div Tokens,
    {I * N div Tokens, Share}.

%% A tuple of N linked nodes, each of which has answered that it is ready.
%% The last node is made first, so that each but that one is born knowing the
%% next.
ready_ring(N) ->
    Main = self(),
    Last = spawn(fun() -> receive {next, Next} -> ready(Next, Main) end end),
    Nodes = link_before(N - 1, [Last], Main),
    Last ! {next, hd(Nodes)},
    [receive ready -> ok end || _ <- Nodes],
    list_to_tuple(Nodes).

link_before(0, Nodes, _Main) ->
    Nodes;
link_before(Left, [Next | _] = Nodes, Main) ->
    link_before(Left - 1, [spawn(fun() -> ready(Next, Main) end) | Nodes], Main).

ready(Next, Main) ->
    Main ! ready,
    node_loop(Next, Main).

node_loop(Next, Main) ->
    receive
        {token, 0} ->
            Main ! {ended, self()},
            node_loop(Next, Main);
        {token, Left} ->
            Next ! {token, Left - 1},
            node_loop(Next, Main)
    end.
