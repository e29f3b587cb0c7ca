%% Plays the scripts of testdata/failure on a real OTP node; see failure_test.go
%% for the language. Meant to run with one scheduler (+S 1:1), so that a round of
%% pings lets everything that is under way arrive.
-module(failure).
-export([main/1]).

main(Files) -> erltest:play(Files, fun play/1).

%% names: {name, pid or reference} and {{pid or reference}, name};
%% log: {position, text}; ends: {pid, reason}.
play(Script) ->
    ets:new(names, [named_table, public]),
    ets:new(log, [named_table, public, ordered_set]),
    ets:new(ends, [named_table, public]),
    put(order, []),
    lists:foreach(fun step/1, Script),
    Results = [Text || {_, Text} <- ets:tab2list(log)],
    States = [state(Name) || Name <- lists:reverse(get(order))],
    [exit(pid(Name), kill) || Name <- get(order)],
    settle(),
    [ets:delete(T) || T <- [names, log, ends]],
    [Results, States].

step(Line) ->
    [Verb | Rest] = string:split(Line, " "),
    command(Verb, lists:append(Rest)).

command("spawn", Names) ->
    lists:foreach(fun(Name) ->
        {Pid, _} = spawn_monitor(fun loop/0),
        name(Name, Pid),
        put(order, [Name | get(order)])
    end, erltest:words(Names));
command("register", Args) ->
    [Who, Name] = erltest:words(Args),
    register(list_to_atom(Name), pid(Who));
command("unregister", Name) ->
    unregister(list_to_atom(Name));
command("whereis", Name) ->
    log("whereis ~s -> ~s", [Name, show(whereis(list_to_atom(Name)))]);
command("links", Who) ->
    Links = case process_info(pid(Who), links) of
        {links, L} -> lists:sort([shown(P) || P <- L]);
        undefined -> undefined
    end,
    log("links ~s -> ~s", [Who, show(Links)]);
command("do", Args) ->
    [Who, Ops] = string:split(Args, " "),
    pid(Who) ! {do, [op(string:trim(O)) || O <- string:split(Ops, ";", all)]},
    settle();
command(Verb, Args) ->
    [Who | Rest] = string:split(Args, " "),
    pid(Who) ! {do, [{Verb, lists:append(Rest)}]},
    settle().

op(Text) ->
    [Verb | Rest] = string:split(Text, " "),
    {Verb, lists:append(Rest)}.

settle() -> [[ping(pid(Name)) || Name <- get(order)] || _ <- lists:seq(1, 8)].

ping(Pid) ->
    erlang:yield(),
    ask(Pid, ping).

%% Answers dead if the process ends first, and keeps why.
ask(Pid, What) ->
    case ets:member(ends, Pid) of
        true -> dead;
        false ->
            Pid ! {What, self()},
            receive
                {What, Pid, Answer} -> Answer;
                {'DOWN', _, process, Pid, Reason} -> ets:insert(ends, {Pid, Reason}), dead
            end
    end.

state(Name) ->
    case ask(pid(Name), drain) of
        dead ->
            [{_, Reason}] = ets:lookup(ends, pid(Name)),
            io_lib:format("~s: exit ~s~n", [Name, show(Reason)]);
        Messages ->
            [Name, ": alive\n" | [["  ", show(M), "\n"] || M <- Messages]]
    end.

loop() ->
    receive
        {do, Ops} -> lists:foreach(fun({Verb, Args}) -> act(Verb, Args) end, Ops);
        {ping, From} -> From ! {ping, self(), ok};
        {drain, From} -> From ! {drain, self(), drain()}
    end,
    loop().

drain() -> receive M -> [M | drain()] after 0 -> [] end.

act("trap", _) -> process_flag(trap_exit, true);
act("untrap", _) -> process_flag(trap_exit, false);
%% Where it is cheap to see that there is nobody, link/1 raises an error in place
%% of the signal (its manual: "for historical reasons").
act("link", Who) -> try link(pid(Who)) catch error:noproc -> exit(noproc) end;
act("unlink", Who) -> unlink(pid(Who));
act("monitor", Args) ->
    [Who, "as", Name] = erltest:words(Args),
    name(Name, monitor(process, pid(Who)));
act("monitorname", Args) ->
    [Who, "as", Name] = erltest:words(Args),
    name(Name, monitor(process, list_to_atom(Who)));
act("demonitor", Args) ->
    [Name | Flush] = erltest:words(Args),
    Was = demonitor(pid(Name), [info | [list_to_atom(F) || F <- Flush]]),
    log("demonitor ~s -> ~s", [Args, show(Was)]);
act("exit", Reason) -> exit(erltest:term(Reason));
act("signal", Args) ->
    [Who, Reason] = string:split(Args, " "),
    exit(pid(Who), erltest:term(Reason));
act("send", Args) ->
    [Who, Message] = string:split(Args, " "),
    pid(Who) ! erltest:term(Message).

pid(Name) -> ets:lookup_element(names, Name, 2).

name(Name, Of) -> ets:insert(names, [{Name, Of}, {{Of}, Name}]).

log(Format, Args) ->
    ets:insert(log, {ets:info(log, size), [io_lib:format(Format, Args), "\n"]}).

show(Term) -> io_lib:format("~0p", [shown(Term)]).

shown(Id) when is_pid(Id); is_reference(Id) ->
    case ets:lookup(names, {Id}) of
        [{_, Name}] -> list_to_atom(Name);
        [] -> Id
    end;
shown({'DOWN', Ref, process, {Name, Node}, Reason}) when Node =:= node() ->
    {'DOWN', shown(Ref), process, {Name, node}, shown(Reason)};
shown(T) when is_tuple(T) -> list_to_tuple([shown(E) || E <- tuple_to_list(T)]);
shown(Term) -> Term.
