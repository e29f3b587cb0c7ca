%% Messages between few actors: mailbox, flow, latency, chameneos and big.
-module(bench_traffic).

-export([benches/0]).
-export([ping/3, pong/0]). % of remote_latency too

benches() ->
    [{"mailbox", all, [{senders, 20, 1}, {each, 1000000, 1}], fun mailbox/1},
     {"flow", all, [{pairs, 4, 1}, {messages, 2500000, 1}, {window, 1000, 1}], fun flow/1},
     {"latency", all, [{roundtrips, 1000000, 1}], fun latency/1},
     {"chameneos", one, [{creatures, 10, 2}, {meetings, 600000, 1}], fun chameneos/1},
     {"big", one, [{n, 120, 1}, {each, 2000, 1}], fun big/1}].

%%% mailbox: many senders, one receiver that adds up what it gets.

%% The receiver outnumbered twenty to one would fall behind by millions of
%% messages, and the collector would copy them again and again. So it goes
%% first whenever it has mail, messages stay off its heap until it takes them,
%% and the heap is large for its little live data.

mailbox(#{senders := Senders, each := Each}) ->
    Main = self(),
    Total = Senders * Each,
    Options = [link, {priority, high}, {message_queue_data, off_heap}, {min_heap_size, 100000}],
    Receiver = spawn_opt(fun() -> Main ! {sum, add_up(Total, 0)} end, Options),
    Pids = [spawn_link(fun() -> receive release -> send_values(Receiver, Each) end end)
            || _ <- lists:seq(1, Senders)],
    Start = bench:clock(),
    [Pid ! release || Pid <- Pids],
    receive
        {sum, Sum} ->
            Seconds = bench:seconds_since(Start),
            bench:check(Sum =:= Senders * (Each * (Each + 1) div 2), "the values do not add up"),
            #{seconds => Seconds, ops => Total}
    end.

send_values(_Receiver, 0) ->
    ok;
send_values(Receiver, Value) ->
    Receiver ! {value, Value},
    send_values(Receiver, Value - 1).

add_up(0, Sum) ->
    Sum;
add_up(Left, Sum) ->
    receive {value, Value} -> add_up(Left - 1, Sum + Value) end.

%%% flow: ordered pings, a More every window.

flow(#{pairs := Pairs, messages := Messages, window := Window}) ->
    Main = self(),
    Senders = [flow_pair(Main, Messages, Window) || _ <- lists:seq(1, Pairs)],
    Start = bench:clock(),
    [Sender ! release || Sender <- Senders],
    [receive {in_order, Sender} -> ok end || Sender <- Senders],
    #{seconds => bench:seconds_since(Start), ops => Pairs * Messages}.

%% Heaps that hold several windows of pings are collected seldom.
flow_pair(Main, Messages, Window) ->
    Options = [link, {min_heap_size, 30000}],
    spawn_opt(fun() ->
        Sender = self(),
        Receiver = spawn_opt(fun() ->
            receive_pings(1, Messages, Window, Window, Sender),
            Main ! {in_order, Sender}
        end, Options),
        receive release -> send_pings(1, Messages, Window, Window, Receiver) end
    end, Options).

%% Room is what is left of the window.
send_pings(I, Messages, _Room, _Window, _Receiver) when I > Messages ->
    ok;
send_pings(I, Messages, 0, Window, Receiver) ->
    receive more -> send_pings(I, Messages, Window, Window, Receiver) end;
send_pings(I, Messages, Room, Window, Receiver) ->
    Receiver ! {ping, I},
    send_pings(I + 1, Messages, Room - 1, Window, Receiver).

receive_pings(Next, Messages, _Room, _Window, _Sender) when Next > Messages ->
    ok;
receive_pings(Next, Messages, 0, Window, Sender) ->
    Sender ! more,
    receive_pings(Next, Messages, Window, Window, Sender);
receive_pings(Next, Messages, Room, Window, Sender) ->
    receive
        {ping, Next} -> receive_pings(Next + 1, Messages, Room - 1, Window, Sender);
        {ping, _} -> exit({check, "a ping came out of order"})
    end.

%%% latency: two actors, one ball, each way a message of its own.

latency(#{roundtrips := Roundtrips}) ->
    Main = self(),
    Pong = spawn_link(fun pong/0),
    Ping = spawn_link(fun() ->
        receive serve -> Main ! {returned, ping(Pong, Roundtrips, 0)} end
    end),
    Start = bench:clock(),
    Ping ! serve,
    receive
        {returned, Count} ->
            Seconds = bench:seconds_since(Start),
            bench:check(Count =:= Roundtrips, "a ball was lost"),
            #{seconds => Seconds, ops => Roundtrips}
    end.

ping(_Pong, 0, Count) ->
    Count;
ping(Pong, Left, Count) ->
    Pong ! {ball, self(), Left},
    receive {ball, Pong, Left} -> ping(Pong, Left - 1, Count + 1) end.

pong() ->
    receive
        {ball, From, Number} ->
            From ! {ball, self(), Number},
            pong()
    end.

%%% chameneos: creatures meet in pairs and change colour.

chameneos(#{creatures := Creatures, meetings := Meetings}) ->
    Main = self(),
    Place = spawn_link(fun() -> receive open -> place(Meetings) end end),
    Colours = [element(1 + I rem 3, {blue, red, yellow}) || I <- lists:seq(1, Creatures)],
    [spawn_link(fun() -> Main ! {met, visit(Place, Colour, 0)} end) || Colour <- Colours],
    Start = bench:clock(),
    Place ! open,
    Met = [receive {met, Count} -> Count end || _ <- Colours],
    Seconds = bench:seconds_since(Start),
    bench:check(lists:sum(Met) =:= 2 * Meetings, "the creatures' meetings do not add up"),
    #{seconds => Seconds, ops => Meetings, extra => [{stddev, stddev(Met)}]}.

place(0) ->
    receive {visit, Creature, _} -> Creature ! closed, place(0) end;
place(Left) ->
    receive {visit, First, Colour} -> place(Left, First, Colour) end.

%% First waits for another. It has one visit outstanding, so the next visit
%% cannot be its own.
place(Left, First, Colour1) ->
    receive
        {visit, Second, Colour2} when Second =/= First ->
            First ! {other, Colour2},
            Second ! {other, Colour1},
            place(Left - 1);
        {visit, First, _} ->
            exit({check, "a creature met itself"})
    end.

visit(Place, Colour, Count) ->
    Place ! {visit, self(), Colour},
    receive
        {other, Other} -> visit(Place, complement(Colour, Other), Count + 1);
        closed -> Count
    end.

complement(Same, Same) -> Same;
complement(blue, red) -> yellow;
complement(blue, yellow) -> red;
complement(red, blue) -> yellow;
complement(red, yellow) -> blue;
complement(yellow, blue) -> red;
complement(yellow, red) -> blue.

stddev(Counts) ->
    Mean = lists:sum(Counts) / length(Counts),
    math:sqrt(lists:sum([(C - Mean) * (C - Mean) || C <- Counts]) / length(Counts)).

%%% big: everyone pings someone at random, one ping outstanding.

big(#{n := N, each := Each}) ->
    Main = self(),
    Pids = [spawn_link(fun() -> player(Main, I, Each) end) || I <- lists:seq(1, N)],
    Peers = list_to_tuple(Pids),
    [Pid ! {peers, Peers} || Pid <- Pids],
    [receive {ready, Pid} -> ok end || Pid <- Pids],
    Start = bench:clock(),
    [Pid ! release || Pid <- Pids],
    [receive {finished, Pid} -> ok end || Pid <- Pids],
    Seconds = bench:seconds_since(Start),
    [Pid ! {stop, Main} || Pid <- Pids],
    Served = [receive {served, Pid, Count} -> Count end || Pid <- Pids],
    bench:check(lists:sum(Served) =:= N * Each, "the pings served do not add up"),
    #{seconds => Seconds, ops => N * Each}.

player(Main, Seed, Each) ->
    receive {peers, Peers} -> Main ! {ready, self()} end,
    receive release -> ok end,
    play(rand:mwc59_seed(Seed), Peers, Each, 0, Main).

%% Sends the next ping, or says that all of its own are answered and goes on
%% serving the others'.
play(_Random, _Peers, 0, Served, Main) ->
    Main ! {finished, self()},
    serve(Served);
play(Random, Peers, Left, Served, Main) ->
    Next = rand:mwc59(Random),
    Peer = element(1 + Next rem tuple_size(Peers), Peers),
    Peer ! {ping, self()},
    await_pong(Next, Peers, Peer, Left, Served, Main).

await_pong(Random, Peers, Peer, Left, Served, Main) ->
    receive
        {ping, From} ->
            From ! {pong, self()},
            await_pong(Random, Peers, Peer, Left, Served + 1, Main);
        {pong, From} when From =:= Peer ->
            play(Random, Peers, Left - 1, Served, Main)
    end.

serve(Served) ->
    receive
        {ping, From} ->
            From ! {pong, self()},
            serve(Served + 1);
        {stop, Main} ->
            Main ! {served, self(), Served}
    end.
