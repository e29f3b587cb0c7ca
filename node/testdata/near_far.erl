%% What stands between two Go nodes in a placement of TestNearAndFar.
-module(near_far).
-export([start/0]).

start() -> register(between, spawn(fun between/0)).

%% between hands on what is sent through it, and starts relays.
between() ->
    receive
        {hand, To, Message} -> To ! Message;
        {relay, From, To} -> From ! {relay, spawn(fun() -> relay_of(To) end)}
    end,
    between().

%% A relay hands on all messages to a process, and ends as that does.
relay_of(To) ->
    process_flag(trap_exit, true),
    link(To),
    relay(To).

relay(To) ->
    receive
        {'EXIT', To, Reason} -> exit(Reason);
        {'EXIT', _, Reason} -> exit(To, Reason), relay(To);
        Message -> To ! Message, relay(To)
    end.
