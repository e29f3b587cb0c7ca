%% The Erlang side of the tests far_*_test.go: plays the scripts of
%% TestFarOTP against a process on whatever node.
-module(far).
-export([start/0, play/2, factory/0, sink/0, flood/2, linked/2]).
-export([traced/3, traced_call/2, give/1, raise/2, die/0, wait/0, cast/3]).

start() ->
    register(echo, spawn(fun echo/0)),
    factory().

echo() ->
    receive
        {From, Term} -> From ! {self(), Term}, echo();
        {'$gen_call', {_, [alias|A] = Tag}, Term} -> A ! {Tag, Term}, echo()
    end.

sink() -> receive _ -> sink() end.

linked(Pid, To) ->
    case process_info(Pid, links) of
        {links, L} -> lists:member(To, L);
        undefined -> false
    end.

flood(To, N) -> [To ! I || I <- lists:seq(1, N)], ok.

%% What is called by the tests of rpc.
give(X) -> X.
raise(throw, R) -> throw(R);
raise(exit, R) -> exit(R);
raise(error, R) -> error(R).
die() -> exit(self(), kill), receive after infinity -> ok end.
wait() -> receive after infinity -> ok end.

%% cast is erpc:cast of raise, and tells with what reason the process ends.
cast(Node, Class, R) ->
    Ref = spawn_request(Node, erpc, execute_cast, [far, raise, [Class, R]], [monitor]),
    receive {'DOWN', Ref, process, _, Reason} -> Reason after 50000 -> throw(no_down) end.

%% traced sends with a token, label none: without, and tells the label with which
%% the answer comes.
traced(To, Label, Msg) ->
    token(Label), To ! {self(), Msg},
    seq_trace:set_token(label, left_over),
    receive {got, Msg} -> label() after 50000 -> no_answer end.

traced_call(To, Label) ->
    token(Label), M = make_ref(), To ! {'$gen_call', {self(), M}, hello},
    seq_trace:set_token(label, left_over),
    receive {M, hello} -> label() after 50000 -> no_answer end.

token(none) -> seq_trace:set_token([]);
token(Label) -> seq_trace:set_token([]), seq_trace:set_token(label, Label).

label() ->
    L = case seq_trace:get_token() of [] -> none; _ -> element(2, seq_trace:get_token(label)) end,
    seq_trace:set_token([]),
    L.

%% factory starts players for those who ask.
factory() -> register(far_factory, spawn(fun F() ->
    receive
        {new, From} -> From ! {player, spawn(fun() -> player(undefined, [], []) end)}, F();
        {ping, From} -> From ! far_pong, F()
    end end)).

%% player does what it is told, {do, From, Ops}, and then tells what it has seen.
player(Peer, Refs, Seen) ->
    receive
        {peer, From, P} -> From ! {ok, self()}, player(P, Refs, Seen);
        {do, From, Ops} ->
            Refs1 = lists:foldl(fun(Op, Rs) -> do(Op, Peer, Rs) end, Refs, Ops),
            From ! {did, self()},
            player(Peer, Refs1, Seen);
        {tell, From} ->
            {links, L} = process_info(self(), links),
            From ! {seen, self(), lists:reverse(Seen), lists:member(Peer, L)},
            player(Peer, Refs, []);
        {sync, From} -> From ! {synced, self()}, player(Peer, Refs, Seen);
        {pass, To, From} -> To ! {sync, From}, player(Peer, Refs, Seen);
        {'EXIT', Peer, R} -> player(Peer, Refs, [{exit, R} | Seen]);
        {'DOWN', Ref, process, _, R} -> player(Peer, Refs, [{down, index(Ref, Refs), R} | Seen]);
        Other -> player(Peer, Refs, [Other | Seen])
    end.

index(R, Refs) -> index(R, lists:reverse(Refs), 1).
index(_, [], _) -> none;
index(R, [R | _], N) -> N;
index(R, [_ | T], N) -> index(R, T, N + 1).

do(link, P, Rs) -> link(P), Rs;
do(unlink, P, Rs) -> unlink(P), Rs;
do(monitor, P, Rs) -> [monitor(process, P) | Rs];
do({demonitor, N}, _, Rs) when N =< length(Rs) -> demonitor(lists:nth(N, lists:reverse(Rs)), [flush]), Rs;
do({demonitor, _}, _, Rs) -> Rs;
do({exit, R}, P, Rs) -> exit(P, R), Rs;
do({trap, B}, _, Rs) -> process_flag(trap_exit, B), Rs;
do({send, M}, P, Rs) -> P ! M, Rs;
do({die, R}, _, _) -> exit(R).

%% play runs a script, [{left | right, Ops}], with a left player here and a right
%% one on Node, and returns what both have seen after each step. Who is dead is
%% replaced. {both, Ops, Ops} lets both act at a time: only whether the two agree
%% is told then.
play(Node, Script) ->
    L = new(node()), R = new(Node), meet(L, R), meet(R, L),
    play(Node, Script, L, R, []).

play(_, [], L, R, Out) ->
    exit(L, kill), exit(R, kill), lists:reverse(Out);
play(Node, [Step | Rest], L, R, Out) ->
    ML = monitor(process, L), MR = monitor(process, R),
    case Step of
        {left, Ops} -> L ! {do, self(), Ops}, did(L, ML);
        {right, Ops} -> R ! {do, self(), Ops}, did(R, MR);
        {both, A, B} -> L ! {do, self(), A}, R ! {do, self(), B}, did(L, ML), did(R, MR)
    end,
    [begin sync(A, MA, B, MB), ping(Node) end || _ <- [1, 2], {A, MA, B, MB} <- [{L, ML, R, MR}, {R, MR, L, ML}]],
    SL = tell(L, ML), SR = tell(R, MR),
    demonitor(ML, [flush]), demonitor(MR, [flush]),
    What = case {Step, SL, SR} of
        {{both, _, _}, {seen, _, X}, {seen, _, Y}} when X =/= Y -> disagree;
        {{both, _, _}, _, _} -> fine;
        _ -> {SL, SR}
    end,
    case {Step, SL, SR} of
        {_, {seen, _, _}, {seen, _, _}} when element(1, Step) =/= both -> play(Node, Rest, L, R, [What | Out]);
        _ -> % who is dead is replaced; after both, the state depends on time
            exit(L, kill), exit(R, kill),
            L1 = new(node()), R1 = new(Node), meet(L1, R1), meet(R1, L1),
            play(Node, Rest, L1, R1, [What | Out])
    end.

new(Node) -> {far_factory, Node} ! {new, self()}, receive {player, P} -> P after 50000 -> throw(no_player) end.
ping(Node) -> {far_factory, Node} ! {ping, self()}, receive far_pong -> ok after 50000 -> throw(no_pong) end.
meet(A, B) -> A ! {peer, self(), B}, receive {ok, A} -> ok after 50000 -> throw(no_meeting) end.

did(P, M) -> receive {did, P} -> ok; {'DOWN', M, _, _, R} -> self() ! {'DOWN', M, process, P, R}, dead after 50000 -> throw(not_done) end.

%% sync makes sure that what A has sent to B has come.
sync(A, MA, B, MB) ->
    A ! {pass, B, self()},
    receive
        {synced, B} -> ok;
        {'DOWN', MA, _, _, R} -> self() ! {'DOWN', MA, process, A, R}, timer:sleep(2);
        {'DOWN', MB, _, _, R} -> self() ! {'DOWN', MB, process, B, R}, timer:sleep(2)
    after 50000 -> throw(not_synced) end.

tell(P, M) ->
    P ! {tell, self()},
    receive
        {seen, P, S, Linked} -> % the order of DOWNs is nowhere said
            {Downs, Others} = lists:partition(fun(X) -> is_tuple(X) andalso element(1, X) =:= down end, S),
            {seen, Others ++ lists:sort(Downs), Linked};
        {'DOWN', M, _, _, R} -> {dead, R}
    after 50000 -> throw(not_told) end.
